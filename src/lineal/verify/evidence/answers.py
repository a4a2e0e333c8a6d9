"""The sentence of a separability record, written anew from its rows: one column if one column says it, else how many do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lineal.verify.arithmetic import Array, Whole
from lineal.verify.evidence.sentences import SHOWN, count
from lineal.verify.proof.halfspaces import Spaces


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
    space: Spaces,
    direction: Whole,
    columns: Sequence[str],
    classes: Sequence[object],
    target: str,
    strict: int,
    kind: str,
) -> str:
    """Return the sentence of a direction that puts ``strict`` rows on their side (towards some class), none on another."""
    sides = _Sides.of(space, columns)
    complete, partial = _reasons(sides, columns, classes, target)
    moving = [columns[j] for j in np.flatnonzero((direction != 0).any(axis=1)).tolist()]
    names = [name for name in moving if name != "(intercept)"] or moving
    listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    s, rows = "s" if len(names) == 1 else "", int(sides.rows.sum())
    if kind == "complete":
        return f"Completely separable: {complete[0] if complete else f'{listed} separate{s} all {rows} rows without a mistake'}."
    how = f"{listed} put{s} {strict} of {rows} rows strictly on their side and none on the wrong one."
    if partial:
        beyond, words = partial[0]
        how = f"{words}." if beyond == strict else f"{words}; in all, {how}"
    return f"Quasi-completely separable: {how} The other rows overlap."


def _reasons(
    sides: _Sides, columns: Sequence[str], classes: Sequence[object], target: str
) -> tuple[list[str], list[tuple[int, str]]]:
    """Return what single columns say: a value, or a side of a threshold, that occurs exactly, or only, with a class."""
    complete: list[str] = []
    partial: list[tuple[int, str]] = []
    for j in range(sides.low.shape[1]):  # none without an intercept: then a threshold is no halfspace
        for k in reversed(range(len(classes))):
            side = sides.side(columns[j + 1], j, k)
            if side is None:
                continue
            condition, beyond, every = side
            rows = count(beyond, "row").replace(",", "")
            words = (
                f"`{condition}` occurs {'exactly' if every else 'only'} with {target} = {_label(classes[k])} ({rows})"
            )
            if every and len(classes) == 2:
                complete.append(words)
            else:
                partial.append((beyond, words))
    return complete, sorted(partial, key=lambda entry: -entry[0])


@dataclass
class _Sides:
    """How many rows a class has, the least and largest of every column in it (the intercept left out), and zeros and ones.

    ``beyond`` counts the rows of a class that are above, or below, all rows of the other classes.
    """

    rows: npt.NDArray[np.int64]
    low: Array
    high: Array
    binary: npt.NDArray[np.bool_]
    beyond: npt.NDArray[np.int64]

    @staticmethod
    def of(space: Spaces, columns: Sequence[str]) -> _Sides:
        """Go through the rows twice."""
        # a thousand columns are looked at for a simple reason
        used = slice(1, 1001) if columns[:1] == ["(intercept)"] else slice(0, 0)
        shape = (space.classes, len(columns[used]))
        sides = _Sides(
            np.zeros(space.classes, dtype=np.int64),
            np.full(shape, np.inf),
            np.full(shape, -np.inf),
            np.ones(shape[1], dtype=bool),
            np.zeros((2, *shape), dtype=np.int64),
        )
        for block in space.blocks():
            x = block.x[:, used]
            sides.binary &= np.all((x == 0.0) | (x == 1.0), axis=0)
            for k in range(space.classes):
                mine = x[block.own == k]
                sides.rows[k] += len(mine)
                sides.low[k] = np.minimum(sides.low[k], mine.min(axis=0, initial=np.inf))
                sides.high[k] = np.maximum(sides.high[k], mine.max(axis=0, initial=-np.inf))
        edges = [sides.edges(k) for k in range(space.classes)]
        for block in space.blocks():
            for k, (below, above) in enumerate(edges):
                mine = block.x[block.own == k, used]
                sides.beyond[0, k] += np.sum(mine > above, axis=0)
                sides.beyond[1, k] += np.sum(mine < below, axis=0)
        return sides

    def edges(self, k: int) -> tuple[Array, Array]:
        """Return the least and the largest of every column in the other classes."""
        others = np.arange(len(self.rows)) != k
        return self.low[others].min(axis=0), self.high[others].max(axis=0)

    def side(self, name: str, j: int, k: int) -> tuple[str, int, bool] | None:
        """Return the condition on a column that only one class meets, how many rows do, and whether all of it do.

        The rest of the class is on the edge. None if the column does not set the class apart.
        """
        if not self.rows[k] or self.rows[k] == self.rows.sum():
            return None
        below, above = (edge[j] for edge in self.edges(k))
        for place, (word, edge, near, far) in enumerate(
            (
                (">", above, self.low[k, j] - above, self.high[k, j] - above),
                ("<", below, below - self.high[k, j], below - self.low[k, j]),
            )
        ):
            if near >= 0.0 and far > 0.0:
                beyond = int(self.beyond[place, k, j])
                level = f"{name} = {int(word == '>')}"
                if word == ">" and "=" in name:
                    level = name
                condition = level if self.binary[j] else f"{name} {word} {_label(float(edge))}"
                return condition, beyond, beyond == self.rows[k]
        return None


def _label(label: object) -> str:
    return str(int(label)) if isinstance(label, float) and label == int(label) else str(label)
