"""Categories: a code per row, never expanded; rare levels may share one column."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.features.cells.cells import packed
from lineal.features.terms.members import flag, levels_and_reference
from lineal.features.terms.term import Cells, Term
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass

Codes = npt.NDArray[np.int32]

RARE: Final = "(rare)"
"""What the column of rare levels is called."""


@dataclass(frozen=True)
class Category(Term):
    """One of several levels, each with a column but the reference (None: each); never expanded, a code per row."""

    column: str
    levels: tuple[str, ...]
    reference: str | None
    missing: bool
    kind: ClassVar[str] = "category"
    rank: ClassVar[int] = 2
    usage: ClassVar[str] = "C(column, ref='level')"
    also: ClassVar[tuple[str, ...]] = ("factor",)
    is_factor: ClassVar[bool] = True

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        shown = tuple(f"{self.column}={level}" for level in self.levels if level != self.reference)
        return (*shown, f"{self.column} is missing") if self.missing else shown

    @property
    def use(self) -> str:
        """How many levels there are, and what they are compared with."""
        whom = "each with its own score" if self.reference is None else f"compared with {self.reference}"
        if len(self.levels) == 1 and self.missing and self.reference is not None:
            return f"{self.reference}, or missing"
        levels = "1 level" if len(self.levels) == 1 else f"{len(self.levels)} levels"
        return f"{levels}, {whom}{'; missing is a level' if self.missing else ''}"

    def bare(self) -> Self:
        """Return the category whose missing cells go with the reference."""
        return replace(self, missing=False)

    def coded(self, *, margin: bool) -> Self:
        """Return the category with a column for every level where its margin is not in the model."""
        return self if margin else replace(self, reference=None)

    @cached_property
    def _codes(self) -> dict[str, int]:
        others = (level for level in self.levels if level != self.reference)
        codes = {level: code for code, level in enumerate(others)}
        return codes if self.reference is None else codes | {self.reference: -1}

    def codes(self, array: Any, out: Codes | None = None) -> tuple[Codes, int]:
        """Return the design column of every row, -1 for the reference, and how many cells were unknown levels."""
        cells, levels = packed(array)
        if (last := self._last.get("table")) is None or last[0] is not levels:  # batches of a file share their levels
            last = self._last["table"] = (levels, *self._table(levels))
        table, unknown = last[1:]
        new = 0 if unknown is None else int(unknown[cells.astype(np.intp) + 1].sum())
        return _core.recode(cells, table, out=out), new

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the columns as zeros and ones, as products have them; return how many cells were unknown levels."""
        codes, new = self.codes(arrays[0])
        rows = np.flatnonzero(codes >= 0)
        out[:] = 0.0
        out[rows, codes[rows]] = 1.0
        return new

    @cached_property
    def _last(self) -> dict[str, tuple[list[str], Codes, Mask | None]]:
        return {}

    def _table(self, levels: list[str]) -> tuple[Codes, Mask | None]:
        """Return the design column of every level, that of a missing cell first, and which are unknown, if any is."""
        code_of = self._codes
        missing = len(self.columns) - 1 if self.missing else -1
        table = np.array([missing, *(code_of.get(level, -2) for level in levels)], dtype=np.int32)
        unknown, rest = table == -2, self._rest
        table[unknown] = rest
        return table, unknown if unknown.any() and rest < 0 else None

    @property
    def _rest(self) -> int:
        """The design column of a level that has none of its own."""
        return -1

    @classmethod
    def read(cls, data: Any) -> Category:
        """Return the term of a model file."""
        levels, reference = levels_and_reference(data)
        rule = f"must say for {data['column']!r} whether cells were missing, true or false"
        return cls(data["column"], levels, reference, flag(data, "missing", rule))

    @classmethod
    def example(cls) -> tuple[Category, Cells]:
        """Return a category of three levels with a missing cell."""
        return cls("island", ("A", "B", "C"), "B", True), (["A", "B", None, "C", "B"],)


@dataclass(frozen=True)
class Merged(Category):
    """A category whose other levels, rare in training or never seen there, share one column.

    ``levels`` are those that have a column of their own, or are the reference.
    """

    kind: ClassVar[str] = "merged"
    usage: ClassVar[str] = ""
    also: ClassVar[tuple[str, ...]] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        shown = tuple(f"{self.column}={level}" for level in self.levels if level != self.reference)
        rest = (f"{self.column}={RARE}",)
        return (*shown, *rest, f"{self.column} is missing") if self.missing else (*shown, *rest)

    @property
    def use(self) -> str:
        """Nothing: the sentence about the column says how many levels were merged."""
        return ""

    @property
    def _rest(self) -> int:
        return len(self.columns) - 1 - self.missing

    @classmethod
    def example(cls) -> tuple[Merged, Cells]:
        """Return a category with two frequent levels and two rare ones."""
        return cls("city", ("Bonn", "Rome"), "Rome", False), (["Rome", "Rome", "Rome", "Bonn", "Bonn", "Ulm", "Ely"],)
