"""The fingerprint of the training rows: a hash that any changed cell changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lineal.features.cells import numbers, texts
from lineal.features.encoder import column
from lineal.tables.arrow import from_bytes, from_numpy

Array = npt.NDArray[np.float64]

RECORDS = 100_000
"""Texts whose bytes are remembered from batch to batch."""
_MISSING = b"\xff\xff\xff\xff"


class Fingerprint:
    """Hashes of columns, fed batch by batch; the order of rows counts, the size of batches does not."""

    def __init__(self, numbers: Iterable[str], texts: Iterable[str]) -> None:
        """Begin with the names of the number columns and of the text columns."""
        self.numbers = {name: hashlib.sha256() for name in numbers}
        self.texts = {name: hashlib.sha256() for name in texts}
        self.records: dict[str, bytes] = {}

    def add(self, batch: Any) -> None:
        """Add the rows of a batch."""
        for name in self.numbers:
            self.add_numbers(name, numbers(column(batch, name))[0])
        for name, digest in self.texts.items():
            digest.update(self._text_bytes(*texts(column(batch, name))))

    def add_numbers(self, name: str, values: Array) -> None:
        """Add cells to one column of numbers."""
        self.numbers[name].update(number_bytes(values))

    def add_texts(self, name: str, cells: Sequence[str]) -> None:
        """Add cells, none missing, to one column of text."""
        self.texts[name].update(b"".join(_record(cell) for cell in cells))

    def _text_bytes(self, codes: npt.NDArray[np.int32], levels: Sequence[str]) -> Any:
        """Return text cells, each after its length in four bytes; a missing one as 0xffffffff."""
        known = self.records
        if len(known) > RECORDS:
            known.clear()
        known.update((level, _record(level)) for level in levels if level not in known)
        cells = from_bytes([*(known[level] for level in levels), _MISSING], pa.large_binary())
        taken = cells.take(from_numpy(np.where(codes < 0, np.int32(len(levels)), codes)))
        return b"" if not len(taken) else taken.buffers()[2]

    def hex(self) -> str:
        """Return ``sha256:`` and the hash over all columns, sorted by name."""
        whole = hashlib.sha256()
        digests = {name: (b"n", digest) for name, digest in self.numbers.items()}
        digests |= {name: (b"t", digest) for name, digest in self.texts.items()}
        for name in sorted(digests, key=str.encode):
            letter, digest = digests[name]
            whole.update(name.encode() + b"\0" + letter + digest.digest())
        return f"sha256:{whole.hexdigest()}"


def number_bytes(values: Array) -> bytes:
    """Return numbers as little-endian doubles, missing ones as the one NaN 0x7ff8000000000000."""
    missing = np.isnan(values)
    if missing.any():
        values = np.where(missing, np.nan, values)
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


def _record(cell: str) -> bytes:
    data = cell.encode()
    return len(data).to_bytes(4, "little") + data
