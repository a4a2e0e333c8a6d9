"""Dual points that the uncharged columns and the penalty allow, and the gap they prove, with all that rounding may hide."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lineal.algebra.factor import Factor
from lineal.ground.records import dataclass
from lineal.problem.passes import Dual
from lineal.problem.problem import EPS, Evaluation, Problem

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Feasible:
    """A dual point ``scale (slope - W X shift)`` that the uncharged columns allow but for a step of size ``norm``.

    ``gradient`` is its gradient, exactly zero where that step would settle it, and known to ``error``;
    ``slip`` is how far the step may move a score, ``open`` says where else the gradient must be settled, None for nowhere.
    """

    dual: Dual
    scale: float
    norm: float
    slip: float
    gradient: Array
    error: Array
    open: Mask | None


def feasible(
    problem: Problem, coef: Array, here: Evaluation, shift: Array, inner: Factor | None, tied: Mask, goal: float = 0.0
) -> Feasible:
    """Return the dual point of a step, improved until the uncharged columns allow it to rounding, scaled if need be.

    One that proves a gap of ``goal`` already is good enough.
    """
    doubt = None
    if shift.any():
        dual = problem.dual(coef, shift)
    else:
        doubt = here.noise
        # Without a step theta is the slope itself, of which all is known.
        dual = Dual(0.0, 0.0, here.gradient - problem.penalty.gradient(coef), 0.0, here.slope)
    for _ in range(2):
        if inner is None or dual.reach > problem.loss.reach:
            break
        left = inner.norm(dual.gradient)
        noise = float((problem.grain(dual.slope_sum) * inner.spread()).sum())
        if left <= max(1e-9 * math.sqrt(max(dual.high, 0.0)), noise):
            break
        if goal > 0.0 and shift.any() and problem.penalty.smooth:
            gap = add_up(problem, coef, settled(problem, coef, dual, 1.0, inner, tied))
            if gap is not None and gap <= goal:
                break
        moved = shift + inner.solve(dual.gradient)
        better = problem.dual(coef, moved)
        if not inner.norm(better.gradient) < 0.5 * left:
            break
        shift, dual, doubt = moved, better, None
    found = settled(problem, coef, dual, 1.0, inner, tied, doubt)
    if problem.penalty.smooth:
        return found
    # What the penalty forbids is scaled down; twice the error is left as room.
    scale = problem.penalty.shrink(found.gradient + np.copysign(2.0 * found.error, found.gradient))
    if scale == 1.0 or (found.open is not None and np.any(found.open)):
        return found
    return settled(problem, coef, problem.dual(coef, shift, scale, dual), scale, inner, tied, doubt)


def settled(
    problem: Problem,
    coef: Array,
    dual: Dual,
    scale: float,
    inner: Factor | None,
    tied: Mask,
    noise: Array | None = None,
) -> Feasible:
    """Bound the step that would bring the tied gradients to exactly zero, and what it does to the others.

    ``noise`` bounds the error of a gradient that was not made from rows.
    """
    error, norm, slip = problem.grain(dual.slope_sum) + (0.0 if noise is None else noise), 0.0, 0.0
    if inner is not None:
        spread = inner.spread()
        norm = inner.norm(dual.gradient) + float((error * spread).sum())
        slip = float((problem.moments.largest @ spread).max()) * norm
        # That step would move the gradient of column j by X_j' S W X_U tau / S <= |X_j|_W |X_U tau|_W (Cauchy-Schwarz).
        error = error + norm * np.sqrt(_steep(problem, dual))[:, None]
    gradient, error = np.where(tied, 0.0, dual.gradient), np.where(tied, 0.0, error)
    more = None if problem.penalty.smooth else opened(problem, coef, gradient, error) & ~tied
    return Feasible(dual, scale, norm, slip, gradient, error, more)


def add_up(problem: Problem, coef: Array, found: Feasible) -> float | None:
    """Return the gap a dual point proves, with all that rounding may have hidden; None where that is too much."""
    dual, norm = found.dual, found.norm
    if found.slip > problem.loss.room * found.scale:
        return None
    rows = max(dual.high + dual.low, 0.0)
    gap = rows + problem.penalty.mismatch(coef, found.gradient) + 2.0 * (math.sqrt(3.0 * rows) * norm + norm * norm)
    if found.scale < 1.0:
        # Far from the slopes the mismatch is steeper: probabilities y + a (p - y) have scores that differ from those of p
        # by at most |log a| + sqrt((1 - a) / a) in the norm of the curvature.
        apart = np.sqrt((1.0 - found.scale) / found.scale) - np.log(found.scale)
        gap += norm * apart * math.sqrt(max(1.0, _steepest(problem, dual))) + norm * norm / found.scale
    return float(gap * (1.0 + 64 * EPS) + _rounding(problem, coef, found, rows))


def _rounding(problem: Problem, coef: Array, found: Feasible, rows: float) -> float:
    """Return what rounding errors of scores, sums and gradients may have hidden from the gap."""
    dual = found.dual
    total = problem.penalty.blur(coef, found.gradient, found.error)
    blur = problem.blur(coef)
    total += _steepest(problem, dual) * float((blur * (dual.reach + 0.5 * blur)).sum())
    if found.scale < 1.0:
        total += (1.0 - found.scale) / found.scale * float(blur @ dual.slope_sum)
    return total + 16 * EPS * (rows + (dual.reach if problem.loss.unbounded else 0.0))


def _steepest(problem: Problem, dual: Dual) -> float:
    """Return a bound on the mean curvature, (1/S) sum s W."""
    moments, steepest = problem.moments, problem.loss.curvature_bound
    if math.isfinite(steepest):
        return steepest
    # Poisson: W = e^eta, and y + theta = W (1 - x t) with |x t| <= 1/2
    return 2.0 * float(np.sum(moments.statistic) / moments.weight_sum + np.sum(dual.slope_sum))


def _steep(problem: Problem, dual: Dual) -> Array:
    """Return a bound on the mean of curvature times x_j^2, for every column."""
    moments, finite = problem.moments, math.isfinite(problem.loss.curvature_bound)
    square = moments.square if finite else moments.largest**2
    return np.asarray(1.001 * _steepest(problem, dual) * square)


def opened(problem: Problem, coef: Array, gradient: Array, error: Array | float = 0.0) -> Mask:
    """Return the charged coefficients that a dual point has to treat like uncharged ones."""
    return np.asarray(problem.penalty.open(coef, gradient - error) | problem.penalty.open(coef, gradient + error))
