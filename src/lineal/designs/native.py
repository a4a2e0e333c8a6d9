"""What all designs with a compiled view share: every verb is a pass over that view."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

from lineal import _core
from lineal.designs.design import Design
from lineal.ground.arrays import Array


class Native(Design):
    """A design made of compiled parts side by side."""

    compiled: ClassVar[bool] = True

    def __init__(self, parts: Sequence[_core.Part], shape: tuple[int, int] | None = None) -> None:
        self.parts = tuple(parts)
        self._rows: _core.Rows | None = None
        self._shape = (parts[0].shape[0], sum(part.shape[1] for part in parts)) if shape is None else shape

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it again from its arrays: the compiled view is made anew where it is used."""
        return type(self).of_arrays, (self.arrays(), self.shape)

    @property
    def designs(self) -> tuple[Native, ...]:
        """The designs that stand side by side: this one."""
        return (self,)

    @cached_property
    def parts(self) -> tuple[_core.Part, ...]:
        """The compiled parts; those of a design that was not made of them are made when they are first asked for."""
        return self._made()

    def _made(self) -> tuple[_core.Part, ...]:
        raise NotImplementedError

    @property
    def rows(self) -> _core.Rows:
        """The compiled view; made when it is first asked for, which a part of a stack never is."""
        if self._rows is None:
            self._rows = _core.Rows(list(self.parts))
        return self._rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self._shape

    def times(self, coef: Array) -> Array:
        """Return ``X coef``, shape ``(rows, outputs)``."""
        return self.rows.times(coef)

    def transpose_times(self, values: Array) -> Array:
        """Return ``X' values``, shape ``(columns, outputs)``."""
        return self.rows.transpose_times(values)

    def gram(self, weight: Array | None = None) -> Array:
        """Return ``X' diag(weight) X``, shape ``(columns, columns)``.

        Weights may have any sign; rows of weight 0 are skipped, whatever they hold.
        """
        return self.rows.gram(weight)

    def moments(self, weight: Array | None) -> tuple[float, Array, Array, Array]:
        """Return the sum of the weights, and mean, scatter and largest ``|x|`` of every column, in one pass."""
        return self.rows.moments(weight)

    @abstractmethod
    def slice(self, start: int, stop: int) -> Native:
        """Return rows ``start`` to ``stop`` without copying them."""
