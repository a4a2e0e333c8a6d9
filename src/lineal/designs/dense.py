"""Plain matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs.design import Chosen, Picker
from lineal.designs.native import Native
from lineal.errors import InputError
from lineal.ground.arrays import Array, Index
from lineal.ground.inputs import FLOATS


class Dense(Native):
    """A float32 or float64 matrix, read in place in C order, packed block by block in others, copied where not aligned.

    >>> import numpy as np
    >>> Dense(np.array([[1.0, 2.0]], dtype=np.float32)).times(np.ones((2, 1)))
    array([[3.]])
    """

    def __init__(self, array: npt.NDArray[Any]) -> None:
        if array.ndim != 2:
            raise InputError(
                f"a design needs 2 dimensions, rows and columns, but the array has shape {array.shape}; give a matrix."
            )
        if array.dtype not in FLOATS:
            raise InputError(f"a dense design holds float32 or float64 numbers, not {array.dtype}; convert it first.")
        self.array = aligned(array)
        super().__init__([_core.Dense(self.array)], array.shape)

    plain: bool = True

    @classmethod
    def example(cls, rows: int) -> Dense:
        """Return a matrix of three columns."""
        return Dense(np.sin(np.arange(3.0 * rows)).reshape(rows, 3))

    def dense_rows(self, rows: Chosen) -> Array:
        """Return some rows as doubles."""
        return np.asarray(self.array[rows], dtype=np.float64)

    def picker(self) -> Picker:
        """Return a function that gathers columns: row by row of a matrix held by rows, else column by column."""
        array = self.array
        if array.flags.f_contiguous:
            return lambda columns: Dense(np.ascontiguousarray(array.T[columns].T))
        return lambda columns: Dense(np.take(array, columns, axis=1))

    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """Return the matrix."""
        return (self.array,)

    @classmethod
    def of_arrays(cls, arrays: Sequence[npt.NDArray[Any]], shape: tuple[int, int]) -> Dense:
        """Return the matrix as a design."""
        return Dense(arrays[0])

    def take_rows(self, rows: Index) -> Dense:
        """Return some rows, in the precision that they have."""
        return Dense(self.array[rows])

    def slice(self, start: int, stop: int) -> Dense:
        """Return rows ``start`` to ``stop`` without copying them."""
        return Dense(self.array[start:stop])

    def dense(self) -> Array:
        """Return a copy of the matrix as doubles; a product with the identity would take as long as a gram."""
        return np.array(self.array, dtype=np.float64, order="C")


def aligned(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a matrix as it is, or a copy where its numbers are not aligned: fields of packed records, bytes of a file."""
    size, (down, across) = array.itemsize, array.strides
    return array.copy() if not array.size or not array.flags.aligned or down % size or across % size else array
