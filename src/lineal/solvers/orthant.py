"""The orthant-wise form of L-BFGS: the l1 norm is linear in the orthant that a step stays in."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from lineal.ground.arrays import Array
from lineal.problem.problem import Evaluation, Problem
from lineal.problem.standardized import standardize
from lineal.solvers.curvature import product
from lineal.solvers.solver import Step


def steps(problem: Problem, start: Array, memory: int) -> Iterator[Step]:
    """Yield one step per line search, each within the orthant that the steepest descent points into."""
    standardized = standardize(problem)
    inner, penalty = standardized.problem, standardized.problem.penalty
    rate = penalty.linear[:, None]
    coef = standardized.outer_coef(start)
    evaluation = inner.evaluate(coef)
    pairs: deque[tuple[Array, Array]] = deque(maxlen=memory)
    while True:
        smooth = _smooth(inner, coef, evaluation, rate)
        steepest = _pseudo(smooth, coef, rate)
        direction = -product(pairs, steepest)
        direction[direction * steepest >= 0.0] = 0.0
        slope = float(np.sum(direction * steepest))
        yield Step(standardized.inner_coef(coef), evaluation.value, -0.5 * slope, problem.passes)
        if not slope < 0.0:
            return
        orthant = np.where(coef != 0.0, np.sign(coef), -np.sign(steepest))
        step = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(steepest).sum()))
        for _ in range(50):
            trial = coef + step * direction
            trial[(rate > 0.0) & (trial * orthant < 0.0)] = 0.0
            trial_evaluation = inner.evaluate(trial)
            if trial_evaluation.value <= evaluation.value + 1e-4 * float(np.sum(steepest * (trial - coef))):
                break
            step *= 0.5
        else:
            return
        moved, turned = trial - coef, _smooth(inner, trial, trial_evaluation, rate) - smooth
        if float(np.sum(moved * turned)) > 0.0:
            pairs.append((moved, turned))
        coef, evaluation = trial, trial_evaluation


def _smooth(problem: Problem, coef: Array, evaluation: Evaluation, rate: Array) -> Array:
    """Return the gradient of F without the l1 norm."""
    return evaluation.gradient - np.where(problem.penalty.moving(coef), rate * np.sign(coef), 0.0)


def _pseudo(smooth: Array, coef: Array, rate: Array) -> Array:
    """Return the gradient of steepest descent: at zero the side that descends, if one does."""
    right, left = smooth + rate, smooth - rate
    at_zero = np.where(right < 0.0, right, np.where(left > 0.0, left, 0.0))
    return np.where(coef == 0.0, at_zero, smooth + rate * np.sign(coef))
