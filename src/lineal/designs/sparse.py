"""Matrices of mostly zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs.native import Native
from lineal.errors import InputError


class Sparse(Native):
    """Compressed sparse rows: row i has ``data`` in the columns ``indices[indptr[i]:indptr[i + 1]]``, which increase.

    >>> Sparse(np.array([0, 1, 2]), np.array([0, 1]), np.array([5.0, 6.0]), 2).dense()
    array([[5., 0.],
           [0., 6.]])
    """

    def __init__(
        self, indptr: npt.NDArray[Any], indices: npt.NDArray[Any], data: npt.NDArray[Any], n_columns: int
    ) -> None:
        self.indptr, self.indices, self.data = indptr, indices, data
        super().__init__([_core.Sparse(indptr, indices, data, n_columns)])

    @staticmethod
    def of(matrix: Any) -> Sparse:
        """Return a scipy sparse matrix as a design, read in place if it is CSR with sorted columns, else converted.

        >>> from scipy.sparse import csc_array
        >>> Sparse.of(csc_array(np.eye(2))).times(np.ones((2, 1)))
        array([[1.],
               [1.]])
        """
        if not hasattr(matrix, "tocsr") or matrix.ndim != 2:
            raise InputError(f"a sparse design needs a scipy sparse matrix of 2 dimensions, not {type(matrix).__name__}.")
        rows = matrix.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy() if rows is matrix else rows
            rows.sum_duplicates()
        values = rows.data if rows.data.dtype in (np.float32, np.float64) else rows.data.astype(np.float64)
        return Sparse(rows.indptr, rows.indices, values, matrix.shape[1])

    def slice(self, start: int, stop: int) -> Sparse:
        """Return rows ``start`` to ``stop`` without copying them."""
        first, last, _ = slice(start, stop).indices(self.shape[0])
        return Sparse(self.indptr[first : max(first, last) + 1], self.indices, self.data, self.shape[1])
