"""Designs side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lineal import _core
from lineal.designs.design import Array, Design
from lineal.designs.native import Native
from lineal.designs.sparse import Sparse
from lineal.errors import InputError


class Stack(Native):
    """Designs side by side; stacks inside are flattened.

    >>> import numpy as np
    >>> from lineal.designs import Dense, Ones
    >>> Stack([Ones(2), Dense(np.array([[5.0], [6.0]]))]).dense()
    array([[1., 5.],
           [1., 6.]])
    """

    def __init__(self, designs: Sequence[Design]) -> None:
        flat: list[Native] = []
        for design in designs:
            if not isinstance(design, Native):
                raise InputError(f"a stack is made of designs with a compiled view, not of {type(design).__name__}.")
            flat.extend(design.designs)
        if not flat:
            raise InputError("a stack needs at least one design.")
        rows, columns = flat[0].shape
        for design in flat[1:]:
            if design.shape[0] != rows:
                heights = sorted({one.shape[0] for one in flat})
                raise InputError(f"designs side by side need the same number of rows, not {heights}.")
            columns += design.shape[1]
        self._designs = tuple(flat)
        self._shape = (rows, columns)
        self._rows = None

    @property
    def designs(self) -> tuple[Native, ...]:
        """The designs, none of them a stack."""
        return self._designs

    def _made(self) -> tuple[_core.Part, ...]:
        return tuple([part for design in self._designs for part in design.parts])

    def moments(self, weight: Array | None) -> tuple[float, Array, Array, Array]:
        """Return sum of weights, mean, scatter and largest: design by design where one of them is stored by columns."""
        if not any(isinstance(design, Sparse) and design.upright for design in self.designs):
            return super().moments(weight)
        found = [design.moments(weight) for design in self.designs]
        mean, scatter, largest = (np.concatenate([part[k] for part in found]) for k in (1, 2, 3))
        return found[0][0], mean, scatter, largest

    def dense(self) -> Array:
        """Return the designs as a plain array."""
        return np.hstack([design.dense() for design in self.designs])

    def slice(self, start: int, stop: int) -> Stack:
        """Return rows ``start`` to ``stop`` without copying them."""
        return Stack([design.slice(start, stop) for design in self.designs])
