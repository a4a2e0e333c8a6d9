"""The lowest point along directions in which no row has curvature."""

from __future__ import annotations

import numpy as np

from lineal.algebra.factor import Factor
from lineal.ground.arrays import Array
from lineal.problem.problem import Evaluation, Problem


def lowest_along_flat(
    problem: Problem, coef: Array, evaluation: Evaluation, factor: Factor, enough: float = 1e-15
) -> tuple[Array, Evaluation] | None:
    """Return the lowest point along the part of the gradient without curvature, or None where F gains nothing there.

    The gain is not proportional to the slope, which may be below the last digit of F: a row of weight 1e-10 pulls no
    harder than that, but along the whole distance on which no other row has curvature. So the line search finds the
    zero of the slope, which increases along the direction, and does not compare values of F.
    """
    direction = factor.unbent(evaluation.gradient)
    width = int(factor.columns[-1]) + 1

    def at(length: float) -> tuple[Array, Evaluation, float]:
        trial = coef - length * direction
        trial_evaluation = problem.evaluate(trial, hessian=width)
        return trial, trial_evaluation, -float(np.sum(direction * trial_evaluation.gradient))

    first = -float(np.sum(direction * evaluation.gradient))
    error = float(np.sum(np.abs(direction) * problem.gradient_error(evaluation.slope)))
    if not first < -error:
        return None
    size = float(np.max(problem.moments.largest @ np.abs(direction)))
    low, high, slope_low = 0.0, 1.0 / size, first  # no score moves by more than one
    best = at(high)
    for _ in range(200):
        if not best[2] < -error:
            break
        low, high, slope_low = high, 2.0 * high, best[2]
        best = at(high)
    slope_high = best[2]
    for turn in range(60):
        if abs(best[2]) <= max(error, 1e-3 * abs(first)):
            break
        middle = 0.5 * (low + high)
        if turn % 2 == 0 and slope_low < 0.0 < slope_high:  # where the line through both ends is zero
            middle = low - slope_low * ((high - low) / (slope_high - slope_low))
        if not low < middle < high:
            break
        best = at(middle)
        if best[2] < 0.0:
            low, slope_low = middle, best[2]
        else:
            high, slope_high = middle, best[2]
    trial, lowest, _ = best
    gains = -first * high > enough * abs(evaluation.value)
    if gains and lowest.value <= evaluation.value + evaluation.error + lowest.error:
        return trial, lowest
    return None
