"""Terms that read a number out of text: numbers as people write them, and levels in an order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from lineal.features.cells.cells import cell, texts
from lineal.features.cells.finite import CellError
from lineal.features.cells.notation import STYLES, UNITS, Notation
from lineal.features.terms.members import expect, fill_and_indicator, markers, words
from lineal.features.terms.term import Cells, Single, filled
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass


def scores(array: Any, value: Callable[[str], float | None], missing: tuple[str, ...] = ()) -> tuple[Array, Mask]:
    """Return the number every text cell means, NaN where missing, and which cells mean none."""
    codes, levels = texts(array)
    gone = frozenset(missing)
    values = [np.nan if level in gone else value(level) for level in levels]
    table = np.array([*(np.nan if one is None else one for one in values), np.nan])
    strange = np.array([*(one is None for one in values), False])
    return table[codes], strange[codes]


def demanded(column: str, array: Any, values_and_missing: tuple[Array, Mask], expected: str) -> Array:
    """Return the numbers, or raise CellError for the first cell that means none."""
    values, strange = values_and_missing
    if strange.any():
        position = int(np.flatnonzero(strange)[0])
        raise CellError(column, position, cell(array, position), expected)
    return values


@dataclass(frozen=True)
class Written(Single):
    """A number written in a notation; missing cells are replaced by ``fill`` and marked if ``indicator``."""

    column: str
    notation: Notation
    fill: float
    indicator: bool
    kind: ClassVar[str] = "written"
    is_factor: ClassVar[bool] = True
    has_powers: ClassVar[bool] = True
    is_number: ClassVar[bool] = True

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown (none)."""
        (array,) = arrays
        read = scores(array, self.notation.value, self.notation.missing)
        values = demanded(self.column, array, read, f"a number written like {self.notation.example!r}")
        filled(values, self.fill, self.indicator, out)
        return 0

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "kind": self.kind,
            "column": self.column,
            "decimal": self.notation.decimal,
            "group": self.notation.group,
            "unit": self.notation.unit,
            "markers": list(self.notation.missing),
            "fill": self.fill,
            "indicator": self.indicator,
        }

    @classmethod
    def members(cls) -> tuple[str, ...]:
        """Return the names of its members in a model file."""
        return ("column", "decimal", "group", "unit", "markers", "fill", "indicator")

    @classmethod
    def read(cls, data: Any) -> Written:
        """Return the term of a model file."""
        fill, indicator = fill_and_indicator(data)
        name, style = data["column"], (data["decimal"], data["group"])
        expect(style in STYLES, f"has no way to write {name!r}")
        expect(data["unit"] in ("", *UNITS), f"has an unknown unit for {name!r}")
        return cls(name, Notation(*style, data["unit"], markers(data)), fill, indicator)

    @classmethod
    def example(cls) -> tuple[Written, Cells]:
        """Return prices with a decimal comma, one of them missing."""
        return cls("price", Notation(",", ".", "€"), 1000.0, True), (["1.234,50 €", "765,50 €", None],)


@dataclass(frozen=True)
class Ordinal(Single):
    """Levels in an order, as the numbers 0, 1, 2, ...; a missing or unknown cell counts as ``fill``."""

    column: str
    levels: tuple[str, ...]
    fill: float
    indicator: bool
    kind: ClassVar[str] = "ordinal"
    unseen: ClassVar[str] = "the mean"
    is_factor: ClassVar[bool] = True
    has_powers: ClassVar[bool] = True

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown levels."""
        places = {level: float(k) for k, level in enumerate(self.levels)}
        values, strange = scores(arrays[0], places.get)
        filled(values, self.fill, indicator=False, out=out[:, :1])
        if self.indicator:
            out[:, 1] = np.isnan(values) & ~strange
        return int(strange.sum())

    @classmethod
    def read(cls, data: Any) -> Ordinal:
        """Return the term of a model file."""
        fill, indicator = fill_and_indicator(data)
        return cls(data["column"], words(data["levels"], data["column"]), fill, indicator)

    @classmethod
    def example(cls) -> tuple[Ordinal, Cells]:
        """Return sizes in order, one of them missing."""
        return cls("size", ("S", "M", "L"), 1.0, True), (["S", "L", None, "M"],)
