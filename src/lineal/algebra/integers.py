"""Floats as integers: every float is m 2^e, so that a row or a direction is a vector of integers up to a power of two."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.ground.arrays import Array

Whole = npt.NDArray[Any]
"""An array of Python integers, of any size."""

ZERO_EXPONENT = 1 << 20
"""The exponent of zero: larger than any other, so that it never is the smallest."""


def mantissas(x: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return odd m and e with x = m 2^e exactly; m = 0 and e = ZERO_EXPONENT where x is 0.

    >>> m, e = mantissas(np.array([0.75, -6.0, 0.0]))
    >>> m.tolist(), e[:2].tolist()
    ([3, -3, 0], [-2, 1])
    """
    part, exponent = np.frexp(x)
    m = (part * 2.0**53).astype(np.int64)
    zeros = np.frexp((m & -m).astype(np.float64))[1] - 1
    empty = m == 0
    zeros[empty] = 0
    e = exponent.astype(np.int64) - 53 + zeros
    e[empty] = ZERO_EXPONENT
    return m >> zeros, e


def shifted(m: npt.NDArray[np.int64], e: npt.NDArray[np.int64], base: Any) -> Whole:
    """Return m 2^(e - base) as integers; ``base`` must not exceed the exponent of any number but zero."""
    by = np.where(m == 0, 0, e - base)
    if m.size and int(by.max()) <= 10 and int(np.abs(m).max()) < 2**52:
        return np.asarray((m << by).astype(object))
    return np.asarray(m.astype(object) << by.astype(object))


def whole(x: Array) -> Whole:
    """Return the integers that are x up to one power of two.

    >>> whole(np.array([0.5, 3.0])).tolist()
    [1, 6]
    """
    m, e = mantissas(x)
    base = int(np.min(e, initial=ZERO_EXPONENT))
    return shifted(m, e, 0 if base == ZERO_EXPONENT else base)


def reduced(values: Whole) -> Whole:
    """Return integers divided by their greatest common divisor."""
    divisor = int(np.gcd.reduce(np.append(values.ravel(), 0)))
    return values if divisor in (0, 1) else np.asarray(values // divisor)


def floats(values: Whole) -> Array:
    """Return integers as floats, times the power of two that brings the largest near 1; each rounded once.

    >>> floats(np.array([2**80, 2**79], dtype=object)).tolist()
    [0.5, 0.25]
    """
    size = max((abs(int(value)).bit_length() for value in values.ravel()), default=0)
    one = 1 << size
    return np.array([int(value) / one for value in values.ravel()], dtype=np.float64).reshape(values.shape)


def exactly(values: Whole) -> Array | None:
    """Return integers as floats if no digit is lost (up to one power of two), else None."""
    rounded = floats(values)
    again = reduced(whole(rounded))
    return rounded if np.array_equal(again, reduced(values)) else None


def text(value: Any) -> int | str:
    """Return an integer for JSON: one that a double may not hold is written as text.

    >>> text(-7), text(2**60)
    (-7, '1152921504606846976')
    """
    if abs(int(value)) < 2**53:
        return int(value)
    return ("-" if value < 0 else "") + digits(abs(int(value)))


def digits(value: int) -> str:
    """Return the digits of an integer >= 0; Python itself writes no more than 4300 at once.

    >>> len(digits(10**9000))
    9001
    """
    high, low = divmod(value, 10**4000)
    return str(low) if not high else digits(high) + str(low).zfill(4000)
