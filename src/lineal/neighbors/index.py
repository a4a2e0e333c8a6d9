"""Training rows that are searched, and which way of searching is the cheapest.

All ways find the same rows with the same distances, to the last bit: the smaller distance first, of equal ones the smaller
row number. So the way is a matter of cost alone, and the cost is measured: a tree is tried with some of the training rows
as queries, and the rows that it looks at are counted.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.neighbors.metric import Metric
from lineal.neighbors.rows import as_rows, exponent_for, in_units, is_sparse, largest, prepared, queries, table

Numbers = npt.NDArray[np.int64]

WAYS: Final = {"rows": 0, "tiles": 1, "tree": 2}
"""How dense rows are searched: one after the other, by products in tiles, by a tree of boxes."""
TREE_MIN_ROWS: Final = 200
"""With fewer rows there is nothing to save."""
TREE_MAX_COLUMNS: Final = 40
"""With more columns no tree of rows that fill their space saved anything in our measurements."""
TRIED_QUERIES: Final = 64
"""Training rows that are looked up to measure a tree."""
COST_RATIO: Final = {"tiles": 10.0, "rows": 2.5}
"""What a row costs in a leaf, its boxes included, in rows of the other way; measured at 10 to 30 columns."""
TILES_MIN_ROWS: Final = 64
"""With fewer rows their distances are as quick as their products."""


class Neighbors(NamedTuple):
    """Distances and row numbers of the nearest rows of every query, nearest first."""

    distances: Array
    rows: Numbers


class Index:
    """Rows to search by a metric; ``way`` and ``reason`` say how, and why.

    ``hint`` is scikit-learn's algorithm: "auto" measures, "brute" searches all rows, "kd_tree" and "ball_tree" a tree.

    >>> from lineal.neighbors.metric import named
    >>> index = Index(np.array([[0.0], [1.0], [3.0]]), named("euclidean"))
    >>> index.nearest(np.array([[2.0], [0.9]]), 2).rows.tolist()
    [[1, 2], [1, 0]]
    """

    def __init__(
        self, rows: Any, metric: Metric, *, hint: str = "auto", leaf: int = 30, exponent: int | None = None
    ) -> None:
        self.rows = as_rows(rows) if exponent is None else rows
        self.metric = metric
        self.leaf = -(-leaf // 8) * 8
        self.columns = int(self.rows.shape[1])
        self._largest = largest(self.rows) if metric.scaled else 1.0
        self._exponent = exponent_for(self._largest) if exponent is None else exponent
        self._ready = prepared(in_units(self.rows, self._exponent), metric)
        self._core = None if is_sparse(self.rows) else _core.Neighbors(self._ready, metric.native, metric.power)
        self.way, self.reason = self._chosen(hint)

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.rows.shape[0])

    def nearest(self, asked: Any, k: int, own: Numbers | None = None) -> Neighbors:
        """Return the k nearest rows of every query; with ``own`` row numbers, none finds its own."""
        self._expect(k, own is not None)
        asked, exponent = self._queries(asked)
        if exponent != self._exponent:
            return self._elsewhere(exponent).nearest(asked, k, own)
        asked = queries(in_units(asked, exponent), self.metric)
        if self._core is None:
            neighbors = _core.search_sparse(
                table(self._ready), table(asked), self.metric.native, self.metric.power, k, own
            )
        else:
            neighbors = self._core.search(asked, k, WAYS[self.way], self.leaf, own)
        return Neighbors(self.metric.distances(neighbors[0], self.columns, exponent), neighbors[1])

    def all_distances(self, asked: Any) -> Array:
        """Return the distance of every query to every row, ``(queries, rows)``."""
        asked, exponent = self._queries(asked)
        if exponent != self._exponent:
            return self._elsewhere(exponent).all_distances(asked)
        asked = queries(in_units(asked, exponent), self.metric)
        if self._core is None:
            sums = _core.sparse_distances(table(self._ready), table(asked), self.metric.native, self.metric.power)
        else:
            sums = self._core.distances(asked)
        return self.metric.distances(sums, self.columns, exponent)

    def _queries(self, asked: Any) -> tuple[Any, int]:
        """Return queries in the storage of the rows, and the power of two that both need."""
        if is_sparse(self.rows):
            if not is_sparse(asked):
                from scipy import sparse

                asked = sparse.csr_array(np.asarray(asked, dtype=np.float64))
            asked = as_rows(asked)
        else:
            asked = asked.toarray() if is_sparse(asked) else asked
            asked = np.ascontiguousarray(asked, dtype=np.float64)
            asked = asked if asked.flags.aligned else asked.copy()
        if not self.metric.scaled:
            return asked, 0
        return asked, exponent_for(max(self._largest, largest(asked)))

    def _elsewhere(self, exponent: int) -> Index:
        """Return an index of the same rows for queries of another size."""
        return Index(self.rows, self.metric, hint="brute", leaf=self.leaf, exponent=exponent)

    def _expect(self, k: int, own: bool) -> None:
        most = self.count - int(own)
        if k > most:
            beside = " beside the row itself" if own else ""
            raise InputError(
                f"Expected n_neighbors <= n_samples_fit: {k} neighbors are asked for, and there are {most} training "
                f"rows{beside}; ask for {most} or fewer."
            )

    def _chosen(self, hint: str) -> tuple[str, str]:
        """Return the way of searching, and why."""
        if self._core is None:
            return "sparse rows", "rows are sparse: products rule most of them out, the others are compared exactly"
        tiles = self.metric.by_squares and self.count >= TILES_MIN_ROWS
        brute = "tiles" if tiles else "rows"
        if hint == "brute":
            return brute, "asked for (brute)"
        if not self.metric.by_tree:
            return brute, f"no tree is made for the metric {self.metric.name}"
        if hint != "auto":
            return "tree", f"asked for ({hint})"
        if self.count < TREE_MIN_ROWS:
            return brute, f"{self.count} rows are too few for a tree to save anything"
        if self.columns > TREE_MAX_COLUMNS:
            return brute, f"with {self.columns} columns a tree saves nothing"
        return self._measured(brute)

    def _measured(self, brute: str) -> tuple[str, str]:
        """Return the cheaper of a tree and all rows, by the rows that a tree looks at for some training rows."""
        assert self._core is not None
        sample = np.unique(np.linspace(0, self.count - 1, TRIED_QUERIES).astype(np.int64))
        self._core.search(self._ready[sample], min(10, self.count - 1), WAYS["tree"], self.leaf, sample)
        looked = self._core.looked / len(sample)
        words = f"for {len(sample)} training rows a tree looks at {looked:.0f} of {self.count} rows"
        if looked * COST_RATIO[brute] < self.count:
            return "tree", f"{words}, which is cheaper than all of them"
        return brute, f"{words}, which is dearer than all of them one after the other"
