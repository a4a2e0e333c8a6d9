"""Matrices of mostly zeros."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs.design import Chosen, Picker
from lineal.designs.native import Native
from lineal.designs.sound import is_sparse, sound
from lineal.errors import InputError
from lineal.ground.arrays import Array, Index
from lineal.ground.inputs import real

if TYPE_CHECKING:  # slow to load; a caller with a sparse matrix has loaded it
    from scipy.sparse import csc_array, csr_array


class Sparse(Native):
    """A scipy sparse matrix, read in place if it is CSR with sorted columns; other formats are converted to that.

    The rows of one given by columns are made when they are first asked for.

    >>> from scipy.sparse import csc_array
    >>> Sparse(csc_array(np.eye(2))).times(np.ones((2, 1)))
    array([[1.],
           [1.]])
    """

    _by_column: csc_array | None = None

    def __init__(self, matrix: Any) -> None:
        if not is_sparse(matrix):
            raise InputError(f"a sparse design needs a scipy sparse matrix, not {type(matrix).__name__}.")
        compressed = sound(matrix)
        compressed = compressed if compressed.format in ("csr", "csc") else compressed.tocsr()
        stored = int(compressed.indptr[-1])  # there may be more, which is no part of the matrix
        values = np.ascontiguousarray(real(compressed.data[:stored], "X"))
        starts, indices = _alike(compressed.indptr, compressed.indices[:stored])
        lines, width = compressed.shape if compressed.format == "csr" else compressed.shape[::-1]
        try:
            part = _core.Sparse(starts, indices, values, width)
        except ValueError:  # columns out of order, or twice in a row: nothing else is left that it refuses
            from scipy.sparse import csr_array

            ordered = csr_array((values, indices, starts), shape=(lines, width), copy=True)
            ordered.sum_duplicates()
            starts, indices, values = ordered.indptr, ordered.indices, ordered.data
            part = _core.Sparse(starts, indices, values, width)
        if compressed.format == "csr":
            self._hold(starts, indices, values, part)
            return
        self._by_column, self._shape, self._rows = (
            _columns(starts, indices, values, compressed.shape),
            compressed.shape,
            None,
        )
        self.csc_part = part

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it again: by columns where its rows were not made."""
        return (Sparse, (self.by_column,)) if self.upright else super().__reduce__()

    @classmethod
    def example(cls, rows: int) -> Sparse:
        """Return one entry in every row of five columns."""
        from scipy.sparse import csr_array

        cells = (np.cos(np.arange(1.0 * rows)), np.arange(rows) * 3 % 5, np.arange(rows + 1))
        return Sparse(csr_array(cells, shape=(rows, 5)))

    def _hold(
        self, indptr: npt.NDArray[Any], indices: npt.NDArray[Any], data: npt.NDArray[Any], part: _core.Sparse
    ) -> Sparse:
        self.indptr, self.indices, self.data, self.part = indptr, indices, data, part
        super().__init__([self.part])
        return self

    @cached_property
    def _by_row(self) -> csr_array:
        """The rows of a matrix given by columns."""
        return self.by_column.tocsr()

    @cached_property
    def indptr(self) -> npt.NDArray[Any]:
        """Where every row begins."""
        return np.asarray(self._by_row.indptr)

    @cached_property
    def indices(self) -> npt.NDArray[Any]:
        """The column of every entry."""
        return np.asarray(self._by_row.indices)

    @cached_property
    def data(self) -> npt.NDArray[Any]:
        """The entries, row by row."""
        return np.asarray(self._by_row.data)

    @cached_property
    def part(self) -> _core.Sparse:
        """The compiled rows."""
        return _core.Sparse(self.indptr, self.indices, self.data, self.shape[1])

    def _made(self) -> tuple[_core.Part, ...]:
        return (self.part,)

    @property
    def upright(self) -> bool:
        """Whether the matrix was given by columns and its rows have not been made yet."""
        return self._by_column is not None and "part" not in self.__dict__

    @cached_property
    def csc_part(self) -> _core.Sparse:
        """The compiled columns, each a row."""
        columns = self.by_column
        return _core.Sparse(columns.indptr, columns.indices, columns.data, self.shape[0])

    def moments(self, weight: Array | None) -> tuple[float, Array, Array, Array]:
        """Return sum of weights, mean, scatter and largest, out of the columns where they were given."""
        return self.csc_part.column_moments(weight) if self.upright else super().moments(weight)

    @property
    def by_column(self) -> csc_array:
        """The matrix by columns: the one given, or one made when it is first asked for."""
        if self._by_column is None:
            from scipy.sparse import csr_array

            start, stop = int(self.indptr[0]), int(self.indptr[-1])
            parts = (self.data[start:stop], self.indices[start:stop], self.indptr - start)
            self._by_column = csr_array(parts, shape=self.shape).tocsc()
        return self._by_column

    @property
    def entries(self) -> int:
        """How many numbers are stored."""
        return self.by_column.nnz if self.upright else int(self.indptr[-1] - self.indptr[0])

    @property
    def row_entries(self) -> int:
        """An assumed number of entries of a row: counting them would need the rows."""
        return min(self.shape[1], 128)

    @property
    def compact(self) -> bool:  # type: ignore[override]
        """Whether fewer than a fifth of the cells are stored."""
        return len(self.indices) < 0.2 * self.shape[0] * self.shape[1]

    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """Return entries, their columns, and where every row begins: a slice begins somewhere in the middle."""
        first, last = int(self.indptr[0]), int(self.indptr[-1])
        return self.data[first:last], self.indices[first:last], self.indptr - first

    @classmethod
    def of_arrays(cls, arrays: Sequence[npt.NDArray[Any]], shape: tuple[int, int]) -> Sparse:
        """Return the rows as a design."""
        from scipy.sparse import csr_array

        return Sparse(csr_array(tuple(arrays), shape=shape))

    def sparse_rows(self, rows: Chosen) -> csr_array:
        """Return some rows, in doubles."""
        from scipy.sparse import csr_array

        data, indices, indptr = self.arrays()
        held = csr_array((data.astype(np.float64, copy=False), indices, indptr), shape=self.shape)
        return held if isinstance(rows, slice) and rows == slice(None) else held[rows]

    def dense_rows(self, rows: Chosen) -> Array:
        """Return some rows as a plain array."""
        return np.asarray(self.sparse_rows(rows).toarray())

    def picker(self) -> Picker:
        """Return a function that picks columns a few times out of the rows, then out of a copy sorted by columns."""
        times = 0

        def pick(columns: Index) -> Sparse:
            nonlocal times
            times += 1
            if times <= 8 and not self.upright:  # a sort by columns takes as long as eight picks (measured)
                return self.take(columns)
            return Sparse(self.by_column[:, columns])

        return pick

    def take_rows(self, rows: Index) -> Sparse:
        """Return some rows, in doubles."""
        return Sparse(self.sparse_rows(rows))

    def slice(self, start: int, stop: int) -> Sparse:
        """Return rows ``start`` to ``stop`` without copying them."""
        first, last, _ = slice(start, stop).indices(self.shape[0])
        last = max(first, last)
        part = Sparse.__new__(Sparse)  # scipy cannot hold row starts that do not begin at zero
        part.indptr, part.indices, part.data = self.indptr[first : last + 1], self.indices, self.data
        part.part = _core.Sparse(self.part, first, last)  # checked already
        Native.__init__(part, [part.part])
        return part

    def take(self, columns: Index) -> Sparse:
        """Return some columns, given in increasing order, as a copy.

        >>> from scipy.sparse import csr_array
        >>> Sparse(csr_array(np.eye(3))).take(np.array([0, 2])).times(np.ones((2, 1))).T
        array([[1., 0., 1.]])
        """
        part = Sparse.__new__(Sparse)
        cells = self.part.pick(np.ascontiguousarray(columns, dtype=np.int64))
        return part._hold(*cells, _core.Sparse(*cells, len(columns)))  # noqa: SLF001


def _alike(starts: npt.NDArray[Any], indices: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return where lines begin and the indices as arrays of one type that the compiled core reads in place."""
    readable = starts.dtype == indices.dtype and starts.dtype in (np.int32, np.int64)
    kind = starts.dtype if readable else np.dtype(np.int64)
    return np.ascontiguousarray(starts, dtype=kind), np.ascontiguousarray(indices, dtype=kind)


def _columns(
    starts: npt.NDArray[Any], indices: npt.NDArray[Any], values: npt.NDArray[Any], shape: tuple[int, int]
) -> csc_array:
    """Return the parts of a matrix by columns as one, of which nothing is copied."""
    from scipy.sparse import csc_array

    matrix = csc_array(shape, dtype=values.dtype)  # (given the parts, it would copy 64-bit indices into 32 bits)
    matrix.indptr, matrix.indices, matrix.data = starts, indices, values
    return matrix
