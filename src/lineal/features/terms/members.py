"""Members of a term in a model file: each check refuses the file with a sentence, since a file may come from anywhere."""

from __future__ import annotations

import math
from typing import Any

from lineal.errors import ModelFileError
from lineal.features.cells.dates import CALENDARS, Calendar


def expect(holds: bool, sentence: str) -> None:
    """Refuse the file unless something holds."""
    if not holds:
        raise ModelFileError(f"the encoder in the model file {sentence}.")


def finite(value: Any) -> bool:
    """Return whether a value of a file is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def whole(value: object) -> bool:
    """Return whether a value of a file is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def words(data: Any, column: str) -> tuple[str, ...]:
    """Return a list of different words."""
    expect(
        isinstance(data, list) and len(data) > 0 and all(isinstance(word, str) for word in data),
        f"has no list of words for {column!r}",
    )
    expect(len(set(data)) == len(data), f"has a word of {column!r} twice")
    return tuple(data)


def fill_and_indicator(data: Any) -> tuple[float, bool]:
    """Return what a missing cell counts as, and whether it is marked."""
    column, fill, indicator = data["column"], data["fill"], data["indicator"]
    expect(finite(fill), f"has no finite fill for {column!r}")
    expect(isinstance(indicator, bool), f"must say for {column!r} whether there is an indicator, true or false")
    return float(fill), indicator


def levels_and_reference(data: Any) -> tuple[tuple[str, ...], str | None]:
    """Return the levels of a category and the one that others are compared with, if there is one."""
    levels = words(data["levels"], data["column"])
    expect(
        data["reference"] is None or data["reference"] in levels,
        f"has a reference level of {data['column']!r} that is none of its levels",
    )
    return levels, data["reference"]


def flag(data: Any, member: str, sentence: str) -> bool:
    """Return true or false; ``sentence`` says what the file must say otherwise."""
    expect(isinstance(data[member], bool), sentence)
    return bool(data[member])


def calendar(data: Any) -> Calendar:
    """Return how dates are written."""
    way = (data["order"], data["separator"])
    pairs = [(one.order, one.separator) for one in CALENDARS]
    expect(way in pairs, f"has no way to write the dates of {data['column']!r}")
    return Calendar(*way, markers(data))


def markers(data: Any) -> tuple[str, ...]:
    """Return the words that stand for a missing cell."""
    return words(data["markers"], data["column"]) if data["markers"] != [] else ()
