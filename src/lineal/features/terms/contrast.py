"""A category coded by contrasts: every level against the mean, against those before it, or a trend through the levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Final, Self

import numpy as np

from lineal.features.cells.cells import texts
from lineal.features.terms.members import expect, flag, words
from lineal.features.terms.term import Cells, Numeric
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

CODINGS: Final = ("sum", "helmert", "poly")
FULL: Final = "full"
"""A column for every level: where there is no constant to lean on."""
TRENDS: Final = ("linear", "quadratic", "cubic")


@dataclass(frozen=True)
class Contrast(Numeric):
    """Levels in order, each a row of a matrix whose columns add up to zero, so that 0 is the mean of all levels.

    "sum": 1 for a level, -1 for the last one; "helmert": a level against the mean of those before it (-1, ..., -1, j);
    "poly": orthonormal polynomials in the number of the level. Unknown levels count as the mean.
    """

    column: str
    levels: tuple[str, ...]
    coding: str
    missing: bool
    kind: ClassVar[str] = "contrast"
    is_factor: ClassVar[bool] = True
    unseen: ClassVar[str] = "the mean of all levels"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the design columns but the one that marks missing cells."""
        if self.coding == FULL:
            return tuple(f"{self.column}={level}" for level in self.levels)
        if self.coding == "poly":
            trends = [*TRENDS, *(f"degree {k}" for k in range(4, len(self.levels)))]
            return tuple(f"{self.column}[{trend}]" for trend in trends[: len(self.levels) - 1])
        shown = self.levels[:-1] if self.coding == "sum" else self.levels[1:]
        return tuple(f"{self.column}[{self.coding} {level}]" for level in shown)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return (*self.names, f"{self.column} is missing") if self.missing else self.names

    @property
    def use(self) -> str:
        """How its columns enter the model, in words."""
        coded = "each with its own score" if self.coding == FULL else f"contrasts {self.coding}"
        return f"{len(self.levels)} levels, {coded}{'; missing is a level' if self.missing else ''}"

    def bare(self) -> Self:
        """Return the term whose missing cells count as the mean."""
        return replace(self, missing=False)

    def coded(self, *, margin: bool) -> Self:
        """Return the term with a column for every level where its margin is not in the model."""
        return self if margin else replace(self, coding=FULL)

    @cached_property
    def _rows(self) -> dict[str, Array]:
        return dict(zip(self.levels, matrix(self.coding, len(self.levels)), strict=True))

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the columns; return how many cells were unknown levels."""
        codes, levels = texts(arrays[0])
        width, known = len(self.names), self._rows
        table = np.zeros((len(levels) + 1, width))  # the last row is that of missing cells
        for row, level in zip(table, levels, strict=False):
            row[:] = known.get(str(level), 0.0)
        out[:, :width] = table[codes]
        if self.missing:
            out[:, width] = codes < 0
        strange = np.array([*(str(level) not in known for level in levels), False])
        return int(strange[codes].sum())

    @classmethod
    def read(cls, data: Any) -> Contrast:
        """Return the term of a model file."""
        column, coding = data["column"], data["coding"]
        levels = words(data["levels"], column)
        expect(coding in (*CODINGS, FULL), f"has no way to code {column!r}")
        expect(len(levels) >= 2, f"has contrasts of one level of {column!r}")
        return cls(column, levels, coding, flag(data, "missing", f"must say whether cells of {column!r} were missing"))

    @classmethod
    def example(cls) -> tuple[Contrast, Cells]:
        """Return trends through four levels, with a missing cell."""
        return cls("size", ("S", "M", "L", "XL"), "poly", True), (["S", "L", None, "M", "XL"],)


def matrix(coding: str, levels: int) -> Array:
    """Return the contrasts of every level, as R's contr.sum, contr.helmert and contr.poly.

    >>> matrix("helmert", 3).tolist()
    [[-1.0, -1.0], [1.0, -1.0], [0.0, 2.0]]
    """
    if coding == FULL:
        return np.eye(levels)
    if coding == "sum":
        return np.concatenate([np.eye(levels - 1), -np.ones((1, levels - 1))])
    if coding == "helmert":
        numbers = np.arange(levels)[:, None]
        after = np.arange(1, levels)[None, :]
        return np.where(numbers < after, -1.0, np.where(numbers == after, after, 0.0)).astype(np.float64)
    scores = np.arange(levels) - 0.5 * (levels - 1)
    basis = [np.full(levels, levels**-0.5)]
    for _ in range(levels - 1):
        column = scores * basis[-1]  # by Stieltjes: of polynomials that are orthogonal already
        for _again in range(2):
            column = column - sum((before @ column) * before for before in basis)
        basis.append(column / np.linalg.norm(column))
    return np.column_stack(basis[1:])


def ordered(levels: Sequence[str]) -> tuple[str, ...]:
    """Return levels in order: by number where all are numbers.

    >>> ordered(["10", "2"]), ordered(["b", "a"])
    (('2', '10'), ('a', 'b'))
    """
    try:
        return tuple(sorted(levels, key=float))
    except ValueError:
        return tuple(sorted(levels))
