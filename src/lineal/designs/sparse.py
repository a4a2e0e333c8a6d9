"""Matrices of mostly zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs.native import Native
from lineal.errors import InputError


class Sparse(Native):
    """A scipy sparse matrix, read in place when it is CSR with sorted columns; other formats are converted to that.

    >>> from scipy.sparse import csr_array
    >>> Sparse(csr_array(np.eye(2))).times(np.ones((2, 1)))
    array([[1.],
           [1.]])
    """

    def __init__(self, matrix: Any) -> None:
        if not hasattr(matrix, "tocsr") or matrix.ndim != 2:
            raise InputError(f"a sparse design needs a scipy sparse matrix with 2 dimensions, not {type(matrix).__name__}.")
        rows = matrix.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy() if rows is matrix else rows
            rows.sum_duplicates()
        values = rows.data if rows.data.dtype in (np.float32, np.float64) else rows.data.astype(np.float64)
        self._hold(rows.indptr, rows.indices, values, matrix.shape[1])

    @staticmethod
    def from_rows(indptr: npt.NDArray[Any], indices: npt.NDArray[Any], data: npt.NDArray[Any], n_columns: int) -> Sparse:
        """Return the design of compressed rows: row i has the columns ``indices[indptr[i]:indptr[i + 1]]``, increasing."""
        design = Sparse.__new__(Sparse)
        design._hold(indptr, indices, data, n_columns)
        return design

    def _hold(self, indptr: npt.NDArray[Any], indices: npt.NDArray[Any], data: npt.NDArray[Any], n_columns: int) -> None:
        self.indptr, self.indices, self.data = indptr, indices, data
        super().__init__([_core.Sparse(indptr, indices, data, n_columns)])

    def slice(self, start: int, stop: int) -> Sparse:
        """Return rows ``start`` to ``stop`` without copying them."""
        first, last, _ = slice(start, stop).indices(self.shape[0])
        return Sparse.from_rows(self.indptr[first : max(first, last) + 1], self.indices, self.data, self.shape[1])
