"""A part of a date that comes again: month, weekday or hour, a column of zeros and ones per level but the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms.dates import MONTHS, moment
from lineal.verify.terms.written import Marks, absent

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
LEVELS: Final = {
    "month": [name[:3].capitalize() for name in MONTHS[1:]],
    "weekday": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    "hour": [f"{k:02d}" for k in range(24)],
}
"""The levels of each part, in the calendar's order."""


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
        return LEVELS["month"][day.month - 1]
    return LEVELS["weekday"][day.weekday()] if term["part"] == "weekday" else LEVELS["hour"][int(seconds // 3600)]


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row; a missing cell counts as the reference."""
    levels = [term["reference"] if absent(term, cell) else level(term, cell) for cell in cells.listed(column)]
    chosen = [name for name in term["levels"] if name != term["reference"]]
    return [np.array([float(one == name) for one in levels]) for name in chosen]


class Learner:
    """What the training cells teach: the levels are theirs, in the calendar's order."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._term, self._seen, self._marks = term, set[str](), Marks(term)

    def see(self, column: cells.Column) -> None:
        """Take some more cells."""
        self._marks.see(column)
        self._seen |= {level(self._term, cell) for cell in cells.listed(column) if not absent(self._term, cell)}

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is."""
        order = LEVELS.get(self._term["part"])
        if order is None:
            return f"{self._term['part']!r} is no part of a date that comes again"
        if self._term["levels"] != [name for name in order if name in self._seen]:
            return "the levels are not those of the training rows, in order"
        if self._term["reference"] not in (None, *self._term["levels"]):
            return f"the reference {self._term['reference']!r} is not a level"
        return self._marks.wrong()
