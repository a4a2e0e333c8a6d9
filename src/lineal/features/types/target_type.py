"""The target: what kind of quantity it is, and its cells as y."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np

from lineal.errors import InputError, near
from lineal.errors import alike as alike_text
from lineal.features.cells.cells import packed
from lineal.features.cells.finite import CellError, finite_numbers, located
from lineal.features.encoder import column
from lineal.features.types.decision import Reread
from lineal.features.types.survey import Column
from lineal.ground.arrays import Array, Mask
from lineal.model.target import Target
from lineal.tables.dialect import number
from lineal.tables.svmlight import LABEL, SparseRows
from lineal.tables.tabular import RowNumbers, Table

COUNT_MAX_MEAN = 20.0
"""Whole numbers of a smaller mean may be counts; of larger ones it makes little difference, and they may be prices."""
Model = Literal["auto", "number", "classes", "labels"]
Label = str | int | float | bool
Decided = tuple[Target, list[int] | None, str]
"""A target, how many rows each class has, and the decision in a sentence."""

MAX_CLASSES: Final = 1000
"""A target with more classes is refused."""
MAX_NUMBER_CLASSES: Final = 10
"""Whole numbers of at most this many different values, each seen often, are taken for classes."""
_COMMAS = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+|[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
NUMBER_MIN_SHARE: Final = 0.95
"""A text column is a number if at least this share of its cells are."""


def is_number(survey: Column) -> bool:
    """Whether a column is one of numbers: typed so, or text of which at least 95 % parse."""
    if survey.kinds - {"number", "text"} or not survey.values.count:
        return False
    return survey.values.count >= NUMBER_MIN_SHARE * (survey.values.count + survey.no_number)


def check_numbers(survey: Column, table: Table, *, target: bool = False) -> None:
    """Raise an InputError that names the first cell of a number column that is no finite number."""
    remedy = (
        "fix the cell, or empty it: rows without a target are left out."
        if target
        else f"fix the cell, or leave the column out (--drop {survey.name})."
    )
    role = "the target" if target else "column"
    if survey.bad:
        row, cell = survey.bad[0]
        more = f" ({survey.no_number} such cells)" if survey.no_number > 1 else ""
        if cell == survey.name:
            more += ", its own name, so the header seems to be repeated there: delete that line"
        elif row == 0:
            more += ", perhaps a second line of the header: delete it then"
        raise InputError(
            f"{role} {survey.name!r} is a number, but {table.place(row)} of {table.origin} holds {cell!r}{more}; {remedy}"
        )
    if survey.values.infinite is not None:
        raise InputError(
            f"{role} {survey.name!r} is infinite in {table.place(survey.values.infinite)} of {table.origin}; {remedy}"
        )
    if survey.values.count and not np.isfinite(survey.values.mean):
        raise InputError(
            f"the numbers in column {survey.name!r} are too large to add up (up to {survey.values.high:g});"
            " give them in a larger unit."
        )


def lacks_text(survey: Column, table: Table) -> bool:
    """Whether a column's numbers are so large that only its text says if whole ones among them are doubles."""
    return survey.values.far and survey.rounded is None and survey.straight and survey.name in table.guess()


def check_whole(survey: Column, table: Table, *, target: bool = False) -> None:
    """Raise an InputError if a column of numbers holds whole ones that no double is: different ones would become the same."""
    if survey.rounded is None:
        return
    row, cell = survey.rounded
    name = survey.name
    remedy = (
        "subtract a constant from it, give it in a larger unit, or fit its values as classes"
        if target
        else f"subtract a constant from it, leave it out (--drop {name}), take it as a category (--types {name}=category), "
        f"or take the nearest doubles (--types {name}=number)"
    )
    raise InputError(
        f"{'the target' if target else 'column'} {name!r} holds whole numbers beyond 2^53 that no double is, such as {cell} "
        f"in {table.place(row)} of {table.origin}; different ones would become the same number: {remedy}."
    )


def check_commas(survey: Column, table: Table) -> None:
    """Raise an InputError if the cells are numbers written with commas: as categories they would mean nothing."""
    commas = [level for level in survey.levels if _COMMAS.fullmatch(level)]
    plain = sum(not np.isnan(survey.parsed[level]) for level in survey.levels)
    if commas and survey.kinds == {"text"} and len(commas) + plain == len(survey.levels):
        row, cell = survey.bad[0]
        raise InputError(
            f"the target {survey.name!r} holds numbers with a comma,"
            f" such as {cell!r} in {table.place(row)} of {table.origin};"
            " write them with a decimal point and without separators."
        )


def decide(surveys: list[Column], table: Table, model: Model) -> Decided | Reread:
    """Return the target, how many rows each class has, and the decision in a sentence."""
    if model == "labels":
        return _labels_of(surveys, table)
    if len(surveys) > 1:
        return _several(surveys, table, model)
    survey = surveys[0]
    name = survey.name
    if not survey.present:
        raise InputError(f"the target {name!r} is missing in every row of {table.origin}.")
    if survey.kinds & {"date", "other"}:
        raise InputError(
            f"the target {name!r} is neither a number nor a class; dates, lists and bytes cannot be predicted."
        )
    numeric = is_number(survey)
    if numeric:
        check_numbers(survey, table, target=True)
    check_commas(survey, table)
    if model == "auto" and not numeric and 2 < survey.present == len(survey.levels) <= MAX_CLASSES:
        raise InputError(
            f"the target {name!r} is not a number, and different in every row of {table.origin}, such as"
            f" {next(iter(survey.levels))!r}, so that no class could be learned; give another target (dates and names cannot"
            " be predicted), or fix the cells that are no numbers."
        )
    different = len(survey.values.distinct or ())
    if numeric and (lacks_text(survey, table) or (survey.rounded is not None and survey.straight)):
        return Reread(name)
    if numeric and survey.rounded is not None:
        different = len(survey.levels)  # as doubles some of them are one
    repeated = different <= 2 or survey.present >= 3 * different
    few = numeric and survey.values.whole and 0 < different <= MAX_NUMBER_CLASSES and repeated
    if model == "number" or (model == "auto" and numeric and not few):
        if not numeric:
            raise InputError(_not_number(survey, table))
        check_whole(survey, table, target=True)
        return _number(survey, model)
    if numeric and not survey.values.whole and different > 2 and survey.present < 2 * different:
        raise InputError(
            f"the target {name!r} is a number, {different} different values in {survey.present} rows of {table.origin}, so that"
            " no class could be learned; predict it as a number (model linear), or give a target that holds classes."
        )
    if survey.straight and not _are_labels(survey, numeric):
        return Reread(name)
    return _classes(survey, numeric, model)


def with_positive(decided: Decided, positive: str | None) -> Decided:
    """Return the decision with this one of two classes last: its score is modelled, and figures such as recall are its own.

    >>> with_positive((Target("y", "classes", classes=("no", "yes")), [3, 2], "."), "no")[0].classes
    ('yes', 'no')
    """
    target, counts, sentence = decided
    if positive is None:
        return decided
    labels = [str(label) for label in target.classes or ()]
    if len(labels) != 2:
        what = "is labels" if target.kind == "labels" else f"has {len(labels)} classes" if labels else "is a number"
        raise InputError(
            f"positive is {positive!r}, but {target.name!r} {what}: only one of two classes is the positive one."
        )
    if positive not in labels:
        raise InputError(
            f"positive is {positive!r}; the classes are {labels[0]!r} and {labels[1]!r}.{near(positive, labels)}"
        )
    if labels[1] == positive:
        return decided
    turned = replace(target, classes=(target.classes or ())[::-1])
    return turned, None if counts is None else counts[::-1], sentence


def _several(surveys: list[Column], table: Table, model: Model) -> Decided | Reread:
    if model == "classes":
        raise InputError("several targets can only be numbers; fit a model for each class target.")
    for survey in surveys:
        if not is_number(survey) and model == "auto" and survey.bad:
            row, cell = survey.bad[0]
            raise InputError(
                f"several targets are numbers, or labels (every cell yes, no or missing), and {survey.name!r} is neither: "
                f"{table.place(row)} of {table.origin} holds {cell!r}."
            )
        if not is_number(survey):
            raise InputError(_not_number(survey, table))
        check_numbers(survey, table, target=True)
        if lacks_text(survey, table):
            return Reread(survey.name)
        check_whole(survey, table, target=True)
        _number(survey, "number")
    names = tuple(survey.name for survey in surveys)
    return (
        Target(", ".join(names), "number", names=names),
        None,
        f"The targets {', '.join(map(repr, names))} are numbers.",
    )


def _labels_of(surveys: list[Column], table: Table) -> Decided:
    """Return the target of labels, and how many rows have each; every one must be had by some rows and not by others."""
    counts = []
    for survey in surveys:
        low, high = survey.values.low, survey.values.high
        if not low < high:
            everywhere = "missing" if not survey.values.count else "yes" if high == 1.0 else "no"
            raise InputError(
                f"the label {survey.name!r} is {everywhere} in every row of {table.origin}, so there is nothing to predict; "
                "take it out of the target."
            )
        counts.append((survey.values.distinct or {}).get(1.0, 0))
    names = tuple(survey.name for survey in surveys)
    sentence = f"The target is {len(names)} labels, of which a row has any number: {', '.join(map(repr, names[:10]))}"
    sentence += f" and {len(names) - 10} more." if len(names) > 10 else "."
    return Target(", ".join(names), "labels", names=names), counts, sentence


def _not_number(survey: Column, table: Table) -> str:
    shown = (
        f"{table.place(survey.bad[0][0])} of {table.origin} holds {survey.bad[0][1]!r}"
        if survey.bad
        else "its cells are not"
    )
    return f"the target {survey.name!r} is not a number: {shown}; fit classes instead, or fix the cells."


def _number(survey: Column, model: Model) -> Decided:
    low, high = survey.values.low, survey.values.high
    if low == high:
        raise InputError(f"the target {survey.name!r} is {low:g} in every row, so there is nothing to predict.")
    if model == "number":
        why = "as the model asks"
    elif survey.values.whole:
        why = "it has too many different values for classes"
    else:
        why = "its values are not all whole"
    sentence = f"The target {survey.name!r} is a number from {low:g} to {high:g} ({why})."
    return Target(survey.name, "number"), None, sentence


def _classes(survey: Column, numeric: bool, model: Model) -> Decided:
    counts = _labels(survey, numeric)
    if len(counts) > MAX_CLASSES or survey.full:
        raise InputError(
            f"the target {survey.name!r} has more than {MAX_CLASSES} classes;"
            " is it an identifier, or a number to be predicted as one?"
        )
    if len(counts) == 1:
        raise InputError(
            f"the target {survey.name!r} is {next(iter(counts))!r} in every row, so there is nothing to predict."
        )
    why = "few different whole numbers" if numeric else "not a number"
    if model == "classes":
        why = "as the model asks"
    sentence = f"The target {survey.name!r} has {len(counts)} classes ({why})."
    return Target(survey.name, "classes", classes=tuple(counts)), list(counts.values()), sentence


def alike(target: Target) -> list[str]:
    """Return a sentence about classes that differ in capitals and blanks only: slips of typing, most likely.

    >>> alike(Target("y", "classes", classes=("No", "maybe", "no")))
    ["The classes 'No' and 'no' of 'y' differ only in capitals or blanks; write them in one way if they are the same."]
    """
    groups: dict[str, list[str]] = {}
    for label in target.classes or ():
        groups.setdefault("".join(str(label).split()).casefold(), []).append(repr(label))
    return [
        f"The classes {' and '.join(group)} of {target.name!r} differ only in capitals or blanks;"
        " write them in one way if they are the same."
        for group in groups.values()
        if len(group) > 1
    ]


def like_counts(surveys: Sequence[Column], target: Target) -> list[str]:
    """Return a sentence about a number that looks like a count: whole, from 0 or 1 on, and small on average."""
    if target.kind != "number" or len(surveys) != 1:
        return []
    values = surveys[0].values
    if not (values.whole and 0 <= values.low <= 1 and values.count and values.mean < COUNT_MAX_MEAN):
        return []
    span = f"whole numbers from {values.low:.0f} to {values.high:,.0f}, {values.mean:.3g} on average"
    poisson = "if they are counts, --model poisson (model='poisson') fits their logarithm"
    return [f"The target {target.name!r} holds {span}; {poisson}."]


def _are_labels(survey: Column, numeric: bool) -> bool:
    """Whether the numbers of a column can be the names of classes: whole ones that are doubles."""
    return numeric and survey.values.whole and survey.rounded is None


def _labels(survey: Column, numeric: bool) -> dict[Label, int]:
    """Return the classes in order with their counts: whole numbers that are doubles as int, Booleans as bool, else text."""
    if _are_labels(survey, numeric):
        return {int(value): count for value, count in sorted((survey.values.distinct or {}).items())}
    if survey.kinds == {"boolean"}:
        return {level == "true": count for level, count in sorted(survey.levels.items())}
    ordered = ["-", "+"] if set(survey.levels) == {"-", "+"} else sorted(survey.levels)  # (of two, the second is asked)
    if numeric:
        ordered.sort(key=lambda level: (number(level) or 0.0, level))
    return {level: survey.levels[level] for level in ordered}


def responses(target: Target, batch: Any, table: Table, rows: RowNumbers) -> tuple[Array, Mask]:
    """Return y, shape ``(n, targets)``, and which rows have a target; y is NaN in the others.

    Numbers as they are, two classes as 0 and 1, several classes as the class's number, labels as 0 and 1, or NaN where one
    is not known; of labels a row needs one that is known.
    """
    if isinstance(batch, SparseRows):
        if target.name != LABEL:
            raise InputError(
                f"{table.origin} has no column {target.name!r};"
                f" the target of an SVMlight file is its label, called {LABEL!r}."
            )
        y = batch.y if target.kind == "number" else _coded(target, batch.y, table, rows)
        return y.reshape(-1, 1), np.ones(len(y), dtype=np.bool_)
    try:
        if target.kind in ("number", "labels"):
            names = target.names or (target.name,)
            y = np.column_stack([finite_numbers(name, column(batch, name)) for name in names])
        else:
            y = _class_codes(target, column(batch, target.name)).reshape(-1, 1)
    except CellError as bad:
        raise located(bad, table, rows) from None
    lost = np.isnan(y).all(axis=1) if target.kind == "labels" else np.isnan(y).any(axis=1)
    return y, np.logical_not(lost)


def _class_codes(target: Target, array: Any) -> Array:
    codes, levels = packed(array)
    place = class_index(target)
    table = np.array([*(place(level) for level in levels), np.nan])
    if np.isneginf(table).any() and (strange := np.isneginf(table[codes])).any():
        # (the dictionary may hold levels that no row has)
        position = int(np.flatnonzero(strange)[0])
        raise CellError(
            target.name,
            position,
            levels[codes[position]],
            f"one of the model's classes {list(target.classes or ())}{_same(levels[codes[position]], target)}",
        )
    return np.asarray(table[codes])


def _same(level: str, target: Target) -> str:
    """Return which class differs from a level in case, blanks or accents only, in brackets; "" if none does."""
    same = [str(label) for label in target.classes or () if alike_text(str(label)) == alike_text(level)]
    return f" (did you mean {same[0]!r}?)" if same else ""


def class_index(target: Target) -> Callable[[str], float]:
    """Return the function from a class's text to its number, minus infinity for an unknown class."""
    classes = target.classes or ()
    if all(isinstance(label, bool) for label in classes):
        words = {str(label).lower(): k for k, label in enumerate(classes)}
        return lambda level: float(words.get(level.lower(), -np.inf))
    if all(isinstance(label, int) for label in classes):
        values = {float(label): k for k, label in enumerate(classes)}
        return lambda level: float(values.get(-np.inf if (value := number(level)) is None else value, -np.inf))
    texts_ = {str(label): k for k, label in enumerate(classes)}
    return lambda level: float(texts_.get(level, -np.inf))


def _coded(target: Target, labels: Array, table: Table, rows: RowNumbers) -> Array:
    values = {float(label): k for k, label in enumerate(target.classes or ()) if not isinstance(label, str)}
    codes = np.array([values.get(float(label), -1) for label in labels], dtype=np.float64)
    if (codes < 0).any():
        position = int(np.flatnonzero(codes < 0)[0])
        raise InputError(
            f"{table.place(int(rows[position]))} of {table.origin} has the label {labels[position]:g},"
            f" which is none of the model's classes {list(target.classes or ())}."
        )
    return codes
