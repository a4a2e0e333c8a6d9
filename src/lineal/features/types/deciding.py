"""What becomes of each column: a term, or left out, with the reason in a sentence."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from lineal.features.cells.dates import CALENDARS, Calendar
from lineal.features.cells.notation import Notation, fitting
from lineal.features.terms import Category, Hashed, Merged, Number
from lineal.features.terms.hashed import bucket
from lineal.features.types.choices import AS_FOUND, Choices
from lineal.features.types.decision import Decision, Reread, marked, own_level, without
from lineal.features.types.declared_types import FALSE, TRUE, CategoryType, DeclaredType, boolean
from lineal.features.types.readings import calendar_of, check_dates, dated, notation_of, written
from lineal.features.types.survey import MAX_LEVELS, Column
from lineal.features.types.target_type import check_numbers, check_whole, is_number, lacks_text
from lineal.tables.tabular import Table

IDENTIFIER_MIN_ROWS = 20
"""Fewer rows than this tell nothing about a column being an identifier."""
LEVEL_MAX_CHARACTERS = 1000
"""Characters of a level at most."""
UNMERGED_MAX_LEVELS = 50
LEVEL_MIN_ROWS = 5
"""Of a category with more than UNMERGED_MAX_LEVELS levels, those with fewer than LEVEL_MIN_ROWS rows are merged."""
MERGED_MAX_LEVELS = 1000
"""Of a category with more levels than that, such as words, each has its own score: the rare ones are most of them."""
ROW_NUMBER_WORDS = frozenset(
    ("", "id", "ids", "idx", "index", "key", "no", "nr", "num", "number", "obs", "record", "row", "rownames", "unnamed")
)
"""Words in the name of a column that say it only numbers the rows; a trend over time counts them, too."""


def decide(
    survey: Column,
    table: Table,
    *,
    in_formula: bool = False,
    category: bool = False,
    declared: DeclaredType | None = None,
    choices: Choices = AS_FOUND,
) -> Decision | Reread:
    """Return what becomes of a column; one that was ``in_formula`` for is no identifier, ``category`` makes its cells levels.

    ``declared`` is a type that a person gave it, ``choices`` are made for all columns.
    """
    decision = _decide(survey, table, in_formula, category, declared)
    if decision is not None:
        return decision
    own = declared if isinstance(declared, CategoryType) and declared.capped else CategoryType(choices.max_levels)
    return _category(survey, own, in_formula=declared is not None)


def _decide(
    survey: Column, table: Table, in_formula: bool, category: bool, declared: DeclaredType | None
) -> Decision | Reread | None:
    """Return what becomes of a column, None if it is a category."""
    if not survey.present:
        return without(survey, "nothing", "every cell is missing")
    if survey.kinds & {"other"}:
        return without(survey, "other", _other(survey.other))
    if declared is not None:
        return declared.decide(survey, table)
    if category:
        return None
    if isinstance(survey.reading, Notation):
        check_numbers(survey, table)
        check_whole(survey, table)
        return written(survey, survey.reading)
    if isinstance(survey.reading, Calendar):
        return dated(survey, survey.reading)
    if is_number(survey) and not survey.bad:
        return _number(survey, table, in_formula)
    if survey.straight:
        return Reread(survey.name)
    reading = notation_of(survey) or calendar_of(survey)
    if reading is not None:
        return Reread(survey.name, reading)
    if is_number(survey):
        check_numbers(survey, table)
    check_dates(survey, table)
    words = {level.lower() for level in survey.levels}
    if "category" not in survey.kinds and not survey.full and words <= TRUE | FALSE:
        return _boolean(survey)
    return None


def _number(survey: Column, table: Table, in_formula: bool) -> Decision | Reread | None:
    check_numbers(survey, table)
    if lacks_text(survey, table):
        return Reread(survey.name)
    if not in_formula and _numbers_rows(survey.name) and survey.rounded is not None:
        return without(survey, "number", "it holds whole numbers beyond 2^53, so it looks like an identifier")
    check_whole(survey, table)
    values = survey.values
    if values.low == values.high:
        return _constant(survey)
    why = ""
    nameless = survey.name in table.nameless
    if values.consecutive and values.whole and (nameless or survey.rows >= IDENTIFIER_MIN_ROWS):
        counts = f"it counts the rows ({values.low:g}, {values.low + 1:g}, ...)"
        if not in_formula and nameless:
            return without(survey, "number", f"it has no name, and {counts}: an index")
        if not in_formula and _numbers_rows(survey.name):
            return without(survey, "number", f"{counts}, so it looks like an identifier")
        why = f"{counts}; drop it if it is no more than a row number"
    fill = values.mean
    if survey.missing:
        why = marked(survey.missing, fill)
    return Decision(
        survey.name, "number", survey.missing, Number(survey.name, fill, survey.missing > 0), why, declared="number"
    )


def _other(stored: str) -> str:
    """Return why cells of a type are neither numbers, dates nor texts."""
    if stored.startswith(("duration", "time", "month", "day")):
        names = {"duration": "durations", "time": "times of day"}
        what = next((name for kind, name in names.items() if stored.startswith(kind)), "intervals")
        return f"it holds {what} ({stored}), whose unit as a number is not said; make them numbers, such as seconds"
    return "it holds lists or bytes, not cells"


def _numbers_rows(name: str) -> bool:
    """Whether a column's name says that it numbers the rows: ``id``, ``row_no``, ``CustomerID``, ``Unnamed: 0``."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name) or [""]
    return any(word.lower() in ROW_NUMBER_WORDS for word in words) or name.lower().endswith("id")


def _constant(survey: Column) -> Decision | Reread | None:
    """Return the decision on a number that never varies where it is present: only its absence can tell anything."""
    if not survey.missing:
        return without(survey, "number", f"it is {survey.values.low:g} in every row")
    if survey.straight:
        return Reread(survey.name)
    if len(survey.levels) > 1:
        return without(survey, "number", f"it is {survey.values.low:g} wherever it is present")
    return None


def _boolean(survey: Column) -> Decision | None:
    true = tuple(sorted(level for level in survey.levels if level.lower() in TRUE))
    false = tuple(sorted(level for level in survey.levels if level.lower() in FALSE))
    if not (true and false):
        return None  # one word, and cells without: only absence can tell anything
    return replace(boolean(survey, true, false, "boolean"), levels=2)  # (however their words are written)


def _category(survey: Column, own: CategoryType, *, in_formula: bool) -> Decision:
    levels, present = survey.levels, survey.present
    if survey.full:
        return without(survey, "text", f"it has more than {MAX_LEVELS:,} different values; it looks like an identifier")
    if not in_formula and present >= IDENTIFIER_MIN_ROWS and len(levels) == present:
        return without(survey, "text", "every value is different; it looks like an identifier")
    if not in_formula and len(levels) > max(50, present / 2):
        return without(
            survey, "text", f"it has {len(levels)} different values in {present} cells; it looks like an identifier"
        )
    longest = max(map(len, levels), default=0)
    if longest > LEVEL_MAX_CHARACTERS:
        return without(survey, "text", f"it holds texts of up to {longest:,} characters, too long for names of levels")
    if len(levels) == 1 and not survey.missing:
        return without(survey, "category", f"it is {next(iter(levels))!r} in every row")
    term, why = _levels(survey, own)
    if survey.missing:
        why += f"; {own_level(survey.missing)}"
    return Decision(survey.name, "category", survey.missing, term, why, levels=len(levels), declared=own.spelled)


def _levels(survey: Column, own: CategoryType) -> tuple[Category, str]:
    """Return which levels have a column of their own, and that in words."""
    levels, missing = survey.levels, survey.missing > 0
    count = f"{len(levels)} level{'' if len(levels) == 1 else 's'}"
    first = sorted(levels, key=lambda level: (-levels[level], level))
    if own.bits is not None:
        kept, rest = first[: own.most or 0], first[own.most or 0 :]
        buckets = tuple(sorted({bucket(level, own.bits) for level in rest}))
        why = f"{count}, {f'{len(rest)} of them' if kept else 'all'} in {len(buckets)} buckets of 2^{own.bits}"
        return Hashed(survey.name, tuple(sorted(kept)), None, missing, own.bits, buckets), why
    reference = first[0]
    compared = f"{count}, compared with {reference!r}"
    if own.most is not None:
        if len(levels) > own.most:
            merged = f"; those beyond the {own.most} most frequent share a column"
            return Merged(survey.name, tuple(sorted(first[: own.most])), reference, missing), compared + merged
    elif len(levels) > MERGED_MAX_LEVELS:
        return Category(survey.name, tuple(sorted(levels)), None, missing), f"{count}, each with its own score"
    elif len(levels) > UNMERGED_MAX_LEVELS:
        kept = [level for level in first if levels[level] >= LEVEL_MIN_ROWS]
        if len(kept) > 1 and len(levels) - len(kept) > 1:
            merged = f"; {len(levels) - len(kept)} levels with fewer than {LEVEL_MIN_ROWS} rows are merged"
            return Merged(survey.name, tuple(sorted(kept)), reference, missing), compared + merged
    return Category(survey.name, tuple(sorted(levels)), reference, missing), compared


def many_levels(survey: Column, declared: DeclaredType | None) -> bool:
    """Whether a column is a category of so many levels that each has its own score: words, zip codes, user ids."""
    if declared is not None and not isinstance(declared, CategoryType):
        return False
    return len(survey.levels) > MERGED_MAX_LEVELS and survey.reading is None and not is_number(survey)


def is_text(survey: Column) -> bool:
    """Whether a column holds free text: nearly every cell is different, and most have several words or are long."""
    levels = survey.levels
    if not levels or survey.straight or survey.kinds - {"text", "category"} or survey.reading is not None:
        return False
    if is_number(survey) or notation_of(survey) is not None or calendar_of(survey) is not None:
        return False
    if all(
        fitting(list(CALENDARS), [level]) for level in islice(levels, IDENTIFIER_MIN_ROWS)
    ):  # written in different ways
        return False
    many = survey.full or (survey.present >= IDENTIFIER_MIN_ROWS and len(levels) > max(50, survey.present / 2))
    different = survey.present >= IDENTIFIER_MIN_ROWS and len(levels) == survey.present
    return (many or different) and survey.prose
