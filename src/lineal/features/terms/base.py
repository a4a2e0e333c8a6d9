"""The terms of an encoder: how one column of a table becomes columns of a design."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.errors import InputError
from lineal.features.cells.cells import cell, numbers, packed, texts
from lineal.features.terms.text import Text
from lineal.ground.records import dataclass

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


class CellError(InputError):
    """A cell that cannot be used; ``position`` is its place in the batch."""

    def __init__(self, column: str, position: int, found: str, expected: str) -> None:
        super().__init__(f"column {column!r} holds {found!r}, which is not {expected}.")
        self.column, self.position, self.found, self.expected = column, position, found, expected


def finite_numbers(column: str, array: Any) -> Array:
    """Return a column as numbers, NaN where missing; raise CellError for text and infinities."""
    values = _numbers(column, array)
    if not math.isfinite(_total(values)) and np.isinf(np.fmax.reduce(np.abs(values), initial=0.0)):
        position = int(np.flatnonzero(np.isinf(values))[0])
        raise CellError(column, position, cell(array, position), "a finite number")
    return values


def _numbers(column: str, array: Any) -> Array:
    """Return a column as numbers, NaN where missing; raise CellError for text."""
    values, bad = numbers(array)
    if bad.size:
        raise CellError(column, int(bad[0]), cell(array, int(bad[0])), "a number")
    return values


def _total(values: Array) -> float:
    """Return the sum: finite only if there is no NaN and no infinity, which one look at the numbers tells."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.add.reduce(values))


class Single:
    """What the terms of one column share: they read it, and mark where it is missing if ``indicator``."""

    column: str
    indicator: bool
    as_text: ClassVar[tuple[bool, ...]] = (True,)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The table's columns it needs; ``as_text`` says of each whether it is read as text."""
        return (self.column,)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return (self.name, f"{self.column} is missing") if self.indicator else (self.name,)

    @property
    def name(self) -> str:
        """Name of the design column of its values."""
        return self.column


@dataclass(frozen=True)
class Number(Single):
    """A number; missing cells are replaced by ``fill`` and marked in a column of their own if ``indicator``."""

    column: str
    fill: float
    indicator: bool
    kind: ClassVar[str] = "number"
    as_text: ClassVar[tuple[bool, ...]] = (False,)

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown (none)."""
        filled(finite_numbers(self.column, arrays[0]), self.fill, self.indicator, out)
        return 0

    def raw(self, array: Any) -> Array | None:
        """Return its only column as it is, missing cells and infinities included; None where there are two."""
        if self.indicator:
            return None
        values = _numbers(self.column, array)
        return values if values.flags.c_contiguous else None

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {"kind": self.kind, "column": self.column, "fill": self.fill, "indicator": self.indicator}


@dataclass(frozen=True)
class Boolean(Single):
    """True or false as 1 or 0; a missing or unknown cell counts as ``fill``."""

    column: str
    true: tuple[str, ...]
    false: tuple[str, ...]
    fill: float
    indicator: bool
    kind: ClassVar[str] = "boolean"

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown words."""
        codes, levels = texts(arrays[0])
        values = [self._value(level) for level in levels]
        table = np.array([*(np.nan if value is None else value for value in values), np.nan])
        unknown = np.array([*(value is None for value in values), False])
        missing = codes < 0
        filled(table[codes], self.fill, indicator=False, out=out[:, :1])
        if self.indicator:
            out[:, 1] = missing
        return int(unknown[codes].sum())

    def _value(self, level: str) -> float | None:
        for words, value in ((self.true, 1.0), (self.false, 0.0)):
            if level.lower() in (word.lower() for word in words):  # case is no part of such a word
                return value
        return None

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "kind": self.kind,
            "column": self.column,
            "true": list(self.true),
            "false": list(self.false),
            "fill": self.fill,
            "indicator": self.indicator,
        }


@dataclass(frozen=True)
class Category:
    """One of several levels, each with a column but the reference (None: each); never expanded, a code per row."""

    column: str
    levels: tuple[str, ...]
    reference: str | None
    missing: bool
    kind: ClassVar[str] = "category"
    as_text: ClassVar[tuple[bool, ...]] = (True,)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The table's columns it needs; ``as_text`` says of each whether it is read as text."""
        return (self.column,)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        shown = tuple(f"{self.column}={level}" for level in self.levels if level != self.reference)
        return (*shown, f"{self.column} is missing") if self.missing else shown

    @cached_property
    def _codes(self) -> dict[str, int]:
        others = (level for level in self.levels if level != self.reference)
        found = {level: code for code, level in enumerate(others)}
        return found if self.reference is None else found | {self.reference: -1}

    def codes(self, array: Any, out: Codes | None = None) -> tuple[Codes, int]:
        """Return the design column of every row, -1 for the reference, and how many cells were unknown levels."""
        found, levels = packed(array)
        if (last := self._last.get("table")) is None or last[0] is not levels:  # batches of a file share their levels
            last = self._last["table"] = (levels, *self._table(levels))
        table, unknown = last[1:]
        new = 0 if unknown is None else int(unknown[found.astype(np.intp) + 1].sum())
        return _core.recode(found, table, out=out), new

    @cached_property
    def _last(self) -> dict[str, tuple[list[str], Codes, npt.NDArray[np.bool_] | None]]:
        return {}

    def _table(self, levels: list[str]) -> tuple[Codes, npt.NDArray[np.bool_] | None]:
        """Return the design column of every level, that of a missing cell first, and which are unknown, if any is."""
        known = self._codes
        missing = len(self.columns) - 1 if self.missing else -1
        table = np.array([missing, *(known.get(level, -2) for level in levels)], dtype=np.int32)
        unknown, rest = table == -2, self._rest
        table[unknown] = rest
        return table, unknown if unknown.any() and rest < 0 else None

    @property
    def _rest(self) -> int:
        """The design column of a level that has none of its own."""
        return -1

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "kind": self.kind,
            "column": self.column,
            "levels": list(self.levels),
            "reference": self.reference,
            "missing": self.missing,
        }


class Plain(Protocol):
    """A term whose columns are numbers: Number, Boolean, and those of formulas."""

    @property
    def kind(self) -> str:
        """Its name in a model file."""

    @property
    def column(self) -> str:
        """The table's column, or the columns of a product."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The table's columns it needs."""

    @property
    def as_text(self) -> tuple[bool, ...]:
        """Whether each of them is read as text."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown."""

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""


Term = Plain | Text | Category


def rank(term: Term) -> int:
    """Return where a kind of term stands in an encoder: numbers, then text, then categories."""
    return 2 if isinstance(term, Category) else int(isinstance(term, Text))


def design_columns(terms: Sequence[Term]) -> tuple[str, ...]:
    """Return the names of the design columns of these terms, in order."""
    return tuple(name for term in terms for name in term.columns)


def filled(values: Array, fill: float, indicator: bool, out: Array) -> None:
    """Write numbers to the first column, ``fill`` where they are NaN; mark those in the second if ``indicator``."""
    missing = np.isnan(values)
    out[:, 0] = np.where(missing, fill, values) if missing.any() else values
    if indicator:
        out[:, 1] = missing
