"""The verdicts on a perceptron: `separated` by weights whose every sign is computed exactly, or `not_separable` by a sum.

separated       (2 y_i - 1) x_i.w > 0, or x_i.(w_own - w_k) > 0 for every other class k, in every row
not_separable   a few rows z with weights a > 0 and sum a z = 0: a w with z.w > 0 for each would make the sum positive
"""

from __future__ import annotations

import math

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import EPS, Array, Index, Whole, whole
from lineal.verify.claims.ground import counted
from lineal.verify.claims.model import Claims
from lineal.verify.evidence.margins import check_margin, least, longest, weights_of
from lineal.verify.evidence.sentences import (
    RUNNING,
    UNDECIDED,
    check_keys,
    check_reason,
    check_run,
    check_sentence,
    count,
    of_bound,
    of_separator,
    of_sum,
    run_ending,
)
from lineal.verify.evidence.separability import Sum, check_sum, sum_of
from lineal.verify.problem.formulas import Problem, Training
from lineal.verify.proof.halfspaces import Spaces, orthogonal
from lineal.verify.report import Report

RUN_FIELDS = ("variant", "tie", "start", "mistakes", "epochs", "radius", "standardized", "model_mistakes")
"""What the evidence of every kind holds."""


def check_perceptron(report: Report, claims: Claims, problem: Training) -> None:
    """Check every claim of the verdict on a perceptron."""
    report.check("this checker knows the verdict", claims.kind in ("separated", "not_separable", "budget"), claims.kind)
    report.check("no gap is claimed of a perceptron", claims.gap is None and claims.relative_gap is None)
    evidence = claims.evidence
    tie, ties = evidence.get("tie"), {"mistake": 0.0, "positive": 1.0, "negative": -1.0}
    report.check(
        "a tie is what the model says it is", isinstance(tie, str) and ties.get(tie) == claims.parameter, f"{tie}"
    )
    space = Spaces(lambda: map(_row_classes, problem.blocks()), problem.columns, max(problem.outputs, 2))
    radius = longest(space)
    stated = claims.figure("radius")
    report.check(
        "the radius is the length of the longest row",
        stated is not None and abs(stated - radius) <= 1e-9 * radius,
        f"{radius!r}, stated {stated!r}",
    )
    wrong, _ = mistaken(space, claims.coef, claims.parameter)
    report.check(
        "the model mistakes as many training rows as stated (exact)",
        counted(evidence.get("model_mistakes")) == wrong,
        f"{wrong}, stated {evidence.get('model_mistakes')}",
    )
    counts = [evidence.get(name) for name in ("mistakes", "epochs")]
    report.check("mistakes and epochs are counted", min(map(counted, counts)) >= 0, f"{counts}")
    variants = ("plain", "averaged", "voted", "pocket")
    usual = evidence.get("variant") in variants and evidence.get("start") in ("zero", "given")
    report.check("variant and start are known ones", usual, f"{evidence.get('variant')}, {evidence.get('start')}")
    report.check(
        "standardized columns are said, or not spoken of",
        evidence.get("standardized", True) is True,
        f"{evidence.get('standardized')}",
    )
    if claims.kind == "separated":
        _separated(report, claims, space, radius)
    elif claims.kind == "not_separable":
        _not_separable(report, claims, space)
    else:
        check_keys(report, evidence, *RUN_FIELDS, "largest_norm", "repeated_state")
        report.check("a reason is given why nothing was decided", bool(claims.reason), claims.reason or "")
        ending = run_ending(evidence.get("repeated_state")) + UNDECIDED
        check_run(report, claims.reason or "", "", ending, "")
        check_sentence(report, claims.sentence, f"Not decided: {claims.reason}.")


def _row_classes(block: Problem) -> tuple[Array, Index, Index]:
    """Return the design, the class and the number of some rows."""
    own = block.y[:, 0] if block.outputs == 1 else np.argmax(block.y, axis=1)
    return block.x, own.astype(np.intp), block.numbers


def mistaken(space: Spaces, w: Array, tie: float) -> tuple[int, bool]:
    """Return how many rows weights mistake, and whether no row is on the boundary; every sign exact.

    A tie is a mistake unless it goes to the row's own class: the later one for tie > 0, the earlier one for tie < 0.
    """
    wrong, strict = 0, True
    for block in space.blocks():
        bad = np.zeros(len(block.own), dtype=bool)
        for (rows, own, other), signs in zip(block.pairs, block.along(exact(w)), strict=True):
            mine = (own - other) * tie > 0.0
            bad[rows] |= (signs < 0) | ((signs == 0) & (not mine))
            strict = strict and bool(np.all(signs > 0))
        wrong += int(np.sum(bad))
    return wrong, strict


def exact(w: Array) -> Whole:
    """Return weights as integers, times one power of two."""
    return np.asarray(whole(w.reshape(1, -1)).reshape(w.shape))


def _separated(report: Report, claims: Claims, space: Spaces, radius: float) -> None:
    evidence = claims.evidence
    w = weights_of(report, evidence.get("w"), claims.coef.shape)
    wrong, strict = mistaken(space, w, claims.parameter)
    report.check("the separator mistakes no training row (exact)", wrong == 0, f"{wrong} rows")
    report.check("rows on the boundary are admitted", evidence.get("strict") is strict, f"{strict}")
    norm = float(np.linalg.norm(w))
    nearest = least(space, w) / norm if norm > 0.0 else 0.0
    margin = claims.figure("margin")
    rounding = 1e-9 * abs(nearest) + (8 * (len(w) + 8) * EPS) ** 2 * radius
    report.check(
        "the margin is that of the nearest row",
        margin is not None and abs(margin - nearest) <= rounding,
        f"{nearest!r}, stated {margin!r}",
    )
    by, variant = evidence.get("by"), evidence.get("variant")
    averaged = variant in ("averaged", "voted")
    same = averaged or bool(np.array_equal(w, claims.coef)) or (variant == "pocket" and not evidence["model_mistakes"])
    report.check("the weights of the model are the separator, unless it keeps others", same, f"{by}, {variant}")
    report.check("who found the separator is known", by in ("perceptron", "oracle"), f"{by}")
    widest = evidence.get("maximum_margin")
    bound = math.nan if widest is None else check_margin(report, space, widest)
    if "within_bound" in evidence:
        began = evidence.get("by") == "perceptron" and evidence.get("start") == "zero"
        began = began and "standardized" not in evidence
        report.check(
            "the mistakes of a perceptron that started at zero are within the bound",
            began and evidence["within_bound"] is True and counted(evidence.get("mistakes")) <= bound,
            f"{evidence.get('mistakes')} against {bound:.6g}",
        )
    check_keys(report, evidence, *RUN_FIELDS, "w", "strict", "margin", "by", "maximum_margin", "within_bound")
    check_reason(report, claims.reason)
    said = of_bound(evidence, two=claims.coef.shape[1] == 1)
    tied = " There is no margin, since rows lie on the boundary."
    said = tied if not strict and claims.sentence.endswith(tied) else said
    if by == "perceptron":
        how = f"after {count(evidence['mistakes'], 'mistake')} in {count(evidence['epochs'], 'epoch')}"
        check_sentence(report, claims.sentence, "".join(of_separator(claims, how, said)))
        return
    before, after = of_separator(claims, "with weights of the exact oracle, since ", said)
    check_run(report, claims.sentence, before, RUNNING, f" ({count(evidence['mistakes'], 'mistake')}){after}")


def _not_separable(report: Report, claims: Claims, space: Spaces) -> None:
    try:
        stated, bad = sum_of(claims.evidence), ""
    except ModelFileError as error:
        stated, bad = Sum([], [], None), str(error)
    report.check("the evidence holds rows and weights", not bad, bad)
    few, rows, against = check_sum(report, space, stated)
    z = np.array([few.z(row, other) for row, other in zip(rows, against, strict=True)], dtype=object)
    rank = z.shape[1] - len(orthogonal(z))
    report.check(
        "the sum has at most one row more than their rank", len(rows) <= rank + 1, f"{len(rows)} rows of rank {rank}"
    )
    given = claims.evidence
    check_keys(report, given, *RUN_FIELDS, "rows", "weights", "against", "largest_norm", "repeated_state")
    check_reason(report, claims.reason)
    ending = run_ending(given.get("repeated_state"))
    check_run(report, claims.sentence, "Not separable: ", ending, of_sum(len(rows), given["model_mistakes"]))
