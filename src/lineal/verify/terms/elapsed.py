"""A date as a number: days since an origin, or the year."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any, Final

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms import written
from lineal.verify.terms.dates import moment
from lineal.verify.terms.number import filled, with_mark

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "column": (str,),
    "order": (str,),
    "separator": (str,),
    "markers": (list,),
    "part": (str,),
    "origin": (float, int),
    "fill": (float, int),
    "indicator": (bool,),
}
TYPE: Final = "t"


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "born", "part": "elapsed", "indicator": False})
    ['born (days)']
    """
    return with_mark(term, [f"{term['column']} ({'days' if term['part'] == 'elapsed' else term['part']})"])


def number(term: Mapping[str, Any], cell: object) -> float:
    """Return the days since the origin, or the year, of a present cell.

    >>> number({"order": "YMD", "separator": "-", "part": "elapsed", "origin": 1.0}, "1970-01-03 12:00")
    1.5
    """
    day, seconds, ahead = moment(term, cell)
    if term["part"] == "year":
        return float(day.year)
    return (day - dt.date(1970, 1, 1)).days + (seconds - ahead) / 86400.0 - float(term["origin"])


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row."""
    return filled(term, written.numbers(term, column, number))


class Learner(written.Learner):
    """What the training cells teach: days count from the earliest row; markers that occur, the mean as fill."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        super().__init__(term, number)

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is."""
        part, first = self._term["part"], self._mean.low
        if part == "elapsed" and first not in (0.0, math.inf):
            return f"the earliest training row is {first!r} days after the origin"
        if part not in ("elapsed", "year"):
            return f"{part!r} is no number of a date"
        return super().wrong()
