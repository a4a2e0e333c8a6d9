"""The sentence of a separability record, written anew from its rows: one column if one column says it, else how many do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lineal.verify.arithmetic import Array, Whole
from lineal.verify.halfspaces import Halfspaces
from lineal.verify.sentences import SHOWN, count

SCANNED = 1000
"""Columns looked at one by one for a simple reason."""


def of_overlap(rows: Sequence[int]) -> str:
    """Return the sentence of rows, by number, whose weighted sum is zero."""
    shown = ", ".join(map(str, rows[:SHOWN])) + (f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else "")
    proof = (
        f"1 row (number {shown}) that is"
        if len(rows) == 1
        else f"{len(rows)} rows (numbers {shown}) whose weighted sum is"
    )
    return f"Overlap: no halfspace separates any rows without a mistake on others, proven by {proof} zero."


def of_direction(
    space: Halfspaces,
    direction: Whole,
    columns: Sequence[str],
    classes: Sequence[object],
    target: str,
    strict: int,
    kind: str,
) -> str:
    """Return the sentence of a direction that puts ``strict`` rows on their side (towards some class), none on another."""
    complete, partial = _reasons(space, columns, classes, target)
    moving = [columns[j] for j in np.flatnonzero((direction != 0).any(axis=1)).tolist()]
    names = [name for name in moving if name != "(intercept)"] or moving
    listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    s, rows = "s" if len(names) == 1 else "", len(space.own)
    if kind == "complete":
        return f"Completely separable: {complete[0] if complete else f'{listed} separate{s} all {rows} rows without a mistake'}."
    how = f"{listed} put{s} {strict} of {rows} rows strictly on their side and none on the wrong one."
    if partial:
        found, words = partial[0]
        how = f"{words}." if found == strict else f"{words}; in all, {how}"
    return f"Quasi-completely separable: {how} The other rows overlap."


def _reasons(
    space: Halfspaces, columns: Sequence[str], classes: Sequence[object], target: str
) -> tuple[list[str], list[tuple[int, str]]]:
    """Return what single columns say: a value, or a side of a threshold, that occurs exactly, or only, with a class."""
    complete: list[str] = []
    partial: list[tuple[int, str]] = []
    if columns[:1] != ["(intercept)"]:
        return complete, partial  # without an intercept a threshold is no halfspace
    for j, name in list(enumerate(columns))[1 : SCANNED + 1]:
        for k in reversed(range(len(classes))):
            mine = space.own == k
            side = _side(name, space.x[mine, j], space.x[~mine, j])
            if side is None:
                continue
            condition, found, every = side
            rows = count(found, "row").replace(",", "")
            words = (
                f"`{condition}` occurs {'exactly' if every else 'only'} with {target} = {_label(classes[k])} ({rows})"
            )
            if every and len(classes) == 2:
                complete.append(words)
            else:
                partial.append((found, words))
    return complete, sorted(partial, key=lambda entry: -entry[0])


def _side(name: str, mine: Array, others: Array) -> tuple[str, int, bool] | None:
    """Return the condition on a column that only ``mine`` meets, how many do, and whether all do; the rest is on the edge."""
    if not len(mine) or not len(others):
        return None
    binary = bool(np.all((mine == 0.0) | (mine == 1.0)) and np.all((others == 0.0) | (others == 1.0)))
    for sign, word in ((1.0, ">"), (-1.0, "<")):
        edge = float(np.max(sign * others))
        if np.min(sign * mine) >= edge and np.max(sign * mine) > edge:
            beyond = int(np.sum(sign * mine > edge))
            level = name if sign > 0.0 and "=" in name else f"{name} = {1 if sign > 0.0 else 0}"
            return level if binary else f"{name} {word} {_label(sign * edge)}", beyond, beyond == len(mine)
    return None


def _label(label: object) -> str:
    return str(int(label)) if isinstance(label, float) and label == int(label) else str(label)
