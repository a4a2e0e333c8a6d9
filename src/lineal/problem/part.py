"""Some columns of a problem as a problem of their own, in which the others rest: what a few columns among very many need."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lineal.designs import as_design
from lineal.designs.design import columns_of
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.penalties import NoPenalty
from lineal.problem.problem import Problem
from lineal.sources.source import Block, Change, Mapped, Source


def raised(block: Block, coef: Array | None) -> Array | None:
    """Return the offsets of a block with its scores at ``coef``, if there is one, added."""
    if coef is None:
        return block.offset
    return np.asarray(block.design.times(coef) + (0.0 if block.offset is None else block.offset))


@dataclass(frozen=True)
class ColumnsOnly:
    """The change that leaves some columns, the first of them ones or not; scores at ``rest`` become part of the offset."""

    columns: Index
    ones: bool
    rest: Array | None

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        cells = columns_of(block.design, self.columns[int(self.ones) :])
        return replace(block, design=as_design(cells, intercept=self.ones), offset=raised(block, self.rest))


@dataclass(frozen=True)
class Part(Mapped):
    """A source of which some columns are left, with their names."""

    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that are left."""
        return self.names

    def map(self, change: Change, *, keep: bool = False) -> Source:
        """Return the source whose blocks are these after a change; the names stay those of the part."""
        return Mapped(self, change)


def part_of(problem: Problem, columns: Index, rest: Array | None = None) -> Problem:
    """Return the problem of some columns, without a penalty; coefficients of others are at ``rest``, or zero.

    No more is asked of the rows than these columns: the second derivative is as small as there are of them.
    """
    moments, others = problem.moments, None
    if rest is not None and np.delete(rest, columns, axis=0).any():
        others = rest.copy()
        others[columns] = 0.0
        moments = replace(moments, offset=moments.offset + float(np.max(moments.largest @ np.abs(others))))
    moments = replace(
        moments, mean=moments.mean[columns], scatter=moments.scatter[columns], largest=moments.largest[columns]
    )
    ones = problem.intercept and len(columns) > 0 and int(columns[0]) == 0
    names = tuple(problem.source.columns[k] for k in columns)
    source = Part(problem.source, ColumnsOnly(columns, ones, others), names)
    return Problem(source, problem.loss, NoPenalty(len(columns)), moments)
