"""Some of the columns of rows held in memory, as a problem of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lineal.designs import Beside, Categorical, Dense, Ones, Sparse, Stack, Turned
from lineal.designs.design import Design
from lineal.problem.problem import Problem
from lineal.sources.memory import Blocks
from lineal.sources.source import Block

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

TIMES = 8
"""So often columns are picked out of sparse rows before these are sorted by columns: a sort takes as long (measured)."""


class Columns:
    """The designs of a problem by columns; sparse ones that are asked often keep a copy sorted by columns."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.blocks = list(problem.source.blocks())
        self.pickers = [_picker(block.design) for block in self.blocks]

    @cached_property
    def turned(self) -> list[Design]:
        """The designs for looks at all columns: stored by columns where they are."""
        return [Turned.of(block.design) for block in self.blocks]

    @cached_property
    def strips(self) -> list[Callable[[Index], Design]]:
        """Functions from sorted columns to designs that have only these, for products with few vectors."""
        return [_strip(design, pick) for design, pick in zip(self.turned, self.pickers, strict=True)]

    @staticmethod
    def refuse(problem: Problem) -> str | None:
        """Return why single columns cannot be had, in words."""
        if not problem.source.resident:
            return "the rows are not held in memory, where single columns can be looked at"
        for block in problem.source.blocks():
            if not isinstance(block.design, Dense | Sparse | Categorical | Ones | Stack):
                return f"a design of kind {type(block.design).__name__} does not hand out single columns"
        return None

    def problem_of(self, columns: Index) -> Problem:
        """Return the problem in some columns only (sorted), all other coefficients zero."""
        whole = self.problem
        blocks = [
            Block(pick(columns), block.y, block.weight, block.offset)
            for pick, block in zip(self.pickers, self.blocks, strict=True)
        ]
        moments = replace(
            whole.moments,
            mean=whole.moments.mean[columns],
            scatter=whole.moments.scatter[columns],
            largest=whole.moments.largest[columns],
        )
        names = [whole.source.columns[j] for j in columns]
        return Problem(Blocks(blocks, names), whole.loss, whole.penalty.take(columns), moments)


def stored(design: Design) -> int:
    """Return how many entries a product with a design looks at."""
    if isinstance(design, Stack):
        return sum(map(stored, design.designs))
    if isinstance(design, Sparse):
        return design.by_column.nnz if design.upright else int(design.indptr[-1] - design.indptr[0])
    return design.shape[0] * (1 if isinstance(design, Categorical) else design.shape[1])


def _picker(design: Design) -> Callable[[Index], Design]:
    """Return a function from sorted columns to the design that has only these."""
    if isinstance(design, Stack):
        return _stacked(design)
    if isinstance(design, Dense):
        array = design.array
        # Columns of a matrix held by rows are gathered row by row, of one held by columns column by column.
        if array.flags.f_contiguous:
            return lambda columns: Dense(np.ascontiguousarray(array.T[columns].T))
        return lambda columns: Dense(np.take(array, columns, axis=1))
    if isinstance(design, Sparse):
        return _Sparse(design)
    if isinstance(design, Categorical):
        codes, levels = design.codes, design.shape[1]

        def pick(columns: Index) -> Design:
            place = np.full(levels + 1, -1, dtype=np.int32)
            place[columns] = np.arange(len(columns), dtype=np.int32)
            return Categorical(place[codes], len(columns))

        return pick
    assert isinstance(design, Ones)
    return lambda _columns: design


class _Sparse:
    """Columns of sparse rows: a few times out of the rows, then out of a copy sorted by columns."""

    def __init__(self, design: Sparse) -> None:
        self.design, self.times = design, 0

    def __call__(self, columns: Index) -> Sparse:
        """Return the design that has only these columns, sorted."""
        self.times += 1
        if self.times <= TIMES and not self.design.upright:
            return self.design.take(columns)
        return Sparse(self.design.by_column[:, columns])


def _strip(design: Design, pick: Callable[[Index], Design]) -> Callable[[Index], Design]:
    """Return a function from sorted columns to a design of these, by columns where they are stored so."""
    if isinstance(design, Beside):
        parts = [_strip(part, part.take if isinstance(part, Turned) else _picker(part)) for part in design.designs]
        return _beside(design.designs, parts, Beside)
    return design.take if isinstance(design, Turned) else pick


def _stacked(design: Stack) -> Callable[[Index], Design]:
    return _beside(design.designs, [_picker(part) for part in design.designs], Stack)


def _beside(
    designs: Sequence[Design], pickers: Sequence[Callable[[Index], Design]], join: Callable[[list[Design]], Design]
) -> Callable[[Index], Design]:
    edges = np.cumsum([0, *(part.shape[1] for part in designs)])

    def pick(columns: Index) -> Design:
        cuts = np.searchsorted(columns, edges)
        kept = [
            picker(columns[a:b] - first)
            for picker, a, b, first in zip(pickers, cuts[:-1], cuts[1:], edges[:-1], strict=True)
            if b > a
        ]
        return join(kept)

    return pick
