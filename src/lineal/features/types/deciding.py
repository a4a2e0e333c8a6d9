"""What becomes of each column: a term, or left out, with the reason in a sentence."""

from __future__ import annotations

import re
from itertools import islice

from lineal.features.cells import dates
from lineal.features.cells.dates import CALENDARS, Calendar
from lineal.features.cells.notation import Notation
from lineal.features.terms.base import Boolean, Category, Number
from lineal.features.terms.merged import Merged
from lineal.features.types.apply_declared import tell
from lineal.features.types.decision import Decision, cells, without
from lineal.features.types.declared_types import Told
from lineal.features.types.readings import NeedsReadingError, calendar_of, check_dates, dated, notation_of, written
from lineal.features.types.survey import LEVELS, Column
from lineal.features.types.target_type import NeedsTextError, check_numbers, check_whole, is_number, is_rounded
from lineal.tables.tabular import Table

TRUE = frozenset(("true", "yes", "t", "y"))
FALSE = frozenset(("false", "no", "f", "n"))
ENOUGH = 20
"""Fewer rows than this tell nothing about a column being an identifier."""
LONG = 1000
"""Characters of a level at most."""
MANY = 50
RARE = 5
"""Of a category with more than MANY levels, those with fewer than RARE rows are merged."""
COUNTS = frozenset(
    ("", "id", "ids", "idx", "index", "key", "no", "nr", "num", "number", "obs", "record", "row", "rownames", "unnamed")
)
"""Words in the name of a column that say it only numbers the rows; a trend over time counts them, too."""


def decide(
    survey: Column, table: Table, *, asked: bool = False, category: bool = False, told: Told | None = None
) -> Decision:
    """Return what becomes of a column; one that was ``asked`` for is no identifier, ``category`` makes its cells levels.

    ``told`` is a type that a person gave it.
    """
    if not survey.present:
        return without(survey, "nothing", "every cell is missing")
    if survey.kinds & {"other"}:
        return without(survey, "other", _other(survey.other))
    if told is not None:
        return tell(survey, table, told, TRUE, FALSE) or _category(survey, asked=True)
    if category:
        return _category(survey)
    if isinstance(survey.reading, Notation):
        check_numbers(survey, table)
        check_whole(survey, table)
        return written(survey, survey.reading)
    if isinstance(survey.reading, Calendar):
        return dated(survey, survey.reading)
    if is_number(survey) and not survey.bad:
        check_numbers(survey, table)
        if not asked and _numbers_rows(survey.name) and is_rounded(survey, table):
            return without(survey, "number", "it holds whole numbers beyond 2^53, so it looks like an identifier")
        check_whole(survey, table)
        return _number(survey, asked)
    if survey.straight:
        raise NeedsTextError(survey.name)
    reading = notation_of(survey) or calendar_of(survey)
    if reading is not None:
        raise NeedsReadingError(survey.name, reading)
    if is_number(survey):
        check_numbers(survey, table)
    check_dates(survey, table)
    words = {level.lower() for level in survey.levels}
    if "category" not in survey.kinds and not survey.full and words <= TRUE | FALSE:
        return _boolean(survey)
    return _category(survey)


def _number(survey: Column, asked: bool) -> Decision:
    values = survey.values
    if values.low == values.high:
        return _constant(survey)
    why = ""
    if values.consecutive and values.whole and survey.rows >= ENOUGH:
        counts = f"it counts the rows ({values.low:g}, {values.low + 1:g}, ...)"
        if not asked and _numbers_rows(survey.name):
            return without(survey, "number", f"{counts}, so it looks like an identifier")
        why = f"{counts}; drop it if it is no more than a row number"
    fill = values.mean
    if survey.missing:
        why = f"{cells(survey.missing)} replaced by the mean {fill:.6g} and marked"
    return Decision(
        survey.name, "number", survey.missing, Number(survey.name, fill, survey.missing > 0), why, told="number"
    )


def _other(stored: str) -> str:
    """Return why cells of a type are neither numbers, dates nor texts."""
    if stored.startswith(("duration", "time", "month", "day")):
        what = (
            "durations"
            if stored.startswith("duration")
            else "times of day"
            if stored.startswith("time")
            else "intervals"
        )
        return f"it holds {what} ({stored}), whose unit as a number is not said; make them numbers, such as seconds"
    return "it holds lists or bytes, not cells"


def _numbers_rows(name: str) -> bool:
    """Whether a column's name says that it numbers the rows: ``id``, ``row_no``, ``CustomerID``, ``Unnamed: 0``."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name) or [""]
    return any(word.lower() in COUNTS for word in words) or name.lower().endswith("id")


def _constant(survey: Column) -> Decision:
    """Return the decision on a number that never varies where it is present: only its absence can tell anything."""
    if not survey.missing:
        return without(survey, "number", f"it is {survey.values.low:g} in every row")
    if survey.straight:
        raise NeedsTextError(survey.name)
    if len(survey.levels) > 1:
        return without(survey, "number", f"it is {survey.values.low:g} wherever it is present")
    return _category(survey)


def _boolean(survey: Column) -> Decision:
    true = tuple(sorted(level for level in survey.levels if level.lower() in TRUE))
    false = tuple(sorted(level for level in survey.levels if level.lower() in FALSE))
    if not (true and false):
        return _category(survey)  # one word, and cells without: only absence can tell anything
    count = sum(survey.levels[level] for level in true)
    fill = count / survey.present
    why = f"{_either(true)} is 1, {_either(false)} is 0"
    if survey.missing:
        why += f"; {cells(survey.missing)} replaced by the mean {fill:.6g} and marked"
    term = Boolean(survey.name, true, false, fill, survey.missing > 0)
    return Decision(survey.name, "boolean", survey.missing, term, why, levels=2, told="boolean")


def _category(survey: Column, *, asked: bool = False) -> Decision:
    levels, present = survey.levels, survey.present
    if survey.full:
        return without(survey, "text", f"it has more than {LEVELS} different values; it looks like an identifier")
    if not asked and present >= ENOUGH and len(levels) == present:
        return without(survey, "text", "every value is different; it looks like an identifier")
    if not asked and len(levels) > max(50, present / 2):
        return without(
            survey, "text", f"it has {len(levels)} different values in {present} cells; it looks like an identifier"
        )
    longest = max(map(len, levels), default=0)
    if longest > LONG:
        return without(survey, "text", f"it holds texts of up to {longest:,} characters, too long for names of levels")
    if len(levels) == 1 and not survey.missing:
        return without(survey, "category", f"it is {next(iter(levels))!r} in every row")
    reference = min(levels, key=lambda level: (-levels[level], level))
    kept = tuple(sorted(level for level, count in levels.items() if count >= RARE))
    merged = len(levels) - len(kept) if len(levels) > MANY and len(kept) > 1 else 0
    why = f"{len(levels)} level{'' if len(levels) == 1 else 's'}, compared with {reference!r}"
    if merged > 1:
        why += f"; {merged} levels with fewer than {RARE} rows are merged"
    if survey.missing:
        why += f"; {cells(survey.missing)} a level of their own"
    term = (
        Merged(survey.name, kept, reference, survey.missing > 0)
        if merged > 1
        else Category(survey.name, tuple(sorted(levels)), reference, survey.missing > 0)
    )
    return Decision(survey.name, "category", survey.missing, term, why, levels=len(levels), told="category")


def is_text(survey: Column) -> bool:
    """Whether a column holds free text: nearly every cell is different, and most have several words or are long."""
    levels = survey.levels
    if not levels or survey.straight or survey.kinds - {"text", "category"} or survey.reading is not None:
        return False
    if is_number(survey) or notation_of(survey) is not None or calendar_of(survey) is not None:
        return False
    if all(dates.fitting(list(CALENDARS), [level]) for level in islice(levels, ENOUGH)):  # written in different ways
        return False
    many = survey.full or (survey.present >= ENOUGH and len(levels) > max(50, survey.present / 2))
    several = sum(" " in level for level in levels) > len(levels) / 2
    links = sum("://" in level[:10] and " " not in level for level in levels) > len(levels) / 2
    different = survey.present >= ENOUGH and len(levels) == survey.present
    return (many or different) and (several or (survey.characters > 25 * len(levels) and not links))


def _either(words: tuple[str, ...]) -> str:
    return " or ".join(repr(word) for word in words)
