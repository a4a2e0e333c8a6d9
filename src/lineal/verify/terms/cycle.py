"""A part of a date that comes again: month, weekday or hour, a column of zeros and ones per level but the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lineal.verify.terms.dates import MONTHS as MONTH_NAMES
from lineal.verify.terms.dates import moment
from lineal.verify.terms.written import absent, marks_unused

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "column": (str,),
    "order": (str,),
    "separator": (str,),
    "markers": (list,),
    "part": (str,),
    "levels": (list,),
    "reference": (str, type(None)),
}
TYPE: Final = "t"
MONTHS: Final = [name[:3].capitalize() for name in MONTH_NAMES[1:]]
WEEKDAYS: Final = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
HOURS: Final = [f"{k:02d}" for k in range(24)]


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "born", "part": "weekday", "levels": ["Mon", "Sun"], "reference": "Mon"})
    ['born (weekday)=Sun']
    """
    return [f"{term['column']} ({term['part']})={level}" for level in term["levels"] if level != term["reference"]]


def level(term: Mapping[str, Any], cell: object) -> str:
    """Return the level of a present cell.

    >>> level({"order": "YMD", "separator": "-", "part": "weekday"}, "1970-01-01")
    'Thu'
    """
    day, seconds, _ = moment(term, cell)
    if term["part"] == "month":
        return MONTHS[day.month - 1]
    return WEEKDAYS[day.weekday()] if term["part"] == "weekday" else HOURS[int(seconds // 3600)]


def values(term: Mapping[str, Any], column: Sequence[object]) -> list[list[float]]:
    """Return the values of the design columns, row by row; a missing cell counts as the reference."""
    found = [term["reference"] if absent(term, cell) else level(term, cell) for cell in column]
    return [[float(one == name) for one in found] for name in term["levels"] if name != term["reference"]]


def learned(term: Mapping[str, Any], column: Sequence[object]) -> str | None:
    """Return what is wrong with the term: its levels are those of the training rows, in the calendar's order."""
    order = {"month": MONTHS, "weekday": WEEKDAYS, "hour": HOURS}.get(term["part"])
    if order is None:
        return f"{term['part']!r} is no part of a date that comes again"
    found = {level(term, cell) for cell in column if not absent(term, cell)}
    if term["levels"] != [name for name in order if name in found]:
        return "the levels are not those of the training rows, in order"
    if term["reference"] not in (None, *term["levels"]):
        return f"the reference {term['reference']!r} is not a level"
    return marks_unused(term, column)
