"""Rows on disk: encoded once into a temporary file, then read block by block in every pass."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from lineal.designs import HStack
from lineal.designs.design import Design
from lineal.ground.records import dataclass
from lineal.sources.source import Block, Source


@dataclass(frozen=True)
class _Array:
    """Where an array stands in the file."""

    at: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class _Part:
    """One design of a stack: its kind, its number of columns and its arrays."""

    kind: type[Design]
    columns: int
    arrays: tuple[_Array, ...]


@dataclass(frozen=True)
class _Stored:
    """One block."""

    rows: int
    parts: tuple[_Part, ...]
    y: _Array
    weight: _Array | None
    offset: _Array | None
    start: int


class Spilled(Source):
    """Blocks in a temporary file without a name: it is gone when the source is, or when the program ends, however it ends.

    >>> from lineal.sources.memory import Memory
    >>> from lineal.designs import as_design
    >>> rows = Memory(as_design(np.array([[1.0], [2.0]])), np.array([3.0, 4.0]))
    >>> next(Spilled(rows.blocks(), rows.columns).blocks()).design.dense()
    array([[1., 1.],
           [1., 2.]])
    """

    def __init__(self, blocks: Iterable[Block], columns: Sequence[str]) -> None:
        """Write the blocks; OSError if the disk has no room for them."""
        self._columns = tuple(columns)
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="lineal-")  # noqa: SIM115  (lives as long as the source)
        weakref.finalize(self, self._file.close)
        self._blocks = [self._store(block) for block in blocks]
        self._file.flush()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to write the file again elsewhere: the rows travel with the source."""
        return Spilled, (list(self.blocks()), self._columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design's columns."""
        return self._columns

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order."""
        for stored in self._blocks:
            weight = None if stored.weight is None else self._load(stored.weight)
            offset = None if stored.offset is None else self._load(stored.offset)
            design = HStack([self._design(part, stored.rows) for part in stored.parts])
            yield Block(design, self._load(stored.y), weight, offset, stored.start)

    def _store(self, block: Block) -> _Stored:
        return _Stored(
            block.n_rows,
            tuple(map(self._part, block.design.designs)),
            self._save(block.y),
            None if block.weight is None else self._save(block.weight),
            None if block.offset is None else self._save(block.offset),
            block.start,
        )

    def _part(self, design: Design) -> _Part:
        return _Part(type(design), design.shape[1], tuple(map(self._save, design.arrays())))

    def _design(self, part: _Part, rows: int) -> Design:
        return part.kind.of_arrays([self._load(array) for array in part.arrays], (rows, part.columns))

    def _save(self, array: npt.NDArray[Any]) -> _Array:
        at = self._file.seek(0, 2)
        self._file.write(np.ascontiguousarray(array).data)
        return _Array(at, array.dtype, array.shape)

    def _load(self, array: _Array) -> npt.NDArray[Any]:
        self._file.seek(array.at)
        values: npt.NDArray[Any] = np.fromfile(self._file, array.dtype, int(np.prod(array.shape)))
        if values.size < int(np.prod(array.shape)):
            raise OSError("the temporary file of encoded rows is shorter than it was written")
        return values.reshape(array.shape)


def room(size: int) -> bool:
    """Whether the disk for temporary files has room for ``size`` bytes and would keep a gibibyte free."""
    return shutil.disk_usage(tempfile.gettempdir()).free > size + 2**30
