"""Sums and products whose rounding error is known: what the proof computes with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

EPS: Final = 2.0**-52
SPLIT: Final = 2.0**27 + 1
BLOCK: Final = 2**20


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``a b`` as high + low, exactly (Dekker), if nothing over- or underflows.

    >>> high, low = two_product(np.array([0.1]), np.array([0.1]))
    >>> Fraction(high[0]) + Fraction(low[0]) == Fraction(0.1) ** 2
    True
    """
    high = a * b
    a1, b1 = SPLIT * a, SPLIT * b
    a1, b1 = a1 - (a1 - a), b1 - (b1 - b)
    a2, b2 = a - a1, b - b1
    return high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2


def times(x: Array, b: Array, start: Array | None = None) -> Array:
    """Return ``X B (+ start)`` as if computed with twice the digits, then rounded (Ogita, Rump and Oishi's Dot2).

    The error of an entry is at most EPS |entry| + (p EPS)^2 sum_j |x_ij b_jk|.

    >>> times(np.array([[1e16, 1.0, -1e16]]), np.ones((3, 1)))
    array([[1.]])
    """
    n, p = x.shape
    out = np.zeros((n, b.shape[1])) if start is None else np.broadcast_to(start, (n, b.shape[1])).copy()
    step = max(1, BLOCK // max(1, b.shape[1]))
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        high, low = out[rows], np.zeros_like(out[rows])
        for j in range(p):
            product, rest = two_product(x[rows, j, None], b[None, j, :])
            total = high + product
            part = total - high
            low += ((high - (total - part)) + (product - part)) + rest
            high = total
        out[rows] = high + low
    return out


def sums(x: Array, v: Array) -> Array:
    """Return ``X' V``, every entry correctly rounded from exact products.

    >>> sums(np.array([[1e16], [1.0], [-1e16]]), np.ones((3, 1)))
    array([[1.]])
    """
    out = np.empty((x.shape[1], v.shape[1]))
    for j in range(x.shape[1]):
        for k in range(v.shape[1]):
            high, low = two_product(x[:, j], v[:, k])
            out[j, k] = math.fsum(np.concatenate([high, low]).tolist())
    return out


def total(values: Array) -> float:
    """Return the correctly rounded sum of all entries."""
    return math.fsum(values.ravel().tolist())


def signs(x: Array, d: Array) -> npt.NDArray[np.int64]:
    """Return the sign of every entry of ``X d``, exactly: rounded first, in rationals where rounding could matter.

    >>> signs(np.array([[0.1, 0.2, 0.3], [1.0, 1.0, 1.0]]), np.array([1.0, 1.0, -1.0]))
    array([1, 1])
    >>> signs(np.array([[0.5, 0.25]]), np.array([1.0, -2.0]))
    array([0])
    """
    used = np.flatnonzero(d)
    x, d = x[:, used], d[used]
    value, size = x @ d, np.abs(x) @ np.abs(d)
    found = np.sign(value).astype(np.int64)
    exact = [Fraction(weight) for weight in d.tolist()]
    for row in np.flatnonzero(np.abs(value) <= (len(used) + 4) * EPS * size).tolist():
        found[row] = sign(x[row].tolist(), exact)
    return found


def sign(row: Iterable[float], weights: Iterable[Fraction]) -> int:
    """Return the exact sign of one weighted sum of doubles."""
    value = sum((Fraction(cell) * weight for cell, weight in zip(row, weights, strict=True) if cell), Fraction(0))
    return (value > 0) - (value < 0)
