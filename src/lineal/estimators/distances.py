"""Distances that have no loop of ours: given ones, scikit-learn's other metrics and a user's function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import VALID_METRICS

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
        if self.rows.shape[0] != self.rows.shape[1]:
            raise InputError(
                f"Precomputed matrix must be square. X has shape {self.rows.shape}; with metric='precomputed' it holds the "
                "distance of every training row to every training row."
            )

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
        distances = pairwise_distances(asked, self.rows, metric=self.metric, **self.options)
        return np.ascontiguousarray(distances, dtype=np.float64)


def searched(X: Any, metric: Any, p: Any, options: Mapping[str, Any] | None, hint: str, leaf: int) -> Searched:
    """Return training rows to be searched by a metric of scikit-learn's parameters."""
    if isinstance(metric, str) and metric == "precomputed":
        return Given(X)
    own = {each.name for each in ALL} | set(ALIASES) | {"minkowski", "p"}
    if isinstance(metric, str) and metric in own and not options:
        if metric not in ("minkowski", "p"):
            return Index(X, named(metric), hint=hint, leaf=leaf)
        return Index(X, minkowski(_power(p)), hint=hint, leaf=leaf)
    if not callable(metric) and (metric not in VALID_METRICS["brute"] or metric == MISSING):
        known = sorted({*own, "precomputed", *VALID_METRICS["brute"]} - {MISSING})
        raise InputError(
            f"metric is {metric!r}; accepted are a function of two rows and {', '.join(known)}.{near(metric, known)}"
        )
    options = dict(options or {})
    if metric == "minkowski":
        options.setdefault("p", _power(p))
    return Outside(X, metric, options)


def _power(p: Any) -> float:
    if not isinstance(p, int | float | np.number) or isinstance(p, bool) or not p > 0:
        raise InputError(f"p is {p!r}; it must be a number above 0, the power of Minkowski's distance.")
    return float(p)


def _distances(values: Any) -> Array:
    if is_sparse(values):
        raise InputError("precomputed distances are a sparse matrix; give all of them, as an array.")
    distances = np.array(values, dtype=np.float64, order="C", copy=True)
    if distances.size and distances.min() < 0.0:
        raise InputError("Negative values in data: precomputed distances must be 0 or more.")
    return distances
