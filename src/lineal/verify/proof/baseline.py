"""The baseline (null) fit, the yardstick of the relative gap: what the unpenalized columns reach alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lineal.verify.arithmetic import Array, summed, times, total
from lineal.verify.problem.centering import centered
from lineal.verify.problem.dependence import NotProvenError
from lineal.verify.problem.formulas import Point, Problem, Training
from lineal.verify.problem.penalties import Penalty
from lineal.verify.search.descent import descend, walk
from lineal.verify.search.pieces import least


def baseline_objective(problem: Training) -> float:
    """Return F of the best fit of the unpenalized columns alone (of the intercept alone where nothing is penalized).

    The other coefficients are zero, or as near to it as their bounds allow.
    """
    columns, penalty = problem.unpenalized, problem.penalty
    if len(columns) == problem.columns:
        columns = np.arange(int(problem.intercept))
    rest = np.clip(np.zeros(problem.columns), penalty.lower, penalty.upper)[:, None].repeat(problem.outputs, axis=1)
    held = bool(np.any(rest))

    def narrow(block: Problem) -> Problem:
        offset = times(block.x, rest, block.offset) if held else block.offset
        return replace(block, x=block.x[:, columns], offset=offset)

    constant = problem.intercept and 0 in columns  # (an intercept that is penalized is not among them)
    small = replace(problem.changed(narrow, Penalty.ridge(np.zeros(len(columns)))).kept(), intercept=constant)
    return _best(small, alone=constant and len(columns) == 1) + total(penalty.terms(rest))


def _best(problem: Training, *, alone: bool) -> float:
    """Return the least loss that unpenalized columns reach; ``alone``: they are one column of ones."""
    if alone:  # the constant makes up for what all offsets have in common
        common = _common(problem)
        problem = problem.changed(lambda block: replace(block, offset=block.offset - common), problem.penalty)
    shares = np.asarray(sum(block.q @ block.y for block in problem.blocks()))
    level = not problem.extent.offset
    constant = problem.loss.constant(shares)
    if alone and level and constant is not None:
        return _value(problem, constant)
    if problem.loss.cornered and problem.columns and not (alone and problem.outputs == 1):
        return _of_corners(_about_means(problem, np.zeros((problem.columns, problem.outputs))).problem.whole())
    if alone and level and problem.loss.entropy:
        if problem.outputs == 1:
            shares = np.hstack([shares, np.asarray(sum(block.q @ (1.0 - block.y) for block in problem.blocks()))])
        return _entropy(shares)
    if alone and problem.loss.exponential:
        mean = float(shares[0])
        return _value(problem, np.array([_log_rate(problem, mean)])) if mean > 0.0 else 0.0
    if alone and problem.outputs == 1 and not problem.loss.quadratic:
        return _value(problem, np.array([_level(problem)]))
    coef = np.zeros((problem.columns, problem.outputs))
    if problem.intercept and problem.outputs == 1 and not problem.loss.quadratic:
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
    """Return the minimizer: where offsets are large, of T loss(eta / T) first, with a temperature T that falls.

    Scores of hundreds leave losses of classes no curvature to go by.
    """
    heat = max(problem.extent.offset, 1.0)

    def at_heat(t: float) -> Point:
        return problem.changed(lambda block: replace(block, offset=block.offset / t), problem.penalty).at(coef / t)

    while problem.loss.cooled and heat > 8.0:
        heat /= 8.0
        coef = heat * _descended(at_heat(heat)).coef
    return _descended(_about_means(problem, coef))


def _about_means(problem: Training, coef: Array) -> Point:
    """Return a point in columns less their means where these are far from zero, if an intercept can make up for them."""
    return centered(problem.at(coef), np.arange(len(coef) if problem.intercept else 0))


def _descended(point: Point) -> Point:
    """Return where Newton steps lead, and walks where no row bends."""
    for _ in range(2000 if point.coef.size else 0):
        for search in (walk, descend):
            lower = _lower(search, point)
            if point.objective - lower.objective > 1e-15 * abs(lower.objective):
                break
        else:
            return lower
        point = lower
    return point


def _lower(search: Callable[[Point], Point], point: Point) -> Point:
    """Return what a search finds, or the point itself."""
    try:
        return search(point)
    except NotProvenError:
        return point


def _of_corners(problem: Problem) -> float:
    """Return the best loss of columns where the loss has corners: a row's loss is the largest of some pieces."""
    return least(*problem.at_scores(problem.offset).pieces(_apart(problem.x)), problem.q)


def _apart(x: Array) -> Array:
    """Return columns of the same span: each that is nearly a combination of those before it less that combination.

    It is made with twice the digits. Where less than 1e-14 is left, nothing but rounding may be, and the column stays as it is.

    >>> bool(np.ptp(_apart(np.array([[1.0, 1.0 + 2.0**-30], [2.0, 2.0], [3.0, 3.0]]))[:, 1]) < 2.0**-29)
    True
    """
    size = np.linalg.norm(x, axis=0)
    unit, out = x / np.where(size > 0.0, size, 1.0), x.copy()
    for j in range(1, x.shape[1]):
        share = np.linalg.lstsq(unit[:, :j], unit[:, j], rcond=1e-15)[0]
        turn = np.zeros((x.shape[1], 1))
        turn[j], turn[:j, 0] = 1.0, -share * size[j] / np.where(size[:j] > 0.0, size[:j], 1.0)
        rest = times(x, turn)[:, 0]
        if 1e-14 * size[j] < np.linalg.norm(rest) <= 1e-3 * size[j]:
            out[:, j] = rest
    return out


def _value(problem: Training, scores: Array) -> float:
    parts = (total(block.q * block.at_scores(scores + block.offset).value) for block in problem.blocks())
    return summed(parts)


def _level(problem: Training) -> float:
    """Return the constant where the summed slope changes sign; where it never does, one far out.

    F is convex, so that an end of the interval is within its slope times the width of the best; the search ends where that
    is less than doubles can tell.
    """
    wide = problem.parameter + (1.0 if problem.loss.flat else 800.0)
    left, right = math.inf, -math.inf
    for block in problem.blocks():
        at = (block.y if problem.loss.residual else np.zeros(1)) - block.offset
        left, right = min(left, float(np.min(at))), max(right, float(np.max(at)))
    left, right = left - wide, right + wide
    low, high, floor = -math.inf, math.inf, 0.0  # the slopes at both ends, once they are known
    for turn in range(2000):
        if turn % 8 == 7:
            ends = [end for end, slope in ((left, low), (right, high)) if math.isfinite(slope)]
            floor = 1e-15 * min(_value(problem, np.array([end])) for end in ends)
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
