"""Ridge regression of many dense columns: products in single precision, corrected from the rows to the digits of doubles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from lineal.algebra.cholesky import Cholesky
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.penalties.penalty import Penalty
from lineal.problem.passes import Rounded
from lineal.problem.problem import Evaluation, Problem
from lineal.solvers.direct import Direct
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step
from lineal.sources.source import Access, Source

MIN_COLUMNS_BY_ITEMSIZE: Final = {4: 192, 8: 256}
"""Columns, by the bytes of their numbers, from which a gram in half the time saves more than two passes and a survey."""


@dataclass(frozen=True)
class MixedPrecision(Solver):
    """``b <- b - H~^-1 g``, ``g`` from the rows and ``H~ ~ X'SX/S + D`` made of columns rounded to single precision.

    The columns are centred and scaled before they are rounded. Each correction leaves about a millionth; the ridge alone
    proves the gap, ``F(b) - F* <= sum g_j^2 / (2 D_j)``, so that nothing rests on the rounded columns. Where corrections do
    not help, or a proof wants more digits, ``Direct`` takes over.
    """

    name: ClassVar[str] = "refined"
    words: ClassVar[str] = (
        "ridge with {columns} dense columns: normal equations in single precision, corrected from the rows"
    )
    needs: ClassVar[Access] = Access.RESIDENT
    missing: ClassVar[str] = "it needs rows in memory, without an offset"

    def declines(self, problem: Problem) -> str | None:
        """Decline what is not a ridge on one dense array in memory."""
        return unsuited(problem.source, problem.loss, problem.penalty)

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield the solution when no correction is left; where that is not enough, what ``Direct`` finds.

        Corrections are measured against what there is to gain.
        """
        gram, last = Float32Gram(problem, goal.baseline), np.inf
        coef = gram.solution
        while not gram.factor.singular:
            evaluation = gram.evaluate(coef)
            shift = gram.solve(evaluation.gradient)
            estimate = 0.5 * abs(float(np.vdot(shift, evaluation.gradient)))
            if estimate <= 1e-22 * (goal.baseline - evaluation.value):  # eleven digits of the coefficients
                note = "normal equations in single precision, corrected"
                yield Step(coef, evaluation.value, estimate, problem.passes, note, hint=np.zeros(problem.shape))
                break
            if not estimate <= 0.01 * last:  # columns too close to each other for single precision
                break
            coef, last = coef - shift, estimate
        yield from Direct().steps(problem, start, goal)


def unsuited(source: Source, loss: Loss, penalty: Penalty) -> str | None:
    """Return why products in single precision are of no use, in words; None where they are."""
    if not loss.quadratic:
        return f"the {loss.name} loss has no closed form"
    ones = int(source.leading == "(intercept)")
    if not penalty.square or np.any(penalty.curvature()[ones:] <= 0.0) or np.any(penalty.penalized[:ones]):
        return "it needs a ridge on every column but the intercept"
    if not source.resident or any(block.offset is not None for block in source.held()):
        return MixedPrecision.missing
    columns = len(source.columns) - ones
    if any(block.design.rows is None or block.design.rows.lone[0] != columns for block in source.held()):
        return "it needs all columns in one dense array"
    if not 0 < columns <= Direct.largest:
        return f"it needs 1 to {Direct.largest} columns beside the intercept, and there are {columns}"
    return None


def refines(source: Source, loss: Loss, penalty: Penalty) -> bool:
    """Whether they can be used, and save more time than the passes that correct them cost."""
    block = source.whole
    if block is None or block.design.rows is None or len(source.columns) < min(MIN_COLUMNS_BY_ITEMSIZE.values()):
        return False
    columns, size = block.design.rows.lone
    return (
        0 < 2 * columns <= block.n_rows
        and columns >= MIN_COLUMNS_BY_ITEMSIZE[size]
        and unsuited(source, loss, penalty) is None
    )


class Float32Gram:
    """The second derivative of a ridge problem in columns centred, scaled and rounded to single precision, factored."""

    def __init__(self, problem: Problem, baseline: float) -> None:
        """Make it in one pass; ``baseline``, about half of the targets' mean square, sets their unit."""
        moments, ones = problem.moments, int(problem.intercept)
        self.problem, self.ones = problem, ones
        self.target = moments.statistic / moments.weight_sum * ones
        self.centre = moments.mean[ones:] * ones
        spread = moments.sd[ones:] if ones else np.sqrt(moments.square)
        self.scale = 1.0 / np.where(spread > 0.0, spread, 1.0)
        size = float(np.sqrt(baseline)) if baseline > 0.0 else 1.0
        centre = np.concatenate([self.centre, self.target])
        factor = np.concatenate([self.scale, np.full(problem.shape[1], 1.0 / size)])
        gram = problem.source.sum(Rounded(centre, factor, moments.weight_sum / moments.rows)).array
        gram /= moments.rows
        columns = len(self.scale)
        self.right = size * gram[:columns, columns:]
        self.second = gram[:columns, :columns]
        np.einsum("jj->j", self.second)[:] += problem.penalty.curvature()[ones:] * self.scale**2

    @cached_property
    def factor(self) -> Cholesky:
        """The factor of the second derivative."""
        return Cholesky.of(self.second)

    @property
    def solution(self) -> Array:
        """The minimizer in single precision."""
        return self._plain(self.factor.solve(np.ascontiguousarray(self.right)), self.target)

    def solve(self, gradient: Array) -> Array:
        """Return H~^-1 gradient, in the problem's columns."""
        first = gradient[: self.ones]
        inner = (gradient[self.ones :] - self.centre[:, None] @ first) if self.ones else gradient
        return self._plain(self.factor.solve(inner * self.scale[:, None]), first)

    def _plain(self, scaled: Array, constant: Array) -> Array:
        """Return coefficients of the columns as they are, from those of the columns centred and scaled."""
        coef = scaled * self.scale[:, None]
        return np.vstack([constant - self.centre @ coef, coef]) if self.ones else coef

    def evaluate(self, coef: Array) -> Evaluation:
        """Return F and its gradient from the rows, and the second derivative in the intercept, which is one."""
        evaluation = self.problem.evaluate(coef)
        if self.ones and evaluation.hessian is None:
            evaluation = replace(evaluation, hessian=np.ones((1, 1, 1)))
            self.problem.keep(np.ascontiguousarray(coef), evaluation)
        return evaluation
