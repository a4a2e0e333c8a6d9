"""Dates and times as people write them: year, month and day in some order, perhaps a time of day and a zone."""

from __future__ import annotations

import re
from datetime import date
from functools import cached_property

from lineal.ground.records import dataclass

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_LONG = ("january", "february", "march", "april", "may", "june")
_NAMES = (*_LONG, "july", "august", "september", "october", "november", "december")
MAX_REMEMBERED_DATES = 100_000
_EPOCH = date(1970, 1, 1).toordinal()
_TIME = r"(?:(?:T| +)(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?(?: ?(Z|UTC|[+-]\d\d:?\d\d))?)?"
_PARTS = {"Y": r"(?P<Y>\d{4})", "M": r"(?P<M>\d{1,2})", "D": r"(?P<D>\d{1,2})"}


@dataclass(frozen=True)
class Moment:
    """A point in time: days since 1970 as the clock on the wall shows it, seconds of the day, the zone's shift."""

    day: int
    second: float = 0.0
    shift: float = 0.0

    @property
    def days(self) -> float:
        """Days since 1970 began in Greenwich, with fraction."""
        return self.day + (self.second - self.shift) / 86400.0

    @property
    def year(self) -> int:
        """The year on the wall."""
        return date.fromordinal(self.day + _EPOCH).year

    @property
    def month(self) -> str:
        """The month's short name."""
        return MONTHS[date.fromordinal(self.day + _EPOCH).month - 1]

    @property
    def weekday(self) -> str:
        """The weekday's short name."""
        return WEEKDAYS[(self.day + 3) % 7]  # 1970 began on a Thursday

    @property
    def hour(self) -> str:
        """The hour in two digits."""
        return f"{int(self.second // 3600):02d}"


@dataclass(frozen=True)
class Calendar:
    """How the dates of a column are written: the order of year, month and day, and what separates them.

    A separator " " means that the month is a word. A time of day may follow: ``13:45``, ``T13:45:10.5Z``, ``+02:00``.

    >>> Calendar("DMY", ".").moment("31.12.1999 18:00").days
    10956.75
    """

    order: str = "YMD"
    separator: str = "-"
    missing: tuple[str, ...] = ()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = dict(_PARTS)
        between = re.escape(self.separator)
        if self.separator == " ":
            parts["M"], between = r"(?P<M>[A-Za-z]{3,9})\.?", r"[ ,-]+"
        return re.compile(between.join(parts[letter] for letter in self.order) + _TIME, re.ASCII)

    @cached_property
    def _seen(self) -> dict[str, Moment | None]:
        return {}

    def moment(self, text: str) -> Moment | None:
        """Return the point in time a text means, or None if it is not written like that."""
        seen = self._seen  # several terms ask for the same dates, and so may several threads
        if text in seen:
            return seen.get(text) or self._moment(text)
        if len(seen) >= MAX_REMEMBERED_DATES:
            seen.clear()
        moment = seen[text] = self._moment(text)
        return moment

    def _moment(self, text: str) -> Moment | None:
        match = self._pattern.fullmatch(text)
        if match is None:
            return None
        month = _month(match["M"]) if self.separator == " " else int(match["M"])
        hour, minute, second, zone = match.groups()[3:]
        try:
            day = date(int(match["Y"]), month, int(match["D"])).toordinal() - _EPOCH
        except ValueError:
            return None
        clock = 3600 * int(hour or 0) + 60 * int(minute or 0) + float(second or 0)
        if int(hour or 0) > 23 or int(minute or 0) > 59 or float(second or 0) >= 60:
            return None
        return Moment(day, clock, _shift(zone))

    def value(self, text: str) -> float | None:
        """Return the days since 1970, or None."""
        moment = self.moment(text)
        return None if moment is None else moment.days

    @property
    def example(self) -> str:
        """The way of writing by an example.

        >>> Calendar("MDY", "/").example, Calendar("DMY", " ").example
        ('12/31/1999', '31 Dec 1999')
        """
        words = {"Y": "1999", "M": "Dec" if self.separator == " " else "12", "D": "31"}
        return self.separator.join(words[letter] for letter in self.order)


CALENDARS = tuple(
    Calendar(order, separator)
    for order, separators in (("YMD", "-/."), ("DMY", ".-"), ("MDY", "/-"), ("DMY", "/ "), ("MDY", " "))
    for separator in separators
)
"""The likelier first: days before months but where slashes separate, unless a day above 12 says otherwise."""


def _month(word: str) -> int:
    low = word.lower()
    for number, name in enumerate(_NAMES, start=1):
        if low in (name, name[:3]) or (low == "sept" and number == 9):
            return number
    return 0  # no month, so no date


def _shift(zone: str | None) -> float:
    if zone is None or zone in ("Z", "UTC"):
        return 0.0
    sign = -1.0 if zone[0] == "-" else 1.0
    return sign * (3600.0 * int(zone[1:3]) + 60.0 * int(zone[-2:]))
