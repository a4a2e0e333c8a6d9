"""L-BFGS in centred and scaled columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from lineal.ground.records import dataclass
from lineal.penalties import Separable
from lineal.problem.problem import Problem
from lineal.problem.standardized import equilibrated
from lineal.solvers import orthant
from lineal.solvers.curvature import product
from lineal.solvers.solver import Array, Solver, Step, kinks


@dataclass(frozen=True)
class QuasiNewton(Solver):
    """Limited-memory BFGS: a curvature built from the last ``memory`` steps, with a weak Wolfe line search.

    With an l1 penalty every step stays in one orthant, where the penalty is linear (OWL-QN, Andrew and Gao 2007).
    """

    memory: int = 10
    name: ClassVar[str] = "quasi-newton"

    def declines(self, problem: Problem) -> str | None:
        """Take every smooth problem, and kinks at zero."""
        if problem.loss.smooth and isinstance(problem.penalty, Separable):
            bounded = np.any(np.isfinite(problem.penalty.least) | np.isfinite(problem.penalty.most))
            return "bounds on coefficients need prox-newton, coordinate or prox-gradient" if bounded else None
        return kinks(problem)

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield one step per line search."""
        if not problem.penalty.smooth:
            yield from orthant.steps(problem, start, self.memory)
            return
        view = equilibrated(problem)
        coef = view.outer_coef(start)
        here = view.problem.evaluate(coef)
        pairs: deque[tuple[Array, Array]] = deque(maxlen=self.memory)
        while True:
            direction = -product(pairs, here.gradient)
            slope = float(np.sum(direction * here.gradient))
            inner = view.inner_coef(coef)
            yield Step(inner, here.value, -0.5 * slope, problem.passes + view.problem.passes)
            if not slope < 0.0:
                return
            step = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(here.gradient).sum()))
            lower, upper = 0.0, np.inf
            for _ in range(50):
                trial = coef + step * direction
                there = view.problem.evaluate(trial)
                if not there.value <= here.value + 1e-4 * step * slope:
                    upper = step
                elif float(np.sum(direction * there.gradient)) < 0.9 * slope:
                    lower = step
                else:
                    break
                step = 0.5 * (lower + upper) if np.isfinite(upper) else 2.0 * lower
            else:
                return
            moved, turned = trial - coef, there.gradient - here.gradient
            if float(np.sum(moved * turned)) > 0.0:
                pairs.append((moved, turned))
            coef, here = trial, there
