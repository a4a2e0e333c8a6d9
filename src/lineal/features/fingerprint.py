"""The fingerprint of the training rows: a hash that any changed cell changes."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.features.cells.cells import numbers, packed
from lineal.features.encoder import column
from lineal.ground.arrays import Array

CHUNK_CELLS = 65536
"""Cells of a matrix that are turned into columns at a time."""
THREADED_MIN_CELLS = 1_000_000
"""A matrix of fewer cells is hashed in one thread."""
THREADED_MIN_ROWS = 4096
"""Batches of fewer rows are hashed by the thread that has them."""
_MISSING = b"\xff\xff\xff\xff"


class Fingerprint:
    """Hashes of columns, fed batch by batch; the order of rows counts, the size of batches does not."""

    def __init__(self, numbers: Iterable[str], texts: Iterable[str]) -> None:
        """Begin with the names of the number columns and of the text columns."""
        self.numbers = {name: _core.Sha256() for name in numbers}
        self.texts = {name: _core.Sha256() for name in texts}
        self.records: dict[str, tuple[list[str], npt.NDArray[np.int64], bytes]] = {}

    def add(self, batch: Any) -> None:
        """Add the rows of a batch."""
        self.add_some(batch, [*self.numbers, *self.texts])

    def shares(self, count: int) -> list[list[str]]:
        """Return the names of the columns in this many parts of about the same work."""
        names = [*self.texts, *self.numbers]
        return [names[k::count] for k in range(count)]

    def add_some(self, batch: Any, names: Iterable[str]) -> None:
        """Add some columns of a batch; columns do not wait for each other."""
        _core.hash_columns([self._job(name, column(batch, name)) for name in names])

    def add_column(self, name: str, cells: Any) -> None:
        """Add cells to one column of either kind."""
        _core.hash_columns([self._job(name, cells)])

    def add_numbers(self, name: str, values: Array) -> None:
        """Add cells to one column of numbers, as little-endian doubles, missing ones as the one NaN 0x7ff8000000000000."""
        _core.hash_columns([(self.numbers[name], np.ascontiguousarray(values))])

    def _job(self, name: str, cells: Any) -> tuple[Any, ...]:
        """Return what is to be hashed of some cells: numbers, or codes and their records."""
        if name in self.numbers:
            return self.numbers[name], np.ascontiguousarray(numbers(cells)[0])
        codes, levels = packed(cells)
        return self.texts[name], np.ascontiguousarray(codes), *self._records(name, levels)

    def add_matrix(self, names: Sequence[str], matrix: npt.NDArray[Any]) -> None:
        """Add the rows of a matrix with a column of numbers for every name, in as many threads as a pass takes."""
        shares = min(_core.threads(), len(names)) if matrix.size >= THREADED_MIN_CELLS else 1
        edges = [len(names) * k // shares for k in range(shares + 1)] if shares else []
        parts = [(names[a:b], matrix[:, a:b]) for a, b in pairwise(edges)]
        if shares <= 1:
            for part in parts:
                self._add_columns(*part)
            return
        with ThreadPoolExecutor(shares) as pool:
            list(pool.map(lambda part: self._add_columns(*part), parts))

    def _add_columns(self, names: Sequence[str], matrix: npt.NDArray[Any]) -> None:
        """Add columns side by side, some rows at a time: those that a cache holds."""
        height = max(CHUNK_CELLS // len(names), 512)
        for start in range(0, len(matrix), height):
            part = np.ascontiguousarray(matrix[start : start + height].T, dtype=np.float64)
            _core.hash_columns([(self.numbers[name], cells) for name, cells in zip(names, part, strict=True)])

    def add_texts(self, name: str, cells: Sequence[str]) -> None:
        """Add cells, none missing, to one column of text."""
        self.texts[name].update(b"".join(_record(cell) for cell in cells))

    def _records(self, name: str, levels: list[str]) -> tuple[npt.NDArray[np.int64], bytes]:
        """Return the records of levels, each after its length in four bytes, that of a missing cell first; and where they end."""
        records = self.records.get(name)
        if records is None or records[0] is not levels:
            cells = [_MISSING, *map(_record, levels)]
            ends = np.cumsum([0, *map(len, cells)], dtype=np.int64)
            records = self.records[name] = (levels, ends, b"".join(cells) + bytes(16))
        return records[1:]

    def hex(self) -> str:
        """Return ``sha256:`` and the hash over all columns, sorted by name."""
        whole = hashlib.sha256()
        digests = {name: (b"n", digest) for name, digest in self.numbers.items()}
        digests |= {name: (b"t", digest) for name, digest in self.texts.items()}
        for name in sorted(digests, key=str.encode):
            letter, digest = digests[name]
            whole.update(name.encode() + b"\0" + letter + digest.digest())
        return f"sha256:{whole.hexdigest()}"


class Lanes:
    """Two threads that feed a fingerprint, each its share of the columns, while the caller goes on."""

    def __init__(self, fingerprint: Fingerprint) -> None:
        """Feed ``fingerprint``."""
        self.fingerprint = fingerprint
        self.lanes = [(names, ThreadPoolExecutor(1)) for names in fingerprint.shares(2)]
        self.waiting: deque[list[Future[None]]] = deque()

    def __enter__(self) -> Lanes:
        return self

    def add(self, batch: Any) -> None:
        """Add the rows of a batch, after those of the batches before."""
        if batch.num_rows < THREADED_MIN_ROWS and not self.waiting:
            self.fingerprint.add(batch)
            return
        self.waiting.append([pool.submit(self.fingerprint.add_some, batch, names) for names, pool in self.lanes])
        if len(self.waiting) > 2:
            self._settle()

    def _settle(self) -> None:
        for future in self.waiting.popleft():
            future.result()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for all, or end early after an error."""
        try:
            while self.waiting and kind is None:
                self._settle()
        finally:
            for _names, pool in self.lanes:
                pool.shutdown(cancel_futures=True)


def _record(cell: str) -> bytes:
    data = cell.encode()
    return len(data).to_bytes(4, "little") + data
