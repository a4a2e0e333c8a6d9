"""Working sets of columns: few columns matter, and only passes that choose them look at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from lineal.problem import EPS, Evaluation, Problem
from lineal.solver import Array, Solver, Step
from lineal.solvers import prox_newton
from lineal.solvers.columns import Columns
from lineal.solvers.quadratic import separable

Index = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Coordinate(Solver):
    """Coordinate descent on a working set of columns, which grows by those whose slack is largest.

    One pass over all columns gives their gradients: columns that are not zero and those that break their condition most
    make the working set. On it proximal Newton models are minimised by coordinate descent and exact solves of faces. Columns
    that a ball around the dual point proves to be zero (gap-safe screening) are not looked at again until the end.
    """

    smallest: int = 100
    largest: int = 6000
    name: ClassVar[str] = "coordinate"

    def declines(self, problem: Problem) -> str | None:
        """Decline what has no columns in memory, losses with kinks, and ridge with more columns than a model can have."""
        if not problem.loss.smooth:
            return f"the {problem.loss.name} loss has kinks, and no second derivative to build a model from"
        if not separable(problem.penalty):
            return f"coordinate descent does not know the penalty {problem.penalty.name!r}"
        size = problem.shape[0] * problem.shape[1]
        if problem.penalty.smooth and size > self.largest:
            return (
                f"the {problem.penalty.name} penalty makes no coefficient zero, so that all {size} would be worked on"
            )
        return Columns.refuse(problem)

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield one step per pass over all columns."""
        columns = Columns(problem)
        coef = problem.penalty.prox(start, np.zeros(len(start)))
        last = np.inf
        while True:
            here = problem.evaluate(coef, hessian=problem.lead)
            gap, slack, room = _look(problem, coef, here)
            note = f"{int(np.count_nonzero(coef.any(axis=1)))} of {len(start)} columns in use"
            yield Step(coef, here.value, gap, problem.passes, note, hint=lambda _: np.zeros(problem.shape))
            if not gap > 0.0 or (gap >= last and gap <= 1e3 * prox_newton.rounding(here)):
                return
            last = gap
            coef = coef.copy()
            keep = np.flatnonzero(room | np.any(coef != 0.0, axis=1) | ~problem.penalty.charged)
            if self.smallest < len(keep) < 0.25 * len(start):
                coef[keep] = self._within(columns, keep, coef[keep], gap)
            else:
                chosen = self._choose(problem, coef, slack)
                if not len(chosen):
                    return
                coef[chosen] = _solve(columns.problem_of(chosen), coef[chosen], gap)

    def _within(self, columns: Columns, keep: Index, coef: Array, goal: float) -> Array:
        """Return the coefficients of the columns that screening left, solved by working sets among them."""
        part = columns.problem_of(keep)
        for _ in range(20):
            gap, slack, _ = _look(part, coef, part.evaluate(coef, hessian=part.lead))
            if gap <= 1e-6 * goal:
                break
            chosen = self._choose(part, coef, slack)
            if not len(chosen):
                break
            better = coef.copy()
            better[chosen] = _solve(columns.problem_of(keep[chosen]), coef[chosen], gap)
            if np.array_equal(better, coef):
                break
            coef = better
        return coef

    def _choose(self, problem: Problem, coef: Array, slack: Array) -> Index:
        """Return the columns to work on: those in use, those not charged, and the same number again of the worst."""
        used = np.any(coef != 0.0, axis=1) | ~problem.penalty.charged
        room = max(self.smallest, int(np.count_nonzero(used)))
        order = np.argsort(-np.where(used, -np.inf, slack), kind="stable")[:room]
        worst = order[slack[order] > 0.0]
        return np.sort(np.concatenate([np.flatnonzero(used), worst[~used[worst]]]))


def _look(problem: Problem, coef: Array, here: Evaluation) -> tuple[float, Array, npt.NDArray[np.bool_]]:
    """Return the gap that scaled slopes show, the slack of every column, and the columns that may not be zero."""
    penalty = problem.penalty
    gradient = here.gradient - penalty.gradient(coef)
    slack = np.max(penalty.slack(coef, gradient), axis=1)
    square = problem.moments.mean**2 + problem.moments.sd**2
    free = penalty.open(coef, gradient) | ~penalty.charged[:, None]
    settled = np.where(free, 0.0, gradient)
    scale = (1.0 - 1e-14) * penalty.shrink(settled * (1.0 + 1e-14))
    loss = here.value - penalty.value(coef)
    gap = penalty.mismatch(coef, scale * settled) + (1.0 - scale) ** 2 * max(loss, 0.0)
    bend = problem.steepest * np.where(square > 0.0, square, 1.0)
    gap += 0.5 * float(np.sum(np.where(free, gradient, 0.0) ** 2 / bend[:, None]))
    # The dual is strongly concave: the optimal gradient is within |x_j| sqrt(2 steepest gap) of the scaled one.
    radius = np.sqrt(2.0 * problem.steepest * 2.0 * gap * square)[:, None]
    zero = np.zeros_like(coef)
    pushed = scale * settled + np.copysign(radius, settled)
    room = np.any(penalty.slack(zero, pushed) > 0.0, axis=1)
    return gap, slack, room


def _solve(problem: Problem, coef: Array, gap: float) -> Array:
    """Return the coefficients of a small problem, solved well beyond the gap of the large one."""
    for step in prox_newton.ProxNewton(largest=10**9).steps(problem, coef):
        coef = step.coef
        # A gap is of the order of a slack, the fall of a model of its square.
        if step.estimate <= 1e-6 * gap * min(1.0, gap / max(abs(step.objective), EPS)):
            break
    return coef
