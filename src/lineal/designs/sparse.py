"""Matrices of mostly zeros."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs.design import Array
from lineal.designs.native import Native
from lineal.designs.sound import is_sparse, sound
from lineal.errors import InputError
from lineal.ground.given import real

if TYPE_CHECKING:  # slow to load: whoever brings a sparse matrix has done so
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
        given = sound(matrix)
        given = given if given.format in ("csr", "csc") else given.tocsr()
        stored = int(given.indptr[-1])  # there may be more, which is no part of the matrix
        values = np.ascontiguousarray(real(given.data[:stored], "X"))
        starts, indices = _alike(given.indptr, given.indices[:stored])
        lines, width = given.shape if given.format == "csr" else given.shape[::-1]
        try:
            part = _core.Sparse(starts, indices, values, width)
        except ValueError:  # columns out of order, or twice in a row: nothing else is left that it refuses
            from scipy.sparse import csr_array

            ordered = csr_array((values, indices, starts), shape=(lines, width), copy=True)
            ordered.sum_duplicates()
            starts, indices, values = ordered.indptr, ordered.indices, ordered.data
            part = _core.Sparse(starts, indices, values, width)
        if given.format == "csr":
            self._hold(starts, indices, values, part)
            return
        self._by_column, self._shape, self._rows = _columns(starts, indices, values, given.shape), given.shape, None
        self.lengthwise = part

    def _hold(
        self, indptr: npt.NDArray[Any], indices: npt.NDArray[Any], data: npt.NDArray[Any], part: _core.Sparse
    ) -> Sparse:
        self.indptr, self.indices, self.data, self.part = indptr, indices, data, part
        super().__init__([self.part])
        return self

    @cached_property
    def _turned(self) -> csr_array:
        """The rows of a matrix given by columns."""
        return self.by_column.tocsr()

    @cached_property
    def indptr(self) -> npt.NDArray[Any]:
        """Where every row begins."""
        return np.asarray(self._turned.indptr)

    @cached_property
    def indices(self) -> npt.NDArray[Any]:
        """The column of every entry."""
        return np.asarray(self._turned.indices)

    @cached_property
    def data(self) -> npt.NDArray[Any]:
        """The entries, row by row."""
        return np.asarray(self._turned.data)

    @cached_property
    def part(self) -> _core.Sparse:
        """The compiled rows."""
        return _core.Sparse(self.indptr, self.indices, self.data, self.shape[1])

    def _made(self) -> tuple[_core.Part, ...]:
        return (self.part,)

    @property
    def upright(self) -> bool:
        """Whether the matrix was given by columns and nobody has asked for its rows yet."""
        return self._by_column is not None and "part" not in self.__dict__

    @cached_property
    def lengthwise(self) -> _core.Sparse:
        """The compiled columns, each a row."""
        columns = self.by_column
        return _core.Sparse(columns.indptr, columns.indices, columns.data, self.shape[0])

    def moments(self, weight: Array | None) -> tuple[float, Array, Array, Array]:
        """Return sum of weights, mean, scatter and largest, out of the columns where they were given."""
        return self.lengthwise.lengthwise(weight) if self.upright else super().moments(weight)

    @property
    def by_column(self) -> csc_array:
        """The matrix by columns: the one given, or one made when it is first asked for."""
        if self._by_column is None:
            from scipy.sparse import csr_array

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
        cells = self.part.pick(np.ascontiguousarray(columns, dtype=np.int64))
        return part._hold(*cells, _core.Sparse(*cells, len(columns)))  # noqa: SLF001


def _alike(starts: npt.NDArray[Any], indices: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return where lines begin and the indices as arrays of one type that the compiled core reads in place."""
    known = starts.dtype == indices.dtype and starts.dtype in (np.int32, np.int64)
    kind = starts.dtype if known else np.dtype(np.int64)
    return np.ascontiguousarray(starts, dtype=kind), np.ascontiguousarray(indices, dtype=kind)


def _columns(
    starts: npt.NDArray[Any], indices: npt.NDArray[Any], values: npt.NDArray[Any], shape: tuple[int, int]
) -> csc_array:
    """Return the parts of a matrix by columns as one, of which nothing is copied."""
    from scipy.sparse import csc_array

    found = csc_array(shape, dtype=values.dtype)  # (given the parts, it would copy 64-bit indices into 32 bits)
    found.indptr, found.indices, found.data = starts, indices, values
    return found
