"""Columns ``(x_j - shift_j) / scale_j``, and the way of coefficients and gradients between them and the columns x."""

from __future__ import annotations

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Standardization:
    """``X T`` with ``T = (I - e_0 shift') diag(1 / scale)``: the first column of X is ones, and pays for every shift.

    >>> change = Standardization(np.array([0.0, 3.0]), np.array([1.0, 0.5]))
    >>> change.inner_coef(np.array([[1.0], [2.0]])).tolist()  # 1 + 2 (x - 3) / 0.5
    [[-11.0], [4.0]]
    """

    shift: Array
    scale: Array

    def inner_coef(self, coef: Array) -> Array:
        """Return ``T coef``: the same scores on the columns x."""
        inner = coef / self.scale[:, None]
        if len(inner):
            inner[0] -= self.shift @ inner
        return np.asarray(inner)

    def outer_coef(self, coef: Array) -> Array:
        """Return ``T^-1 coef``: the same scores on the standardized columns."""
        outer = coef * self.scale[:, None]
        if len(outer):
            outer[0] += self.shift @ coef
        return np.asarray(outer)

    def outer_gradient(self, gradient: Array) -> Array:
        """Return ``T' gradient`` for a gradient by the columns x."""
        if not len(gradient):
            return gradient
        return np.asarray((gradient - self.shift[:, None] * gradient[0]) / self.scale[:, None])
