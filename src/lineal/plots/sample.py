"""Which rows of a large table are drawn: a hash sample of every class and the extremes, the same on any machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import dataclass
from lineal.tables.tabular import RowNumbers, uniform

MAX_ROWS: Final = 5000
"""Rows that are drawn of every class; of a table with no more in all, every row is drawn."""
SAMPLE_STREAM: Final = 2**33
"""Seed of the hash: another one than those that hold rows out, or the rows of least hash would be those held out."""
EXTREMES: Final = 5
"""Rows that are drawn at either end of every score and target, beside the sample."""
MAX_CLASSES: Final = 30
"""With more different targets than this, the sample is one of all rows."""


class Sample:
    """Row numbers that are kept of a stream: the ``MAX_ROWS`` of least hash in each class, and the extremes.

    >>> sample = Sample()
    >>> sample.add(np.arange(4), np.zeros(4), np.arange(4.0)[:, None])
    >>> sample.rows().tolist(), sample.total
    ([0, 1, 2, 3], 4)
    """

    def __init__(self, also: Sequence[int] = (), most: int = MAX_ROWS) -> None:
        self.most = most
        self._also = np.array(also, np.int64)
        self._there = [np.empty(0, np.int64)]
        self.total = 0
        self._kept: dict[int, tuple[Index, Array]] = {}
        self._ends: list[tuple[Index, Array]] = []

    def add(self, rows: RowNumbers, group: Array, values: Array) -> None:
        """Look at more rows: the class of each, and the values whose extremes count."""
        self.total += len(rows)
        self._there.append(rows[np.isin(rows, self._also)])
        drawn = uniform(SAMPLE_STREAM, rows)
        group = group if len(np.unique(group)) <= MAX_CLASSES else np.zeros(len(rows))
        for k in np.unique(group[np.isfinite(group)]).astype(int).tolist():
            at = np.flatnonzero(group == k)
            old = self._kept.get(k, (np.empty(0, np.int64), np.empty(0)))
            own, hashes = np.concatenate([old[0], rows[at]]), np.concatenate([old[1], drawn[at]])
            if len(own) > self.most:
                least = np.argpartition(hashes, self.most - 1)[: self.most]
                own, hashes = own[least], hashes[least]
            self._kept[k] = own, hashes
        for k in range(values.shape[1]):
            if k == len(self._ends):
                self._ends.append((np.empty(0, np.int64), np.empty(0)))
            own, seen = self._ends[k]
            at = _outside(values[:, k])
            own, seen = np.concatenate([own, rows[at]]), np.concatenate([seen, values[at, k]])
            order = np.argsort(seen, kind="stable")
            ends = np.unique(np.concatenate([order[:EXTREMES], order[-EXTREMES:]]))
            self._ends[k] = own[ends], seen[ends]

    def rows(self) -> Index:
        """Return the numbers of the rows to draw, in order."""
        kept = [own for own, _ in self._kept.values()]
        if sum(map(len, kept)) < self.total:
            kept += [own for own, _ in self._ends]
        return np.unique(np.concatenate([*kept, *self._there]))

    def words(self, drawn: int) -> str:
        """Return the sentence of a caption; "" where every row is drawn."""
        if drawn >= self.total:
            return ""
        return (
            f"Drawn are {drawn:,} of {self.total:,} rows: a sample by hash of at most {self.most:,} rows of every class, and "
            "the extremes."
        )


def _outside(values: Array) -> Index:
    """Return the places of the values that may be among the extremes, in order."""
    if len(values) <= 4 * EXTREMES:
        return np.arange(len(values), dtype=np.intp)
    ends = np.partition(values, (EXTREMES - 1, len(values) - EXTREMES))
    return np.flatnonzero((values <= ends[EXTREMES - 1]) | (values >= ends[-EXTREMES]))


@dataclass(frozen=True)
class Among:
    """Keep some rows of a table, by their sorted numbers."""

    numbers: Index

    def __call__(self, rows: RowNumbers) -> Mask:
        """Return which of the rows are kept."""
        place = np.minimum(np.searchsorted(self.numbers, rows), len(self.numbers) - 1)
        return np.asarray(self.numbers[place] == rows) if len(self.numbers) else np.zeros(len(rows), np.bool_)
