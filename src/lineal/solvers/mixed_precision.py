"""Ridge regression of many dense columns: products in single precision, corrected from the rows to the digits of doubles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from lineal.algebra.factor import Cholesky
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.penalties.penalty import Penalty
from lineal.problem.passes import Rounded
from lineal.problem.problem import Evaluation, Problem
from lineal.solvers.direct import Direct
from lineal.solvers.solver import Array, Solver, Step
from lineal.sources.source import Source

COLUMNS: Final = {4: 192, 8: 256}
"""From so many columns on, by the bytes of their numbers, half of the multiplications costs more than two passes and a survey."""

LEFT: Final = 1e-22
"""The share of the gain that corrections leave: eleven digits of the coefficients."""

FALL: Final = 0.01
"""A correction that leaves more of the gap than this is none, and the columns too near to each other for single precision."""


@dataclass(frozen=True)
class Refined(Solver):
    """``b <- b - H~^-1 g``, ``g`` from the rows and ``H~ ~ X'SX/S + D`` made of columns rounded to single precision.

    The columns are centred and scaled before they are rounded. Each correction leaves about a millionth; the ridge alone
    proves the gap, ``F(b) - F* <= sum g_j^2 / (2 D_j)``, so that nothing rests on the rounded columns. Where corrections do
    not help, or a proof wants more digits, ``Direct`` takes over.
    """

    baseline: float = 0.0
    name: ClassVar[str] = "refined"

    def declines(self, problem: Problem) -> str | None:
        """Decline what is not a ridge on one dense array in memory."""
        return unsuited(problem.source, problem.loss, problem.penalty)

    def towards(self, goal: float, tol: float, baseline: float) -> Refined:
        """Measure corrections against what there is to gain."""
        return replace(self, baseline=baseline)

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield the solution when no correction is left; where that is not enough, what ``Direct`` finds."""
        rough, last = Rough(problem, self.baseline), np.inf
        coef = rough.solution
        while not rough.factor.singular:
            here = rough.evaluate(coef)
            shift = rough.solve(here.gradient)
            estimate = 0.5 * abs(float(np.vdot(shift, here.gradient)))
            if estimate <= LEFT * (self.baseline - here.value):
                note = "normal equations in single precision, corrected"
                yield Step(coef, here.value, estimate, problem.passes, note, hint=lambda _: np.zeros(problem.shape))
                break
            if not estimate <= FALL * last:
                break
            coef, last = coef - shift, estimate
        yield from Direct().steps(problem, start)


def unsuited(source: Source, loss: Loss, penalty: Penalty) -> str | None:
    """Return why products in single precision are of no use, in words; None where they are."""
    if not loss.quadratic:
        return f"the {loss.name} loss has no closed form"
    ones = int(source.leading == "(intercept)")
    if not penalty.square or np.any(penalty.curvature()[ones:] <= 0.0) or np.any(penalty.charged[:ones]):
        return "it needs a ridge on every column but the intercept"
    if not source.resident or any(block.offset is not None for block in source.blocks()):
        return "it needs rows in memory, without an offset"
    columns = len(source.columns) - ones
    if any(block.design.rows is None or block.design.rows.lone[0] != columns for block in source.blocks()):
        return "it needs all columns in one dense array"
    if not 0 < columns <= Direct.largest:
        return f"it needs 1 to {Direct.largest} columns beside the intercept, and there are {columns}"
    return None


def refines(source: Source, loss: Loss, penalty: Penalty) -> bool:
    """Whether they can be used, and save more time than the passes that correct them cost."""
    block = source.whole
    if block is None or block.design.rows is None or len(source.columns) < min(COLUMNS.values()):
        return False
    columns, size = block.design.rows.lone
    return 0 < 2 * columns <= block.n_rows and columns >= COLUMNS[size] and unsuited(source, loss, penalty) is None


class Rough:
    """The second derivative of a ridge problem in its columns centred, scaled and rounded, factored."""

    def __init__(self, problem: Problem, baseline: float) -> None:
        """Make it in one pass; ``baseline`` is half of the targets' mean square, or so: their unit."""
        moments, ones = problem.moments, int(problem.intercept)
        self.problem, self.ones = problem, ones
        self.target = moments.statistic / moments.weight_sum * ones
        self.centre = moments.mean[ones:] * ones
        spread = moments.sd[ones:] if ones else np.sqrt(moments.square)
        self.scale = 1.0 / np.where(spread > 0.0, spread, 1.0)
        size = float(np.sqrt(baseline)) if baseline > 0.0 else 1.0
        centre = np.concatenate([self.centre, self.target])
        factor = np.concatenate([self.scale, np.full(problem.shape[1], 1.0 / size)])
        problem.passes += 1
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
        """The minimiser as far as single precision knows it."""
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
        here = self.problem.evaluate(coef)
        if self.ones and here.hessian is None:
            here = replace(here, hessian=np.ones((1, 1, 1)))
            self.problem.keep(np.ascontiguousarray(coef), here)
        return here
