"""From a proof to a verdict: the kind, the sentence in the user's words, the evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.algebra.integers import text
from lineal.certify import Proof
from lineal.model.verdict import Verdict
from lineal.penalties.penalty import Penalty
from lineal.problem.problem import Problem
from lineal.separation import Answer, Direction

Arrays = dict[str, npt.NDArray[Any]]


def judge(
    problem: Problem,
    objective: float,
    proof: Proof | None,
    tol: float,
    stopped: str,
    answer: Answer | None,
    labels: Sequence[str] | None = None,
) -> tuple[Verdict, Arrays]:
    """Return the verdict and the arrays that belong to its evidence; ``labels`` name the outputs."""
    if answer is not None and answer.direction is not None:
        runaway = answer.direction
        return _at_infinity(problem, objective, runaway, labels), {"direction": runaway.direction}
    if proof is None or proof.gap is None:
        return _unproven(proof, stopped, answer), {}
    return bounded(problem.penalty, proof, tol, stopped, intercept=problem.intercept)


def bounded(
    penalty: Penalty, proof: Proof, tol: float, stopped: str = "", *, intercept: bool
) -> tuple[Verdict, Arrays]:
    """Return the verdict on coefficients with a gap, and the arrays that belong to its evidence."""
    relative = proof.relative_gap
    assert proof.gap is not None
    assert relative is not None
    evidence: dict[str, object] = {
        "objective": proof.objective,
        "lower_bound": proof.objective - proof.gap,
        "null_objective": proof.baseline_objective,
        "tol": tol,
    }
    strength = penalty.strength
    if (
        strength > 0.0
        and penalty.smooth
        and np.count_nonzero(curvature := penalty.curvature()[intercept:]) == len(curvature)
    ):
        evidence["radius"] = math.sqrt(2.0 * proof.gap / strength)
    if relative > tol:
        sentence = (
            f"Not optimal yet: {stopped}. The loss could still fall by up to {percent(relative)} (gap {proof.gap:.2g})."
        )
        return Verdict("budget", sentence, proof.gap, relative, evidence, stopped), {}
    bound = f"the loss cannot be improved by more than {percent(relative)} (gap {proof.gap:.2g}, proven)"
    if proof.basis is None:
        return Verdict("optimal", f"Optimal: {bound}.", proof.gap, relative, evidence), {}
    arrays: Arrays = {}
    columns = len(proof.basis.dependent)
    spelled = "1 column is a combination of others" if columns == 1 else f"{columns} columns are combinations of others"
    if proof.basis.null_space.size <= 1_000_000:  # larger ones are described, not kept
        evidence["dependencies"], spelled = proof.basis.dependencies(), proof.basis.spelled()
        arrays["null_space"] = proof.basis.null_space
    sentence = (
        f"Optimal but not unique: {bound}, and other coefficients reach the same. In every row {spelled}. "
        "The coefficients of least norm are given; drop a column or add a penalty for unique ones."
    )
    return Verdict("not_unique", sentence, proof.gap, relative, evidence), arrays


def percent(relative: float) -> str:
    """Return a share as a percentage with two digits.

    >>> percent(3.04e-9)
    '3e-07 %'
    >>> percent(0.5)
    '50 %'
    """
    return f"{100.0 * relative:.2g} %"


def _unproven(proof: Proof | None, stopped: str, answer: Answer | None) -> Verdict:
    why = proof.reason if proof is not None and proof.reason else "the coefficients are not finite"
    if answer is not None and answer.reason:
        why = f"{why}; {answer.reason}"
    reason = f"{stopped}; {why}" if stopped else why
    sentence = f"Stopped without a proof: {reason}."
    evidence: dict[str, object] = {} if proof is None else {"objective": proof.objective}
    return Verdict("budget", sentence, None, None, evidence, reason)


def _at_infinity(problem: Problem, objective: float, runaway: Direction, labels: Sequence[str] | None) -> Verdict:
    """Name the columns whose coefficients run away, and the remedies."""
    names = problem.source.columns
    outputs = problem.shape[1]
    outputs_named: Sequence[object] = range(outputs) if labels is None else labels
    groups: dict[str, list[str]] = {"plus": [], "minus": [], "finite": []}
    exact: dict[str, int | str] = {}
    for j, name in enumerate(names):
        for k in range(outputs):
            value = runaway.exact[j, k]
            label = name if outputs == 1 else f"{name} / {outputs_named[k]}"
            if value == 0:
                groups["finite"].append(label)
                continue
            groups["plus" if value > 0 else "minus"].append(label)
            exact[label] = text(value)
    moving = groups["plus"] + groups["minus"]
    listed = ", ".join(moving[:4]) + (f" and {len(moving) - 4} more" if len(moving) > 4 else "")
    how = problem.loss.at_infinity(len(moving), runaway.strict, runaway.total)
    remedies = list(problem.loss.remedies)
    sentence = (
        f"No finite optimum: {listed} {how}, so the loss falls for ever as their coefficients grow. "
        f"Remedies: the penalty {' or '.join(remedies)}, or drop a column."
    )
    evidence: dict[str, object] = {
        "objective": objective,
        **groups,
        "strict_rows": runaway.strict,
        "rows": list(runaway.rows),
        "direction": exact,
        "remedies": remedies,
    }
    return Verdict("at_infinity", sentence, None, None, evidence, "no finite optimum exists")


def infeasible(problem: Problem) -> Verdict:
    """Name the columns whose bounds exclude each other; adding both bounds of one proves it: 0 >= lower - upper > 0."""
    bounds = problem.penalty.to_dict()
    lower, upper = np.asarray(bounds["lower"]), np.asarray(bounds["upper"])
    clashes: list[dict[str, object]] = [
        {
            "column": problem.source.columns[j],
            "lower": float(lower[j]),
            "upper": float(upper[j]),
            "multipliers": [1.0, 1.0],
        }
        for j in problem.penalty.conflicts()
    ]
    first, more = clashes[0], len(clashes) - 1
    sentence = (
        f"Infeasible: the coefficient of {first['column']} would have to be at least {first['lower']:g} and at most "
        f"{first['upper']:g}{f' (and {more} more like it)' if more else ''}. Change its bounds."
    )
    return Verdict("infeasible", sentence, None, None, {"clashes": clashes}, "the bounds exclude each other")


def exact(done: str, evidence: Mapping[str, object]) -> Verdict:
    """Return the verdict on what was counted or looked up, in words that say what was ``done`` with how many rows.

    The evidence is what a checker counts, or looks up, again.

    >>> exact("counted from 277 rows of 3 classes", {"rows": 277}).sentence
    'Exact: counted from 277 rows of 3 classes; nothing was optimized.'
    """
    return Verdict("exact", f"Exact: {done}; nothing was optimized.", None, None, evidence)
