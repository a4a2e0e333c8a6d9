"""A number as programs write it."""

from __future__ import annotations

from typing import Any, ClassVar

from lineal.features.cells.finite import finite_numbers, numbers_of
from lineal.features.terms.members import fill_and_indicator
from lineal.features.terms.term import Cells, Single, filled
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Number(Single):
    """A number; missing cells are replaced by ``fill`` and marked in a column of their own if ``indicator``."""

    column: str
    fill: float
    indicator: bool
    kind: ClassVar[str] = "number"
    reads_text: ClassVar[bool] = False
    is_factor: ClassVar[bool] = True
    has_powers: ClassVar[bool] = True
    is_number: ClassVar[bool] = True

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown (none)."""
        filled(finite_numbers(self.column, arrays[0]), self.fill, self.indicator, out)
        return 0

    def raw(self, array: Any) -> Array | None:
        """Return its only column as it is, missing cells and infinities included; None where there are two."""
        if self.indicator:
            return None
        values = numbers_of(self.column, array)
        return values if values.flags.c_contiguous else None

    @classmethod
    def read(cls, data: Any) -> Number:
        """Return the term of a model file."""
        return cls(data["column"], *fill_and_indicator(data))

    @classmethod
    def example(cls) -> tuple[Number, Cells]:
        """Return a number that was missing once."""
        return cls("x", 2.5, True), (["1", "4", None],)
