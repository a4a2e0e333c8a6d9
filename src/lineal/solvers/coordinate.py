"""Working sets of columns: few columns matter, and only passes that choose them look at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import dataclass
from lineal.problem.problem import Evaluation, Problem
from lineal.solvers import prox_newton
from lineal.solvers.columns import NOT_IN_MEMORY, Columns
from lineal.solvers.quadratic import sweepable
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step
from lineal.sources.source import Access


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
    words: ClassVar[str] = "{size} coefficients, rows in memory: working sets of the columns that matter"
    needs: ClassVar[Access] = Access.RESIDENT
    missing: ClassVar[str] = NOT_IN_MEMORY

    def declines(self, problem: Problem) -> str | None:
        """Decline what has no columns in memory, losses with kinks, and ridge with more columns than a model can have."""
        if not problem.loss.smooth:
            return f"the {problem.loss.name} loss has kinks, and no second derivative to build a model from"
        if not sweepable(problem.penalty):
            return f"coordinate descent does not know the penalty {problem.penalty.name!r}"
        size = problem.shape[0] * problem.shape[1]
        if problem.penalty.smooth and size > self.largest:
            return (
                f"the {problem.penalty.name} penalty makes no coefficient zero, so that all {size} would be worked on"
            )
        return Columns.refuse(problem)

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield one step per pass over all columns."""
        columns = Columns(problem)
        coef = problem.penalty.prox(start, np.zeros(len(start)))
        evaluation = problem.evaluate(coef, hessian=problem.lead)
        work, last, bold = None, np.inf, True
        while True:
            gap, slack, may_be_nonzero = _look(problem, coef, evaluation)
            note = f"{int(np.count_nonzero(coef.any(axis=1)))} of {len(start)} columns in use"
            yield Step(coef, evaluation.value, gap, problem.passes, note, hint=np.zeros(problem.shape))
            if not gap > 0.0 or (gap >= last and gap <= 1e3 * prox_newton.rounding(evaluation)):
                return
            chosen = self._choose(problem, coef, np.where(may_be_nonzero, slack, 0.0))
            if not len(chosen):
                return
            if work is None or not work.covers(chosen):
                work = Working(chosen, columns.problem_of(chosen), fresh=work is None)
            moved = work.better(coef, evaluation, bold=bold, again=gap > 0.1 * last)
            last, moved_evaluation = gap, problem.evaluate(moved, hessian=problem.lead)
            if moved_evaluation.value > evaluation.value + prox_newton.rounding(evaluation) and bold:
                # A step taken without a line search raised F: from now on every step has one.
                bold, moved = False, work.better(coef, evaluation, bold=False, again=True)
                moved_evaluation = problem.evaluate(moved, hessian=problem.lead)
            if np.array_equal(moved, coef):
                return
            coef, evaluation = moved, moved_evaluation

    def _choose(self, problem: Problem, coef: Array, slack: Array) -> Index:
        """Return the columns to work on: those in use, those not penalized, and the same number again of the worst."""
        used = np.any(coef != 0.0, axis=1) | ~problem.penalty.penalized
        count = max(self.smallest, int(np.count_nonzero(used)))
        order = np.argsort(-np.where(used, -np.inf, slack), kind="stable")[:count]
        worst = order[slack[order] > 0.0]
        return np.sort(np.concatenate([np.flatnonzero(used), worst[~used[worst]]]))


def _look(problem: Problem, coef: Array, evaluation: Evaluation) -> tuple[float, Array, Mask]:
    """Return the gap that scaled slopes show, the slack of every column, and the columns that may not be zero."""
    penalty = problem.penalty
    gradient = evaluation.gradient - penalty.gradient(coef)
    slack = np.max(penalty.slack(coef, gradient), axis=1)
    square = problem.moments.mean**2 + problem.moments.sd**2
    free = penalty.unbounded_dual(coef, gradient) | ~penalty.penalized[:, None]
    settled = np.where(free, 0.0, gradient)
    scale = (1.0 - 1e-14) * penalty.shrink(settled * (1.0 + 1e-14))
    loss = evaluation.value - penalty.value(coef)
    gap = penalty.mismatch(coef, scale * settled) + (1.0 - scale) ** 2 * max(loss, 0.0)
    bend = problem.curvature_bound * np.where(square > 0.0, square, 1.0)
    gap += 0.5 * float(np.sum(np.where(free, gradient, 0.0) ** 2 / bend[:, None]))
    # The dual is strongly concave: the optimal gradient is within |x_j| sqrt(2 steepest gap) of the scaled one.
    radius = np.sqrt(2.0 * problem.curvature_bound * 2.0 * gap * square)[:, None]
    zeros = np.zeros_like(coef)
    pushed = scale * settled + np.copysign(radius, settled)
    may_be_nonzero = np.any(penalty.slack(zeros, pushed) > 0.0, axis=1)
    return gap, slack, may_be_nonzero


class Working:
    """The columns worked on, as a problem of their own; ``fresh`` before the first step, which a subsample may prepare."""

    def __init__(self, columns: Index, problem: Problem, *, fresh: bool) -> None:
        self.columns, self.problem, self.fresh = columns, problem, fresh
        self.second: Array | None = None

    def covers(self, columns: Index) -> bool:
        """Whether these columns are among those worked on, and not much fewer."""
        return len(columns) > 0.7 * len(self.columns) and bool(np.isin(columns, self.columns).all())

    def better(self, coef: Array, evaluation: Evaluation, *, bold: bool, again: bool) -> Array:
        """Return better coefficients of all columns; ``evaluation`` is that of ``coef``.

        Near the optimum the last second derivative is reused, so that the pass over all columns is the only one; not
        ``again`` after a step that gained little. ``bold`` takes the minimizer of the model without a line search.
        """
        moved, at = coef.copy(), self.columns
        second, self.second = self.second, None
        if second is not None and bold and not again:
            restricted = replace(evaluation, gradient=evaluation.gradient[at], hessian=second)
            moved[at], fall = prox_newton.model(self.problem, coef[at], restricted)
            if fall > 0.0:
                self.second = second
                return moved
        first = prox_newton.warm(self.problem, coef[at]) if self.fresh else coef[at]
        moved[at], self.fresh = self._solved(first, bold=bold), False
        return moved

    def _solved(self, coef: Array, *, bold: bool) -> Array:
        """Return coefficients from which a further step would gain little of what the ones before it did."""
        first = None
        for point, evaluation, goal, fall in prox_newton.iterates(self.problem, coef):
            first = evaluation.value if first is None else first
            # a step that gains less than 1e-4 of F changes curvatures by a few hundredths at most
            coef, self.second = point, evaluation.hessian if fall <= 1e-4 * abs(evaluation.value) else None
            # a Newton step that gains less than 1e-8 of F doubles its digits
            if fall <= max(0.1 * (first - evaluation.value), 1e-8 * abs(evaluation.value)):
                return goal if bold and fall > 0.0 else coef
        return coef
