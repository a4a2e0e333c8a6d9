"""Decisions about columns whose text is written in some way: numbers with marks and signs, dates."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np

from lineal.errors import InputError
from lineal.features.cells.cells import texts
from lineal.features.cells.dates import CALENDARS, Calendar
from lineal.features.cells.notation import Notation, fitting
from lineal.features.encoder import column
from lineal.features.terms import Cycle, Elapsed, Term, Written
from lineal.features.terms.date_parts import CATEGORIES
from lineal.features.types.decision import Decision, marked, without
from lineal.features.types.survey import Column
from lineal.tables.tabular import Table


def notation_of(survey: Column) -> Notation | None:
    """Return the notation that every text of a column agrees with, if there is one."""
    return survey.notations[0] if survey.notations and survey.judged and survey.kinds == {"text"} else None


def calendar_of(survey: Column, order: str | None = None) -> Calendar | None:
    """Return the way in which all texts of a column are dates, if there is one (in this order)."""
    if survey.kinds not in ({"text"}, {"date"}) or not survey.judged:
        return None
    return next((one for one in survey.calendars or () if order in (None, one.order)), None)


def check_dates(survey: Column, table: Table) -> None:
    """Raise an InputError if every text is a date, but not all are written in one way."""
    if survey.kinds != {"text"} or survey.full or not survey.levels:
        return
    ways: dict[Calendar, str] = {}
    for level in survey.levels:
        fits = fitting(list(CALENDARS), [level])
        if not fits or fits == list(CALENDARS):  # no date, or a mark for no value
            return
        if not set(fits) & set(ways):
            ways[fits[0]] = level
    shown = [f"{text!r} in {place(survey, table, text)}" for text in list(ways.values())[:3]]
    raise InputError(
        f"column {survey.name!r} holds dates written in different ways: {', '.join(shown)};"
        f" write them in one way, take them as they are (--types {survey.name}=category),"
        f" or leave the column out (--drop {survey.name})."
    )


def place(survey: Column, table: Table, text: str) -> str:
    """Return where a text of a column stands first; one more pass, on the way to a refusal."""
    for rows, batch in table.select(texts=[survey.name]).numbered():
        codes, levels = texts(column(batch, survey.name))
        if text in levels and (codes == levels.index(text)).any():
            return table.place(int(rows[np.flatnonzero(codes == levels.index(text))[0]]))
    return "a row that is gone"


def written(survey: Column, notation: Notation) -> Decision:
    """Return the decision on a number written in a notation."""
    values = survey.values
    if values.low == values.high:
        return without(survey, "number", f"it is {values.low:g} {where(survey)}")
    details = _marks(notation.missing)
    if (notation.decimal, notation.group, notation.unit) != (".", "", ""):
        details.insert(0, f"written like {notation.example!r}")
    if survey.missing:
        details.append(marked(survey.missing, values.mean))
    term = Written(survey.name, notation, values.mean, survey.missing > 0)
    spelling = f"number:{notation.example}"
    return Decision(survey.name, "number", survey.missing, term, "; ".join(details), declared=spelling)


def dated(survey: Column, calendar: Calendar) -> Decision:
    """Return the decision on dates: elapsed days, and every part that varies."""
    values, name = survey.values, survey.name
    if values.low == values.high:
        return without(
            survey, "date", f"it is the same date {where(survey)}{' to about a microsecond' if survey.finer else ''}"
        )
    origin, gone = values.low, survey.missing > 0
    whole = Fraction(values.sum[0]) + Fraction(values.sum[1]) - values.count * Fraction(origin)
    terms: list[Term] = [Elapsed(name, calendar, "elapsed", origin, float(whole / values.count), gone)]
    years: Counter[object] = survey.parts["year"]
    if len(years) > 1:
        mean = sum(int(str(year)) * count for year, count in years.items()) / years.total()
        terms.append(Elapsed(name, calendar, "year", 0.0, mean, indicator=False))
    for part, order in CATEGORIES.items():
        counts = survey.parts[part]
        levels = tuple(level for level in order if counts[level])
        if len(levels) > 1:
            reference = max(levels, key=lambda level: counts[level])  # the first of the most frequent
            terms.append(Cycle(name, levels, reference, missing=False, calendar=calendar, part=part))
    shown = ["days", *(_part(term) for term in terms[1:])]
    details = [f"written like {calendar.example!r}", f"as {', '.join(shown)}", *_marks(calendar.missing)]
    lost = (
        "times are days as doubles, which are about as fine as a microsecond; what is finer is rounded"
        if survey.finer
        else ""
    )
    if gone:
        details.append(marked(survey.missing))
    spelling = f"date:{calendar.order}"
    return Decision(
        name, "date", survey.missing, terms[0], "; ".join(details), more=tuple(terms[1:]), declared=spelling, lost=lost
    )


def _part(term: Term) -> str:
    return term.part if isinstance(term, Elapsed | Cycle) else term.kind


def _marks(missing: tuple[str, ...]) -> list[str]:
    return [f"{', '.join(map(repr, missing))} read as missing"] if missing else []


def where(survey: Column) -> str:
    """Return where a column that is constant has its value."""
    return "wherever it is present" if survey.missing else "in every row"
