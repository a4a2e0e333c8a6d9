"""Terms that read texts in a way of their own, out of a model file, every member checked."""

from __future__ import annotations

from typing import Any, Final

from lineal.features.cells.dates import CALENDARS, Calendar
from lineal.features.cells.notation import STYLES, UNITS, Notation
from lineal.features.schema.expecting import expect, finite, words_from
from lineal.features.terms.base import Term
from lineal.features.terms.date_parts import CATEGORIES, NUMBERS, Cycle, Elapsed
from lineal.features.terms.merged import Merged
from lineal.features.terms.written import Ordinal, Written

FIELDS: Final = {
    "merged": ("levels", "reference", "missing"),
    "ordinal": ("levels", "fill", "indicator"),
    "written": ("decimal", "group", "unit", "markers", "fill", "indicator"),
    "elapsed": ("order", "separator", "markers", "part", "origin", "fill", "indicator"),
    "cycle": ("order", "separator", "markers", "part", "levels", "reference"),
}
"""The members of each kind, beside kind and column."""


def term_from(kind: str, name: str, data: Any) -> Term:
    """Return a term, or refuse the file naming what is wrong."""
    if kind in ("merged", "cycle"):
        return _category(kind, name, data)
    fill, indicator = data["fill"], data["indicator"]
    expect(finite(fill), f"has no finite fill for {name!r}")
    expect(isinstance(indicator, bool), f"must say for {name!r} whether there is an indicator, true or false")
    if kind == "ordinal":
        return Ordinal(name, words_from(data["levels"], name), float(fill), indicator)
    if kind == "written":
        style = (data["decimal"], data["group"])
        expect(style in STYLES, f"has no way to write {name!r}")
        expect(data["unit"] in ("", *UNITS), f"has an unknown unit for {name!r}")
        return Written(name, Notation(*style, data["unit"], _markers(data, name)), float(fill), indicator)
    expect(data["part"] in NUMBERS, f"has an unknown part of the dates of {name!r}")
    expect(finite(data["origin"]), f"has no finite origin for {name!r}")
    return Elapsed(name, _calendar(data, name), data["part"], float(data["origin"]), float(fill), indicator)


def _category(kind: str, name: str, data: Any) -> Merged | Cycle:
    levels = words_from(data["levels"], name)
    expect(data["reference"] in (None, *levels), f"has a reference level of {name!r} that is none of its levels")
    if kind == "merged":
        expect(isinstance(data["missing"], bool), f"must say for {name!r} whether cells were missing, true or false")
        return Merged(name, levels, data["reference"], data["missing"])
    part = data["part"]
    expect(isinstance(part, str) and part in CATEGORIES, f"has an unknown part of the dates of {name!r}")
    expect(
        levels == tuple(level for level in CATEGORIES[part] if level in levels),
        f"has levels of {name!r} that are no {part}s in order",
    )
    return Cycle(name, levels, data["reference"], missing=False, calendar=_calendar(data, name), part=part)


def _calendar(data: Any, name: str) -> Calendar:
    way = (data["order"], data["separator"])
    expect(way in [(one.order, one.separator) for one in CALENDARS], f"has no way to write the dates of {name!r}")
    return Calendar(*way, _markers(data, name))


def _markers(data: Any, name: str) -> tuple[str, ...]:
    return words_from(data["markers"], name) if data["markers"] != [] else ()
