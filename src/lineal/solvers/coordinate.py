"""Working sets of columns: few columns matter, and only passes that choose them look at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from lineal.problem import Evaluation, Problem
from lineal.solver import Array, Solver, Step
from lineal.solvers import prox_newton
from lineal.solvers.columns import Columns
from lineal.solvers.quadratic import separable

Index = npt.NDArray[np.intp]

ENOUGH = 0.05
"""A step that would gain less than this share of what the ones before it gained waits for a look at all columns."""

TINY = 1e-8
"""A Newton step that gains less than this share of F doubles its digits."""


@dataclass(frozen=True)
class Coordinate(Solver):
    """Coordinate descent on a working set of columns, which grows by those whose slack is largest.

    One pass over all columns gives their gradients: columns that are not zero and those that break their condition most
    make the working set, but for those that a ball around the dual point proves to be zero (gap-safe screening). On it
    proximal Newton models are minimised by coordinate descent and exact solves of faces, first on a subsample of many rows.
    """

    smallest: int = 200
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
        here = problem.evaluate(coef, hessian=problem.lead)
        last, began, bold = np.inf, False, True
        while True:
            gap, slack, room = _look(problem, coef, here)
            note = f"{int(np.count_nonzero(coef.any(axis=1)))} of {len(start)} columns in use"
            yield Step(coef, here.value, gap, problem.passes, note, hint=lambda _: np.zeros(problem.shape))
            if not gap > 0.0 or (gap >= last and gap <= 1e3 * prox_newton.rounding(here)):
                return
            last = gap
            chosen = self._choose(problem, coef, np.where(room, slack, 0.0))
            if not len(chosen):
                return
            part, moved = columns.problem_of(chosen), coef.copy()
            first = coef[chosen] if began else prox_newton.warm(part, coef[chosen])
            began, moved[chosen] = True, _solve(part, first, bold=bold)
            there = problem.evaluate(moved, hessian=problem.lead)
            if there.value > here.value + prox_newton.rounding(here) and bold:
                # A step that nobody tried led upwards: from now on every step is tried.
                bold, moved[chosen] = False, _solve(part, coef[chosen], bold=False)
                there = problem.evaluate(moved, hessian=problem.lead)
            if np.array_equal(moved, coef):
                return
            coef, here = moved, there

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


def _solve(problem: Problem, coef: Array, *, bold: bool) -> Array:
    """Return better coefficients of a small problem: until a step would gain little of what the ones before it did.

    A ``bold`` last step goes where the model is least without a look at F: the pass over all columns looks there anyway.
    """
    first = None
    for point, here, goal, fall in prox_newton.walk(problem, coef):
        first = here.value if first is None else first
        coef = point
        if fall <= max(ENOUGH * (first - here.value), TINY * abs(here.value)):
            return goal if bold and fall > 0.0 else coef
    return coef
