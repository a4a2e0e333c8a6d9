"""Sums and products whose rounding error is known: what the proof computes with."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Whole = npt.NDArray[Any]
"""An array of Python integers, of any size."""

EPS: Final = 2.0**-52
SPLIT: Final = 2.0**27 + 1
BLOCK: Final = 2**20


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``a b`` as high + low, exactly (Dekker), if nothing over- or underflows.

    >>> from fractions import Fraction
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
            used = _used(x[rows, j])  # the other rows do not change
            before = high[used]
            product, rest = two_product(x[rows, j][used, None], b[None, j, :])
            total = before + product
            part = total - before
            low[used] += ((before - (total - part)) + (product - part)) + rest
            high[used] = total
        out[rows] = high + low
    return out


def sums(x: Array, v: Array) -> Array:
    """Return ``X' V``, every entry correctly rounded from exact products.

    >>> sums(np.array([[1e16], [1.0], [-1e16]]), np.ones((3, 1)))
    array([[1.]])
    """
    out = np.empty((x.shape[1], v.shape[1]))
    for j in range(x.shape[1]):
        used = _used(x[:, j])
        for k in range(v.shape[1]):
            high, low = two_product(x[used, j], v[used, k])
            out[j, k] = math.fsum(np.concatenate([high, low]).tolist())
    return out


def _used(column: Array) -> slice | npt.NDArray[np.intp]:
    """Return the rows in which a column is not zero; all of them where most are not."""
    rows = np.flatnonzero(column)
    return rows if 2 * len(rows) < len(column) else slice(None)


def total(values: Array) -> float:
    """Return the correctly rounded sum of all entries."""
    return math.fsum(values.ravel().tolist())


def whole(x: Array) -> Whole:
    """Return every row of doubles as integers, times one power of two of its own; exact.

    >>> whole(np.array([[0.5, -3.0], [1e300, 0.0]]))[0].tolist()
    [4503599627370496, -27021597764222976]
    """
    part, power = np.frexp(x)
    digits = (part * 2.0**53).astype(np.int64)
    power = np.where(digits == 0, np.iinfo(power.dtype).max, power)
    shift = np.where(digits == 0, 0, power - np.min(power, axis=-1, keepdims=True, initial=2048))
    return np.asarray(digits.astype(object) << shift.astype(object))


def signs(x: Array, d: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the sign of every entry of ``X d``, exactly: rounded first, in integers where rounding could matter.

    ``d`` holds doubles, or Python integers of any size.

    >>> signs(np.array([[0.1, 0.2, 0.3], [1.0, 1.0, 1.0]]), np.array([1.0, 1.0, -1.0]))
    array([1, 1])
    >>> signs(np.array([[0.5, 0.25]]), np.array([10**400, -2 * 10**400], dtype=object))
    array([0])
    """
    used = np.flatnonzero(d != 0)
    x, exact = x[:, used], d[used] if d.dtype == object else whole(d[None, used])[0]
    one = 1 << max((abs(weight).bit_length() for weight in exact.tolist()), default=0)
    near = np.array([weight / one for weight in exact.tolist()], dtype=np.float64)
    with np.errstate(all="ignore"):
        value, size = x @ near, np.abs(x) @ np.abs(near)
        # the last term is what products and weights may lose by falling below the normal doubles
        lost = (len(used) + 6) * EPS * size + 1e-290 * (1.0 + np.max(np.abs(x), axis=1, initial=0.0))
        unsure = np.flatnonzero(~(np.isfinite(value) & (np.abs(value) > lost)))
        found = np.sign(np.nan_to_num(value)).astype(np.int64)
    for start in range(0, len(unsure), BLOCK // 64):
        rows = unsure[start : start + BLOCK // 64]
        sums = whole(x[rows]) @ exact if len(used) else np.zeros(len(rows), dtype=object)
        found[rows] = (sums > 0).astype(np.int64) - (sums < 0)
    return found
