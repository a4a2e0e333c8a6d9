"""The null fit, the yardstick of the relative gap: what can be reached without the columns whose worth is in question."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lineal.verify.arithmetic import Array, summed, times, total
from lineal.verify.centring import centred
from lineal.verify.charges import Charges
from lineal.verify.corners import CornerRows
from lineal.verify.dependence import NotProvenError
from lineal.verify.descent import descend
from lineal.verify.formulas import CORNERED, FLAT, RESIDUAL, Point, Problem, Training
from lineal.verify.pieces import least

CLASSES = ("logistic", "softmax", "sparsemax")
"""Losses that depend on scores alone, and hardly bend where those are large."""


def null_objective(problem: Training) -> float:
    """Return F of the best fit of the uncharged columns alone (of the intercept alone where nothing is charged).

    The other coefficients are zero, or as near to it as their bounds allow.
    """
    columns, charges = problem.uncharged, problem.charges
    if len(columns) == problem.columns:
        columns = np.arange(int(problem.intercept))
    rest = np.clip(np.zeros(problem.columns), charges.lower, charges.upper)[:, None].repeat(problem.outputs, axis=1)
    held = bool(np.any(rest))

    def narrow(block: Problem) -> Problem:
        offset = times(block.x, rest, block.offset) if held else block.offset
        return replace(block, x=block.x[:, columns], offset=offset)

    small = problem.changed(narrow, Charges.ridge(np.zeros(len(columns)))).kept()
    alone = len(columns) == 1 and problem.intercept
    return _best(small, alone=alone) + total(charges.terms(rest))


def _best(problem: Training, *, alone: bool) -> float:
    """Return the least loss that uncharged columns reach; ``alone``: they are one column of ones."""
    if alone:  # the constant makes up for what all offsets have in common
        common = _common(problem)
        problem = problem.changed(lambda block: replace(block, offset=block.offset - common), problem.charges)
    shares = np.asarray(sum(block.q @ block.y for block in problem.blocks()))
    level = not problem.extent.offset
    if alone and level and problem.loss == "crammer-singer":
        return _value(problem, (shares > 0.5).astype(np.float64))
    if problem.loss in CORNERED and problem.columns and not (alone and problem.outputs == 1):
        return _of_corners(problem.whole())
    if alone and level and problem.loss == "sparsemax":
        return _value(problem, shares)
    if alone and level and problem.loss in ("logistic", "softmax"):
        if problem.loss == "logistic":
            shares = np.hstack([shares, np.asarray(sum(block.q @ (1.0 - block.y) for block in problem.blocks()))])
        return _entropy(shares)
    if alone and problem.loss == "poisson":
        mean = float(shares[0])
        return _value(problem, np.array([_log_rate(problem, mean)])) if mean > 0.0 else 0.0
    if alone and problem.outputs == 1 and problem.loss != "squared":
        return _value(problem, np.array([_level(problem)]))
    coef = np.zeros((problem.columns, problem.outputs))
    if problem.intercept and problem.outputs == 1 and problem.loss != "squared":
        coef[0] = _level(problem)
    return _cooled(problem, coef).objective


def _entropy(shares: Array) -> float:
    """Return ``-sum share log share``, of shares that add up to one; 1 - share is the sum of the others.

    >>> round(_entropy(np.array([1.0, 1e-20])) * 1e20, 9)  # 1 + 20 log 10
    47.05170186
    """
    others = np.array([total(np.delete(shares, k)) for k in range(len(shares))])
    large = shares > 0.5
    logs = np.where(large, np.log1p(-np.where(large, others, 0.0)), np.log(np.where(shares > 0.0, shares, 1.0)))
    return -total(shares * logs)


def _common(problem: Training) -> Array:
    """Return, per output, a number that can be taken off every offset without rounding, as large as may be."""
    low, high = np.array(np.inf), np.array(-np.inf)
    for block in problem.blocks():
        low, high = np.minimum(low, block.offset.min(axis=0)), np.maximum(high, block.offset.max(axis=0))
    near = np.where(low > 0.0, high <= 2.0 * low, low >= 2.0 * high) & (low * high > 0.0)  # Sterbenz
    return np.where(near, low, 0.0)


def _log_rate(problem: Training, mean: float) -> float:
    """Return the best constant of Poisson loss, log(sum q y) - log(sum q e^offset)."""
    top = max(float(np.max(block.offset)) for block in problem.blocks())
    rate = sum(float(block.q @ np.exp(block.offset[:, 0] - top)) for block in problem.blocks())
    return float(np.log(mean) - top - np.log(rate))


def _cooled(problem: Training, coef: Array) -> Point:
    """Return the minimiser: where offsets are large, of T loss(eta / T) first, with a temperature T that falls.

    Scores of hundreds leave losses of classes no curvature to go by.
    """
    heat = max(problem.extent.offset, 1.0)

    def at_heat(t: float) -> Point:
        return problem.changed(lambda block: replace(block, offset=block.offset / t), problem.charges).at(coef / t)

    while problem.loss in CLASSES and heat > 8.0:
        heat /= 8.0
        coef = heat * _descended(at_heat(heat)).coef
    return _descended(centred(problem.at(coef), np.arange(len(coef) if problem.intercept else 0)))


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
    """Return the best loss of columns where the loss has corners: a row's loss is the largest of some pieces."""
    x, outputs = problem.x, problem.outputs
    if problem.loss == "crammer-singer":  # 1 + score less that of the own class, and 0 for the own class itself
        apart = np.eye(outputs)[None, :, :] - problem.y[:, None, :]
        at = problem.offset - np.sum(problem.offset * problem.y, axis=1, keepdims=True) + (1.0 - problem.y)
        return least(at, (apart[:, :, :, None] * x[:, None, None, :]).reshape(len(x), outputs, -1), problem.q)
    (_, above, up), (_, below, down) = CornerRows(problem.loss, problem.y, problem.offset, problem.parameter).sides
    at = np.hstack([np.zeros_like(above), up * above, down * below])
    return least(at, np.stack([0.0 * x, up * x, -down * x], axis=1), problem.q)


def _value(problem: Training, scores: Array) -> float:
    parts = (total(block.q * block.at_scores(scores + block.offset).value) for block in problem.blocks())
    return summed(parts)


def _level(problem: Training) -> float:
    """Return the constant where the summed slope changes sign; where it never does, one far out.

    F is convex, so that an end of the interval is within its slope times the width of the best; the search ends where that
    is less than doubles can tell.
    """
    wide = problem.parameter + (1.0 if problem.loss in FLAT else 800.0)
    left, right = math.inf, -math.inf
    for block in problem.blocks():
        at = (block.y if problem.loss in RESIDUAL else np.zeros(1)) - block.offset
        left, right = min(left, float(np.min(at))), max(right, float(np.max(at)))
    left, right = left - wide, right + wide
    low, high, floor = -math.inf, math.inf, 0.0  # the slopes at both ends, once they are known
    for turn in range(2000):
        if turn % 8 == 7:
            known = [end for end, slope in ((left, low), (right, high)) if math.isfinite(slope)]
            floor = 1e-15 * min(_value(problem, np.array([end])) for end in known)
        middle = 0.5 * (left + right)
        if turn % 3 and math.isfinite(high - low):  # where the line through both ends is zero
            middle = left - low * ((right - left) / (high - low)) if low < 0.0 < high else middle
        if not left < middle < right:
            middle = 0.5 * (left + right)
        if not left < middle < right or min(abs(low), abs(high)) * (right - left) <= floor:
            break
        slope = _pull(problem, middle)
        left, low, right, high = (left, low, middle, slope) if slope > 0.0 else (middle, slope, right, high)
    return min(left, right, key=lambda constant: _value(problem, np.array([constant])))


def _pull(problem: Training, constant: float) -> float:
    """Return the derivative of the loss by a constant."""
    parts = (total(block.q[:, None] * block.at_scores(constant + block.offset).slope) for block in problem.blocks())
    return summed(parts)
