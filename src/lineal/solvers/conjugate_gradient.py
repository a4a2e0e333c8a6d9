"""Conjugate gradient: the linear one where F is quadratic, the nonlinear one of Polak and Ribiere elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.problem import Evaluation, Problem
from lineal.problem.standardized import standardize
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step, kinks

SLOPE_SHARE: Final = 0.1
"""A line is searched until its slope is below this share of the first: directions stay nearly conjugate."""


@dataclass(frozen=True)
class ConjugateGradient(Solver):
    """``d <- -g + beta d``, ``b <- b + t d``, with ``beta = max(0, g.(g - g_before) / |g_before|^2)``.

    Where F is quadratic, ``t = |g.d| / d.Hd`` is exact and this is the linear method, which ends after as many steps as
    there are columns, but for rounding. Elsewhere that is where a line search begins. Columns are ``scaled`` and centred
    unless that is declined: then it is the textbook's, from zero.
    """

    scaled: bool = True
    name: ClassVar[str] = "conjugate-gradient"

    @property
    def literal(self) -> bool:  # type: ignore[override]
        """Whether it is the textbook's."""
        return not self.scaled

    def declines(self, problem: Problem) -> str | None:
        """Take every smooth problem."""
        return kinks(problem)

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield one step per line."""
        standardized = standardize(problem) if self.scaled else None
        inner = problem if standardized is None else standardized.problem
        coef = start if standardized is None else standardized.outer_coef(start)
        evaluation = inner.evaluate(coef)
        direction, least = -evaluation.gradient, np.inf
        while True:
            outer = coef if standardized is None else standardized.inner_coef(coef)
            square = float(np.sum(evaluation.gradient**2))
            curved = inner.curve(coef, direction)
            bend = float(np.sum(direction * curved))
            length = float(np.sum(direction**2))
            if bend > 0.0:
                least = min(least, bend / length)
            yield Step(outer, evaluation.value, 0.5 * square / least if square else 0.0, problem.passes)
            slope = float(np.sum(evaluation.gradient * direction))
            if not slope < 0.0:
                return
            lower = _along(inner, coef, evaluation, direction, -slope / bend if bend > 0.0 else 1.0)
            if lower is None:
                return
            coef, following = lower
            turned = following.gradient - evaluation.gradient
            beta = max(0.0, float(np.sum(following.gradient * turned)) / square)
            direction = beta * direction - following.gradient
            if float(np.sum(direction * following.gradient)) >= 0.0:
                direction = -following.gradient
            evaluation = following


def _along(
    problem: Problem, coef: Array, evaluation: Evaluation, direction: Array, step: float
) -> tuple[Array, Evaluation] | None:
    """Return where F has nearly no slope along a direction; None where rounding hides that F falls."""
    slope = float(np.sum(evaluation.gradient * direction))
    lower, upper = 0.0, np.inf
    for _ in range(50):
        trial = coef + step * direction
        there = problem.evaluate(trial)
        if problem.loss.quadratic:
            return (trial, there) if there.value < evaluation.value else None
        there_slope = float(np.sum(there.gradient * direction))
        if not there.value <= evaluation.value + 1e-4 * step * slope or there_slope > -SLOPE_SHARE * slope:
            upper = step
        elif there_slope < SLOPE_SHARE * slope:
            lower = step
        else:
            return trial, there
        step = 0.5 * (lower + upper) if np.isfinite(upper) else 2.0 * lower
    return None
