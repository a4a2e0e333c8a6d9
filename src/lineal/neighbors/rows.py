"""Rows as searches want them: doubles in C order, or sparse rows with increasing columns, in units that no square leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.ground.arrays import Array
from lineal.neighbors.metric import Metric

LARGEST = 500
SMALLEST = -450
"""Powers of two between which the largest number of rows may lie; others are multiplied by a power of two, exactly."""


def is_sparse(rows: Any) -> bool:
    """Whether rows are a sparse matrix.

    >>> is_sparse(np.eye(2))
    False
    """
    return hasattr(rows, "tocsr")


def as_rows(values: Any) -> Any:
    """Return rows as a C-ordered array of doubles that nobody else holds, or as sparse rows in order.

    >>> as_rows(np.asfortranarray([[1, 2], [3, 4]])).flags.c_contiguous
    True
    """
    if not is_sparse(values):
        return np.array(values, dtype=np.float64, order="C", copy=True)
    sparse = values.tocsr().astype(np.float64, copy=True)
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    return sparse


def largest(rows: Any) -> float:
    """Return the largest absolute value.

    >>> largest(np.array([[1.0, -3.0]]))
    3.0
    """
    values = rows.data if is_sparse(rows) else rows
    return float(max(values.max(), -values.min())) if values.size else 0.0


def exponent_for(size: float) -> int:
    """Return the power of two that brings numbers of a size to where squares neither overflow nor vanish; mostly 0.

    >>> exponent_for(3.0), exponent_for(2.0**600)
    (0, -600)
    """
    if size == 0.0:
        return 0
    power = math.frexp(size)[1] - 1
    return 0 if SMALLEST <= power <= LARGEST else -power


def in_units(rows: Any, exponent: int) -> Any:
    """Return rows times ``2^exponent``."""
    if exponent == 0:
        return rows
    if not is_sparse(rows):
        return np.ldexp(rows, exponent)
    scaled = rows.copy()
    scaled.data = np.ldexp(rows.data, exponent)
    return scaled


def prepared(rows: Any, metric: Metric) -> Any:
    """Return rows as the loops compare them: for the cosine divided by their lengths, with two columns more.

    A row of zeros has no direction; its cosine with everything is 0. The two columns hold a one for it, in the first among
    training rows and in the second among queries (``turned``), so that its distance to all is half of 1 + 1.
    """
    return _directions(rows, 0) if metric.name == "cosine" else rows


def queries(rows: Any, metric: Metric) -> Any:
    """Return queries as the loops compare them with ``prepared`` rows."""
    return _directions(rows, 1) if metric.name == "cosine" else rows


def table(rows: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array, int]:
    """Return sparse rows as the core takes them."""
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data, rows.shape[1]


def _directions(rows: Any, place: int) -> Any:
    exponents = np.frexp(_row_largest(rows))[1]
    scaled = _times(rows, np.ldexp(1.0, np.clip(-exponents, -1000, 1000)))
    lengths = np.sqrt(_squares(scaled))
    nothing = lengths == 0.0
    directions = _times(scaled, 1.0 / np.where(nothing, 1.0, lengths))
    beside = np.zeros((rows.shape[0], 2))
    beside[nothing, place] = 1.0
    if not is_sparse(rows):
        return np.hstack([directions, beside])
    from scipy import sparse

    wide = sparse.hstack([directions, sparse.csr_array(beside)], format="csr")
    wide.sort_indices()
    return wide


def _row_largest(rows: Any) -> Array:
    if is_sparse(rows):
        return np.asarray(abs(rows).max(axis=1).toarray(), dtype=np.float64).reshape(-1)
    return np.asarray(np.abs(rows).max(axis=1, initial=0.0), dtype=np.float64)


def _squares(rows: Any) -> Array:
    """Return the sum of squares of every row, column after column: zeros add nothing, so sparse rows have the same bits."""
    if is_sparse(rows):
        at = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        return np.bincount(at, weights=rows.data * rows.data, minlength=rows.shape[0]).astype(np.float64)
    squares = np.zeros(rows.shape[0])
    for j in range(rows.shape[1]):
        squares += rows[:, j] * rows[:, j]
    return squares


def _times(rows: Any, factor: Array) -> Any:
    """Return every row times its factor."""
    if not is_sparse(rows):
        return rows * factor[:, None]
    scaled = rows.copy()
    scaled.data = rows.data * np.repeat(factor, np.diff(rows.indptr))
    return scaled
