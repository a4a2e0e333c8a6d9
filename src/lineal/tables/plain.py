"""Pieces of delimited text whose cells are plainly written, by a compiled loop: what Arrow makes of them, sooner."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lineal import _core
from lineal.tables.arrow import from_numpy, to_numpy
from lineal.tables.dialect import MISSING

_WORDS = sorted(MISSING)
MAX_SHARED_TEXTS = 2**15 - 1
"""Different texts of a column that batches have in common."""


def plain_batch(
    piece: bytes | bytearray,
    delimiter: str,
    names: Sequence[str],
    numbers: Collection[str],
    wanted: Collection[str],
    quote: str | None = None,
    *,
    strict: bool = False,
) -> Any:
    r"""Return a piece of whole rows as a record batch; None where something about it is unusual.

    A ``quote`` is unusual; if ``strict``, so is all that is not ASCII. ``numbers`` become doubles, other ``wanted``
    columns text packed as codes.

    >>> plain_batch(b"1.5,u\nNA,v\n", ",", ["a", "b"], {"a"}, {"a", "b"}).to_pylist()
    [{'a': 1.5, 'b': 'u'}, {'a': None, 'b': 'v'}]
    """
    kinds = [int(name in wanted) * (1 if name in numbers else 2) for name in names]
    if not any(kinds) or len(delimiter.encode()) > 1 or len((quote or "").encode()) > 1:
        return None
    cells = _core.cells(piece, delimiter, kinds, _WORDS, quote or "", strict)
    if cells is None:
        return None
    rows, columns = cells
    arrays = [_numbers(rows, *parts) if len(parts) == 2 else _texts(rows, *parts) for parts in columns]
    if any(array is None for array in arrays):
        return None
    return pa.RecordBatch.from_arrays(arrays, names=[name for name, kind in zip(names, kinds, strict=True) if kind])


class Lexicons:
    """The different texts of every packed column of a file, in the order of its rows: one dictionary for all its batches.

    A column of more than 32,767 different texts keeps a dictionary of its own in every batch.
    """

    def __init__(self) -> None:
        """Begin with no text."""
        self.lexicons: dict[str, _core.Dictionary | None] = {}
        self.shared: dict[str, Any] = {}

    def unified(self, batch: Any) -> Any:
        r"""Return a batch, the next of the file, with codes of the common dictionaries, in as few bytes as these take.

        >>> first = plain_batch(b"v\nu\n", ",", ["a"], (), {"a"})
        >>> second = plain_batch(b"u\nw\n", ",", ["a"], (), {"a"})
        >>> all_ = Lexicons()
        >>> all_.unified(first).column(0).indices.to_pylist(), all_.unified(second).column(0).indices.to_pylist()
        ([0, 1], [1, 2])
        """
        if not any(pa.types.is_dictionary(kind) for kind in batch.schema.types):
            return batch
        columns = [self._column(name, batch.column(k)) for k, name in enumerate(batch.schema.names)]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    def _column(self, name: str, array: Any) -> Any:
        if not pa.types.is_dictionary(array.type) or array.null_count or array.dictionary.type != pa.string():
            return array
        if name not in self.lexicons:
            self.lexicons[name] = _core.Dictionary()
        lexicon, own = self.lexicons[name], array.dictionary
        _, ends, words = own.buffers()
        if lexicon is None or own.null_count or len(own) > MAX_SHARED_TEXTS or words is None:
            return array
        before = len(lexicon)
        table = lexicon.merge(np.frombuffer(ends, np.int32, own.offset + len(own) + 1)[own.offset :], words)
        if len(lexicon) > MAX_SHARED_TEXTS:
            self.lexicons[name] = None
            return array
        if len(lexicon) > before:
            ends, words = lexicon.texts()
            self.shared[name] = pa.Array.from_buffers(
                pa.string(), len(lexicon), [None, pa.py_buffer(ends), pa.py_buffer(words)]
            )
        size = 1 if len(lexicon) < 2**7 else 2
        codes = from_numpy(_core.recode(to_numpy(array.indices), table, size))
        return pa.DictionaryArray.from_arrays(codes, self.shared[name], safe=False)


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
