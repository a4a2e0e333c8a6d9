"""Dual points that the unpenalized columns and the penalty allow, and the gap they prove, with all that rounding may hide."""

from __future__ import annotations

import math

import numpy as np

from lineal.algebra.factor import Factor
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.problem.passes import Dual
from lineal.problem.problem import EPS, Evaluation, Problem


@dataclass(frozen=True)
class Feasible:
    """A dual point ``scale (slope - W X shift)`` that the unpenalized columns allow but for a step of size ``norm``.

    ``gradient`` is its gradient, exactly zero where that step would settle it, and known to ``error``;
    ``slip`` is how far the step may move a score, ``unbounded_dual`` says where else the gradient must be settled, None
    for nowhere.
    """

    dual: Dual
    scale: float
    norm: float
    slip: float
    gradient: Array
    error: Array
    unbounded_dual: Mask | None


def feasible(
    problem: Problem, coef: Array, here: Evaluation, shift: Array, inner: Factor | None, tied: Mask, goal: float = 0.0
) -> Feasible:
    """Return the dual point of a step, improved until the unpenalized columns allow it to rounding, scaled if need be.

    One that proves a gap of ``goal`` already is good enough.
    """
    gradient_error_known = None
    if shift.any():
        dual = problem.dual(coef, shift)
    else:
        gradient_error_known = here.gradient_error
        # Without a step theta is the slope itself, of which all is known.
        dual = Dual(0.0, 0.0, here.gradient - problem.penalty.gradient(coef), 0.0, here.slope)
    for _ in range(2):
        if inner is None or dual.largest_shift > problem.loss.max_shift:
            break
        left = inner.norm(dual.gradient)
        gradient_error = float((problem.gradient_error(dual.slope_sum) * inner.spread()).sum())
        if left <= max(1e-9 * math.sqrt(max(dual.high, 0.0)), gradient_error):
            break
        if goal > 0.0 and shift.any() and problem.penalty.smooth:
            gap = add_up(problem, coef, settled(problem, coef, dual, 1.0, inner, tied))
            if gap is not None and gap <= goal:
                break
        moved = shift + inner.solve(dual.gradient)
        better = problem.dual(coef, moved)
        if not inner.norm(better.gradient) < 0.5 * left:
            break
        shift, dual, gradient_error_known = moved, better, None
    point = settled(problem, coef, dual, 1.0, inner, tied, gradient_error_known)
    if problem.penalty.smooth:
        return point
    # What the penalty forbids is scaled down; twice the error is left as room.
    scale = problem.penalty.shrink(point.gradient + np.copysign(2.0 * point.error, point.gradient))
    if scale == 1.0 or (point.unbounded_dual is not None and np.any(point.unbounded_dual)):
        return point
    return settled(problem, coef, problem.dual(coef, shift, scale, dual), scale, inner, tied, gradient_error_known)


def settled(
    problem: Problem,
    coef: Array,
    dual: Dual,
    scale: float,
    inner: Factor | None,
    tied: Mask,
    gradient_error: Array | None = None,
) -> Feasible:
    """Bound the step that would bring the tied gradients to exactly zero, and what it does to the others.

    ``gradient_error`` bounds the error of a gradient that was not made from rows.
    """
    error, norm, slip = (
        problem.gradient_error(dual.slope_sum) + (0.0 if gradient_error is None else gradient_error),
        0.0,
        0.0,
    )
    if inner is not None:
        spread = inner.spread()
        norm = inner.norm(dual.gradient) + float((error * spread).sum())
        slip = float((problem.moments.largest @ spread).max()) * norm
        # That step would move the gradient of column j by X_j' S W X_U tau / S <= |X_j|_W |X_U tau|_W (Cauchy-Schwarz).
        error = error + norm * np.sqrt(_steep(problem, dual, scale))[:, None]
    gradient, error = np.where(tied, 0.0, dual.gradient), np.where(tied, 0.0, error)
    more = None if problem.penalty.smooth else opened(problem, coef, gradient, error) & ~tied
    return Feasible(dual, scale, norm, slip, gradient, error, more)


def add_up(problem: Problem, coef: Array, point: Feasible, margin: float | None = None) -> float | None:
    """Return the gap a dual point proves, with all that rounding may have hidden; None where that is too much.

    ``margin`` is how far the dual point may still be moved without leaving the domain, where that is known.
    """
    dual, norm = point.dual, point.norm
    if point.slip > (problem.loss.dual_margin * point.scale if margin is None else margin):
        return None
    rows = max(dual.high + dual.low, 0.0)
    gap = rows + problem.penalty.mismatch(coef, point.gradient) + 2.0 * (math.sqrt(3.0 * rows) * norm + norm * norm)
    if point.scale < 1.0:
        # Far from the slopes the mismatch is steeper: probabilities y + a (p - y) have scores that differ from those of p
        # by at most |log a| + sqrt((1 - a) / a) in the norm of the curvature.
        apart = np.sqrt((1.0 - point.scale) / point.scale) - np.log(point.scale)
        gap += norm * apart * math.sqrt(max(1.0, _steepest(problem, dual, point.scale))) + norm * norm / point.scale
    return float(gap * (1.0 + 64 * EPS) + _rounding(problem, coef, point, rows))


def _rounding(problem: Problem, coef: Array, point: Feasible, rows: float) -> float:
    """Return what rounding errors of scores, sums and gradients may have hidden from the gap."""
    dual = point.dual
    total = problem.penalty.mismatch_error(coef, point.gradient, point.error)
    score_error = problem.score_error(coef)
    total += _steepest(problem, dual, point.scale) * float(
        (score_error * (dual.largest_shift + 0.5 * score_error)).sum()
    )
    if point.scale < 1.0:
        total += (1.0 - point.scale) / point.scale * float(score_error @ dual.slope_sum)
    return total + 16 * EPS * (rows + (dual.largest_shift if problem.loss.unbounded else 0.0))


def _steepest(problem: Problem, dual: Dual, scale: float) -> float:
    """Return a bound on the mean curvature, (1/S) sum s W."""
    moments, steepest = problem.moments, problem.loss.curvature_bound
    if not problem.loss.unbounded:
        return steepest
    size = 2.0 * float(np.sum(dual.slope_sum)) / scale
    if math.isfinite(steepest):
        # probabilities: W <= |slope|, and |theta - slope| <= |slope| / 2 with |x t| <= max_shift
        return min(steepest, 1.01 * size)
    # Poisson: W = e^eta, and y + theta = W (1 - x t) with |x t| <= 1/2
    return 2.0 * float(np.sum(moments.statistic) / moments.weight_sum) + size


def _steep(problem: Problem, dual: Dual, scale: float) -> Array:
    """Return a bound on the mean of curvature times x_j^2, for every column."""
    moments, loss = problem.moments, problem.loss
    if not math.isfinite(loss.curvature_bound):
        return np.asarray(1.001 * _steepest(problem, dual, scale) * moments.largest**2)
    square = 1.001 * loss.curvature_bound * moments.square
    if not loss.unbounded:
        return square
    return np.minimum(square, 1.001 * _steepest(problem, dual, scale) * moments.largest**2)


def opened(problem: Problem, coef: Array, gradient: Array, error: Array | float = 0.0) -> Mask:
    """Return the penalized coefficients that a dual point has to treat like unpenalized ones."""
    return np.asarray(
        problem.penalty.unbounded_dual(coef, gradient - error) | problem.penalty.unbounded_dual(coef, gradient + error)
    )
