"""Columns that determine the target: perhaps known only after what is to be predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lineal.features.cells.cells import numbers, texts
from lineal.features.encoder import column
from lineal.features.terms import Single, Term
from lineal.features.types.decision import Decision
from lineal.ground.arrays import Array
from lineal.model.target import Target

LEAK_SAMPLE_ROWS = 10_000
"""Rows that are looked at, the first ones."""
LEAK_FIRST_ROWS = 500
"""What fails in the first rows, this many, is not looked at further."""
LEAK_MIN_ROWS = 50
"""Fewer rows than this determine much by chance."""

ORIGIN_MIN_LEVELS = 20
"""Fewer levels than this are a category like others."""
ORIGIN_MAX_LEVEL_ROWS = 20
"""Levels of more rows than this on average are known well enough, and so are new rows of them."""
ORIGIN_MIN_SHARE = 0.95
"""The share of rows, among levels of two rows and more, that have the class which is the most frequent one of their level."""


def origins(batches: Sequence[Any], target: Target, decisions: Sequence[Decision]) -> dict[str, str]:
    """Return the categories that look like where a text comes from, such as its publisher, each with the reason.

    Many levels of few rows, nearly all of one class: the fit would learn the names by heart, leave the words of the text
    to whatever the names do not tell, and know nothing about a name that is new.
    """
    if target.kind != "classes" or target.names is not None or not batches:
        return {}
    y = _codes(batches, target.name)
    reasons = {}
    for decision in decisions:
        if decision.term is not None and decision.type == "category":
            levels = _levels_of_one_class(_codes(batches, decision.column), y)
            if levels is not None:
                reasons[decision.column] = (
                    f"nearly all rows of each of its {levels} levels are of one class, so it looks like where the text comes "
                    f"from; keep it with --types {decision.column}=category"
                )
    return reasons


def _levels_of_one_class(codes: Array, y: Array) -> int | None:
    """Return the number of levels if they are many, small and nearly pure, and the classes are not so without them."""
    codes, y = codes[codes >= 0], y[codes >= 0]
    _, level, rows = np.unique(codes, return_inverse=True, return_counts=True)
    if len(y) < LEAK_MIN_ROWS or len(rows) < ORIGIN_MIN_LEVELS or len(y) > ORIGIN_MAX_LEVEL_ROWS * len(rows):
        return None
    _, kind = np.unique(y, return_inverse=True)
    table = np.zeros((len(rows), int(kind.max(initial=0)) + 1))
    np.add.at(table, (level, kind), 1.0)
    several = rows > 1
    pure, among = float(table[several].max(axis=1).sum()), float(table[several].sum())
    plain = float(table.sum(axis=0).max()) / len(y)
    tells = among >= LEAK_MIN_ROWS and pure >= ORIGIN_MIN_SHARE * among and plain < 1.0 - 2.0 * (1.0 - ORIGIN_MIN_SHARE)
    return len(rows) if tells else None


def suspicions(batches: Sequence[Any], target: Target, decisions: Sequence[Decision]) -> list[str]:
    """Return a sentence for every column that tells the target without exception in the first rows.

    A number does if thresholds part the classes, or if the target is a straight line in it; a category if every
    level, of ten rows on average or more, has one target.
    """
    if target.names is not None or not batches:
        return []
    classes = target.kind == "classes"
    y = _codes(batches, target.name) if classes else _numbers(batches, target.name)
    if len(y) < LEAK_MIN_ROWS:
        return []
    sentences = []
    for decision in decisions:
        if decision.term is None:
            continue
        values = _values(batches, decision.term)
        if values is None:
            revealed = _levels_tell(_codes(batches, decision.column), y)
        else:
            revealed = _thresholds_tell(values, y) if classes else _line_tells(values, y)
        if revealed:
            sentences.append(
                f"{decision.column!r} alone tells the target {target.name!r} in each of the first {len(y):,} rows;"
                f" is it known before the target is? If not, leave it out (--drop {decision.column})."
            )
    return sentences


def _values(batches: Sequence[Any], term: Term) -> Array | None:
    """Return a column as numbers, NaN where missing; None if it is not one of numbers."""
    if not (term.is_number and isinstance(term, Single)):
        return None
    parts = []
    for batch in batches:
        out = np.empty((batch.num_rows, len(term.columns)))
        term.write(out, column(batch, term.column))
        parts.append(np.where(out[:, 1] > 0, np.nan, out[:, 0]) if term.indicator else out[:, 0])
    return np.concatenate(parts)


def _numbers(batches: Sequence[Any], name: str) -> Array:
    return np.concatenate([numbers(column(batch, name))[0] for batch in batches])


def _codes(batches: Sequence[Any], name: str) -> Array:
    """Return a column as numbers of its different texts, -1 where missing."""
    code_of: dict[str, int] = {}
    parts = []
    for batch in batches:
        codes, levels = texts(column(batch, name))
        table = np.array([*(code_of.setdefault(level, len(code_of)) for level in levels), -1], dtype=np.float64)
        parts.append(table[codes])
    return np.concatenate(parts)


def _levels_tell(codes: Array, y: Array) -> bool:
    if not _one_each(codes[:LEAK_FIRST_ROWS], y[:LEAK_FIRST_ROWS]):
        return False
    levels = len(np.unique(codes))
    return 1 < levels <= len(y) / 10 and _one_each(codes, y) and bool((y != y[0]).any())


def _one_each(codes: Array, y: Array) -> bool:
    """Whether rows with the same code have the same target."""
    order = np.argsort(codes, kind="stable")
    codes, y = codes[order], y[order]
    return not ((codes[1:] == codes[:-1]) & (y[1:] != y[:-1])).any()


def _thresholds_tell(values: Array, y: Array) -> bool:
    """Whether the classes follow each other along the values, none coming twice."""
    present = ~np.isnan(values)
    if present.sum() < 0.9 * len(y):
        return False
    values, y = values[present], y[present]
    if not _in_turn(values[:LEAK_FIRST_ROWS], y[:LEAK_FIRST_ROWS]):
        return False
    _, counts = np.unique(y, return_counts=True)
    return len(counts) > 1 and bool(counts.min() >= 5) and _in_turn(values, y)


def _in_turn(values: Array, y: Array) -> bool:
    order = np.argsort(values, kind="stable")
    values, y = values[order], y[order]
    changes = y[1:] != y[:-1]
    return not (changes & (values[1:] == values[:-1])).any() and int(changes.sum()) == len(np.unique(y)) - 1


def _of_size_one(values: Array) -> Array:
    """Return values over the largest: then no sum of them overflows."""
    return values / (float(np.max(np.abs(values), initial=0.0)) or 1.0)


def _line_tells(values: Array, y: Array) -> bool:
    present = ~np.isnan(values)
    if present.sum() < max(LEAK_MIN_ROWS, 0.9 * len(y)):
        return False
    x, z = _of_size_one(values[present]), _of_size_one(y[present])
    if not (np.ptp(x) > 0 and np.ptp(z) > 0):
        return False
    x, z = (x - x.mean()) / np.ptp(x), (z - z.mean()) / np.ptp(z)
    slope = (x @ z) / (x @ x)
    return bool(np.max(np.abs(z - slope * x)) <= 1e-9)
