"""Double-double arithmetic on arrays: a number held as high + low, about 32 digits.

The formulas are those of Dekker (1971) and Knuth; every operation is exact to about 2^-104, relative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

UNIT = 2.0**-104
"""Relative error of one operation."""


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return s = a + b rounded and the exact error, s + e = a + b.

    >>> two_sum(np.array([1.0]), np.array([1e-20]))
    (array([1.]), array([1.e-20]))
    """
    s = a + b
    c = s - a
    return s, (a - (s - c)) + (b - c)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return p = a b rounded and the exact error, by splitting both factors in halves.

    >>> two_product(np.array([1.0 + 2.0**-30]), np.array([1.0 + 2.0**-30]))[1] == 2.0**-60
    array([ True])
    """
    p = a * b
    a_high = (134217729.0 * a) - ((134217729.0 * a) - a)
    b_high = (134217729.0 * b) - ((134217729.0 * b) - b)
    a_low, b_low = a - a_high, b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@dataclass(frozen=True)
class Doubled:
    """An array held as high + low; adds and multiplies elementwise, and times a matrix."""

    high: Array
    low: Array

    @staticmethod
    def of(values: npt.ArrayLike) -> Doubled:
        """Return plain doubles as double-doubles."""
        high = np.asarray(values, dtype=np.float64)
        return Doubled(high, np.zeros_like(high))

    def __getitem__(self, key: Any) -> Doubled:
        return Doubled(self.high[key], self.low[key])

    def __add__(self, other: Doubled) -> Doubled:
        high, error = two_sum(self.high, other.high)
        return Doubled(*two_sum(high, error + (self.low + other.low)))

    def __neg__(self) -> Doubled:
        return Doubled(-self.high, -self.low)

    def __mul__(self, other: Doubled) -> Doubled:
        high, error = two_product(self.high, other.high)
        return Doubled(*two_sum(high, error + (self.high * other.low + self.low * other.high)))

    def times(self, right: Doubled) -> Doubled:
        """Return the product of a matrix with another."""
        return Doubled(*_core.times_dd(self.high, self.low, right.high, right.low))

    def round(self) -> Array:
        """Return the nearest doubles."""
        return self.high + self.low
