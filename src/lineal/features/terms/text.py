"""A text column: every word, n-gram or bucket of a hash a column of a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lineal import _core
from lineal.errors import InputError
from lineal.features.cells.cells import kind, texts
from lineal.features.text_options import Options
from lineal.ground.records import dataclass
from lineal.tables.arrow import from_bytes, from_numpy
from lineal.tables.dialect import MISSING

Array = npt.NDArray[np.float64]

OWN = tuple(field.name for field in fields(Options) if field.name not in ("statistics", "spelling", "pair", "partner"))
"""The options that belong to terms."""
LONGEST = 4096
"""A term of more bytes is left out of a vocabulary: it is no word, and a file would have to hold it."""
EXACT = 2**24
"""Counts up to this are exact in single precision."""


class Rows(NamedTuple):
    """Encoded documents in compressed sparse rows; ``unknown`` of the ``terms`` have no column."""

    starts: npt.NDArray[Any]
    columns: npt.NDArray[Any]
    values: npt.NDArray[Any]
    terms: int
    unknown: int

    def matrix(self, width: int) -> Any:
        """Return a scipy matrix of ``width`` columns, in 32-bit numbers where they suffice."""
        from scipy.sparse import csr_matrix

        starts, columns = self.indices()
        return csr_matrix((self.values, columns, starts), shape=(len(starts) - 1, width))

    def indices(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return starts and columns in one type."""
        if len(self.columns) < 2**31:
            return self.starts.astype(np.int32), self.columns
        return self.starts, self.columns.astype(np.int64)

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return 8 * len(self.starts) + (4 + self.values.itemsize) * len(self.columns)

    @classmethod
    def none(cls) -> Rows:
        """Return no rows."""
        return cls(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), 0, 0)

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Return the rows of several parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        at = np.cumsum([0, *(len(part.columns) for part in parts)])
        starts = [part.starts[1:] + first for part, first in zip(parts, at, strict=False)]
        return cls(
            np.concatenate([np.zeros(1, np.int64), *starts]),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.values for part in parts]),
            sum(part.terms for part in parts),
            sum(part.unknown for part in parts),
        )


def utf8(array: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    r"""Return a column as UTF-8 text: where each cell starts, and the bytes; a null is an empty text.

    >>> starts, text = utf8(pa.array(["ab", None, "é"]))
    >>> starts.tolist(), bytes(text)
    ([0, 2, 2, 4], b'ab\xc3\xa9')
    """
    if pa.types.is_dictionary(array.type) and kind(array.dictionary) == "text":
        array = array.dictionary_decode()
    if kind(array) != "text":
        codes, levels = texts(array)
        cells = from_bytes([*(level.encode() for level in levels), b""], pa.large_string())
        array = cells.take(from_numpy(np.where(codes < 0, len(levels), codes).astype(np.int32)))
    array = array.cast(pa.large_string())
    if array.null_count:
        array = array.fill_null("")
    if not len(array):
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    _, ends, data = array.buffers()
    starts = np.frombuffer(ends, dtype=np.int64, count=array.offset + len(array) + 1)[array.offset :]
    return starts, np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)


def documents(array: Any) -> _core.Documents:
    """Return the cells of a column for the compiled reader."""
    return _core.Documents(*utf8(array))


def from_strings(cells: Iterable[Any]) -> _core.Documents:
    """Return Python strings for the compiled reader: a list of nothing else where they are, others as UTF-8 text.

    >>> len(from_strings(["ab", "é"])), len(from_strings(["ab", None]))
    (2, 2)
    """
    if isinstance(cells, list):
        try:
            return _core.Documents(cells)
        except (TypeError, UnicodeEncodeError):
            pass  # a missing text, or one that Arrow finds the words for
    try:
        return documents(pa.array(cells, type=pa.large_string()))
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as error:
        raise InputError(f"the documents must be texts: {str(error).rstrip('.')}.") from None


def reading(options: Options, missing: bool = True) -> _core.Reading:
    """Return the compiled reader's settings; ``missing`` says that cells such as NA are empty."""
    o = options
    marks = sorted(MISSING - {""}) if missing else []
    return _core.Reading(o.unit == "characters", o.lower, o.fold, o.letters, o.low, o.high, marks)


@dataclass(frozen=True)
class Text:
    """The terms of a text column, each a column of a sparse matrix; a missing cell is an empty text.

    ``x_ij = times of term j in row i`` (counts), ``1`` where there is any (binary), or
    ``times * idf_j`` with ``idf_j = ln((1 + rows) / (1 + documents_j)) + 1``, the row divided by its length (tfidf).
    ``terms`` are the vocabulary in the order of the alphabet, or the numbers of the buckets that occur.
    """

    column: str
    options: Options
    terms: tuple[str, ...] | tuple[int, ...]
    documents: tuple[int, ...] | None = None
    rows: int = 0
    kind: ClassVar[str] = "text"
    as_text: ClassVar[tuple[bool, ...]] = (True,)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The table's columns it needs; ``as_text`` says of each whether it is read as text."""
        return (self.column,)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        mark = "" if self.options.bits is None else "#"
        return tuple(f"{self.column}: {mark}{term}" for term in self.terms)

    @cached_property
    def scale(self) -> Array | None:
        """The inverse document frequencies, where they count."""
        if self.documents is None:
            return None
        return np.asarray(np.log((1.0 + self.rows) / (1.0 + np.array(self.documents, dtype=np.float64))) + 1.0)

    @cached_property
    def _reading(self) -> _core.Reading:
        return reading(self.options)

    @cached_property
    def lexicon(self) -> _core.Lexicon:
        """The vocabulary by text."""
        lexicon = _core.Lexicon()
        lexicon.add([str(term) for term in self.terms])
        return lexicon

    @cached_property
    def _table(self) -> npt.NDArray[np.int32]:
        table = np.full(2 ** (self.options.bits or 0), -1, dtype=np.int32)
        table[np.array(self.terms, dtype=np.int64)] = np.arange(len(self.terms), dtype=np.int32)
        return table

    def encode(self, array: Any) -> Rows:
        """Return the rows of a column of cells."""
        held = documents(array)
        binary, single = self.options.weighting == "binary", self.scale is None
        if self.options.bits is None:
            found = _core.encode_lexicon(self._reading, held, self.lexicon, binary, self.scale, single)
        else:
            found = _core.encode_buckets(
                self._reading, held, self.options.bits, self._table, binary, self.scale, single
            )
        if single and not binary and found[5] > EXACT:
            raise InputError(
                f"a cell of column {self.column!r} has one term {found[5]:,} times; counts go up to {EXACT:,}: use binary."
            )
        return Rows(*found[:5])

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "kind": self.kind,
            "column": self.column,
            **{name: value for name, value in asdict(self.options).items() if name in OWN},
            "terms": list(self.terms),
            "documents": None if self.documents is None else list(self.documents),
            "rows": self.rows,
        }
