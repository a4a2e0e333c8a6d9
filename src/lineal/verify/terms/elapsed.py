"""A date as a number: days since an origin, or the year."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lineal.verify.terms.dates import moment
from lineal.verify.terms.number import not_the_mean
from lineal.verify.terms.written import absent, marks_unused

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
    found = [f"{term['column']} ({'days' if term['part'] == 'elapsed' else term['part']})"]
    return [*found, f"{term['column']} is missing"] if term["indicator"] else found


def number(term: Mapping[str, Any], cell: object) -> float:
    """Return the days since the origin, or the year, of a present cell.

    >>> number({"order": "YMD", "separator": "-", "part": "elapsed", "origin": 1.0}, "1970-01-03 12:00")
    1.5
    """
    day, seconds, ahead = moment(term, cell)
    if term["part"] == "year":
        return float(day.year)
    return (day - dt.date(1970, 1, 1)).days + (seconds - ahead) / 86400.0 - float(term["origin"])


def values(term: Mapping[str, Any], column: Sequence[object]) -> list[list[float]]:
    """Return the values of the design columns, row by row."""
    gone = [absent(term, cell) for cell in column]
    filled = [float(term["fill"]) if lost else number(term, cell) for cell, lost in zip(column, gone, strict=True)]
    return [filled, [float(lost) for lost in gone]] if term["indicator"] else [filled]


def learned(term: Mapping[str, Any], column: Sequence[object]) -> str | None:
    """Return what is wrong with the term: days count from the earliest training row, the fill is the mean."""
    present = [number(term, cell) for cell in column if not absent(term, cell)]
    if term["part"] == "elapsed" and present and min(present) != 0.0:
        return f"the earliest training row is {min(present)!r} days after the origin"
    if term["part"] not in ("elapsed", "year"):
        return f"{term['part']!r} is no number of a date"
    return marks_unused(term, column) or not_the_mean(float(term["fill"]), present)
