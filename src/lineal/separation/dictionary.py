"""The exact core: find w with z'w >= 1 for every given row, or else a positive combination of rows that is zero.

A dictionary writes every slack s_i = z_i'w - 1 as an affine function of few others, in integers over one denominator
(pivots divide exactly, as in Edmonds' and Bareiss' elimination). A violated slack whose coefficients leave no way up is
the proof of the contrary: s_i + sum c_j s_j = constant < 0 with c >= 0 says z_i + sum c_j z_j = 0 (Gordan).
The last rule is Bland's, so that it ends; before, it is greedy, so that it ends soon.
"""

from __future__ import annotations

import copy

import numpy as np

from lineal.algebra.integers import Whole
from lineal.ground.arrays import Index
from lineal.ground.deadline import Deadline
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Circuit:
    """``sum weights z(rows) + sum balance z(locked) = 0`` with weights > 0; the balance may have any sign."""

    rows: list[int]
    weights: list[int]
    locked: list[int]
    balance: list[int]


class Dictionary:
    """Rows z as slacks: ``locked`` ones (z'w = 0), and those that have to reach 1; each with the user's number."""

    def __init__(self, width: int, deadline: Deadline) -> None:
        """Begin without rows; LateError after the deadline."""
        self._width = width
        self._deadline = deadline
        self._numbers: list[int] = []
        self._fixed = 0
        self._denominator = 1
        self._table: Whole = np.zeros((0, width + 1), dtype=object)
        # Labels: 0 .. D-1 are the free w, D + i is the slack of row i. Column 0 of the table is the constant.
        self._basic: Index = np.zeros(0, dtype=np.intp)
        self._free: Index = np.append(-1, np.arange(width))

    def lock(self, z: Whole, numbers: Index) -> None:
        """Add rows that stay at z'w = 0; only before any other row."""
        for row, number in zip(z, numbers.tolist(), strict=True):
            self._append(row[None], [number], 0)
            column = self._open(len(self._basic) - 1)
            if column is None:  # it depends on those before: nothing new
                self._table, self._basic = self._table[:-1], self._basic[:-1]
                self._numbers.pop()
            else:
                self._pivot(len(self._basic) - 1, column)
        self._fixed = len(self._numbers)

    def asking(self, z: Whole, numbers: Index) -> Dictionary:
        """Return this dictionary with more rows, which have to reach 1."""
        other = copy.copy(self)
        other.ask(z, numbers)
        return other

    def ask(self, z: Whole, numbers: Index) -> None:
        """Add rows that have to reach 1; nothing a copy shares is changed in place."""
        self._free = self._free.copy()
        self._append(z, numbers.tolist(), -self._denominator)

    @property
    def rank(self) -> int:
        """How many independent rows are locked."""
        return self._fixed

    def complement(self) -> Whole:
        """Return a basis of the vectors orthogonal to all locked rows, as columns of integers."""
        open_ = np.flatnonzero((self._free >= 0) & (self._free < self._width))
        basis = np.zeros((self._width, len(open_)), dtype=object)
        for k, column in enumerate(open_):
            basis[self._free[column], k] = self._denominator
        for row in np.flatnonzero(self._basic < self._width):
            basis[self._basic[row]] = self._table[row, open_]
        return basis

    def solve(self) -> Whole | Circuit:
        """Return w with z'w > 0 for every row that is not locked, up to a factor, or a circuit that excludes it."""
        patience = 4 * (len(self._basic) + self._width)
        while True:
            low = np.flatnonzero((self._basic >= self._width + self._fixed) & (self._table[:, 0] < 0))
            if not len(low):
                return self._solution()
            careful = patience <= 0
            row = int(low[np.argmin(self._basic[low])] if careful else low[np.argmin(self._table[low, 0])])
            column = self._open(row)
            if column is None:
                column = self._rising(row, careful)
            if column is None:
                return self._circuit(row)
            self._pivot(row, column)
            patience -= 1

    def _append(self, z: Whole, numbers: list[int], constant: int) -> None:
        """Express new rows by the present columns: z'w with every basic w replaced."""
        fresh = np.zeros((len(z), self._width + 1), dtype=object)
        held = np.flatnonzero(self._basic < self._width)
        if len(held):
            fresh += z[:, self._basic[held]] @ self._table[held]
        open_ = np.flatnonzero((self._free >= 0) & (self._free < self._width))
        fresh[:, open_] += z[:, self._free[open_]] * self._denominator
        fresh[:, 0] += constant
        first = self._width + len(self._numbers)
        self._table = np.vstack([self._table, fresh])
        self._basic = np.append(self._basic, np.arange(first, first + len(z)))
        self._numbers = [*self._numbers, *numbers]

    def _open(self, row: int) -> int | None:
        """Return the column of a free w that the row depends on, by the smallest coefficient; None if there is none."""
        open_ = np.flatnonzero((self._free >= 0) & (self._free < self._width) & (self._table[row] != 0))
        return int(min(open_, key=lambda column: abs(self._table[row, column]))) if len(open_) else None

    def _rising(self, row: int, careful: bool) -> int | None:
        """Return the column of a slack that lifts the row's slack; None if none does."""
        columns = np.flatnonzero((self._free >= self._width + self._fixed) & (self._table[row] > 0))
        if not len(columns):
            return None
        return int(columns[np.argmin(self._free[columns]) if careful else np.argmax(self._table[row, columns])])

    def _pivot(self, row: int, column: int) -> None:
        """Exchange the basic variable of the row with the one of the column."""
        self._deadline.look()
        table, old = self._table, self._denominator
        pivot, line, lift = table[row, column], table[row].copy(), table[:, column].copy()
        lift[row] = 0
        fresh = table * pivot - np.outer(lift, line)
        if old != 1:
            fresh //= old
        fresh[:, column] = lift
        fresh[row] = -line
        fresh[row, column] = old
        self._table, self._denominator = (fresh, pivot) if pivot > 0 else (-fresh, -pivot)
        self._basic[row], self._free[column] = self._free[column], self._basic[row]

    def _solution(self) -> Whole:
        w = np.zeros(self._width, dtype=object)
        for row in np.flatnonzero(self._basic < self._width):
            w[self._basic[row]] = self._table[row, 0]
        return w

    def _circuit(self, row: int) -> Circuit:
        """Read s_row = constant + sum (table / denominator) s_column as a combination of rows that is zero."""
        line = self._table[row]
        fixed = self._width + self._fixed
        used = np.flatnonzero((line != 0) & (self._free >= fixed))
        held = np.flatnonzero((line != 0) & (self._free >= self._width) & (self._free < fixed))
        labels = [int(self._basic[row]), *self._free[used].tolist()]
        return Circuit(
            rows=[self._numbers[label - self._width] for label in labels],
            weights=[int(self._denominator), *(-int(v) for v in line[used])],
            locked=[self._numbers[label - self._width] for label in self._free[held].tolist()],
            balance=[-int(v) for v in line[held]],
        )
