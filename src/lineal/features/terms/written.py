"""Terms that read a number out of text: numbers as people write them, and levels in an order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lineal.features.cells.cells import cell, texts
from lineal.features.cells.notation import Notation
from lineal.features.terms.base import CellError, Single, filled
from lineal.ground.records import dataclass

Array = npt.NDArray[np.float64]


def scores(
    array: Any, value: Callable[[str], float | None], missing: tuple[str, ...] = ()
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return the number every text cell means, NaN where missing, and which cells mean none."""
    codes, levels = texts(array)
    gone = frozenset(missing)
    found = [np.nan if level in gone else value(level) for level in levels]
    table = np.array([*(np.nan if one is None else one for one in found), np.nan])
    strange = np.array([*(one is None for one in found), False])
    return table[codes], strange[codes]


def demanded(column: str, array: Any, found: tuple[Array, npt.NDArray[np.bool_]], expected: str) -> Array:
    """Return the numbers, or raise CellError for the first cell that means none."""
    values, strange = found
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

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown (none)."""
        (array,) = arrays
        found = scores(array, self.notation.value, self.notation.missing)
        values = demanded(self.column, array, found, f"a number written like {self.notation.example!r}")
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


@dataclass(frozen=True)
class Ordinal(Single):
    """Levels in an order, as the numbers 0, 1, 2, ...; a missing or unknown cell counts as ``fill``."""

    column: str
    levels: tuple[str, ...]
    fill: float
    indicator: bool
    kind: ClassVar[str] = "ordinal"

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown levels."""
        places = {level: float(k) for k, level in enumerate(self.levels)}
        values, strange = scores(arrays[0], places.get)
        filled(values, self.fill, indicator=False, out=out[:, :1])
        if self.indicator:
            out[:, 1] = np.isnan(values) & ~strange
        return int(strange.sum())

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "kind": self.kind,
            "column": self.column,
            "levels": list(self.levels),
            "fill": self.fill,
            "indicator": self.indicator,
        }
