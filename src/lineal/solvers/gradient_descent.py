"""Gradient descent in centred and scaled columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.problem.problem import Problem
from lineal.problem.standardized import standardize
from lineal.solvers.solver import NO_GOAL, Array, Goal, Solver, Step, kinks


@dataclass(frozen=True)
class GradientDescent(Solver):
    """``b <- b - t g`` with a fixed step ``t``, or, for ``step=None``, one found by halving and cautious growth.

    ``decay`` makes a given step ``t / (1 + decay * number)``.
    """

    step: float | None = None
    decay: float = 0.0
    name: ClassVar[str] = "gradient-descent"

    def __post_init__(self) -> None:
        if self.step is not None and not (np.isfinite(self.step) and self.step > 0.0):
            raise InputError(f"the step of gradient descent is {self.step}; it must be a number above zero.")
        if not (np.isfinite(self.decay) and self.decay >= 0.0):
            raise InputError(f"the decay of gradient descent is {self.decay}; it must be a number >= 0.")
        if self.decay and self.step is None:
            raise InputError("a decay needs a step to begin with; steps found by halving need none.")

    def declines(self, problem: Problem) -> str | None:
        """Take every smooth problem."""
        return kinks(problem)

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield one step per move; a step too large ends where F is no longer finite."""
        standardized = standardize(problem)
        coef = standardized.outer_coef(start)
        evaluation = standardized.problem.evaluate(coef)
        inner = standardized.problem
        step, number = 1.0 if self.step is None else self.step, 0
        while np.isfinite(evaluation.value):
            square = float(np.sum(evaluation.gradient**2))
            passes = problem.passes
            yield Step(
                standardized.inner_coef(coef), evaluation.value, 0.5 * step * square, passes, f"step size {step:.3g}"
            )
            if square == 0.0:
                return
            for _ in range(60):
                trial = coef - step * evaluation.gradient
                trial_evaluation = inner.evaluate(trial)
                if self.step is not None or trial_evaluation.value <= evaluation.value - 0.5 * step * square:
                    break
                step *= 0.5
            else:
                return
            coef, evaluation, number = trial, trial_evaluation, number + 1
            step = 1.5 * step if self.step is None else self.step / (1.0 + self.decay * number)
        # Divergence is an outcome like any other: the trace ends with it.
        passes = problem.passes
        yield Step(standardized.inner_coef(coef), evaluation.value, np.inf, passes, "diverged")
