"""What all designs with a compiled view share: every verb is a pass over that view."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from lineal import _core
from lineal.design import Array, Design


class Native(Design):
    """A design made of compiled parts side by side."""

    rows: _core.Rows

    def __init__(self, parts: Sequence[_core.Part]) -> None:
        self.parts = tuple(parts)
        self.rows = _core.Rows(list(parts))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.rows.n_rows, self.rows.n_columns

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

    @abstractmethod
    def slice(self, start: int, stop: int) -> Native:
        """Return rows ``start`` to ``stop`` without copying them."""
