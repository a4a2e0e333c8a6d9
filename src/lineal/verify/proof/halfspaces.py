"""Halfspaces: what a direction does to every row, and what a few rows of weighted sum zero say about all directions.

With z_i = +x_i for the second of two classes and -x_i for the first, and z_ik = (e_own - e_k) (x) x_i for every other class
k where there are several:

    complete   some w has z'w > 0 for every z
    quasi      some w has z'w >= 0 for every z and > 0 for some, but none is above 0 on every z
    overlap    every w with z'w >= 0 for every z has z'w = 0 for every z

Why a sum of zero proves something: let sum a z = 0 over a few z, each a > 0. If z'w >= 0 for all of them, then, because
sum a (z'w) = 0, z'w = 0 for each, and so for every z that they span. Hence no w separates completely, and a z in their span
cannot be moved by any w that puts no row on the wrong side. So if z'w >= 0 for all z, and those with z'w = 0 lie in the
span, w is as strict as any: complete if none is left at 0, overlap if all are (or there is no w), else quasi.
Everything is computed in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
import numpy.typing as npt

from lineal.verify.arithmetic import Array, Index, Whole, signs, whole
from lineal.verify.problem.dependence import NotProvenError

Pairs = list[tuple[Index, int, int]]


@dataclass(frozen=True)
class Halfspaces:
    """Rows ``x`` of the classes ``own``, 0 .. classes - 1; a direction is (p, 1) for two classes, else (p, classes)."""

    x: Array
    own: Index
    classes: int

    @property
    def outputs(self) -> int:
        """Scores per row."""
        return 1 if self.classes == 2 else self.classes

    @property
    def pairs(self) -> Pairs:
        """Every (rows, own class, other class): one z for each of these rows."""
        return [(np.flatnonzero(self.own == a), a, b) for a, b in permutations(range(self.classes), 2)]

    def along(self, direction: Whole) -> list[npt.NDArray[np.int64]]:
        """Return the sign of z'w for every z, pair by pair."""
        return [signs(self.x[rows], _apart(direction, a, b)) for rows, a, b in self.pairs]

    def z(self, row: int, against: int) -> Whole:
        """Return one z as integers, up to a power of two, without the entries of the last class (which follow)."""
        x: Whole = whole(self.x[row][None])[0]
        own = int(self.own[row])
        if self.classes == 2:
            return x if own == 1 else np.asarray(-x)
        entries = np.zeros((self.classes, len(x)), dtype=object)
        entries[own] += x
        entries[against] -= x
        return np.asarray(entries[:-1].reshape(-1))

    def sum(self, rows: list[int], weights: list[int], against: list[int]) -> tuple[Whole, Fraction]:
        """Return sum a z by class (for two classes, that of the second one is sum a z) in integers, and their unit."""
        used = self.x[rows]
        common = whole(used.reshape(1, -1)).reshape(used.shape)  # one power of two for all rows
        entries = np.zeros((self.classes, used.shape[1]), dtype=object)
        for x, row, weight, other in zip(common, rows, weights, against, strict=True):
            entries[self.own[row]] += weight * x
            entries[other] -= weight * x
        largest = np.unravel_index(np.argmax(np.abs(used)), used.shape)
        unit = Fraction(float(used[largest])) / int(common[largest]) if used[largest] else Fraction(1)
        return entries, unit

    def check_sum(self, rows: list[int], weights: list[int], against: list[int]) -> None:
        """Raise NotProvenError unless sum a z = 0, with a > 0."""
        if not rows or min(weights) <= 0:
            raise NotProvenError("a weight is not above zero")
        entries, _ = self.sum(rows, weights, against)
        if np.any(entries != 0):
            raise NotProvenError(f"{int(np.sum(entries != 0))} entries of the sum are not zero")

    def outside(self, basis: list[Whole], direction: Whole | None) -> int:
        """Return how many z with z'w = 0 (all, if there is no direction w) are not orthogonal to every vector of a basis."""
        left = None if direction is None else self.along(direction)
        count = 0
        for place, (rows_of, a, b) in enumerate(self.pairs):
            members = rows_of if left is None else rows_of[left[place] == 0]
            moved = np.zeros(len(members), dtype=bool)
            for vector in basis:
                moved |= signs(self.x[members], _apart(self._matrix(vector), a, b)) != 0
            count += int(np.sum(moved))
        return count

    def _matrix(self, vector: Whole) -> Whole:
        """Return a vector of entries for every class but the last as a direction, zero for the last."""
        if self.classes == 2:
            return vector[:, None]
        full = np.zeros((self.x.shape[1], self.classes), dtype=object)
        full[:, :-1] = vector.reshape(self.classes - 1, -1).T
        return full


@dataclass(frozen=True)
class Spaces:
    """Rows that come block by block: design, class and number among the training rows of each."""

    make: Callable[[], Iterable[tuple[Array, Index, Index]]]
    columns: int
    classes: int

    @property
    def outputs(self) -> int:
        """Scores per row."""
        return 1 if self.classes == 2 else self.classes

    def blocks(self) -> Iterator[Halfspaces]:
        """Yield all rows, some at a time."""
        for x, own, _ in self.make():
            yield Halfspaces(x, own, self.classes)

    def picked(self, numbers: Iterable[object]) -> tuple[Halfspaces, dict[int, int]]:
        """Return the rows with some numbers, and their places among themselves; a number that no row has is left out."""
        wanted = {number for number in numbers if isinstance(number, int)}
        x, own, picked = [np.zeros((0, self.columns))], [np.zeros(0, dtype=np.intp)], list[int]()
        for rows, classes, names in self.make():
            chosen = [place for place, number in enumerate(names.tolist()) if number in wanted]
            x.append(rows[chosen])
            own.append(classes[chosen])
            picked += names[chosen].tolist()
        places = {number: place for place, number in enumerate(picked)}
        return Halfspaces(np.concatenate(x), np.concatenate(own), self.classes), places

    def counted(self, direction: Whole | None) -> tuple[int, int, int]:
        """Return how many z are on the wrong side of a direction, how many rows are strictly on theirs, how many z at 0."""
        wrong = strict = left = 0
        for block in self.blocks():
            if direction is None:
                left += len(block.own)
                continue
            ahead = np.zeros(len(block.own), dtype=bool)
            for (rows, _, _), sign in zip(block.pairs, block.along(direction), strict=True):
                wrong, left = wrong + int(np.sum(sign < 0)), left + int(np.sum(sign == 0))
                ahead[rows] |= sign > 0
            strict += int(np.sum(ahead))
        return wrong, strict, left

    def unspanned(self, few: Halfspaces, rows: list[int], against: list[int], direction: Whole | None) -> int:
        """Return how many z with z'w = 0 (all, if there is no w) are no combination of the z of some of a few rows."""
        z = [few.z(row, other) for row, other in zip(rows, against, strict=True)]
        basis = orthogonal(np.array(z, dtype=object))
        return sum(block.outside(basis, direction) for block in self.blocks())


def _apart(direction: Whole, own: int, other: int) -> Whole:
    """Return the weights of x in the score of the own class less that of the other."""
    if direction.shape[1] == 1:
        return direction[:, 0] if own == 1 else -direction[:, 0]
    return np.asarray(direction[:, own] - direction[:, other])


def orthogonal(rows: Whole) -> list[Whole]:
    """Return integer vectors that span everything orthogonal to the rows (elimination without fractions).

    >>> [vector.tolist() for vector in orthogonal(np.array([[2, 0, 4], [0, 3, 3]], dtype=object))]
    [[-12, -6, 6]]
    """
    work: Whole = rows.copy()
    last, pivots = 1, list[int]()
    for column in range(work.shape[1]):
        at = len(pivots)
        below = at + np.flatnonzero(work[at:, column] != 0)
        if not len(below):
            continue
        work[[at, int(below[0])]] = work[[int(below[0]), at]]
        pivot, line = work[at, column], work[at].copy()
        work = (work * pivot - np.outer(work[:, column], line)) // last  # the division leaves no remainder
        work[at] = line
        last = pivot
        pivots.append(column)
    vectors = []
    for free in (column for column in range(work.shape[1]) if column not in pivots):
        vector = np.zeros(work.shape[1], dtype=object)
        vector[free] = last
        vector[pivots] = -work[: len(pivots), free]
        vectors.append(vector)
    return vectors
