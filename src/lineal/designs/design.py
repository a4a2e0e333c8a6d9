"""The contract of a design: a block of rows I can multiply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from lineal import _core

Array = npt.NDArray[np.float64]


class Design(ABC):
    """Rows times columns, stored as suits them; it knows neither targets nor losses.

    ``rows`` is the compiled view of it, on which whole fused passes run; None for a design that has none
    (then passes use the verbs below).
    """

    @property
    def rows(self) -> _core.Rows | None:
        """The compiled view."""
        return None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @abstractmethod
    def times(self, coef: Array) -> Array:
        """Return ``X coef``, shape ``(rows, outputs)``."""

    @abstractmethod
    def transpose_times(self, values: Array) -> Array:
        """Return ``X' values``, shape ``(columns, outputs)``."""

    @abstractmethod
    def gram(self, weight: Array | None = None) -> Array:
        """Return ``X' diag(weight) X``, shape ``(columns, columns)``."""

    def moments(self, weight: Array | None) -> tuple[float, Array, Array, Array]:
        """Return the sum of the weights, and mean, scatter and largest ``|x|`` of every column; rows of weight 0 do not count."""
        dense = self.dense()
        weights = np.ones(len(dense)) if weight is None else weight
        dense = dense[weights > 0.0]
        weights = weights[weights > 0.0]
        total = float(weights.sum())
        mean = weights @ dense / total if total > 0 else np.zeros(dense.shape[1])
        largest = np.max(np.abs(dense), axis=0, initial=0.0)
        return total, mean, weights @ (dense - mean) ** 2, largest

    @abstractmethod
    def slice(self, start: int, stop: int) -> Design:
        """Return rows ``start`` to ``stop`` without copying them."""

    def dense(self) -> Array:
        """Return the design as a plain array, for tests and small problems."""
        return self.times(np.eye(self.shape[1]))
