"""What a text means as a date: year, month and day in an order, perhaps a time of day and a zone."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, Final

from lineal.verify.reading import cells

CLOCK: Final = re.compile(r"(\d\d?):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?( ?(?:Z|UTC|[+-]\d\d:?\d\d))?", re.ASCII)
MONTHS: Final = ["", "january", "february", "march", "april", "may", "june", "july", "august", "september",
                 "october", "november", "december"]  # fmt: skip


def moment(term: Mapping[str, Any], cell: object) -> tuple[dt.date, float, float]:
    """Return the day on the wall, the seconds since its midnight, and the seconds that the zone is ahead of Greenwich.

    >>> moment({"order": "DMY", "separator": "."}, "31.12.1999 18:00")
    (datetime.date(1999, 12, 31), 64800.0, 0.0)
    """
    text = cells.text(cell)
    gap = re.search(r"[T ]+(?=\d\d?:\d\d)", text)
    day, clock = (text, "") if gap is None else (text[: gap.start()], text[gap.end() :])
    parts = re.split(r"[ ,-]+" if term["separator"] == " " else re.escape(term["separator"]), day)
    if len(parts) != 3:
        raise ValueError(f"{cell!r} is not a date")
    named = dict(zip(term["order"], parts, strict=True))
    month = named["M"]
    if term["separator"] == " ":
        month = str(_month(month.removesuffix(".").lower(), cell))
    if not (len(named["Y"]) == 4 and len(month) <= 2 and len(named["D"]) <= 2):
        raise ValueError(f"{cell!r} is not a date")
    if not all(re.fullmatch("[0-9]+", part) for part in (named["Y"], month, named["D"])):
        raise ValueError(f"{cell!r} is not a date")
    seconds, ahead = (0.0, 0.0) if not clock else _clock(clock, cell)
    return dt.date(int(named["Y"]), int(month), int(named["D"])), seconds, ahead


def _month(word: str, cell: object) -> int:
    for k in range(1, 13):
        if word in (MONTHS[k], MONTHS[k][:3]) or (k == 9 and word == "sept"):
            return k
    raise ValueError(f"{cell!r} names no month")


def _clock(clock: str, cell: object) -> tuple[float, float]:
    match = CLOCK.fullmatch(clock)
    if match is None or int(match[1]) > 23 or int(match[2]) > 59 or float(match[3] or 0) >= 60:
        raise ValueError(f"{cell!r} holds no time of day")
    zone = (match[4] or "").strip()
    ahead = 0.0
    if zone[:1] in ("+", "-"):
        ahead = float(3600 * int(zone[1:3]) + 60 * int(zone[-2:])) * (-1.0 if zone[0] == "-" else 1.0)
    return 3600 * int(match[1]) + 60 * int(match[2]) + float(match[3] or 0), ahead
