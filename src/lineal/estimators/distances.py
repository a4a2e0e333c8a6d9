"""Distances that have no loop of ours: given ones, scikit-learn's other metrics and a user's function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np
from scipy import sparse
from sklearn.metrics import DistanceMetric, pairwise_distances
from sklearn.neighbors import VALID_METRICS, VALID_METRICS_SPARSE

from lineal import _core
from lineal.designs.sound import is_sparse
from lineal.errors import InputError, near
from lineal.ground.arrays import Array
from lineal.neighbors import choosing
from lineal.neighbors.index import Index, Neighbors, Numbers
from lineal.neighbors.metric import ALIASES, ALL, minkowski, named

CHUNK_CELLS: Final = 2**22
"""Distances that are held at a time: 32 MB."""
MISSING: Final = "nan_euclidean"
"""scikit-learn's metric of rows with missing numbers, which are refused here."""


SPARSE: Final = ", ".join(sorted(VALID_METRICS_SPARSE["brute"]))
"""The metrics of rows that are sparse."""


class Searched(choosing.Searched, Protocol):
    """Training rows that are searched: ``Index``, or one of the classes here."""

    way: str
    reason: str

    def all_distances(self, asked: Any) -> Array:
        """Return the distance of every query to every row."""


class Given:
    """Rows of which only distances are known: ``rows[i, j]`` between training rows, and of queries those to every row."""

    way = "given distances"
    reason = "the least of the distances that are given"

    def __init__(self, rows: Any) -> None:
        self.rows = _distances(rows)
        _square(self.rows)

    @property
    def count(self) -> int:
        """How many training rows there are."""
        return len(self.rows)

    def nearest(self, asked: Any, k: int, own: Numbers | None = None) -> Neighbors:
        """Return the k least distances of every query, and the rows they belong to."""
        return Neighbors(*_core.select_least(_distances(asked), k, own))

    def all_distances(self, asked: Any) -> Array:
        """Return the distances that are given."""
        return _distances(asked)


class Graph:
    """Rows of which some distances are known, as a sparse matrix of them: what it does not store is farther than all it does."""

    way = "given distances"
    reason = "the least of the distances that are given"

    def __init__(self, rows: Any) -> None:
        self.rows = _stored(rows)
        _square(self.rows)

    @property
    def count(self) -> int:
        """How many training rows there are."""
        return int(self.rows.shape[0])

    def nearest(self, asked: Any, k: int, own: Numbers | None = None) -> Neighbors:
        """Return the k least distances that are stored of every query, and the rows they belong to."""
        known = _stored(asked)
        query = np.repeat(np.arange(known.shape[0]), np.diff(known.indptr))
        kept = np.ones(len(query), dtype=bool) if own is None else known.indices != own[query]
        query, rows, far = query[kept], known.indices[kept].astype(np.int64), known.data[kept]
        counts = np.bincount(query, minlength=known.shape[0])
        if counts.size and counts.min() < k:
            raise InputError(
                f"{k} neighbors are required for each samples, but some samples have only {counts.min()} neighbors in "
                "precomputed graph matrix. Decrease number of neighbors used or recompute the graph with more neighbors."
            )
        order = np.lexsort((rows, far, query))
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        chosen = order[starts[:, None] + np.arange(k)]
        return Neighbors(far[chosen], rows[chosen])

    def all_distances(self, asked: Any) -> Array:
        """Return the distances that are stored, all others infinite."""
        return _distances(asked)


class Outside:
    """Rows whose distances scikit-learn, SciPy or a user's function computes, all of them for every query."""

    way = "all distances"

    def __init__(self, rows: Any, metric: Any, options: Mapping[str, Any]) -> None:
        self.rows = rows.copy()
        self.metric = metric
        self.options = dict(options)
        self.reason = f"{metric if isinstance(metric, str) else 'a function'} has no loop of ours"

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.rows.shape[0])

    def nearest(self, asked: Any, k: int, own: Numbers | None = None) -> Neighbors:
        """Return the k nearest rows of every query, some queries at a time."""
        step = max(1, CHUNK_CELLS // self.count)
        parts = []
        for first in range(0, asked.shape[0], step):
            some = slice(first, first + step)
            parts.append(_core.select_least(self.all_distances(asked[some]), k, None if own is None else own[some]))
        return Neighbors(*(np.concatenate([part[side] for part in parts]) for side in (0, 1)))

    def all_distances(self, asked: Any) -> Array:
        """Return the distance of every query to every row."""
        if isinstance(self.metric, DistanceMetric):
            return np.ascontiguousarray(self.metric.pairwise(asked, self.rows), dtype=np.float64)
        distances = pairwise_distances(asked, self.rows, metric=self.metric, **self.options)
        return np.ascontiguousarray(distances, dtype=np.float64)


def searched(X: Any, metric: Any, p: Any, options: Mapping[str, Any] | None, hint: str, leaf: int) -> Searched:
    """Return training rows to be searched by a metric of scikit-learn's parameters."""
    if isinstance(metric, str) and metric == "precomputed":
        return Graph(X) if is_sparse(X) else Given(X)
    own = {each.name for each in ALL} | set(ALIASES) | {"minkowski", "p"}
    if isinstance(metric, str) and metric in own and not options:
        if metric not in ("minkowski", "p"):
            return Index(X, named(metric), hint=hint, leaf=leaf)
        return Index(X, minkowski(_power(p)), hint=hint, leaf=leaf)
    if isinstance(metric, DistanceMetric):
        return Outside(X, metric, {})
    if not callable(metric) and (metric not in VALID_METRICS["brute"] or metric == MISSING):
        known = sorted({*own, "precomputed", *VALID_METRICS["brute"]} - {MISSING})
        raise InputError(
            f"metric is {metric!r}; accepted are a function of two rows and {', '.join(known)}.{near(metric, known)}"
        )
    if is_sparse(X) and not callable(metric) and metric not in VALID_METRICS_SPARSE["brute"]:
        raise InputError(f"Metric {metric!r} not valid for sparse input. Use a dense array, or one of {SPARSE}.")
    options = dict(options or {})
    if metric == "minkowski":
        options.setdefault("p", _power(p))
    return Outside(X, metric, options)


def _power(p: Any) -> float:
    if not isinstance(p, int | float | np.number) or isinstance(p, bool) or not p > 0:
        raise InputError(f"p is {p!r}; it must be a number above 0, the power of Minkowski's distance.")
    return float(p)


def _square(rows: Any) -> None:
    if rows.shape[0] != rows.shape[1]:
        raise InputError(
            f"Precomputed matrix must be square. X has shape {rows.shape}; with metric='precomputed' it holds the "
            "distance of every training row to every training row."
        )


def _stored(values: Any) -> Any:
    """Return stored distances as CSR; of a dense array, all of them."""
    if not is_sparse(values):
        dense = _distances(values)
        rows, columns = dense.shape
        return sparse.csr_array((dense.ravel(), np.tile(np.arange(columns), rows), np.arange(rows + 1) * columns))
    known = sparse.csr_array(values, dtype=np.float64, copy=True)
    _negative(known.data)
    return known


def _distances(values: Any) -> Array:
    if is_sparse(values):
        far = np.full(values.shape, np.inf)
        known = _stored(values)
        far[np.repeat(np.arange(known.shape[0]), np.diff(known.indptr)), known.indices] = known.data
        return far
    distances = np.array(values, dtype=np.float64, order="C", copy=True)
    _negative(distances)
    return distances


def _negative(distances: Array) -> None:
    if distances.size and distances.min() < 0.0:
        raise InputError("Negative values in data: precomputed distances must be 0 or more.")
