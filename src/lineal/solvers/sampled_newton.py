"""Newton's method with the second derivative of a sample of the rows, corrected by the steps that it leads to."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from lineal.algebra.factor import Factor
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.problem import Evaluation, Problem
from lineal.solvers.curvature import product
from lineal.solvers.newton import Newton, search
from lineal.solvers.newton_cg import NewtonCG
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step, kinks
from lineal.solvers.system import PROOF_MAX_SHARE

COARSE_ROWS, FINE_ROWS, MIN_ROWS = 20, 200, 10_000
"""Rows per column of the two samples, and their least size: the last second derivative is off by about a tenth."""


@dataclass(frozen=True)
class SampledNewton(Solver):
    """``b <- b - t B g`` with ``B`` the inverse second derivative of one row in ``g``, kept and corrected by L-BFGS.

    A table many times longer than it is wide is minimised over a sample first, then over a larger one; that of all rows
    begins near its optimum, and gradients are enough: one pass without a second derivative for each step. After ``most``
    of them, which only a misleading sample needs, Newton's method goes on.
    """

    most: int = 15
    memory: int = 10
    largest: int = 2000
    name: ClassVar[str] = "sampled-newton"
    words: ClassVar[str] = (
        "{size} coefficients: the whole second derivative of a sample of the rows, gradients of all of them"
    )

    def declines(self, problem: Problem) -> str | None:
        """Decline what has no curvature everywhere or no penalty, and tables that are not long enough."""
        if (reason := kinks(problem)) is not None:
            return reason
        if not problem.loss.likelihood or problem.loss.quadratic or problem.shape[1] > 1:
            return "it needs a loss of one score whose curvature is positive everywhere: logistic, Poisson"
        if problem.lead > (1 if problem.intercept else 0):
            return "it needs a ridge penalty on all columns but the intercept"
        columns, rows = problem.shape[0], problem.moments.rows
        if columns > self.largest:
            return f"{columns} columns need a second derivative of {columns} x {columns}; the limit is {self.largest}"
        if rows < (enough := 2 * max(COARSE_ROWS * columns, MIN_ROWS)):
            return f"{rows} rows are too few to sample from; {columns} columns take {enough}"
        return None

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield one step per pass over all rows."""
        coef, factor = start, None
        for sample in samples(problem):
            factor, coef = self._descend(problem, coef, sample)
            if factor.singular:  # a column of which the sample sees nothing, or no optimum there
                yield from _last(problem).steps(problem, start, goal)
                return
        assert factor is not None
        before = 0.0
        at, first = coef, problem.evaluate(coef, hessian=problem.lead)
        for at, evaluation, shift in self._iterates(problem, coef, first, factor):
            estimate = 0.5 * float(np.vdot(shift, evaluation.gradient))
            shrunk = min(estimate / before, 1.0) if before > 0.0 else 1.0  # what the last step left of F - F*
            hint, ready = _hint(problem, evaluation, shift, shrunk, goal.gap(evaluation.value))
            before = estimate
            yield Step(at, evaluation.value, abs(estimate), problem.passes, hint=hint, ready=ready)
        yield from _last(problem).steps(problem, at, goal)

    def _iterates(
        self, problem: Problem, coef: Array, evaluation: Evaluation, factor: Factor, sample: int = 1
    ) -> Iterator[tuple[Array, Evaluation, Array]]:
        """Yield points, their evaluations and the next step; end where no step lowers F."""
        pairs: deque[tuple[Array, Array]] = deque(maxlen=self.memory)
        for _ in range(self.most):
            shift = product(pairs, evaluation.gradient, factor.solve)
            yield coef, evaluation, shift
            improved = search(problem, coef, evaluation, shift, hessian=problem.lead, sample=sample)
            if improved is None:
                return
            moved, turned = improved[0] - coef, improved[1].gradient - evaluation.gradient
            if float(np.vdot(moved, turned)) > 0.0:
                pairs.append((moved, turned))
            coef, evaluation = improved

    def _descend(self, problem: Problem, coef: Array, sample: int) -> tuple[Factor, Array]:
        """Return the factor at a point and a rough minimiser over a sample, reached by that factor from there."""
        columns = np.arange(problem.shape[0])
        first = problem.evaluate(coef, hessian=len(columns), sample=sample)
        factor = problem.factor(_with_rare_columns(problem, first), columns)
        if factor.singular:
            return factor, coef
        # The sample's own optimum is off by about coefficients / rows: no use in going closer.
        enough = 0.05 * len(columns) * sample / problem.moments.rows
        at = coef
        for at, evaluation, shift in self._iterates(problem, coef, first, factor, sample):
            if 0.5 * float(np.vdot(shift, evaluation.gradient)) <= enough:
                return factor, at - shift
        return factor, at


def samples(problem: Problem) -> list[int]:
    """Return the sampling rates to pass through before all rows are looked at."""
    columns, rows = problem.shape[0], problem.moments.rows
    rates = [rows // max(each * columns, MIN_ROWS) for each in (COARSE_ROWS, FINE_ROWS)]
    return [rates[0], *(rate for rate in rates[1:] if rate >= 2)]


def _last(problem: Problem) -> Solver:
    """Return what goes on where a sample does not lead to the optimum: Newton's method on all rows.

    With the whole second derivative where a row has so few entries (levels of categories) that its products of two take
    less time than the factor; else by products.
    """
    columns, rows = problem.shape[0], problem.moments.rows
    entries = sum(block.design.entries for block in problem.source.held()) if problem.source.resident else np.inf
    return Newton(sampled=False) if entries**2 <= float(rows) * columns**3 else NewtonCG()


def _with_rare_columns(problem: Problem, evaluation: Evaluation) -> Evaluation:
    """Return a sample's second derivative H with ``H_jj >= c E x_j^2``: the mean square of all rows, c such that all add up.

    A level of which the sample has no row would have the curvature of its penalty alone, and the first gradient of all
    rows would move it a thousand times too far (benchmark csv/rare: 930 passes instead of 22).
    """
    assert evaluation.hessian is not None
    hessian = evaluation.hessian.copy()
    diagonal = np.einsum("kjj->kj", hessian)
    squares = problem.moments.mean**2 + problem.moments.sd**2
    curvature = float(np.sum(diagonal)) / max(float(np.sum(squares)), 1e-300)
    np.maximum(diagonal, curvature * squares, out=diagonal)
    return replace(evaluation, hessian=hessian)


def _hint(
    problem: Problem, evaluation: Evaluation, shift: Array, shrunk: float, gap: float | None
) -> tuple[Array, bool]:
    """Return the step that makes a dual point, and whether it is likely to prove ``gap``.

    It is zero where the slopes are enough; ``shift`` leaves about the share ``shrunk`` of what they prove.
    """
    penalty_factors = problem.penalty.curvature()[:, None]
    cost = np.where(penalty_factors > 0.0, 0.5 / np.where(penalty_factors > 0.0, penalty_factors, 1.0), 0.0)
    if problem.intercept and penalty_factors[0] == 0.0:  # settling it moves the others' gradients by about their mean
        cost[0] = float(cost[:, 0] @ problem.moments.mean**2)
    size = float(np.sum(cost * evaluation.gradient**2))
    if gap is not None and size <= PROOF_MAX_SHARE * gap:
        return np.zeros_like(shift), True
    return shift, gap is None or shrunk * size <= PROOF_MAX_SHARE * gap
