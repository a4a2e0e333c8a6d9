"""Pieces of delimited text whose cells are plainly written, by a compiled loop: what Arrow makes of them, sooner."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lineal import _core
from lineal.tables.dialect import MISSING

_WORDS = sorted(MISSING)


def plain_batch(
    piece: bytes, delimiter: str, names: Sequence[str], numbers: Collection[str], wanted: Collection[str]
) -> Any:
    r"""Return a piece of whole rows as a record batch; None where something about it is unusual.

    There must be no quotes in it. ``numbers`` become doubles, other ``wanted`` columns text packed as codes.

    >>> plain_batch(b"1.5,u\nNA,v\n", ",", ["a", "b"], {"a"}, {"a", "b"}).to_pylist()
    [{'a': 1.5, 'b': 'u'}, {'a': None, 'b': 'v'}]
    """
    kinds = [0 if name not in wanted else 1 if name in numbers else 2 for name in names]
    if not any(kinds) or len(delimiter.encode()) > 1:
        return None
    found = _core.cells(piece, delimiter, kinds, _WORDS)
    if found is None:
        return None
    rows, columns = found
    arrays = [_numbers(rows, *parts) if len(parts) == 2 else _texts(rows, *parts) for parts in columns]
    if any(array is None for array in arrays):
        return None
    return pa.RecordBatch.from_arrays(arrays, names=[name for name, kind in zip(names, kinds, strict=True) if kind])


def _numbers(rows: int, values: Any, present: Any) -> Any:
    bits = pa.py_buffer(present) if len(present) else None
    return pa.Array.from_buffers(pa.float64(), rows, [bits, pa.py_buffer(values)])


def _texts(rows: int, codes: Any, ends: Any, words: bytes) -> Any:
    """Return codes with their texts; None where those are no UTF-8."""
    if not words.isascii():
        try:
            words.decode()
        except UnicodeDecodeError:
            return None
        inside = np.frombuffer(words + b" ", dtype=np.uint8)[ends] & 0xC0 == 0x80
        if inside.any():  # a character that is cut in two by the end of a cell
            return None
    distinct = pa.Array.from_buffers(pa.string(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(words)])
    packed = pa.Array.from_buffers(pa.int32(), rows, [None, pa.py_buffer(codes)])
    return pa.DictionaryArray.from_arrays(packed, distinct, safe=False)
