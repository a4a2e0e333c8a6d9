"""The null fit, the yardstick of the relative gap: what can be reached without the columns whose worth is in question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lineal.verify.arithmetic import Array, times, total
from lineal.verify.centring import centred
from lineal.verify.charges import Charges
from lineal.verify.dependence import NotProvenError
from lineal.verify.descent import descend
from lineal.verify.formulas import CORNERED, FLAT, RESIDUAL, Point, Problem

CLASSES = ("logistic", "softmax", "sparsemax")
"""Losses that depend on scores alone, and hardly bend where those are large."""

COLD = 2.0**-40
"""The temperature at which a smooth loss stands for one with corners."""


def null_objective(problem: Problem) -> float:
    """Return F of the best fit of the uncharged columns alone (of the intercept alone where nothing is charged).

    The other coefficients are zero, or as near to it as their bounds allow. For a loss with corners it is the intercept
    alone in any case.
    """
    columns, charges = problem.uncharged, problem.charges
    if len(columns) == problem.x.shape[1] or problem.loss in CORNERED:
        columns = np.arange(int(problem.intercept))
    rest = np.clip(np.zeros(problem.x.shape[1]), charges.lower, charges.upper)[:, None].repeat(problem.outputs, axis=1)
    small = replace(
        problem,
        x=problem.x[:, columns],
        offset=times(problem.x, rest, problem.offset),
        charges=Charges.ridge(np.zeros(len(columns))),
    )
    alone = len(columns) == 1 and problem.intercept
    return _best(small, alone=alone) + total(charges.terms(rest))


def _best(problem: Problem, *, alone: bool) -> float:
    """Return the least loss that uncharged columns reach; ``alone``: they are one column of ones."""
    if alone:  # the constant makes up for what all offsets have in common
        problem = replace(problem, offset=problem.offset - _common(problem.offset))
    shares = problem.q @ problem.y
    level = not np.any(problem.offset)
    if alone and level and problem.loss == "crammer-singer":
        return _value(problem, (shares > 0.5).astype(np.float64))
    if alone and problem.loss == "crammer-singer":
        return _of_corners(problem)
    if alone and level and problem.loss == "sparsemax":
        return _value(problem, shares)
    if alone and level and problem.loss in ("logistic", "softmax"):
        shares = np.hstack([shares, 1.0 - shares]) if problem.loss == "logistic" else shares
        return -total(shares * np.log(np.where(shares > 0.0, shares, 1.0)))
    if alone and problem.loss == "poisson":
        mean = float(shares[0])
        return _value(problem, np.array([_log_rate(problem)])) if mean > 0.0 else 0.0
    if alone and problem.outputs == 1 and problem.loss != "squared":
        return _value(problem, np.array([_level(problem)]))
    coef = np.zeros((problem.x.shape[1], problem.outputs))
    if problem.intercept and problem.outputs == 1 and problem.loss != "squared":
        coef[0] = _level(problem)
    return _cooled(problem, coef).objective


def _common(offset: Array) -> Array:
    """Return, per output, a number that can be taken off every offset without rounding, as large as may be."""
    low, high = np.min(offset, axis=0), np.max(offset, axis=0)
    near = np.where(low > 0.0, high <= 2.0 * low, low >= 2.0 * high) & (low * high > 0.0)  # Sterbenz
    return np.where(near, low, 0.0)


def _log_rate(problem: Problem) -> float:
    """Return the best constant of Poisson loss, log(sum q y) - log(sum q e^offset)."""
    top = float(np.max(problem.offset))
    with np.errstate(divide="ignore"):
        rate = np.log(problem.q @ problem.y)[0]
    return float(rate - top - np.log(problem.q @ np.exp(problem.offset[:, 0] - top)))


def _cooled(problem: Problem, coef: Array, coolest: float = 1.0) -> Point:
    """Return the minimiser: where offsets are large, of T loss(eta / T) first, with a temperature T that falls.

    Scores of hundreds leave losses of classes no curvature to go by.
    """
    heat = max(float(np.max(np.abs(problem.offset), initial=0.0)), 1.0)
    while problem.loss in CLASSES and heat > 8.0 * coolest:
        heat /= 8.0
        coef = heat * _descended(replace(problem, offset=problem.offset / heat).at(coef / heat)).coef
    last = replace(problem, offset=problem.offset / coolest).at(coef / coolest)
    return _descended(centred(last, np.arange(len(coef) if problem.intercept else 0)))


def _descended(point: Point) -> Point:
    """Return where Newton steps lead."""
    for _ in range(2000 if point.coef.size else 0):
        try:
            there = descend(point)
        except NotProvenError:
            break
        done = point.objective - there.objective <= 1e-15 * abs(there.objective)
        point = there
        if done:
            break
    return point


def _of_corners(problem: Problem) -> float:
    """Return the best loss of Crammer and Singer for constant scores, to ``COLD log(classes)``.

    The largest of some numbers is at most T log sum e^(number / T), and at least that less T log(how many).
    """
    cost = problem.offset + (1.0 - problem.y)
    point = _cooled(replace(problem, loss="softmax", offset=cost), np.zeros((1, problem.outputs)), COLD)
    return _value(problem, COLD * point.coef[0])


def _value(problem: Problem, scores: Array) -> float:
    return total(problem.q * problem.rows(scores + problem.offset).value)


def _level(problem: Problem) -> float:
    """Return the constant where the summed slope changes sign; where it never does, one far out."""
    at = problem.y if problem.loss in RESIDUAL else np.zeros(1)
    wide = problem.parameter + (1.0 if problem.loss in FLAT else 800.0)
    left, right = float(np.min(at - problem.offset)) - wide, float(np.max(at - problem.offset)) + wide
    for _ in range(2000):
        middle = 0.5 * (left + right)
        if not left < middle < right:
            break
        slope = total(problem.q[:, None] * problem.rows(middle + problem.offset).slope)
        left, right = (left, middle) if slope > 0.0 else (middle, right)
    return min(left, right, key=lambda constant: _value(problem, np.array([constant])))
