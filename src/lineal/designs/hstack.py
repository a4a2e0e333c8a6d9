"""Designs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lineal import _core
from lineal.designs.design import Chosen, Design, Picker, side_by_side
from lineal.designs.native import Native
from lineal.designs.ones import Ones
from lineal.designs.sparse import Sparse
from lineal.errors import InputError
from lineal.ground.arrays import Array, Index


class HStack(Native):
    """Designs side by side; stacks inside are flattened.

    >>> import numpy as np
    >>> from lineal.designs import Dense, Ones
    >>> HStack([Ones(2), Dense(np.array([[5.0], [6.0]]))]).dense()
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

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it again from the designs."""
        return HStack, (self._designs,)

    @classmethod
    def example(cls, rows: int) -> HStack:
        """Return ones beside some sparse columns."""
        return HStack([Ones.example(rows), Sparse.example(rows)])

    @property
    def designs(self) -> tuple[Native, ...]:
        """The designs, none of them a stack."""
        return self._designs

    @property
    def plain(self) -> bool:  # type: ignore[override]
        """Whether all designs are."""
        return all(design.plain for design in self.designs)

    @property
    def starts_with_ones(self) -> bool:
        """Whether the first design does."""
        return self.designs[0].starts_with_ones

    @property
    def entries(self) -> int:
        """How many numbers the designs hold."""
        return sum(design.entries for design in self.designs)

    @property
    def row_entries(self) -> int:
        """How many numbers a row has in all designs, about."""
        return sum(design.row_entries for design in self.designs)

    def dense_rows(self, rows: Chosen) -> Array:
        """Return some rows of all designs as a plain array."""
        return np.hstack([design.dense_rows(rows) for design in self.designs])

    def picker(self) -> Picker:
        """Return a function that picks from every design."""
        return side_by_side(self.designs, HStack)

    def _made(self) -> tuple[_core.Part, ...]:
        return tuple([part for design in self._designs for part in design.parts])

    def moments(self, weight: Array | None) -> tuple[float, Array, Array, Array]:
        """Return sum of weights, mean, scatter and largest: design by design where one of them is stored by columns."""
        if not any(isinstance(design, Sparse) and design.upright for design in self.designs):
            return super().moments(weight)
        moments = [design.moments(weight) for design in self.designs]
        mean, scatter, largest = (np.concatenate([part[k] for part in moments]) for k in (1, 2, 3))
        return moments[0][0], mean, scatter, largest

    def dense(self) -> Array:
        """Return the designs as a plain array."""
        return np.hstack([design.dense() for design in self.designs])

    def take_rows(self, rows: Index) -> HStack:
        """Return some rows of all designs."""
        return HStack([design.take_rows(rows) for design in self.designs])

    def slice(self, start: int, stop: int) -> HStack:
        """Return rows ``start`` to ``stop`` without copying them."""
        return HStack([design.slice(start, stop) for design in self.designs])
