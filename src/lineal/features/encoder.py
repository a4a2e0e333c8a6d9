"""The encoder: how a table becomes a design, by column names; learned once and saved with the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs import Categorical, Dense, HStack, Ones, Sparse
from lineal.designs.design import Design
from lineal.errors import InputError, near
from lineal.features import terms
from lineal.features.cells.cells import cell
from lineal.features.cells.finite import CellError, finite_numbers, located
from lineal.features.computed import computed
from lineal.features.terms import Category, Contrast, Number, Numeric, Poly, Single, Term
from lineal.features.terms.members import expect
from lineal.features.terms.rows import Rows
from lineal.features.terms.term import SparseTerm, design_columns
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.powers import Powers
from lineal.tables.arrow import DOUBLE_EXACT_INTEGERS, rounded
from lineal.tables.marked import Marks, marked, words
from lineal.tables.marked import read as read_cells
from lineal.tables.svmlight import SparseRows
from lineal.tables.table import as_table
from lineal.tables.tabular import RowNumbers, Table

Codes = npt.NDArray[np.int32]

INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class Part:
    """Encoded rows before they are a design: numbers side by side, text as sparse rows, codes of every category.

    Unknown cells are counted, and unknown terms of text.
    """

    numbers: Array
    codes: tuple[Codes, ...]
    unknown: Mapping[str, int]
    texts: tuple[Rows, ...] = ()


@dataclass(frozen=True)
class Encoder:
    """Terms in order, columns of numbers before text before categories; columns are found by name, in any order.

    A level that was never seen in training counts as the reference level, or for nothing where there is none; an
    unknown word in a Boolean column as missing; ``encode_counted`` says how many there were. ``marks`` are the texts that
    stand for missing cells in columns that have their own.
    """

    intercept: bool
    terms: tuple[Term, ...]
    marks: Marks = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check that columns of numbers stand first."""
        ranks = [term.rank for term in self.terms]
        if ranks != sorted(ranks):
            raise ValueError("text terms stand after columns of numbers, category terms after all others")

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the design's columns."""
        return ((INTERCEPT,) if self.intercept else ()) + design_columns(self.terms)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """For each design column the columns of the table behind it; for a word of a text the word.

        >>> Encoder(True, (terms.Number("age", 41.5, True),)).groups
        ('(intercept)', 'age', 'age')
        """
        names = [INTERCEPT] if self.intercept else []
        for term in self.terms:
            words = isinstance(term, SparseTerm)
            names += term.columns if words else [":".join(dict.fromkeys(term.inputs))] * len(term.columns)
        return tuple(names)

    @cached_property
    def plain(self) -> tuple[Numeric, ...]:
        """The terms that are columns of numbers."""
        return tuple(term for term in self.terms if isinstance(term, Numeric))

    @cached_property
    def texts(self) -> tuple[SparseTerm, ...]:
        """The terms that are sparse."""
        return tuple(term for term in self.terms if isinstance(term, SparseTerm))

    @cached_property
    def categories(self) -> tuple[Category, ...]:
        """The terms that are codes."""
        return tuple(term for term in self.terms if isinstance(term, Category))

    @cached_property
    def powers(self) -> Powers | None:
        """How polynomials are spelled on powers; None if there are none (or no constant for them to lean on)."""
        if not any(isinstance(term, Poly) for term in self.terms):
            return None
        names, rows = [INTERCEPT] if self.intercept else [], [{0: Fraction(1)}] if self.intercept else []
        at = len(rows)
        for term in self.terms:
            width, spread = len(term.columns), 0
            if isinstance(term, Poly) and (term.origin or self.intercept):
                polynomials, spread = term.unfolded(), term.degree
                if self.intercept:
                    rows[0].update({at + k: row[0] for k, row in enumerate(polynomials) if row[0]})
                names += term.powers
                rows += [{at + k: row[d] for k, row in enumerate(polynomials) if row[d]} for d in range(1, spread + 1)]
            names += term.columns[spread:]
            rows += [{at + k: Fraction(1)} for k in range(spread, width)]
            at += width
        return Powers(tuple(names), tuple(rows))

    @property
    def number_columns(self) -> frozenset[str]:
        """The table's columns that are read as numbers."""
        return frozenset(name for term in self.terms for name in term.inputs) - self.text_columns

    @property
    def text_columns(self) -> frozenset[str]:
        """The table's columns that are read as text."""
        return frozenset(
            name for term in self.terms for name, text in zip(term.inputs, term.as_text, strict=True) if text
        )

    def encode(self, data: Any) -> Design:
        """Return the design of a table (anything ``lineal.tables.table.as_table`` takes) or of one of its batches."""
        return self.encode_counted(data)[0]

    def encode_counted(self, data: Any) -> tuple[Design, dict[str, int]]:
        """Return the design, and for each column how many cells were levels never seen in training."""
        if isinstance(data, SparseRows):
            return self.sparse(data), {}
        if _is_batch(data):
            part = self.part(self.told(data))
            return self.design(data.num_rows, part.numbers, part.codes, part.texts), dict(part.unknown)
        table = self.select(as_table(data))
        if table.sparse:
            return self.sparse(SparseRows.joined(list(table.batches()))), {}
        parts, unknown, rows = [], dict[str, int](), 0
        for numbers, batch in table.numbered():
            part = self.part(batch, table, numbers)
            parts.append(part)
            rows += batch.num_rows
            for column, count in part.unknown.items():
                unknown[column] = unknown.get(column, 0) + count
        if len(parts) == 1:
            return self.design(rows, parts[0].numbers, parts[0].codes, parts[0].texts), unknown
        codes = tuple(np.concatenate([part.codes[k] for part in parts]) for k in range(len(self.categories)))
        texts = [Rows.joined([part.texts[k] for part in parts]) for k in range(len(self.texts))]
        return self.design(rows, np.concatenate([part.numbers for part in parts]), codes, texts), unknown

    def select(self, table: Table) -> Table:
        """Return the columns of a table that the terms need; an InputError with near names if one is not there."""
        if not table.sparse:
            require([name for term in self.terms for name in term.inputs], table)
        return marked(table, self.marks).select(numbers=self.number_columns, texts=self.text_columns)

    def told(self, batch: Any) -> Any:
        """Return a batch in which cells are null that its columns' own marks make missing."""
        names = batch.schema.names
        arrays = [
            read_cells(batch.column(k), self.marks[name]) if name in self.marks else batch.column(k)
            for k, name in enumerate(names)
        ]
        return type(batch).from_arrays(arrays, names=names) if self.marks else batch

    def part(
        self, batch: Any, table: Table | None = None, rows: RowNumbers | None = None, into: Sequence[Any] | None = None
    ) -> Part:
        """Return a batch's numbers and codes; ``table`` and ``rows`` serve to say where a bad cell stands.

        They are written ``into`` arrays of the caller, if given: the numbers, then the codes of every category.
        """
        width = sum(len(term.columns) for term in self.plain)
        numbers = np.empty((batch.num_rows, width)) if into is None else into[0]
        rooms = [None] * len(self.categories) if into is None else into[1:]
        unknown: dict[str, int] = {}
        codes = []
        try:
            self._numbers(batch, numbers, unknown)
            texts = tuple(term.encode(column(batch, term.column)) for term in self.texts)
            for text, encoded in zip(self.texts, texts, strict=True):
                self._count(unknown, text.column, encoded.unknown)
            for category, room in zip(self.categories, rooms, strict=True):
                places, new = category.codes(column(batch, category.column), room)
                self._count(unknown, category.column, new)
                codes.append(places)
        except CellError as bad:
            raise located(bad, table, rows) from None
        return Part(numbers, tuple(codes), unknown, texts)

    def _numbers(self, batch: Any, out: Array, unknown: dict[str, int]) -> None:
        """Write the columns of numbers: plain ones together, so that every line of memory is written once."""
        at, numeric, places, terms = 0, [], [], []
        for term in self.plain:
            stop = at + len(term.columns)
            arrays = [column(batch, name) for name in term.inputs]
            raw = term.raw(arrays[0])
            if raw is None:
                self._count(unknown, term.column, term.write(out[:, at:stop], *arrays))
            else:
                numeric.append(raw)
                places.append(at)
                terms.append((term, arrays[0]))
            at = stop
        for k in _core.interleave(numeric, places, out) if numeric else ():  # those that are not finite throughout
            terms[k][0].write(out[:, places[k] : places[k] + 1], terms[k][1])

    @staticmethod
    def _count(unknown: dict[str, int], name: str, count: int) -> None:
        if count:
            unknown[name] = count

    def sentences(self, unknown: Mapping[str, int]) -> list[str]:
        """Return sentences about cells and terms that training did not have."""
        texts = {term.column for term in self.texts}
        lone = {term.column for term in self.categories if term.reference is None}
        instead = {term.column: term.unseen for term in self.terms if isinstance(term, Single | Contrast)}
        sentences = []
        for name, count in unknown.items():
            if name in texts:
                terms = "1 term has" if count == 1 else f"{count:,} terms have"
                sentences.append(f"in column {name!r} {terms} no column of the model; such words count for nothing.")
            else:
                cells = "1 cell holds a level" if count == 1 else f"{count:,} cells hold levels"
                meaning = "for nothing" if name in lone else f"as {instead.get(name, 'the reference level')}"
                sentences.append(f"in column {name!r} {cells} that training did not have; they count {meaning}.")
        return sentences

    def design(self, rows: int, numbers: Array, codes: Sequence[Codes], texts: Sequence[Rows] = ()) -> Design:
        """Return the design of encoded rows: ones, numbers, text as sparse rows, then categories as codes."""
        parts: list[Design] = [Ones(rows)] if self.intercept else []
        if numbers.shape[1]:
            parts.append(Dense(numbers))
        for term, matrix in zip(self.texts, texts, strict=True):
            parts.append(Sparse(matrix.matrix(len(term.columns))))
        for category, levels in zip(self.categories, codes, strict=True):
            parts.append(Categorical(levels, len(category.columns)))
        return HStack(parts)

    def sparse(self, rows: SparseRows) -> Design:
        """Return the design of sparse rows, whose columns are feature numbers; an absent feature is zero."""
        wanted = {}
        at = 0
        for term in self.terms:
            if not isinstance(term, Number) or not term.column.isdecimal():
                raise InputError(
                    f"the model needs a column {term.column!r}; an SVMlight file has feature numbers only."
                )
            wanted[int(term.column)] = at
            at += len(term.columns)
        parts: list[Design] = [Ones(rows.num_rows)] if self.intercept else []
        return HStack([*parts, Sparse(rows.matrix(wanted, at))])

    def offset(self, data: Any, column_name: str) -> Array:
        """Return a numeric column of the table as an offset, shape ``(n, 1)``."""
        if _is_batch(data) and column_name in data.schema.names:
            return needed(self.told(data), column_name, "offset").reshape(-1, 1)
        table = computed(marked(as_table(data), self.marks), column_name)
        table.require(column_name, "offset column")
        table = table.select(numbers=[column_name])
        parts = [needed(batch, column_name, "offset", table, rows) for rows, batch in table.numbered()]
        return np.concatenate(parts).reshape(-1, 1)

    def uses(self) -> dict[str, str]:
        """Return in words how each column of the table enters the model.

        >>> Encoder(True, (terms.Number("age", 41.5, True),)).uses()
        {'age': 'empty cells count as 41.5, and a column says which'}
        """
        words: dict[str, list[str]] = {}
        for term in self.terms:
            for name in term.inputs:
                words.setdefault(name, []).append(term.use)
        return {name: "; ".join(dict.fromkeys(filter(None, uses))) for name, uses in words.items()}

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        written = {"intercept": self.intercept, "terms": [term.to_dict() for term in self.terms]}
        return {**written, "marks": {name: list(own) for name, own in self.marks.items()}} if self.marks else written

    @classmethod
    def from_dict(cls, data: Any) -> Encoder:
        """Return the encoder of a model file; anything unexpected is a ModelFileError."""
        named = isinstance(data, dict) and set(data) - {"marks"} == {"intercept", "terms"}
        expect(named, "must hold 'intercept' and 'terms'")
        expect(isinstance(data["intercept"], bool), "'intercept' must be true or false")
        expect(isinstance(data["terms"], list), "'terms' must be a list")
        read = tuple(terms.read(term) for term in data["terms"])
        ranks = [term.rank for term in read]
        expect(ranks == sorted(ranks), "has a category before another term, or text before numbers")
        encoder = cls(data["intercept"], read, _marks(data["marks"]) if "marks" in data else {})
        expect(len(set(encoder.columns)) == len(encoder.columns), "gives two design columns one name")
        return encoder


def _marks(data: Any) -> Marks:
    """Return the marks of a model file."""
    expect(isinstance(data, dict) and bool(data), "'marks' must name a column")
    for own in data.values():
        fine = isinstance(own, list) and all(isinstance(mark, str) for mark in own)
        expect(fine and list(words(own)) == own, "has marks of missing cells that are not texts in order")
    return {name: tuple(own) for name, own in data.items()}


def _is_batch(data: Any) -> bool:
    return type(data).__name__ == "RecordBatch" and hasattr(data, "schema") and hasattr(data, "num_rows")


def column(batch: Any, name: str) -> Any:
    """Return a batch's column by name; an InputError with near names if it has none."""
    position = batch.schema.get_field_index(name)
    if position < 0:
        raise absent(name, batch.schema.names, "the data")
    return batch.column(position)


def require(wanted: Iterable[str], table: Table) -> None:
    """Raise an InputError that names every column a model needs and a table does not have."""
    names = frozenset(table.names)
    lacking = [name for name in dict.fromkeys(wanted) if name not in names]
    if len(lacking) == 1:
        raise absent(lacking[0], table.names, table.origin)
    if lacking:
        shown = ", ".join(map(repr, lacking[:8])) + (f" and {len(lacking) - 8} more" if len(lacking) > 8 else "")
        raise InputError(
            f"{table.origin} has none of the columns {shown}, which the model needs. Columns are found by their names,"
            " in any order: rename those of the table, or give the header it lacks."
        )


def absent(name: str, names: Sequence[str], origin: str) -> InputError:
    """Return the error that says which column is not there."""
    has = ", ".join(map(repr, list(names)[:12])) + (", ..." if len(names) > 12 else "")
    return InputError(
        f"{origin} has no column {name!r}, which the model needs.{near(name, names)} Its columns are {has}."
    )


def needed(batch: Any, name: str, role: str, table: Table | None = None, rows: RowNumbers | None = None) -> Array:
    """Return a weight or offset column: finite numbers, none missing, a weight not below zero."""
    wants = "a finite number in every row" if role == "offset" else "a finite number, not below zero, in every row"
    array = column(batch, name)
    try:
        values = finite_numbers(name, array)
    except CellError as bad:
        raise located(CellError(name, bad.position, bad.cell, wants), table, rows) from None
    wrong = np.isnan(values) if role == "offset" else ~(values >= 0)
    if wrong.any():
        position = int(np.flatnonzero(wrong)[0])
        shown = "" if np.isnan(values[position]) else f"{values[position]:g}"
        raise located(CellError(name, position, shown, wants), table, rows)
    if values.size and np.abs(values).max() >= DOUBLE_EXACT_INTEGERS and (at := rounded(array)) is not None:
        wants = "a number that a double is (beyond 2^53 not every whole one is)"
        raise located(CellError(name, at, cell(array, at), wants), table, rows)
    return values
