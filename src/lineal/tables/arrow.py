"""Arrow arrays to numpy and back by their buffers: Arrow's own conversions import pandas wherever it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lineal.ground.arrays import Mask

DOUBLE_EXACT_INTEGERS: Final = 2.0**53
"""Up to here every whole number is a double."""


_TYPES: dict[Any, type[np.generic]] = {
    pa.float64(): np.float64,
    pa.int8(): np.int8,
    pa.int16(): np.int16,
    pa.int32(): np.int32,
    pa.int64(): np.int64,
    pa.uint8(): np.uint8,
    pa.uint16(): np.uint16,
    pa.uint32(): np.uint32,
    pa.uint64(): np.uint64,
}
_ARROW = {np.dtype(kind): arrow for arrow, kind in _TYPES.items()}


def to_numpy(array: Any) -> npt.NDArray[Any]:
    """Return the values of an array of numbers in place; a null has any value.

    >>> to_numpy(from_numpy(np.array([1.5, 2.5])))
    array([1.5, 2.5])
    """
    kind = _TYPES[array.type]
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array), dtype=kind)
    return np.frombuffer(data, dtype=kind, count=array.offset + len(array))[array.offset :]


def valid(array: Any) -> Mask | None:
    """Return which cells are not null, or None if all are."""
    if not array.null_count:
        return None
    bits = array.buffers()[0]
    if bits is None:  # an array of the type null has no bits
        return np.zeros(len(array), dtype=np.bool_)
    mask = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little", count=array.offset + len(array))
    return mask[array.offset :].astype(np.bool_)


def rounded(array: Any) -> int | None:
    """Return where the first whole number stands that no double is, among typed cells; None if there is none.

    >>> rounded(pa.array([2**53, 2**53 + 2, 2**53 + 1])), rounded(pa.array([0.1, 1e300]))
    (2, None)
    """
    if array.type in (pa.int64(), pa.uint64()):
        whole, present = to_numpy(array), valid(array)
        doubles = whole.astype(np.float64)
        far = np.abs(doubles) >= DOUBLE_EXACT_INTEGERS
        if present is not None:
            far &= present
        cells = ((int(k), int(whole[k])) for k in np.flatnonzero(far))
    elif pa.types.is_decimal(array.type):
        values = ((k, value) for k, value in enumerate(array.to_pylist()) if value is not None)
        cells = ((k, int(value)) for k, value in values if abs(value) > DOUBLE_EXACT_INTEGERS and value == int(value))
    else:
        return None
    return next((k for k, number in cells if int(float(number)) != number), None)


def from_numpy(values: npt.NDArray[Any]) -> Any:
    """Return numbers or a mask as an Arrow array.

    >>> from_numpy(np.array([True, False])).to_pylist()
    [True, False]
    """
    if values.dtype == np.bool_:
        return pa.Array.from_buffers(
            pa.bool_(), len(values), [None, pa.py_buffer(np.packbits(values, bitorder="little"))]
        )
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(_ARROW[values.dtype], len(values), [None, data])


def strings(array: Any) -> list[str] | None:
    """Return an array of strings as a list, or None if it has nulls or another type.

    >>> strings(pa.array(["ab", "", "c"]))
    ['ab', '', 'c']
    """
    if array.null_count or array.type != pa.string():
        return None
    _, offsets, data = array.buffers()
    if data is None or not len(array):
        return [""] * len(array)
    ends = np.frombuffer(offsets, np.int32, count=array.offset + len(array) + 1)[array.offset :].tolist()
    whole = memoryview(data)[ends[0] : ends[-1]].tobytes()
    start = ends[0]
    if whole.isascii():  # then characters are bytes
        text = whole.decode("ascii")
        return [text[a - start : b - start] for a, b in pairwise(ends)]
    return [whole[a - start : b - start].decode() for a, b in pairwise(ends)]


def from_texts(cells: Sequence[str]) -> Any:
    """Return texts as an Arrow array of strings.

    >>> from_texts(["ab", "", "é"]).to_pylist()
    ['ab', '', 'é']
    """
    encoded = {cell: cell.encode() for cell in set(cells)}
    records = [encoded[cell] for cell in cells]
    ends = np.cumsum([0, *map(len, records)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(records), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(records))])


def from_bytes(records: Sequence[bytes], kind: Any) -> Any:
    """Return byte strings as an Arrow array of a type with 64-bit offsets.

    >>> from_bytes([b"ab", b""], pa.large_string()).to_pylist()
    ['ab', '']
    """
    ends = np.cumsum([0, *map(len, records)], dtype=np.int64)
    return pa.Array.from_buffers(kind, len(records), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(records))])
