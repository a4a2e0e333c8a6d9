"""The fingerprint of the training rows: a hash that any changed cell changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lineal.features.cells import numbers, texts
from lineal.features.encoder import column

Array = npt.NDArray[np.float64]

_MISSING = b"\xff\xff\xff\xff"


class Fingerprint:
    """Hashes of columns, fed batch by batch; the order of rows counts, the size of batches does not."""

    def __init__(self, numbers: Iterable[str], texts: Iterable[str]) -> None:
        """Begin with the names of the number columns and of the text columns."""
        self.numbers = {name: hashlib.sha256() for name in numbers}
        self.texts = {name: hashlib.sha256() for name in texts}

    def add(self, batch: Any) -> None:
        """Add the rows of a batch."""
        for name, digest in self.numbers.items():
            digest.update(number_bytes(numbers(column(batch, name))[0]))
        for name, digest in self.texts.items():
            digest.update(text_bytes(column(batch, name)))

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


def text_bytes(array: Any) -> bytes:
    """Return text cells, each after its length in four bytes; a missing one as 0xffffffff."""
    codes, levels = texts(array)
    records = [len(data).to_bytes(4, "little") + data for data in (level.encode() for level in levels)]
    taken = pa.array([*records, _MISSING], type=pa.large_binary()).take(
        pa.array(np.where(codes < 0, len(levels), codes))
    )
    return b"" if not len(taken) else taken.buffers()[2].to_pybytes()

