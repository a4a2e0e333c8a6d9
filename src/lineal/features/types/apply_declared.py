"""Decisions about columns whose type was told: what was told holds, or the first cell against it is named."""

from __future__ import annotations

from dataclasses import replace

from lineal.errors import InputError
from lineal.features.cells.dates import Calendar
from lineal.features.cells.notation import MARKERS, Notation
from lineal.features.terms.base import Boolean, Number
from lineal.features.terms.written import Ordinal
from lineal.features.types.decision import Decision, cells, without
from lineal.features.types.declared_types import Told
from lineal.features.types.readings import NeedsReadingError, calendar_of, dated, notation_of, place, written
from lineal.features.types.survey import LEVELS, Column
from lineal.features.types.target_type import NeedsTextError, check_numbers, is_rounded
from lineal.tables.tabular import Table


def number(survey: Column, table: Table, told: Notation | None) -> Decision:
    """Return the decision on a column that is a number, whatever share of its cells are; ``told`` says how written."""
    if isinstance(survey.reading, Notation):
        check_numbers(survey, table)
        return replace(written(survey, survey.reading), lost=nearest(survey, table))
    if told is not None:
        for one in survey.notations or ():
            if replace(one, missing=()) == told:
                raise NeedsReadingError(survey.name, one)
        if survey.bad or not told.plain:
            odd = next((level for level in survey.levels if told.value(level) is None and level not in MARKERS), None)
            where = "" if odd is None else f", but {place(survey, table, odd)} of {table.origin} holds {odd!r}"
            raise InputError(
                f"column {survey.name!r} was told to hold numbers written like {told.example!r}{where};"
                " fix the cell, or tell another type."
            )
    if survey.bad or survey.kinds - {"number", "text"}:
        if survey.straight:
            raise NeedsTextError(survey.name)
        notation = notation_of(survey)
        if notation is not None:
            raise NeedsReadingError(survey.name, notation)
        _check(survey, table, "number")
    check_numbers(survey, table)
    if survey.values.low == survey.values.high:
        return without(survey, "number", f"it is {survey.values.low:g} {_where(survey)}")
    fill = survey.values.mean
    why = f"{cells(survey.missing)} replaced by the mean {fill:.6g} and marked" if survey.missing else ""
    term = Number(survey.name, fill, survey.missing > 0)
    return Decision(survey.name, "number", survey.missing, term, why, told="number", lost=nearest(survey, table))


def nearest(survey: Column, table: Table) -> str:
    """Return what is said of whole numbers that no double is, where somebody told that they are numbers."""
    if not is_rounded(survey, table):
        return ""
    return f"whole numbers beyond 2^53, such as {(survey.rounded or (0, ''))[1]}, are taken as the nearest doubles"


def date(survey: Column, table: Table, order: str | None) -> Decision:
    """Return the decision on a column of dates."""
    if isinstance(survey.reading, Calendar):
        return dated(survey, survey.reading)
    if survey.straight:
        raise NeedsTextError(survey.name)
    calendar = calendar_of(survey, order)
    if calendar is None:
        shown = f" in the order {order}" if order else ""
        raise InputError(
            f"column {survey.name!r} was told to hold dates{shown}, but its cells are not all written as dates in one"
            f" way{_first(survey, table)}; fix the cells, or tell another type."
        )
    raise NeedsReadingError(survey.name, calendar)


def boolean(survey: Column, words: tuple[str, ...], true: frozenset[str], false: frozenset[str]) -> Decision:
    """Return the decision on a column of two words; ``words`` say which mean true, else the usual ones do."""
    levels = sorted(survey.levels)
    if words:
        yes = tuple(level for level in levels if level.lower() in {word.lower() for word in words})
        no = tuple(level for level in levels if level not in yes)
    else:
        yes = tuple(level for level in levels if level.lower() in true | {"1"})
        no = tuple(level for level in levels if level.lower() in false | {"0"})
    if survey.full or len(yes) + len(no) < len(levels) or not yes or not no:
        shown = ", ".join(map(repr, levels[:5]))
        raise InputError(
            f"column {survey.name!r} was told to be Boolean, but holds {shown};"
            f" say which word means true, such as --types {survey.name}=boolean:{levels[-1] if levels else 'yes'}."
        )
    fill = sum(survey.levels[level] for level in yes) / survey.present
    why = f"{' or '.join(map(repr, yes))} is 1, {' or '.join(map(repr, no))} is 0"
    if survey.missing:
        why += f"; {cells(survey.missing)} replaced by the mean {fill:.6g} and marked"
    spelling = f"boolean:{','.join(yes)}" if words else "boolean"
    term = Boolean(survey.name, yes, no, fill, survey.missing > 0)
    return Decision(survey.name, "boolean", survey.missing, term, why, levels=len(levels), told=spelling)


def ordinal(survey: Column, table: Table, words: tuple[str, ...]) -> Decision:
    """Return the decision on levels in an order: without one, the levels are sorted as numbers if they are."""
    order = words
    if not order:
        if survey.full or any(survey.parsed[level] != survey.parsed[level] for level in survey.levels):
            raise InputError(
                f"the order of column {survey.name!r} is not known;"
                f" give it: --types {survey.name}=ordinal:low<middle<high."
            )
        order = tuple(sorted(survey.levels, key=lambda level: survey.parsed[level]))
    odd = [level for level in survey.levels if level not in order]
    if odd or survey.full:
        where = f" in {place(survey, table, odd[0])} of {table.origin}" if odd else ""
        raise InputError(
            f"column {survey.name!r} holds {odd[0] if odd else 'too many levels'!r}{where}, which is not among the"
            f" levels {' < '.join(order)}; add it to the order, or fix the cell."
        )
    if len(survey.levels) == 1:
        return without(survey, "ordinal", f"it is {next(iter(survey.levels))!r} {_where(survey)}")
    fill = sum(order.index(level) * count for level, count in survey.levels.items()) / survey.present
    why = f"{' < '.join(order)} as 0 to {len(order) - 1}"
    if survey.missing:
        why += f"; {cells(survey.missing)} replaced by the mean {fill:.6g} and marked"
    term = Ordinal(survey.name, order, fill, survey.missing > 0)
    return Decision(
        survey.name, "ordinal", survey.missing, term, why, levels=len(order), told=f"ordinal:{'<'.join(order)}"
    )


def check_category(survey: Column) -> None:
    """Raise an InputError if a column told to be a category has too many levels to be one."""
    if survey.full:
        raise InputError(
            f"column {survey.name!r} was told to be a category, but has more than {LEVELS} levels;"
            f" leave it out (--drop {survey.name})."
        )


def _check(survey: Column, table: Table, kind: str) -> None:
    if survey.bad:
        raise InputError(
            f"column {survey.name!r} was told to be a {kind}{_first(survey, table)};"
            f" fix the cell, or tell another type."
        )
    if survey.kinds - {"number", "text"}:
        raise InputError(f"column {survey.name!r} was told to be a {kind}, but it holds {min(survey.kinds)} cells.")


def _first(survey: Column, table: Table) -> str:
    if not survey.bad:
        return ""
    row, found = survey.bad[0]
    return f", but {table.place(row)} of {table.origin} holds {found!r}"


def _where(survey: Column) -> str:
    return "wherever it is present" if survey.missing else "in every row"


def tell(survey: Column, table: Table, told: Told, true: frozenset[str], false: frozenset[str]) -> Decision | None:
    """Return the decision that a told type leads to; None for a category, which is decided as any other."""
    if told.kind == "number":
        return number(survey, table, told.notation)
    if told.kind == "date":
        return date(survey, table, told.order)
    if told.kind == "boolean":
        return boolean(survey, told.words, true, false)
    if told.kind == "ordinal":
        return ordinal(survey, table, told.words)
    check_category(survey)
    return None
