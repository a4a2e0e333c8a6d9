"""Newton's method with the second derivative of a sample of the rows, corrected by the steps that it leads to."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import ClassVar, Final

import numpy as np

from lineal.algebra.factor import Factor
from lineal.ground.records import dataclass
from lineal.problem.problem import Evaluation, Problem
from lineal.solvers.curvature import product
from lineal.solvers.newton import search
from lineal.solvers.newton_cg import NewtonCG
from lineal.solvers.solver import Array, Hint, Solver, Step, kinks

COARSE, FINE, LEAST = 20, 200, 10_000
"""Rows per column of the samples passed through, and rows at least: the last second derivative is off by about a tenth."""

MARGIN: Final = 0.7
"""The share of a wanted gap below which a proof is tried: rounding errors come on top."""


@dataclass(frozen=True)
class SampledNewton(Solver):
    """``b <- b - t B g`` with ``B`` the inverse second derivative of one row in ``g``, kept and corrected by L-BFGS.

    A table many times longer than it is wide is minimised over a sample first, then over a larger one; that of all rows
    begins near its optimum, and gradients are enough: one pass without a second derivative for each step. After ``most``
    of them, which only a misleading sample needs, Newton's method with products goes on.
    """

    most: int = 15
    memory: int = 10
    largest: int = 2000
    name: ClassVar[str] = "sampled-newton"

    def declines(self, problem: Problem) -> str | None:
        """Decline what has no curvature everywhere or no charge, and tables that are not long enough."""
        if (reason := kinks(problem)) is not None:
            return reason
        if not problem.loss.likelihood or problem.loss.quadratic or problem.shape[1] > 1:
            return "it needs a loss of one score whose curvature is positive everywhere: logistic, Poisson"
        if problem.lead > (1 if problem.intercept else 0):
            return "it needs a ridge penalty on all columns but the intercept"
        columns, rows = problem.shape[0], problem.moments.rows
        if columns > self.largest:
            return f"{columns} columns need a second derivative of {columns} x {columns}; the limit is {self.largest}"
        if rows < (enough := 2 * max(COARSE * columns, LEAST)):
            return f"{rows} rows are too few to sample from; {columns} columns take {enough}"
        return None

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield one step per pass over all rows."""
        coef, factor = start, None
        for sample in samples(problem):
            factor, coef = self._descend(problem, coef, sample)
            if factor.singular:  # a column of which the sample sees nothing, or no optimum there
                yield from NewtonCG().steps(problem, start)
                return
        assert factor is not None
        before = 0.0
        at, here = coef, problem.evaluate(coef, hessian=problem.lead)
        for at, there, shift in self._walk(problem, coef, here, factor):
            estimate = 0.5 * float(np.vdot(shift, there.gradient))
            shrunk = min(estimate / before, 1.0) if before > 0.0 else 1.0  # what the last step left of F - F*
            hint, before = _hint(problem, there, shift, shrunk), estimate
            yield Step(at, there.value, abs(estimate), problem.passes, hint=hint)
        yield from NewtonCG().steps(problem, at)

    def _walk(
        self, problem: Problem, coef: Array, here: Evaluation, factor: Factor, sample: int = 1
    ) -> Iterator[tuple[Array, Evaluation, Array]]:
        """Yield points, what is known there, and the step that comes next; end where it leads no lower."""
        pairs: deque[tuple[Array, Array]] = deque(maxlen=self.memory)
        for _ in range(self.most):
            shift = product(pairs, here.gradient, factor.solve)
            yield coef, here, shift
            found = search(problem, coef, here, shift, hessian=problem.lead, sample=sample)
            if found is None:
                return
            moved, turned = found[0] - coef, found[1].gradient - here.gradient
            if float(np.vdot(moved, turned)) > 0.0:
                pairs.append((moved, turned))
            coef, here = found

    def _descend(self, problem: Problem, coef: Array, sample: int) -> tuple[Factor, Array]:
        """Return the factor at a point and a rough minimiser over a sample, reached by that factor from there."""
        columns = np.arange(problem.shape[0])
        here = problem.evaluate(coef, hessian=len(columns), sample=sample)
        factor = problem.factor(here, columns)
        if factor.singular:
            return factor, coef
        # The sample's own optimum is off by about coefficients / rows: no use in going closer.
        enough = 0.05 * len(columns) * sample / problem.moments.rows
        at = coef
        for at, there, shift in self._walk(problem, coef, here, factor, sample):
            if 0.5 * float(np.vdot(shift, there.gradient)) <= enough:
                return factor, at - shift
        return factor, at


def samples(problem: Problem) -> list[int]:
    """Return the sampling rates to pass through before all rows are looked at."""
    columns, rows = problem.shape[0], problem.moments.rows
    rates = [rows // max(each * columns, LEAST) for each in (COARSE, FINE)]
    return [rates[0], *(rate for rate in rates[1:] if rate >= 2)]


def _hint(problem: Problem, here: Evaluation, shift: Array, shrunk: float) -> Hint:
    """Return what makes the dual point of a proof: no step where slopes are enough, ``shift`` where what it leaves is."""
    charges = problem.penalty.curvature()[:, None]
    cost = np.where(charges > 0.0, 0.5 / np.where(charges > 0.0, charges, 1.0), 0.0)
    if problem.intercept and charges[0] == 0.0:  # settling it moves the others' gradients by about their mean
        cost[0] = float(cost[:, 0] @ problem.moments.mean**2)
    size = float(np.sum(cost * here.gradient**2))

    def hint(goal: float | None) -> Array | None:
        if goal is None:
            return shift
        if size <= MARGIN * goal:
            return np.zeros_like(shift)
        return shift if shrunk * size <= MARGIN * goal else None

    return hint
