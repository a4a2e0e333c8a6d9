"""Halfspaces: verdicts of perceptrons and least numbers of mistakes, against whole numbers and every choice of rows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse
from flint import fmpq, fmpq_mat

import lineal

from . import designs
from .designs import pick
from .doors import Case
from .infinity import Rows, gains, largest, separation, short
from .judge import Violation
from .outcome import Outcome

DOORS = ("Perceptron", "zero_one", "zero-one")
FEW = 12
"""Rows of a case whose least number of mistakes is asked for."""


def drawn(seed: int, index: int, only: str | None = None, *, plain: bool = False) -> Case:
    """Return case number ``index`` of a seed."""
    draw = np.random.default_rng([seed, index, 4])
    door = only if only in DOORS else str(draw.choice(DOORS))
    x, tags = designs.matrix(draw, only, plain=plain)
    x = np.repeat(x, 3, axis=0) if len(x) < 3 else x[:25]
    if door != "Perceptron":
        x = x[:FEW, :3]
    y, tag = designs.classes(draw, x, int(pick(draw, 2, 3)) if door == "Perceptron" else 2, plain=plain)
    intercept = bool(draw.random() < 0.8)
    weight = None if draw.random() < 0.6 else draw.integers(0, 4, size=len(x)).astype(float)
    if weight is not None:
        weight[[int(np.flatnonzero(y == label)[0]) for label in np.unique(y)]] = 1.0
    X, store = designs.stored(draw, x)
    tie = pick(draw, "mistake", "positive", "negative")
    params: dict[str, Any] = {}
    if door == "Perceptron":
        params = {
            "tie": tie,
            "variant": pick(draw, "plain", "averaged", "pocket"),
            "bound": True,
            "fit_intercept": intercept,
        }
    elif door == "zero_one":
        params = {"tie": tie, "intercept": intercept, "time_limit": 5.0}
    else:
        params, door = {"model": "zero-one", "intercept": intercept, "time_limit": 5.0}, "fit"
    tags += [] if intercept else ["no intercept"]
    return Case(door, params, X, y, weight, None, [*tags, tag, *(["weights"] if weight is not None else []), store])


def ask(case: Case) -> list[Outcome]:
    """Make the call, and return its outcome."""
    if case.door == "Perceptron":
        model = lineal.Perceptron(**case.params).fit(case.X, case.y, sample_weight=case.weight)
        verdict = model.verdict_
        return [Outcome("perceptron", verdict.kind, verdict.sentence, lambda: _perceptron(case, model))]
    if case.door == "zero_one":
        found = lineal.zero_one(case.X, case.y, sample_weight=case.weight, **case.params)
        w, verdict = [Fraction(float(v)) for v in found.coef], found.verdict
    else:
        fitted = lineal.fit(case.X, case.y, weight=case.weight, **case.params)
        w, verdict = [Fraction(float(v)) for v in fitted.coef[:, 0]], fitted.verdict
        if fitted.center is not None:  # the intercept of the columns as they are, in every digit
            w[0] -= sum((Fraction(float(m)) * v for m, v in zip(fitted.center, w, strict=True)), Fraction(0))
    return [Outcome("zero-one", verdict.kind, verdict.sentence, lambda: _mistakes(case, w, verdict))]


def _rows(case: Case) -> tuple[list[list[Fraction]], list[int], list[Fraction]]:
    """Return the rows of positive weight in fractions, the numbers of their classes, and their weights."""
    dense = case.X.toarray() if scipy.sparse.issparse(case.X) else np.asarray(case.X)
    keep = [i for i in range(len(dense)) if case.weight is None or case.weight[i] > 0]
    one = [Fraction(1)] if case.params.get("intercept", case.params.get("fit_intercept", True)) else []
    _, own = np.unique(np.asarray(case.y)[keep], return_inverse=True)
    weight = [Fraction(1 if case.weight is None else float(case.weight[i])) for i in keep]
    return [[*one, *(Fraction(v.item()) for v in dense[i])] for i in keep], own.tolist(), weight


def _whole(rows: list[list[Fraction]], intercept: bool) -> Rows:
    common = [max(row[j].denominator for row in rows) for j in range(len(rows[0]))]
    return short([[int(v * c) for v, c in zip(row, common, strict=True)] for row in rows], intercept)


# ---------------------------------------------------------------- the least number of mistakes


def feasible(z: Rows, strict: list[bool]) -> bool:
    """Whether some w has ``z.w > 0`` in the strict rows and ``z.w >= 0`` in the others."""
    if not any(strict):
        return True
    limits = [[*(-v for v in row), *row, int(s)] for row, s in zip(z, strict, strict=True)]
    last = [0] * (len(limits[0]) - 1) + [1]
    return largest([*limits, last], [0] * len(limits) + [1], last)


def better(z: Rows, strict: list[bool], weight: list[Fraction], than: Fraction) -> Fraction | None:
    """Return the least weight of mistakes below ``than`` of any halfspace, None if there is none: all choices, in turn."""
    order = sorted(range(len(z)), key=lambda i: -weight[i])
    best: list[Fraction | None] = [None]

    def look(place: int, right: list[int], missed: Fraction) -> None:
        if missed >= (than if best[0] is None else best[0]):
            return
        if place == len(order):
            best[0] = missed
            return
        i = order[place]
        if feasible([z[k] for k in [*right, i]], [strict[k] for k in [*right, i]]):
            look(place + 1, [*right, i], missed)
        look(place + 1, right, missed + weight[i])

    look(0, [], Fraction(0))
    return best[0]


def _mistakes(case: Case, w: list[Fraction], verdict: Any) -> list[Violation]:
    rows, own, weight = _rows(case)
    tie, intercept = case.params.get("tie", "mistake"), case.params["intercept"]
    strict = [y != {"mistake": 2, "positive": 1, "negative": 0}[tie] for y in own]
    scores = [
        sum((a * b for a, b in zip(row, w, strict=True)), Fraction(0)) * (1 if y else -1)
        for row, y in zip(rows, own, strict=True)
    ]
    made = sum(
        (s for s, score, hard in zip(weight, scores, strict, strict=True) if score < 0 or (hard and score == 0)),
        Fraction(0),
    )
    evidence, out = verdict.evidence, []
    if abs(float(made) - evidence["mistakes"]) > 1e-12 * float(sum(weight)):
        out.append(Violation("mistakes", 1.0, f"{evidence['mistakes']} mistakes stated, {float(made)} made"))
    z = gains(_whole(rows, intercept), own, 1)
    least = better(z, [True] * len(z) if intercept else strict, weight, made)
    truth = made if least is None else least
    if verdict.kind == "optimal" and least is not None:
        out.append(
            Violation("mistakes", math.inf, f"optimal with {float(made)} mistakes, but {float(least)} are possible")
        )
    if Fraction(evidence["least"]) > truth * (1 + Fraction(1, 10**9)):
        out.append(
            Violation("lower bound", math.inf, f"no fewer than {evidence['least']} stated, {float(truth)} possible")
        )
    return out


# ---------------------------------------------------------------- perceptrons


def _scores(w: Any, rows: list[list[Fraction]], own: list[int]) -> list[Fraction]:
    """Return every ``x.(w_own - w_k)``, for two classes ``+-x.w``."""
    columns = [[Fraction(float(v)) for v in column] for column in np.asarray(w, float).T]
    found = []
    for row, y in zip(rows, own, strict=True):
        score = [sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in columns]
        found += (
            [score[0] if y else -score[0]] if len(score) == 1 else [score[y] - v for k, v in enumerate(score) if k != y]
        )
    return found


def _root(value: Fraction) -> float:
    """Return the square root of a fraction; 60 digits before it is rounded."""
    shift = 4 * max(value.denominator.bit_length(), 200)
    return float(Fraction(math.isqrt((value.numerator << 2 * shift) // value.denominator), 1 << shift))


def _perceptron(case: Case, model: Any) -> list[Violation]:
    rows, own, _ = _rows(case)
    verdict, evidence, out = model.verdict_, model.verdict_.evidence, []
    outputs = 1 if max(own) < 2 else max(own) + 1
    intercept = case.params["fit_intercept"]
    truth = separation(_whole(rows, intercept), own, outputs)
    if verdict.kind == "budget":
        return []
    loose = verdict.kind == "separated" and not evidence["strict"]
    if not loose and (verdict.kind == "separated") != (truth == "complete"):
        return [Violation("separability", math.inf, f"{verdict.kind}, but {truth}")]
    if (
        abs(evidence["radius"] - max(_root(sum((v * v for v in row), Fraction(0))) for row in rows))
        > 1e-12 * evidence["radius"]
    ):
        out.append(Violation("radius", 1.0, f"radius {evidence['radius']!r} is not the longest row"))
    if verdict.kind == "not_separable":
        return [*out, *_gordan(evidence, case, rows, own, outputs)]
    found = _scores(evidence["w"], rows, own)
    if min(found) < 0 or (min(found) == 0 and not loose):
        out.append(Violation("separated", math.inf, "a row is not on its side"))
    length = _root(sum((Fraction(float(v)) ** 2 for row in evidence["w"] for v in row), Fraction(0)))
    margin = float(min(found)) / length if length else 0.0
    if abs(margin - evidence["margin"]) > 1e-9 * abs(margin) + 1e-300:
        out.append(Violation("margin", 1.0, f"margin {evidence['margin']!r}, but {margin!r}"))
    return [*out, *_widest(evidence, rows, own, outputs)]


def _gordan(
    evidence: dict[str, Any], case: Case, rows: list[list[Fraction]], own: list[int], outputs: int
) -> list[Violation]:
    """The rows of the witness, times whole weights, add up to zero."""
    keep = [i for i in range(case.X.shape[0]) if case.weight is None or case.weight[i] > 0]
    place = {i: at for at, i in enumerate(keep)}
    total = [Fraction(0)] * (len(rows[0]) * outputs)
    against = evidence.get("against") or [None] * len(evidence["rows"])
    for number, weight, k in zip(evidence["rows"], evidence["weights"], against, strict=True):
        i = place[int(number)]
        for j, v in enumerate(rows[i]):
            if outputs == 1:
                total[j] += int(weight) * v * (1 if own[i] else -1)
            else:
                total[own[i] * len(rows[0]) + j] += int(weight) * v
                total[int(k) * len(rows[0]) + j] -= int(weight) * v
    if any(total) or min(int(v) for v in evidence["weights"]) <= 0:
        return [Violation("witness", math.inf, "the weighted rows do not add up to zero")]
    return []


def _widest(evidence: dict[str, Any], rows: list[list[Fraction]], own: list[int], outputs: int) -> list[Violation]:
    """The maximum margin: reached by its own coefficients, and for few rows found anew from every set of rows."""
    wide = evidence.get("maximum_margin")
    if wide is None:
        return []
    found, out = _scores(wide["coef"], rows, own), []
    length = _root(sum((Fraction(float(v)) ** 2 for row in wide["coef"] for v in row), Fraction(0)))
    reached = float(min(found)) / length
    if reached < wide["gamma"] * (1 - 1e-9):
        out.append(Violation("margin", 1.0, f"gamma {wide['gamma']!r}, reached {reached!r}"))
    if evidence.get("within_bound") is not None and evidence["within_bound"] != (evidence["mistakes"] <= wide["bound"]):
        out.append(Violation("bound", 1.0, "within_bound contradicts its own figures"))
    z = gains(
        [[v.numerator * (_common(rows, j) // v.denominator) for j, v in enumerate(row)] for row in rows], own, outputs
    )
    if len(z) > 16 or len(z[0]) > 4:
        return out
    units = [_common(rows, j % len(rows[0])) for j in range(len(z[0]))]
    exactly = nearest([[Fraction(v, u) for v, u in zip(row, units, strict=True)] for row in z])
    if exactly is not None:
        gamma = _root(exactly)
        if not wide["gamma"] * (1 - 1e-9) <= gamma <= wide["gamma_upper"] * (1 + 1e-9):
            out.append(Violation("margin", 1.0, f"gamma {wide['gamma']!r} to {wide['gamma_upper']!r}, truth {gamma!r}"))
        elif wide["gamma_upper"] > wide["gamma"] * (1 + 1e-3):
            out.append(Violation("margin", 0.1, f"gamma_upper {wide['gamma_upper']!r} beside {wide['gamma']!r}"))
    return out


def _common(rows: list[list[Fraction]], j: int) -> int:
    return max(row[j].denominator for row in rows)


def nearest(z: list[list[Fraction]]) -> Fraction | None:
    """Return the squared distance from the origin to the hull of some points: the nearest point of some face of it.

    The widest margin of unit weights is that distance. Faces of up to as many points as there are dimensions are tried.
    """
    dot = [[sum((a * b for a, b in zip(p, q, strict=True)), Fraction(0)) for q in z] for p in z]
    for size in range(1, min(len(z), len(z[0])) + 1):
        for face in itertools.combinations(range(len(z)), size):
            system = [[fmpq(dot[i][j].numerator, dot[i][j].denominator) for j in face] + [fmpq(-1)] for i in face]
            system.append([fmpq(1)] * size + [fmpq(0)])
            try:
                found = fmpq_mat(system).solve(fmpq_mat(size + 1, 1, [0] * size + [1]))
            except ZeroDivisionError:
                continue
            share = [Fraction(int(found[k, 0].p), int(found[k, 0].q)) for k in range(size + 1)]
            if min(share[:size]) < 0:
                continue
            square = share[size]
            if all(
                sum((a * dot[i][k] for a, k in zip(share, face, strict=False)), Fraction(0)) >= square
                for i in range(len(z))
            ):
                return square
    return None
