"""What a decision means in the user's words: one column if one column says it, else how many rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.ground.arrays import Index
from lineal.separation.cloud import Cloud
from lineal.separation.search import Decision

MAX_SHOWN = 4


def said(
    cloud: Cloud, decision: Decision, strict: Index, columns: Sequence[str], classes: Sequence[Any], target: str
) -> str:
    """Return the sentence of a decision."""
    total = len(cloud.own)
    if len(classes) == 1:
        return f"Every row has {target} = {_label(classes[0])}, so there is nothing to separate."
    if decision.kind == "overlap":
        shown = ", ".join(str(int(cloud.numbers[row])) for row in _rows(cloud, decision.ids)[:MAX_SHOWN])
        count, more = len(_rows(cloud, decision.ids)), len(_rows(cloud, decision.ids)) - MAX_SHOWN
        proof = f"1 row (number {shown}) that is" if count == 1 else f"{count} rows (numbers {shown}"
        if count > 1:
            proof += f"{f' and {more} more' if more > 0 else ''}) whose weighted sum is"
        return f"Overlap: no halfspace separates any rows without a mistake on others, proven by {proof} zero."
    complete, partial = _reasons(cloud, columns, classes, target)
    names, one = _moving(cloud, decision, columns)
    if decision.kind == "complete":
        verb = "separates" if one else "separate"
        because = f"{complete[0]}." if complete else f"{names} {verb} all {total} rows without a mistake."
        return f"Completely separable: {because}"
    how = f"{names} {'puts' if one else 'put'} {len(strict)} of {total} rows strictly on their side and none on the wrong one."
    if partial:
        count, words = partial[0]
        how = f"{words}." if count == len(strict) else f"{words}; in all, {how}"
    return f"Quasi-completely separable: {how} The other rows overlap."


def _rows(cloud: Cloud, ids: Index) -> Index:
    return np.unique(ids if cloud.outputs == 1 else ids // cloud.outputs)


def _moving(cloud: Cloud, decision: Decision, columns: Sequence[str]) -> tuple[str, bool]:
    """Return the names of the columns in the direction, and whether there is only one."""
    assert decision.direction is not None
    full = cloud.matrix(decision.direction)
    moving = [columns[j] for j in np.flatnonzero((full != 0).any(axis=1)).tolist()]
    names = [name for name in moving if name != "(intercept)"] or moving
    listed = ", ".join(names[:MAX_SHOWN])
    return f"{listed} and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else listed, len(names) == 1


def _reasons(
    cloud: Cloud, columns: Sequence[str], classes: Sequence[Any], target: str
) -> tuple[list[str], list[tuple[int, str]]]:
    """Return what single columns say: a value, or a side of a threshold, that occurs exactly, or only, with a class."""
    complete: list[str] = []
    partial: list[tuple[int, str]] = []
    if "(intercept)" not in columns[:1]:
        return complete, partial  # without an intercept a threshold is no halfspace
    for j, name in list(enumerate(columns))[1:1001]:  # looked at one by one
        column = cloud.x[:, [j]]
        values = np.asarray(column.toarray() if hasattr(column, "toarray") else column)[:, 0]
        for k in reversed(range(len(classes))):
            side = _side(name, values[cloud.own == k], values[cloud.own != k])
            if side is None:
                continue
            condition, count, all_ = side
            rows = "1 row" if count == 1 else f"{count} rows"
            only = "exactly" if all_ else "only"
            words = f"`{condition}` occurs {only} with {target} = {_label(classes[k])} ({rows})"
            if all_ and len(classes) == 2:
                complete.append(words)
            else:
                partial.append((count, words))
    return complete, sorted(partial, key=lambda entry: -entry[0])


def _side(name: str, mine: npt.NDArray[Any], others: npt.NDArray[Any]) -> tuple[str, int, bool] | None:
    """Return the condition on a column that only ``mine`` meets, how many do, and whether all of them do.

    It is a reason only if all others of ``mine`` lie on the edge itself: then the column is a direction.
    """
    if not len(mine) or not len(others):
        return None
    binary = bool(np.all((mine == 0) | (mine == 1)) and np.all((others == 0) | (others == 1)))
    for sign, word in ((1.0, ">"), (-1.0, "<")):
        edge = float(np.max(sign * others))
        if not (np.min(sign * mine) >= edge and np.max(sign * mine) > edge):
            continue
        beyond = int(np.count_nonzero(sign * mine > edge))
        level = name if sign > 0 and "=" in name else f"{name} = {1 if sign > 0 else 0}"  # city=Rome says it already
        condition = level if binary else f"{name} {word} {_label(sign * edge)}"
        return condition, beyond, beyond == len(mine)
    return None


def _label(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label == int(label) else str(label)
