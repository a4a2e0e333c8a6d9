"""Rows in memory: one block, or any list of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lineal.designs.design import Design
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.sources.source import Access, Block, Change, PassCount, Source


def default_columns(design: Design) -> tuple[str, ...]:
    """Return the names of an array's columns: x0, x1, ..., after the intercept if the design begins with ones."""
    ones = design.starts_with_ones
    return (("(intercept)",) if ones else ()) + tuple(f"x{j}" for j in range(design.shape[1] - ones))


class Memory(Source):
    """A design with its targets, weights and offsets, as one block."""

    def __init__(
        self,
        design: Design,
        y: Array,
        weight: Array | None = None,
        offset: Array | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        """Hold the rows; ``y`` and ``offset`` are (n,) or (n, outputs), ``weight`` is (n,)."""
        n = design.shape[0]
        y = _rows("y", y, n)
        offset = None if offset is None else _rows("offset", offset, n)
        if weight is not None:
            weight = _plain(weight)
            if weight.shape != (n,):
                raise InputError(f"weight has shape {weight.shape}; {n} rows need shape ({n},).")
        if columns is not None and len(columns) != design.shape[1]:
            raise InputError(f"{len(columns)} column names were given for a design of {design.shape[1]} columns.")
        self._columns = None if columns is None else tuple(columns)
        self.block = Block(design, y, weight, offset)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design's columns, made when they are first asked for if none were given."""
        if self._columns is None:
            self._columns = default_columns(self.block.design)
        return self._columns

    @property
    def leading(self) -> str | None:
        """The name of the first column."""
        if self._columns is not None:
            return super().leading
        if self.block.design.starts_with_ones:
            return "(intercept)"
        return "x0" if self.block.design.shape[1] else None

    @property
    def offers(self) -> Access:
        """Everything."""
        return Access.ITERATE | Access.RESIDENT

    @property
    def whole(self) -> Block:
        """The one block."""
        return self.block

    def blocks(self) -> Iterator[Block]:
        """Yield the one block."""
        yield self.block

    def map(self, change: Change, *, keep: bool = False) -> Source:
        """Return the changed source; with ``keep``, the block is changed here and now."""
        return Blocks([change(self.block)], self.columns, self.pass_count) if keep else super().map(change)


class Blocks(Source):
    """Blocks that are already there, numbered anew from the first row."""

    def __init__(
        self, blocks: Sequence[Block], columns: Sequence[str] | None = None, pass_count: PassCount | None = None
    ) -> None:
        """Hold the blocks; at least one. ``pass_count`` is that of the source whose rows they show."""
        if not blocks:
            raise InputError("a source needs at least one block.")
        self._blocks, start = [], 0
        for block in blocks:
            self._blocks.append(Block(block.design, block.y, block.weight, block.offset, start))
            start += block.n_rows
        self._columns = default_columns(blocks[0].design) if columns is None else tuple(columns)
        if pass_count is not None:
            self.pass_count = pass_count

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design's columns."""
        return self._columns

    @property
    def offers(self) -> Access:
        """Everything."""
        return Access.ITERATE | Access.RESIDENT

    @property
    def whole(self) -> Block | None:
        """The block, where there is only one."""
        return self._blocks[0] if len(self._blocks) == 1 else None

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order."""
        yield from self._blocks

    def map(self, change: Change, *, keep: bool = False) -> Source:
        """Return the changed source; with ``keep``, all blocks are changed here and now."""
        if not keep:
            return super().map(change)
        return Blocks([change(block) for block in self._blocks], self._columns, self.pass_count)


def _plain(values: Array) -> Array:
    array = np.ascontiguousarray(values, dtype=np.float64)
    return array if array.size and array.flags.aligned else array.copy()  # not a field of packed records


def _rows(name: str, values: Array, n: int) -> Array:
    values = _plain(values)
    values = values.reshape(-1, 1) if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[0] != n:
        raise InputError(f"{name} has shape {values.shape}; it needs one row for each of the {n} rows of the design.")
    return values
