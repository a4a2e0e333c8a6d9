"""Categories as codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs.native import Native
from lineal.errors import InputError


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

    def slice(self, start: int, stop: int) -> Categorical:
        """Return rows ``start`` to ``stop`` without copying them."""
        return Categorical(self.codes[start:stop], self.shape[1])
