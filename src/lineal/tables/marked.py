"""A table some of whose columns have marks of their own for missing cells, said by a person or decided.

A cell of text is missing if it is empty, or one of its column's marks; a mark that is a number is every cell that is that
number, however it is written. A column without marks of its own has the usual ones (``MISSING`` of `tables/dialect.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pa_compute

from lineal.errors import InputError, near
from lineal.ground.arrays import Mask
from lineal.ground.records import dataclass
from lineal.tables.arrow import from_numpy, strings, to_numpy, valid
from lineal.tables.dialect import MISSING, number
from lineal.tables.tabular import Around, RowNumbers, Table

Marks = Mapping[str, tuple[str, ...]]
"""The marks of columns, sorted, without the empty cell, which always counts as missing."""
Said = str | Sequence[Any] | Mapping[str, Any] | None
"""Marks as people say them: for all columns, or by column."""

EVERY: Final = "*"
"""What stands for all columns that are not named."""
USUAL: Final = "default"
"""The word for the marks that a column has if none are given."""


class Read(pa.ExtensionType):  # type: ignore[misc]
    """Texts of which only a null or an empty one is missing: the marks have been looked at. ``kind`` is text or category."""

    def __init__(self, kind: str) -> None:
        """Tell texts from the levels of a category."""
        self.kind = kind
        super().__init__(pa.dictionary(pa.int32(), pa.string()), "lineal.read")

    def __arrow_ext_serialize__(self) -> bytes:
        return self.kind.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: Any, serialized: bytes) -> Read:
        return cls(serialized.decode())


def settled(array: Any) -> bool:
    """Whether the marks of a column have been looked at already.

    >>> settled(pa.array(["None"])), settled(read(pa.array(["None"]), ()))
    (False, True)
    """
    return isinstance(array.type, Read)


def read(array: Any, marks: Collection[str]) -> Any:
    """Return a column in which cells are null that are missing by these marks; of other texts only an empty one is missing.

    >>> read(pa.array(["None", " - ", ""]), ("-",)).to_pylist()
    ['None', None, '']
    >>> read(pa.array([-999.0, 1.0]), ("-999",)).to_pylist(), read(pa.array(["-999.0", "1"]), ("-999",)).to_pylist()
    ([None, 1.0], [None, '1'])
    """
    stored = array.type
    if settled(array):
        return array
    values = [value for mark in marks if (value := number(mark)) is not None]
    if pa.types.is_integer(stored) or pa.types.is_floating(stored) or pa.types.is_decimal(stored):
        return _without(array, _equal(array, values)) if values else array
    if _words(stored):
        return _texts(array.dictionary_encode(), marks, values, "text")
    if not pa.types.is_dictionary(stored):
        return array
    if _words(array.dictionary.type):
        return _texts(array, marks, values, "category")
    own = read(array.dictionary, marks)
    return pa.DictionaryArray.from_arrays(array.indices, own, safe=False)


def _words(stored: Any) -> bool:
    return bool(pa.types.is_string(stored) or pa.types.is_large_string(stored) or stored == pa.string_view())


def _texts(array: Any, marks: Collection[str], values: Collection[float], kind: str) -> Any:
    """Return a dictionary array as texts whose missing cells are null."""
    dictionary = array.dictionary.cast(pa.string())
    levels: list[Any] = strings(dictionary) or dictionary.to_pylist()
    gone = [level is None or _missing(level.strip(), marks, values) for level in levels]
    codes = array.indices.cast(pa.int32())
    if any(gone):
        present = valid(codes)
        places = to_numpy(codes) if present is None else np.where(present, to_numpy(codes), len(gone))
        codes = _without(codes, np.array([*gone, True])[places])
    return pa.ExtensionArray.from_storage(Read(kind), pa.DictionaryArray.from_arrays(codes, dictionary, safe=False))


def _missing(text: str, wanted: Collection[str], values: Collection[float]) -> bool:
    return text in wanted or (bool(values) and number(text) in values)


def _equal(array: Any, values: Sequence[float]) -> Mask:
    numbers = to_numpy(array.cast(pa.float64(), safe=False))
    return np.isin(numbers, np.array(values))


def _without(array: Any, gone: Mask) -> Any:
    """Return an array with nulls in some places."""
    return pa_compute.if_else(from_numpy(gone), pa.scalar(None, array.type), array) if gone.any() else array


def marks_of(said: Said, names: Sequence[str], origin: str = "the table") -> dict[str, tuple[str, ...]]:
    """Return the marks of every column that has some of its own.

    ``said`` are marks for all columns (a list, or a text with commas between them), or a mapping of columns to marks, "*" for
    all others; the word ``default`` among them stands for the usual ones.

    >>> marks_of({"a": ["-999", "?"], "*": "NA"}, ["a", "b"])
    {'a': ('-999', '?'), 'b': ('NA',)}
    >>> marks_of("default,-999", ["a"])["a"][:4]
    ('-999', '?', 'N/A', 'NA')
    """
    if said is None:
        return {}
    spoken = dict(said) if isinstance(said, Mapping) else {EVERY: said}
    for name in spoken:
        if name != EVERY and name not in names:
            raise InputError(f"{origin} has no column {name!r}, whose marks are given.{near(str(name), names)}")
    every = EVERY in spoken
    return {name: words(spoken[name] if name in spoken else spoken[EVERY]) for name in names if every or name in spoken}


def words(said: Any) -> tuple[str, ...]:
    """Return marks as they are kept: different texts in order.

    >>> words(" NA, ?"), words([-999, 1.5]), words("")
    (('?', 'NA'), ('-999', '1.5'), ())
    """
    if isinstance(said, str):
        said = said.split(",")
    if not isinstance(said, Sequence | set | frozenset) or any(isinstance(one, bool | bytes) for one in said):
        raise InputError(f"the marks for missing cells are {said!r}; give a list of texts, or one text with commas.")
    if not all(isinstance(one, str | int | float) for one in said):
        raise InputError(f"the marks for missing cells are {said!r}; each must be a text or a number.")
    texts = {str(one).strip() for one in said}
    return tuple(sorted((texts - {"", USUAL}) | (MISSING - {""} if USUAL in texts else set())))


@dataclass(frozen=True)
class Marked(Around):
    """A table some of whose columns have marks of their own."""

    own: Marks

    @property
    def marks(self) -> Marks:  # type: ignore[override]
        """The marks of columns that have some of their own."""
        return {**self.inner.marks, **self.own}

    @cached_property
    def _as_text(self) -> frozenset[str]:
        """The columns of a plain table whose numbers cannot be told from missing cells but by their text."""
        usual = MISSING - {""}
        return frozenset(
            name for name, own in self.own.items() if {mark for mark in own if number(mark) is None} != usual
        )

    def guess(self) -> frozenset[str]:
        """Return the columns that look like numbers and may be read as such."""
        return self.inner.guess() - self._as_text if self.plain else self.inner.guess()

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Table:
        """Return the table with these columns only."""
        apart = self._as_text & set(numbers) if self.plain else frozenset[str]()
        return replace(self, inner=self.inner.select(numbers=set(numbers) - apart, texts={*texts, *apart}))

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the batches, missing cells of these columns null."""
        for rows, batch in self.inner.numbered():
            names = batch.schema.names
            arrays = [batch.column(k) for k in range(len(names))]
            told = [
                read(array, self.own[name]) if name in self.own else array
                for name, array in zip(names, arrays, strict=True)
            ]
            yield rows, pa.RecordBatch.from_arrays(told, names=names)


def marked(table: Table, marks: Marks) -> Table:
    """Return the table with these marks; itself if it has them.

    >>> from lineal.tables.table import as_table
    >>> found = marked(as_table({"word": ["None", "NA", ""]}), {"word": ("NA",)})
    >>> next(found.batches()).column(0).to_pylist()
    ['None', None, '']
    """
    there = table.marks
    own = {name: words for name, words in marks.items() if name in table.names and there.get(name) != words}
    if table.sparse and own:
        raise InputError(f"{table.origin} is an SVMlight file, whose cells are numbers: there is nothing to mark.")
    return Marked(table, own) if own else table
