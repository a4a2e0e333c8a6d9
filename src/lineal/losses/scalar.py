"""What losses of one real target and one score share."""

from __future__ import annotations

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.losses.loss import Loss


class Scalar(Loss):
    """A loss of ``eta - y``, one target and one score a row; it predicts the score itself."""

    def check(self, y: Array) -> None:
        """Refuse anything but one finite number a row."""
        if y.shape[1] != 1:
            raise InputError(f"{self.name} loss takes one target a row, not {y.shape[1]}.")
        if not np.all(np.isfinite(y)):
            raise InputError(f"the target holds NaN or infinity; {self.name} loss needs finite numbers.")

    def mean(self, eta: Array) -> Array:
        """Return eta."""
        return eta

    def statistic(self, y: Array, weight: Array) -> Array:
        """Return the weighted sum of y."""
        return np.asarray(np.einsum("i,ij->j", weight, y))  # not BLAS: its threads change bits, and wait for each other

    def constant(self, mean: Array) -> Array:
        """Return the mean, a place to start from."""
        return mean


def positive(name: str, value: float, *, least: float = 0.0, zero: bool = False) -> None:
    """Refuse a parameter that is not a finite number above ``least`` (or equal to it, with ``zero``)."""
    if not np.isfinite(value) or value < least or (value == least and not zero):
        word = "at least" if zero else "above"
        raise InputError(f"{name} is {value}; it must be a finite number {word} {least:g}.")
