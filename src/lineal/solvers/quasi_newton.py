"""L-BFGS in centred and scaled columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lineal.problem import Problem
from lineal.solver import Array, Solver, Step, kinks


@dataclass(frozen=True)
class QuasiNewton(Solver):
    """Limited-memory BFGS: a curvature built from the last ``memory`` steps, with a weak Wolfe line search."""

    memory: int = 10
    name: ClassVar[str] = "quasi-newton"

    def declines(self, problem: Problem) -> str | None:
        """Take every smooth problem."""
        return kinks(problem)

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield one step per line search."""
        view = problem.equilibrated()
        coef = view.outer_coef(start)
        here = view.problem.evaluate(coef)
        pairs: deque[tuple[Array, Array]] = deque(maxlen=self.memory)
        while True:
            direction = -_product(pairs, here.gradient)
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


def _product(pairs: deque[tuple[Array, Array]], gradient: Array) -> Array:
    """Return the two-loop product of the inverse curvature with the gradient."""
    result = gradient.copy()
    factors = []
    for moved, turned in reversed(pairs):
        factor = float(np.sum(moved * result) / np.sum(moved * turned))
        result -= factor * turned
        factors.append(factor)
    if pairs:
        moved, turned = pairs[-1]
        result *= float(np.sum(moved * turned) / np.sum(turned * turned))
    for (moved, turned), factor in zip(pairs, reversed(factors), strict=True):
        result += (factor - float(np.sum(turned * result) / np.sum(moved * turned))) * moved
    return result
