"""Terms of dates: elapsed days and the year as numbers; month, weekday and hour as categories."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Final

import numpy as np

from lineal.features.cells.cells import cell, texts
from lineal.features.cells.dates import MONTHS, WEEKDAYS, Calendar
from lineal.features.cells.finite import CellError
from lineal.features.terms.category import Category, Codes
from lineal.features.terms.members import calendar, expect, fill_and_indicator, finite, levels_and_reference
from lineal.features.terms.term import Cells, Single, filled
from lineal.features.terms.written import demanded, scores
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

NUMBERS: Final = ("elapsed", "year")
CATEGORIES: Final[dict[str, tuple[str, ...]]] = {
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
    is_number: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Name of the design column of its values."""
        return f"{self.column} ({'days' if self.part == 'elapsed' else self.part})"

    @property
    def meaning(self) -> str:
        """Which part of a date it is."""
        return "days" if self.part == "elapsed" else self.part

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown (none)."""
        (array,) = arrays
        read = scores(array, self._value, self.calendar.missing)
        values = demanded(self.column, array, read, f"a date written like {self.calendar.example!r}")
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
            **_calendar_members(self.calendar),
            "part": self.part,
            "origin": self.origin,
            "fill": self.fill,
            "indicator": self.indicator,
        }

    @classmethod
    def members(cls) -> tuple[str, ...]:
        """Return the names of its members in a model file."""
        return ("column", "order", "separator", "markers", "part", "origin", "fill", "indicator")

    @classmethod
    def read(cls, data: Any) -> Elapsed:
        """Return the term of a model file."""
        fill, indicator = fill_and_indicator(data)
        name = data["column"]
        expect(data["part"] in NUMBERS, f"has an unknown part of the dates of {name!r}")
        expect(finite(data["origin"]), f"has no finite origin for {name!r}")
        return cls(name, calendar(data), data["part"], float(data["origin"]), fill, indicator)

    @classmethod
    def example(cls) -> tuple[Elapsed, Cells]:
        """Return the days of a column of dates since the first of them."""
        return cls("day", Calendar(), "elapsed", 10956.0, 1.0, False), (["1999-12-31", "2000-01-02"],)


@dataclass(frozen=True)
class Cycle(Category):
    """A part of a date that comes again, such as the month: a category; a missing cell counts as the reference."""

    calendar: Calendar = field(default_factory=Calendar)
    part: str = "month"
    kind: ClassVar[str] = "cycle"
    usage: ClassVar[str] = ""
    is_factor: ClassVar[bool] = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return tuple(f"{self.column} ({self.part})={level}" for level in self.levels if level != self.reference)

    def codes(self, array: Any, out: Codes | None = None) -> tuple[Codes, int]:
        """Return the design column of every row, -1 for the reference, and how many cells were levels never seen."""
        places, texts_ = texts(array)
        code_of, gone = self._codes, frozenset(self.calendar.missing)
        table = np.full(len(texts_) + 1, -1, dtype=np.int32)
        unknown = np.zeros(len(texts_) + 1, dtype=np.bool_)
        for k, text in enumerate(texts_):
            if text in gone:
                continue
            moment = self.calendar.moment(text)
            if moment is None:
                where = np.flatnonzero(places == k)
                if len(where):
                    at = int(where[0])
                    raise CellError(self.column, at, cell(array, at), f"a date written like {self.calendar.example!r}")
                continue
            level = getattr(moment, self.part)
            table[k], unknown[k] = code_of.get(level, -1), level not in code_of
        return table.take(places, out=out, mode="wrap"), int(unknown[places].sum())

    @property
    def use(self) -> str:
        """Which part of a date it is."""
        return self.part

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "kind": self.kind,
            "column": self.column,
            **_calendar_members(self.calendar),
            "part": self.part,
            "levels": list(self.levels),
            "reference": self.reference,
        }

    @classmethod
    def members(cls) -> tuple[str, ...]:
        """Return the names of its members in a model file."""
        return ("column", "order", "separator", "markers", "part", "levels", "reference")

    @classmethod
    def read(cls, data: Any) -> Cycle:
        """Return the term of a model file."""
        levels, reference = levels_and_reference(data)
        name, part = data["column"], data["part"]
        expect(isinstance(part, str) and part in CATEGORIES, f"has an unknown part of the dates of {name!r}")
        expect(
            levels == tuple(level for level in CATEGORIES[part] if level in levels),
            f"has levels of {name!r} that are no {part}s in order",
        )
        return cls(name, levels, reference, missing=False, calendar=calendar(data), part=part)

    @classmethod
    def example(cls) -> tuple[Cycle, Cells]:
        """Return the months of a column of dates."""
        cells = ["1999-12-31", "2000-01-02", "2000-01-03"]
        return cls("day", ("Jan", "Dec"), "Jan", missing=False, calendar=Calendar(), part="month"), (cells,)


def _calendar_members(calendar: Calendar) -> dict[str, object]:
    """Return how dates are written, as members of a model file."""
    return {"order": calendar.order, "separator": calendar.separator, "markers": list(calendar.missing)}
