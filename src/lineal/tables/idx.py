"""idx files, the format of MNIST: one array of numbers, its type and shape before it."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.tables.file import File
from lineal.tables.tabular import Table
from lineal.tables.vectors import from_arrays

TYPES: Final = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
"""The types of numbers by the third byte; they stand with the highest byte first."""
MAX_DIMENSIONS: Final = 8
LABEL: Final = "label"
VECTOR: Final = "pixel"
"""What the column of an array of one dimension is called, and that of the vectors of more."""


def begins(data: bytes) -> bool:
    """Whether a file begins like an idx file: two zeros, a type, the number of dimensions.

    >>> begins(bytes([0, 0, 8, 3])), begins(b"a,b")
    (True, False)
    """
    return len(data) >= 4 and data[:2] == b"\0\0" and data[2] in TYPES and 1 <= data[3] <= MAX_DIMENSIONS


def from_idx(file: File) -> Table:
    """Return the array of a file: a column ``label`` for one dimension, else vectors ``pixel``, a row each."""
    with file.open() as stream:
        data = stream.read()
    array = _array(data, file.name)
    if array.ndim == 1:
        return from_arrays({LABEL: array}, file.name)
    return from_arrays({VECTOR: array.reshape(len(array), -1)}, file.name)


def _array(data: bytes, name: str) -> npt.NDArray[np.generic]:
    if not begins(data):
        raise InputError(f"{name} is no idx file: it does not begin with two zero bytes, a type and its dimensions.")
    dimensions = data[3]
    sizes = data[4 : 4 + 4 * dimensions]
    shape = tuple(int.from_bytes(sizes[at : at + 4], "big") for at in range(0, len(sizes) // 4 * 4, 4))
    start, kind = 4 + 4 * dimensions, np.dtype(TYPES[data[2]])
    size = math.prod(shape) * kind.itemsize
    if len(shape) < dimensions or len(data) - start != size:
        raise InputError(
            f"{name} is a damaged idx file: its shape {shape} needs {size:,} bytes of numbers, and there are"
            f" {max(len(data) - start, 0):,}."
        )
    return np.frombuffer(data, kind, offset=start).reshape(shape).astype(kind.newbyteorder("="))
