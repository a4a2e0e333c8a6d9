"""In which order rows are presented to a method that learns from one after another."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.sources.source import Block, Source

Order = npt.NDArray[np.int64]
Segment = tuple[tuple[_core.Part, ...], Array, Array | None, Array | None]

WINDOW_CELLS: Final = 2**25
"""Numbers of the rows that are shuffled among each other (256 MB): a stream does not fit in memory."""


@dataclass(frozen=True)
class Window:
    """Some consecutive rows of a source that are shuffled together; they may lie in several blocks."""

    blocks: list[Block]

    @cached_property
    def segments(self) -> list[Segment]:
        """The rows of each block as the kernels read them."""
        return [(parts(block), block.y, block.weight, block.offset) for block in self.blocks]

    @cached_property
    def numbers(self) -> Order:
        """The place of every row in the source."""
        return np.concatenate([np.arange(block.start, block.start + block.n_rows) for block in self.blocks])

    @cached_property
    def weight(self) -> Array:
        """The weight of every row."""
        return np.concatenate([block.weights for block in self.blocks])

    @property
    def rows(self) -> int:
        """Number of rows, those of weight 0 too."""
        return sum(block.n_rows for block in self.blocks)

    def order(self, seed: int, epoch: int, *, shuffle: bool = True) -> Order:
        """Return the rows of weight above 0, by a hash of (seed, epoch, row number): the same for any partition."""
        present = np.flatnonzero(self.weight > 0.0)
        if shuffle:
            # different rows have different hashes, so that any sort gives the same order
            present = present[np.argsort(hashed(seed, epoch, self.numbers[present]))]
        return np.asarray(present, dtype=np.int64)


def windows(source: Source) -> Iterator[Window]:
    """Yield the rows of a source in windows whose bounds do not depend on its blocks."""
    held: list[Block] = []
    count, size = 0, 0
    for block in source.blocks():
        size = size or _size(block)
        at = 0
        while at < block.n_rows:
            end = min(block.n_rows, at + size - count)
            held.append(block if end - at == block.n_rows else cut(block, at, end))
            count, at = count + end - at, end
            if count == size:
                yield Window(held)
                held, count = [], 0
    if held:
        yield Window(held)


def parts(block: Block) -> tuple[_core.Part, ...]:
    """Return the compiled parts of a block's design."""
    if not block.design.compiled:
        raise InputError(f"stochastic steps need rows as they are stored, not a {type(block.design).__name__} design.")
    return block.design.parts


def hashed(seed: int, epoch: int, rows: Order) -> npt.NDArray[np.uint64]:
    """Return 64 bits for each row, drawn by the splitmix64 finaliser from seed, epoch and row number.

    >>> bool((hashed(0, 1, np.arange(3)) == hashed(0, 1, np.arange(5))[:3]).all())
    True
    """
    bits = np.array([seed % 2**64], dtype=np.uint64)
    with np.errstate(over="ignore"):
        for value in (np.uint64(epoch), np.asarray(rows, dtype=np.uint64)):
            bits = _mix(bits) ^ value
        return _mix(bits)


def _mix(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _size(block: Block) -> int:
    return max(1024, WINDOW_CELLS // max(block.design.row_entries, 1))


def cut(block: Block, first: int, last: int) -> Block:
    """Return rows ``first`` to ``last`` of a block."""
    return Block(
        block.design.slice(first, last),
        block.y[first:last],
        None if block.weight is None else block.weight[first:last],
        None if block.offset is None else block.offset[first:last],
        block.start + first,
    )
