"""Sums and products whose rounding error is known: what the proof computes with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Whole = npt.NDArray[Any]
"""An array of Python integers, of any size."""

EPS: Final = 2.0**-52
"""The distance from 1 to the next double."""
BLOCK_CELLS: Final = 2**20
"""Scores, or 64ths of integers, that are worked on at a time, so that memory stays small."""
DOUBLED: Final = 2.0**-84
"""Rounding of a sum with twice the digits, as a share of the sizes of its terms: EPS^2 times 2^20 blocks and halvings."""


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``a b`` as high + low, exactly (Dekker), if nothing over- or underflows.

    >>> from fractions import Fraction
    >>> high, low = two_product(np.array([0.1]), np.array([0.1]))
    >>> Fraction(high[0]) + Fraction(low[0]) == Fraction(0.1) ** 2
    True
    """
    high = a * b
    a1, b1 = (2.0**27 + 1) * a, (2.0**27 + 1) * b  # Veltkamp's split: 26 digits each
    a1, b1 = a1 - (a1 - a), b1 - (b1 - b)
    a2, b2 = a - a1, b - b1
    return high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``a + b`` as high + low, exactly (Knuth).

    >>> two_sum(np.array([1e16]), np.array([1.0]))
    (array([1.e+16]), array([1.]))
    """
    high = a + b
    part = high - a
    return high, (a - (high - part)) + (b - part)


def times(x: Array, b: Array, start: Array | None = None) -> Array:
    """Return ``X B (+ start)`` as if computed with twice the digits, then rounded (Ogita, Rump and Oishi's Dot2).

    The error of an entry is at most EPS |entry| + (p EPS)^2 sum_j |x_ij b_jk|.

    >>> times(np.array([[1e16, 1.0, -1e16]]), np.ones((3, 1)))
    array([[1.]])
    """
    n, p = x.shape
    out = np.zeros((n, b.shape[1])) if start is None else np.broadcast_to(start, (n, b.shape[1])).copy()
    if _sparse(x):
        row, column = np.nonzero(x)
        places = row[np.flatnonzero(np.diff(row, prepend=-1))]
        for k in range(b.shape[1]):
            high, low = two_product(x[row, column], b[column, k])
            high, low = _by_segment(high, low, row)
            high, rest = two_sum(out[places, k], high)
            out[places, k] = high + (rest + low)
        return out
    step = max(1, BLOCK_CELLS // max(1, b.shape[1]))
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        high, low = out[rows], np.zeros_like(out[rows])
        for j in range(p):
            product, rest = two_product(x[rows, j, None], b[None, j, :])
            high, lost = two_sum(high, product)
            low += lost + rest
        out[rows] = high + low
    return out


def sums(x: Array, v: Array) -> Array:
    """Return ``X' V``, every entry rounded once from sums with twice the digits.

    >>> sums(np.array([[1e16], [1.0], [-1e16]]), np.ones((3, 1)))
    array([[1.]])
    """
    high, low = double_sums(x, v)
    return high + low


def double_sums(x: Array, v: Array) -> tuple[Array, Array]:
    """Return ``X' V`` as high + low; its error is at most DOUBLED |X|'|V|, also of many blocks added by `added`.

    >>> high, low = double_sums(np.array([[1.0], [2.0**-60]]), np.ones((2, 1)))
    >>> float(high[0, 0]), float(low[0, 0]) * 2.0**60
    (1.0, 1.0)
    """
    n, p = x.shape
    high, low = np.zeros((p, v.shape[1])), np.zeros((p, v.shape[1]))
    if _sparse(x):
        column, row = np.nonzero(x.T)
        places = column[np.flatnonzero(np.diff(column, prepend=-1))]
        for k in range(v.shape[1]):
            high[places, k], low[places, k] = _by_segment(*two_product(x[row, column], v[row, k]), column)
        return high, low
    step = max(256, 2**16 // max(1, p))  # what is multiplied and added stays in the cache
    for begin in range(0, n, step):
        part = x[begin : begin + step]
        for k in range(v.shape[1]):
            one, rest = _by_halves(*two_product(part, v[begin : begin + step, k, None]))
            high[:, k], lost = two_sum(high[:, k], one)
            low[:, k] += lost + rest
    return high, low


def added(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the sum of two sums of high and low parts."""
    high, lost = two_sum(first[0], second[0])
    return high, first[1] + second[1] + lost


def _by_halves(high: Array, low: Array) -> tuple[Array, Array]:
    """Return the sums over the rows, the later half added to the earlier until one is left."""
    while len(high) > 1:
        half = len(high) // 2
        rest = high[2 * half :], low[2 * half :]
        top, lost = two_sum(high[:half], high[half : 2 * half])
        low = low[:half] + low[half : 2 * half] + lost
        high = top
        if len(rest[0]):
            high, low = np.concatenate([high, rest[0]]), np.concatenate([low, rest[1]])
    return (high[0], low[0]) if len(high) else (np.zeros(high.shape[1:]), np.zeros(high.shape[1:]))


def _by_segment(high: Array, low: Array, keys: npt.NDArray[np.intp]) -> tuple[Array, Array]:
    """Return the sums over runs of equal keys: neighbours of one run are added until every run is one number."""
    while len(keys):
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        if len(first) == len(keys):
            break
        count = np.diff(first, append=len(keys))
        place = np.arange(len(keys)) - np.repeat(first, count)
        left = np.flatnonzero(place % 2 == 0)
        paired = left[(place[left] + 1) < np.repeat(count, count)[left]]
        top, lost = two_sum(high[paired], high[paired + 1])
        low = low.copy()
        low[paired] += low[paired + 1] + lost
        high = high.copy()
        high[paired] = top
        high, low, keys = high[left], low[left], keys[left]
    return high, low


def _sparse(x: Array) -> bool:
    """Whether a wide matrix is mostly zeros, so that going through the others pays."""
    return x.shape[1] >= 64 and 8 * int(np.count_nonzero(x)) < x.size


def total(values: Array) -> float:
    """Return the correctly rounded sum of all entries; infinite where they are too large for doubles."""
    return summed(values.ravel().tolist())


def summed(values: Iterable[float]) -> float:
    """Return the correctly rounded sum of some numbers; infinite where they are too large for doubles.

    >>> summed([1e308, 1e308, 1e308]), summed([1e16, 1.0, -1e16])
    (inf, 1.0)
    """
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf


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
        sign = np.sign(np.nan_to_num(value)).astype(np.int64)
    for start in range(0, len(unsure), BLOCK_CELLS // 64):
        rows = unsure[start : start + BLOCK_CELLS // 64]
        sums = whole(x[rows]) @ exact if len(used) else np.zeros(len(rows), dtype=object)
        sign[rows] = (sums > 0).astype(np.int64) - (sums < 0)
    return sign
