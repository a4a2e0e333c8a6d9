"""Plain matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs.native import Native
from lineal.errors import InputError
from lineal.ground.given import FLOATS


class Dense(Native):
    """A float32 or float64 matrix, read in place in C order, packed block by block in others, copied where it lies askew.

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
        self.array = straight(array)
        super().__init__([_core.Dense(self.array)], array.shape)

    def slice(self, start: int, stop: int) -> Dense:
        """Return rows ``start`` to ``stop`` without copying them."""
        return Dense(self.array[start:stop])

    def dense(self) -> npt.NDArray[np.float64]:
        """Return a copy of the matrix as doubles; a product with the identity would take as long as a gram."""
        return np.array(self.array, dtype=np.float64, order="C")


def straight(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a matrix as it is, or a copy where it lies askew: fields of packed records, or bytes out of a file."""
    size, (down, across) = array.itemsize, array.strides
    return array.copy() if not array.size or not array.flags.aligned or down % size or across % size else array
