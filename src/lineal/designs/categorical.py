"""Categories as codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs.design import Chosen, Design, Picker
from lineal.designs.native import Native
from lineal.errors import InputError
from lineal.ground.arrays import Array, Index

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Categorical(Native):
    """One column per level, of which a row has at most one equal to one: stored as codes and never expanded.

    Code c >= 0 is a one in column c, code -1 is a row of zeros (the reference level).

    >>> Categorical(np.array([1, -1, 0]), 2).dense()
    array([[0., 1.],
           [0., 0.],
           [1., 0.]])
    """

    def __init__(self, codes: npt.NDArray[Any], n_levels: int) -> None:
        if codes.dtype != np.int32:
            if codes.dtype.kind not in "iu":
                raise InputError(f"codes of a category are whole numbers, not {codes.dtype}.")
            if n_levels >= 2**31 or (codes.size and not -1 <= int(codes.min()) <= int(codes.max()) < n_levels):
                raise InputError(f"codes of a category with {n_levels} levels lie between -1 and {n_levels - 1}.")
            codes = codes.astype(np.int32)
        self.codes = codes
        super().__init__([_core.Codes(codes, n_levels)])

    @classmethod
    def example(cls, rows: int) -> Categorical:
        """Return four levels and the reference level."""
        return Categorical(np.arange(rows, dtype=np.int32) * 7 % 5 - 1, 4)

    @property
    def row_entries(self) -> int:
        """At most one entry."""
        return 1

    @property
    def compact(self) -> bool:  # type: ignore[override]
        """Whether there are more than eight levels."""
        return self.shape[1] > 8

    def dense_rows(self, rows: Chosen) -> Array:
        """Return the zeros and ones of some rows."""
        codes = self.codes[rows]
        present = np.flatnonzero(codes >= 0)
        cells = np.zeros((len(codes), self.shape[1]))
        cells[present, codes[present]] = 1.0
        return cells

    def sparse_rows(self, rows: Chosen) -> csr_array:
        """Return the ones of some rows."""
        from scipy.sparse import csr_array

        codes = self.codes[rows]
        present = np.flatnonzero(codes >= 0)
        return csr_array((np.ones(len(present)), (present, codes[present])), shape=(len(codes), self.shape[1]))

    def picker(self) -> Picker:
        """Return a function that numbers levels anew; those left out become the reference level."""

        def pick(columns: Index) -> Design:
            place = np.full(self.shape[1] + 1, -1, dtype=np.int32)
            place[columns] = np.arange(len(columns), dtype=np.int32)
            return Categorical(place[self.codes], len(columns))

        return pick

    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """Return the codes."""
        return (self.codes,)

    @classmethod
    def of_arrays(cls, arrays: Sequence[npt.NDArray[Any]], shape: tuple[int, int]) -> Categorical:
        """Return the codes as a design."""
        return Categorical(arrays[0], shape[1])

    def take_rows(self, rows: Index) -> Categorical:
        """Return the codes of some rows."""
        return Categorical(self.codes[rows], self.shape[1])

    def slice(self, start: int, stop: int) -> Categorical:
        """Return rows ``start`` to ``stop`` without copying them."""
        return Categorical(self.codes[start:stop], self.shape[1])
