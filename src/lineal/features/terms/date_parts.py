"""Terms of dates: elapsed days and the year as numbers; month, weekday and hour as categories."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lineal.features.cells.cells import cell, texts
from lineal.features.cells.dates import MONTHS, WEEKDAYS, Calendar
from lineal.features.terms.base import Category, CellError, Single, filled
from lineal.features.terms.written import demanded, scores
from lineal.ground.records import dataclass

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

NUMBERS = ("elapsed", "year")
CATEGORIES: dict[str, tuple[str, ...]] = {
    "month": MONTHS,
    "weekday": WEEKDAYS,
    "hour": tuple(f"{hour:02d}" for hour in range(24)),
}
"""The parts of a date that are categories, with all levels there can be, in order."""


@dataclass(frozen=True)
class Elapsed(Single):
    """A date as a number: days since ``origin`` (itself in days since 1970), or the year if ``part`` says so."""

    column: str
    calendar: Calendar
    part: str
    origin: float
    fill: float
    indicator: bool
    kind: ClassVar[str] = "elapsed"

    @property
    def name(self) -> str:
        """Name of the design column of its values."""
        return f"{self.column} ({'days' if self.part == 'elapsed' else self.part})"

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown (none)."""
        (array,) = arrays
        found = scores(array, self._value, self.calendar.missing)
        values = demanded(self.column, array, found, f"a date written like {self.calendar.example!r}")
        filled(values, self.fill, self.indicator, out)
        return 0

    def _value(self, text: str) -> float | None:
        moment = self.calendar.moment(text)
        if moment is None:
            return None
        return moment.days - self.origin if self.part == "elapsed" else float(moment.year)

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "kind": self.kind,
            "column": self.column,
            "order": self.calendar.order,
            "separator": self.calendar.separator,
            "markers": list(self.calendar.missing),
            "part": self.part,
            "origin": self.origin,
            "fill": self.fill,
            "indicator": self.indicator,
        }


@dataclass(frozen=True)
class Cycle(Category):
    """A part of a date that comes again, such as the month: a category; a missing cell counts as the reference."""

    calendar: Calendar = field(default_factory=Calendar)
    part: str = "month"
    kind: ClassVar[str] = "cycle"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return tuple(f"{self.column} ({self.part})={level}" for level in self.levels if level != self.reference)

    def codes(self, array: Any, out: Codes | None = None) -> tuple[Codes, int]:
        """Return the design column of every row, -1 for the reference, and how many cells were levels never seen."""
        found, texts_ = texts(array)
        known, gone = self._codes, frozenset(self.calendar.missing)
        table = np.full(len(texts_) + 1, -1, dtype=np.int32)
        unknown = np.zeros(len(texts_) + 1, dtype=np.bool_)
        for k, text in enumerate(texts_):
            if text in gone:
                continue
            moment = self.calendar.moment(text)
            if moment is None:
                where = np.flatnonzero(found == k)
                if len(where):
                    at = int(where[0])
                    raise CellError(self.column, at, cell(array, at), f"a date written like {self.calendar.example!r}")
                continue
            level = getattr(moment, self.part)
            table[k], unknown[k] = known.get(level, -1), level not in known
        return table.take(found, out=out, mode="wrap"), int(unknown[found].sum())

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "kind": self.kind,
            "column": self.column,
            "order": self.calendar.order,
            "separator": self.calendar.separator,
            "markers": list(self.calendar.missing),
            "part": self.part,
            "levels": list(self.levels),
            "reference": self.reference,
        }
