"""Tasks that minimize nothing: looking up neighbors, and counting for naive Bayes.

Of neighbors the first rows of X are searched, those with y = 1 are the queries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Data

NEIGHBORS = 10
CHECKED = 200
"""Queries whose distances are compared with those of direct differences."""


def word_logs(X: Any, y: np.ndarray) -> np.ndarray:
    """Return the logs of the smoothed shares of words in every class, from sums of rows, one class after another."""
    each = np.array([np.asarray(X[np.flatnonzero(y == label)].sum(axis=0)).ravel() for label in np.unique(y)]) + 1.0
    return np.log(each / each.sum(axis=1, keepdims=True))


def parts(data: Data) -> tuple[Any, Any]:
    """Return the rows to search and the queries; of a head without queries, its own rows."""
    rows = int(np.count_nonzero(data.y == 0))
    return data.X[:rows], data.X[rows:] if rows < len(data.y) else data.X[:50]


def distances(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the distances of the first queries to their nearest rows, by direct differences."""
    rows = int(np.count_nonzero(y == 0))
    found = [np.sqrt(np.sum((X[:rows] - query) ** 2, axis=1)) for query in X[rows : rows + CHECKED]]
    return np.array([np.sort(np.partition(far, NEIGHBORS)[:NEIGHBORS]) for far in found])
