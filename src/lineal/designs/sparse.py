"""Matrices of mostly zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array

from lineal import _core
from lineal.designs.native import Native
from lineal.errors import InputError


class Sparse(Native):
    """A scipy sparse matrix, read in place if it is CSR with sorted columns; other formats are converted to that.

    >>> from scipy.sparse import csc_array
    >>> Sparse(csc_array(np.eye(2))).times(np.ones((2, 1)))
    array([[1.],
           [1.]])
    """

    _by_column: csc_array | None = None

    def __init__(self, matrix: Any) -> None:
        if not hasattr(matrix, "tocsr") or matrix.ndim != 2:
            kind = type(matrix).__name__
            raise InputError(f"a sparse design needs a scipy sparse matrix with rows and columns, not {kind}.")
        rows = matrix.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy() if rows is matrix else rows
            rows.sum_duplicates()
        values = rows.data if rows.data.dtype in (np.float32, np.float64) else rows.data.astype(np.float64)
        if matrix.format == "csc" and values is rows.data and len(matrix.data) == len(values):
            self._by_column = csc_array(matrix)  # what was given, not a copy
        self._hold(rows.indptr, rows.indices, values, matrix.shape[1])

    def _hold(
        self, indptr: npt.NDArray[Any], indices: npt.NDArray[Any], data: npt.NDArray[Any], n_columns: int
    ) -> Sparse:
        self.indptr, self.indices, self.data = indptr, indices, data
        self.part = _core.Sparse(indptr, indices, data, n_columns)
        super().__init__([self.part])
        return self

    @property
    def by_column(self) -> csc_array:
        """The matrix by columns: the one given, or one made when it is first asked for."""
        if self._by_column is None:
            start, stop = int(self.indptr[0]), int(self.indptr[-1])
            parts = (self.data[start:stop], self.indices[start:stop], self.indptr - start)
            self._by_column = csr_array(parts, shape=self.shape).tocsc()
        return self._by_column

    def slice(self, start: int, stop: int) -> Sparse:
        """Return rows ``start`` to ``stop`` without copying them."""
        first, last, _ = slice(start, stop).indices(self.shape[0])
        last = max(first, last)
        part = Sparse.__new__(Sparse)  # scipy cannot hold row starts that do not begin at zero
        part.indptr, part.indices, part.data = self.indptr[first : last + 1], self.indices, self.data
        part.part = _core.Sparse(self.part, first, last)  # checked already
        Native.__init__(part, [part.part])
        return part

    def take(self, columns: npt.NDArray[np.intp]) -> Sparse:
        """Return some columns, given in increasing order, as a copy.

        >>> from scipy.sparse import csr_array
        >>> Sparse(csr_array(np.eye(3))).take(np.array([0, 2])).times(np.ones((2, 1))).T
        array([[1., 0., 1.]])
        """
        part = Sparse.__new__(Sparse)
        return part._hold(*self.part.pick(np.ascontiguousarray(columns, dtype=np.int64)), len(columns))  # noqa: SLF001
