"""Gradient descent in centred and scaled columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.problem import Problem
from lineal.solver import Array, Solver, Step, kinks


@dataclass(frozen=True)
class GradientDescent(Solver):
    """``b <- b - t g`` with a fixed step ``t``, or, for ``step=None``, one found by halving and cautious growth."""

    step: float | None = None
    name: ClassVar[str] = "gradient-descent"

    def __post_init__(self) -> None:
        if self.step is not None and not (np.isfinite(self.step) and self.step > 0.0):
            raise InputError(f"the step of gradient descent is {self.step}; it must be a number above zero.")

    def declines(self, problem: Problem) -> str | None:
        """Take every smooth problem."""
        return kinks(problem)

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield one step per move; a step too large ends where F is no longer finite."""
        view = problem.equilibrated()
        coef = view.outer_coef(start)
        here = view.problem.evaluate(coef)
        step = 1.0 if self.step is None else self.step
        while np.isfinite(here.value):
            square = float(np.sum(here.gradient**2))
            passes = problem.passes + view.problem.passes
            yield Step(view.inner_coef(coef), here.value, 0.5 * step * square, passes, f"step size {step:.3g}")
            if square == 0.0:
                return
            for _ in range(60):
                trial = coef - step * here.gradient
                there = view.problem.evaluate(trial)
                if self.step is not None or there.value <= here.value - 0.5 * step * square:
                    break
                step *= 0.5
            else:
                return
            coef, here = trial, there
            step = step if self.step is not None else 1.5 * step
