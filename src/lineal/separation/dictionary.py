"""The exact core: find w with z'w >= 1 for every given row, or else a positive combination of rows that is zero.

A dictionary writes every slack s_i = z_i'w - 1 as an affine function of few others, in integers over one denominator
(pivots divide exactly, as in Edmonds' and Bareiss' elimination). A violated slack whose coefficients leave no way up is
the proof of the contrary: s_i + sum c_j s_j = constant < 0 with c >= 0 says z_i + sum c_j z_j = 0 (Gordan).
The last rule is Bland's, so that it ends; before, it is greedy, so that it ends soon.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lineal.separation.integers import Whole, by_column

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Circuit:
    """``sum weights z(rows) + sum balance z(locked) = 0`` with weights > 0; the balance may have any sign."""

    rows: Index
    weights: Whole
    locked: Index
    balance: Whole


class Dictionary:
    """Rows z as slacks: first ``locked`` ones (z'w = 0), then those that have to reach 1; numbered in this order."""

    def __init__(self, locked: Array, rows: Array, deadline: float) -> None:
        """Take both lists of rows, (k, D) and (m, D), and lock the first; TimeoutError after the deadline."""
        self._fixed = len(locked)
        self._width = rows.shape[1]
        self._deadline = deadline
        stacked, self._exponents = by_column(np.vstack([locked, rows]))
        constant = np.array([0] * len(locked) + [-1] * len(rows), dtype=object)
        self._table: Whole = np.column_stack([constant, stacked])
        self._denominator = 1
        # Labels: 0 .. D-1 are the free w, D + i is the slack of row i. Column 0 is the constant.
        self._basic = self._width + np.arange(len(stacked))
        self._free = np.append(-1, np.arange(self._width))
        for row in range(self._fixed):
            column = self._open(row)
            if column is not None:
                self._pivot(row, column)

    def complement(self) -> Whole:
        """Return a basis of the vectors orthogonal to all locked rows, as columns of integers."""
        open_ = np.flatnonzero((self._free >= 0) & (self._free < self._width))
        basis = np.zeros((self._width, len(open_)), dtype=object)
        for k, column in enumerate(open_):
            basis[self._free[column], k] = self._denominator
        for row in np.flatnonzero(self._basic < self._width):
            basis[self._basic[row]] = self._table[row, open_]
        return self._plain(basis)

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
        if time.monotonic() > self._deadline:
            raise TimeoutError
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
        w = np.zeros((self._width, 1), dtype=object)
        for row in np.flatnonzero(self._basic < self._width):
            w[self._basic[row], 0] = self._table[row, 0]
        return self._plain(w)[:, 0]

    def _circuit(self, row: int) -> Circuit:
        """Read s_row = constant + sum (table / denominator) s_column as a combination of rows that is zero."""
        line = self._table[row]
        fixed = self._width + self._fixed
        used = np.flatnonzero((line != 0) & (self._free >= fixed))
        held = np.flatnonzero((line != 0) & (self._free >= self._width) & (self._free < fixed))
        return Circuit(
            rows=np.append(self._basic[row], self._free[used]) - fixed,
            weights=np.append(np.array([self._denominator], dtype=object), -line[used]),
            locked=self._free[held] - self._width,
            balance=-line[held],
        )

    def _plain(self, w: Whole) -> Whole:
        """Return vectors of w in units of the columns: w_j was multiplied by 2^exponent_j."""
        most = int(np.max(self._exponents, initial=0))
        return np.asarray(w << (most - self._exponents).astype(object)[:, None])
