"""L-BFGS in centred and scaled columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.problem import Problem
from lineal.problem.standardized import standardize
from lineal.solvers import orthant
from lineal.solvers.curvature import product
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step, kinks


@dataclass(frozen=True)
class QuasiNewton(Solver):
    """Limited-memory BFGS: a curvature built from the last ``memory`` steps, with a weak Wolfe line search.

    With an l1 penalty every step stays in one orthant, where the penalty is linear (OWL-QN, Andrew and Gao 2007).
    """

    memory: int = 10
    name: ClassVar[str] = "quasi-newton"

    def declines(self, problem: Problem) -> str | None:
        """Take every smooth problem, and kinks at zero."""
        penalty = problem.penalty
        separable_kinks = penalty.costs(problem.shape[1]) is not None and not (penalty.smooth or penalty.grouped)
        if problem.loss.smooth and separable_kinks:
            bounded = penalty.bounds is not None and np.any(np.isfinite(penalty.bounds))
            return "bounds on coefficients need prox-newton, coordinate or prox-gradient" if bounded else None
        return kinks(problem)

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield one step per line search."""
        if not problem.penalty.smooth:
            yield from orthant.steps(problem, start, self.memory)
            return
        standardized = standardize(problem)
        coef = standardized.outer_coef(start)
        evaluation = standardized.problem.evaluate(coef)
        pairs: deque[tuple[Array, Array]] = deque(maxlen=self.memory)
        while True:
            direction = -product(pairs, evaluation.gradient)
            slope = float(np.sum(direction * evaluation.gradient))
            inner = standardized.inner_coef(coef)
            yield Step(inner, evaluation.value, -0.5 * slope, problem.passes)
            if not slope < 0.0:
                return
            step = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(evaluation.gradient).sum()))
            lower, upper = 0.0, np.inf
            for _ in range(50):
                trial = coef + step * direction
                trial_evaluation = standardized.problem.evaluate(trial)
                if not trial_evaluation.value <= evaluation.value + 1e-4 * step * slope:
                    upper = step
                elif float(np.sum(direction * trial_evaluation.gradient)) < 0.9 * slope:
                    lower = step
                else:
                    break
                step = 0.5 * (lower + upper) if np.isfinite(upper) else 2.0 * lower
            else:
                return
            moved, turned = trial - coef, trial_evaluation.gradient - evaluation.gradient
            if float(np.sum(moved * turned)) > 0.0:
                pairs.append((moved, turned))
            coef, evaluation = trial, trial_evaluation
