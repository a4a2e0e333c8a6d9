"""A text column: every word, n-gram or bucket of a hash a column of a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lineal import _core
from lineal.errors import InputError
from lineal.features.cells.cells import kind, texts
from lineal.features.terms.members import expect, whole
from lineal.features.terms.rows import Rows
from lineal.features.terms.term import Cells, SparseTerm
from lineal.features.text_options import MAX_HASH_BITS, Options
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.tables.arrow import from_bytes, from_numpy
from lineal.tables.dialect import MISSING
from lineal.tables.marked import settled

_OTHER_MEMBERS: Final = ("statistics", "spelling", "pair", "partner", "stop_file", "vocabulary_file")
_ADDED: Final = {"once": False, "sublinear": False, "norm": "", "stop": ()}
"""Options that a model file names only where they are not these, and that files of before do not know."""
OPTION_MEMBERS: Final = tuple(
    field.name for field in fields(Options) if field.name not in (*_OTHER_MEMBERS, *_ADDED, "vocabulary")
)
"""The options that belong to terms, and that every model file names."""
TERM_MAX_CHARACTERS: Final = 4096
"""A term of more bytes is left out of a vocabulary: it is no word, and a file would have to hold it."""
MAX_TERMS: Final = 2**22
"""The most terms that a model file may name."""
FLOAT32_EXACT_COUNTS: Final = 2**24
"""Counts up to this are exact in single precision."""


def utf8(array: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    r"""Return a column as UTF-8 text: where each cell starts, and the bytes; a null is an empty text.

    >>> starts, text = utf8(pa.array(["ab", None, "é"]))
    >>> starts.tolist(), bytes(text)
    ([0, 2, 2, 4], b'ab\xc3\xa9')
    """
    array = array.storage if settled(array) else array
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
    stop = (list(o.stop),) if o.stop else ()
    return _core.Reading(o.unit == "characters", o.lower, o.fold, o.letters, o.low, o.high, marks, *stop)


def weighed(rows: Rows, options: Options, scale: Array | None) -> Rows:
    """Return rows of counts with the values that the options ask for.

    ``v = times``, or ``1`` (once), or ``1 + ln times`` (sublinear); times idf; over ``sum v`` (l1) or ``sqrt(sum v^2)`` (l2).
    """
    values = rows.values.astype(np.float64)
    if options.once or options.weighting == "binary":
        values = np.ones_like(values)
    if options.sublinear:
        values = 1.0 + np.log(values)
    if scale is not None:
        values *= scale[rows.columns]
    if options.divided_by != "none" and len(values):
        lengths = np.diff(rows.starts)
        squares = values**2 if options.divided_by == "l2" else values
        sums = np.add.reduceat(squares, rows.starts[:-1][lengths > 0])
        sums = np.sqrt(sums) if options.divided_by == "l2" else sums
        values /= np.repeat(sums, lengths[lengths > 0])
    return rows._replace(values=values)


@dataclass(frozen=True)
class Text(SparseTerm):
    """The terms of a text column, each a column of a sparse matrix; a missing cell is an empty text.

    ``x_ij = times of term j in row i`` (counts), ``1`` where there is any (binary), or
    ``times * idf_j`` with ``idf_j = ln((1 + rows) / (1 + documents_j)) + 1``, the row divided by its length (tfidf); other
    values as ``weighed`` says.
    ``terms`` are the vocabulary in the order of the alphabet, or the numbers of the buckets that occur.
    """

    column: str
    options: Options
    terms: tuple[str, ...] | tuple[int, ...]
    documents: tuple[int, ...] | None = None
    rows: int = 0
    kind: ClassVar[str] = "text"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        mark = "" if self.options.bits is None else "#"
        return tuple(f"{self.column}: {mark}{term}" for term in self.terms)

    @property
    def use(self) -> str:
        """What became of the text, in words.

        >>> Text("t", Options(high=2), ("a", "a b"), (1, 1), 2).use
        '2 n-grams of 1 to 2 words, tf-idf'
        """
        low, high, unit, bits = self.options.low, self.options.high, self.options.unit, self.options.bits
        lengths = f"{low}" if low == high else f"{low} to {high}"
        what = unit if high == 1 else f"n-grams of {lengths} {unit}"
        hashed = "" if bits is None else f" in buckets of 2^{bits}"
        return f"{len(self.terms):,} {what}{hashed}, {self.options.value}"

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
    def _reading_of_settled(self) -> _core.Reading:
        return reading(self.options, missing=False)

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
        held, native = documents(array), self.options.native
        how = self._reading_of_settled if settled(array) else self._reading
        scale = self.scale if native else None
        binary, single = self.options.weighting == "binary", scale is None
        if self.options.bits is None:
            encoded = _core.encode_lexicon(how, held, self.lexicon, binary, scale, single)
        else:
            encoded = _core.encode_buckets(how, held, self.options.bits, self._table, binary, scale, single)
        if single and not binary and encoded[5] > FLOAT32_EXACT_COUNTS:
            raise InputError(
                f"a cell of column {self.column!r} has one term {encoded[5]:,} times; counts go up to"
                f" {FLOAT32_EXACT_COUNTS:,}: use binary."
            )
        rows = Rows(*encoded[:5])
        return rows if native else weighed(rows, self.options, self.scale)

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "kind": self.kind,
            "column": self.column,
            **{name: value for name, value in asdict(self.options).items() if name in OPTION_MEMBERS},
            **self._added(),
            "terms": list(self.terms),
            "documents": None if self.documents is None else list(self.documents),
            "rows": self.rows,
        }

    def _added(self) -> dict[str, object]:
        """Return the options that are named only where they are not the usual ones."""
        options = asdict(self.options)
        added = {name: options[name] for name, usual in _ADDED.items() if options[name] != usual}
        added |= {"stop": list(self.options.stop)} if self.options.stop else {}
        return added if self.options.vocabulary is None else {**added, "given": True}

    @classmethod
    def members(cls) -> tuple[str, ...]:
        """Return the names of its members in a model file, those left aside that not every file has."""
        return ("column", *OPTION_MEMBERS, "terms", "documents", "rows")

    @classmethod
    def from_dict(cls, data: Any) -> Text:
        """Return the term of a model file, which may name more options than it must."""
        more = {"once": False, "sublinear": False, "norm": "", "stop": [], "given": False}
        named = [name for name in more if name in data]
        idle = [name for name in named if data[name] == more[name]]
        expect(not idle, f"has a text term that names the option {(idle or [''])[0]!r} without using it")
        members = {"kind", *cls.members()}
        expect(set(data) - set(named) == members, f"has a text term with other members than {sorted(members)}")
        column = data["column"]
        expect(isinstance(column, str) and column != "", "has a text term without a column name")
        return cls.read(data)

    @classmethod
    def read(cls, data: Any) -> Text:
        """Return the term of a model file."""
        name = data["column"]
        terms, documents, rows = data["terms"], data["documents"], data["rows"]
        options = _options({member: data[member] for member in OPTION_MEMBERS}, name)
        options = _with_more(options, data)
        expect(
            isinstance(terms, list) and 0 < len(terms) <= MAX_TERMS,
            f"has no list of terms for {name!r}, or too long a one",
        )
        if options.bits is None:
            fine = all(isinstance(term, str) and 0 < len(term) <= TERM_MAX_CHARACTERS for term in terms)
            expect(fine, f"has an odd term of {name!r}")
        else:
            expect(options.bits <= MAX_HASH_BITS and all(map(whole, terms)), f"has an odd bucket of {name!r}")
            expect(all(0 <= term < 2**options.bits for term in terms), f"has a bucket of {name!r} that does not exist")
        expect(all(a < b for a, b in pairwise(terms)), f"has terms of {name!r} that are not in order")
        tfidf = options.weighting == "tfidf"
        expect(whole(rows) and 0 <= rows < 2**53 and (rows > 0) == tfidf, f"has an odd number of rows for {name!r}")
        expect((documents is not None) == tfidf, f"counts rows of {name!r} without tf-idf, or does not with it")
        if documents is not None:
            fine = isinstance(documents, list) and len(documents) == len(terms) and all(map(whole, documents))
            least = 0 if options.vocabulary is not None else 1
            fine = fine and all(least <= seen <= rows for seen in documents)
            expect(fine, f"has odd numbers of rows for the terms of {name!r}")
        return cls(name, options, tuple(terms), None if documents is None else tuple(documents), rows)

    @classmethod
    def example(cls) -> tuple[Text, Cells]:
        """Return the counted words of three texts."""
        cells = ["a rose is a rose", "is it", None]
        return cls("t", Options(weighting="counts", least=1), ("a", "is", "it", "rose")), (cells,)


def _with_more(options: Options, data: Any) -> Options:
    """Return the options with those that files of before do not know."""
    name, more = data["column"], {member: data.get(member, usual) for member, usual in _ADDED.items()}
    stop, given, terms = list(more["stop"]), data.get("given", False), data["terms"]
    fine = (
        all(isinstance(flag, bool) for flag in (more["once"], more["sublinear"], given))
        and isinstance(more["norm"], str)
        and all(isinstance(word, str) for word in (*stop, *(terms if given and isinstance(terms, list) else ())))
        and all(a < b for a, b in pairwise(stop))
        and not (given and not isinstance(terms, list))
    )
    expect(fine, f"has an option of the text {name!r} of another type than it must have")
    try:
        return replace(options, **{**more, "stop": tuple(stop), "vocabulary": tuple(terms) if given else None})
    except InputError as error:
        expect(False, f"has an impossible option of the text {name!r}: {str(error).rstrip('.')}")
        raise


def _options(data: dict[str, Any], name: str) -> Options:
    fine = (
        all(whole(data[member]) for member in ("low", "high", "letters"))
        and all(data[member] is None or whole(data[member]) for member in ("size", "bits"))
        and all(isinstance(data[member], bool) for member in ("lower", "fold"))
        and all(isinstance(data[member], str) for member in ("unit", "weighting"))
        and all(isinstance(data[member], int | float) and data[member] is not True for member in ("least", "common"))
    )
    expect(fine, f"has an option of the text {name!r} of another type than it must have")
    try:
        return Options(**data)
    except InputError as error:
        expect(False, f"has an impossible option of the text {name!r}: {str(error).rstrip('.')}")
        raise
