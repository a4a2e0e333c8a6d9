"""The intercept's column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs.design import Chosen, Picker
from lineal.designs.native import Native
from lineal.ground.arrays import Array, Index


class Ones(Native):
    """One column of ones, which takes no memory.

    >>> Ones(2).dense()
    array([[1.],
           [1.]])
    """

    def __init__(self, n: int) -> None:
        super().__init__([_core.Ones(n)], (n, 1))

    plain: bool = True

    @classmethod
    def example(cls, rows: int) -> Ones:
        """Return ones."""
        return Ones(rows)

    @property
    def starts_with_ones(self) -> bool:
        """Whether the first column is one of ones: it is."""
        return True

    def dense_rows(self, rows: Chosen) -> Array:
        """Return ones for some rows."""
        count = len(range(*rows.indices(self.shape[0]))) if isinstance(rows, slice) else len(rows)
        return np.ones((count, 1))

    def picker(self) -> Picker:
        """Return a function that returns the only column."""
        return lambda _columns: self

    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """Return none."""
        return ()

    @classmethod
    def of_arrays(cls, arrays: Sequence[npt.NDArray[Any]], shape: tuple[int, int]) -> Ones:
        """Return as many ones."""
        return Ones(shape[0])

    def take_rows(self, rows: Index) -> Ones:
        """Return as many ones."""
        return Ones(len(rows))

    def slice(self, start: int, stop: int) -> Ones:
        """Return a column of ones for rows ``start`` to ``stop``."""
        return Ones(len(range(*slice(start, stop).indices(self.shape[0]))))
