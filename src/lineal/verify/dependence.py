"""Which columns are combinations of others: found in floats, proven in whole numbers.

A dual point whose gradient is zero on some columns has a zero gradient on another only if that is their combination in every
digit: doubles are exact numbers, and a column that is off by one rounding error is a column of its own.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from lineal.verify.arithmetic import EPS, Array, Whole, signs, times

Index = npt.NDArray[np.intp]

DEPENDENT = 64 * EPS
"""A weighted sum of columns is zero to rounding if in every row it is at most this part of the sum of the sizes of its terms."""

ELIMINATED = 40
"""Up to so many columns the weights of a combination are found in fractions."""


class NotProvenError(Exception):
    """Nothing can be proven at this point, and why."""


def dependence(x: Array, weights: Array) -> float:
    """Return the largest |sum_j x_ij d_j| / sum_j |x_ij d_j| over the rows: 0 if d is an exact dependency of the columns."""
    size = np.abs(x) @ np.abs(weights)
    value = np.abs(times(x, weights[:, None])[:, 0])
    return float(np.max(np.where(size > 0.0, value / np.where(size > 0.0, size, 1.0), 0.0), initial=0.0))


def spanning(whole: Array, columns: Index) -> Index:
    """Return columns of which all others are combinations: found by pivoting, each checked row by row."""
    x = whole[:, columns]
    scale = np.max(np.abs(x), axis=0, initial=0.0)
    x = x / np.exp2(np.round(np.log2(np.where(scale > 0.0, scale, 1.0))))  # exact, and changes no dependency
    left, kept = x.copy(), np.zeros(len(columns), dtype=bool)
    for _ in range(min(x.shape)):
        size = np.linalg.norm(left, axis=0)
        pivot = int(np.argmax(size))
        if not size[pivot] > 1e-12 * np.linalg.norm(x[:, pivot]):
            break
        kept[pivot] = True
        unit = left[:, pivot] / size[pivot]
        left -= np.outer(unit, unit @ left)
        left -= np.outer(unit, unit @ left)
        left[:, kept] = 0.0
    base = x[:, kept]
    inverse = np.linalg.pinv(base)
    for j in np.flatnonzero(~kept):
        weights = -inverse @ x[:, j]
        weights -= inverse @ times(base, weights[:, None], x[:, j, None])[:, 0]
        both = np.column_stack([base, x[:, j]])
        if dependence(both, np.append(weights, 1.0)) > DEPENDENT or not _combined(both, weights):
            raise NotProvenError("the columns are nearly but not quite dependent")
    return columns[kept]


def _combined(x: Array, weights: Array) -> bool:
    """Whether the last column is a combination of the others, which are independent, in every digit.

    It is if there are no more rows than others; else its weights are near the given ones: simple ones, or those that as many
    rows as columns leave no choice of.
    """
    rows, others = len(x), len(weights)
    if rows <= others:
        return True
    simple = np.append(np.round(64.0 * weights) / 64.0, 1.0)
    if not np.any(signs(x, simple)):
        return True
    if others > ELIMINATED:
        return False
    found = _solved(x, _regular(x[:, :-1]))
    return found is not None and not np.any(signs(x, found))


def _regular(base: Array) -> Index:
    """Return as many rows as columns, independent as far as floats can tell."""
    left, rows = base.copy(), list[int]()
    for _ in range(base.shape[1]):
        size = np.linalg.norm(left, axis=1)
        rows.append(int(np.argmax(size)))
        unit = left[rows[-1]] / max(size[rows[-1]], 1e-300)
        left = left - np.outer(left @ unit, unit)
    return np.array(rows, dtype=np.intp)


def _solved(x: Array, rows: Index) -> Whole | None:
    """Return whole weights that make the combination of all columns zero in these rows; None where they leave a choice."""
    left = [[Fraction(cell) for cell in line] for line in x[rows].tolist()]
    size = len(left)
    for k in range(size):
        pivot = next((i for i in range(k, size) if left[i][k]), None)
        if pivot is None:
            return None
        left[k], left[pivot] = left[pivot], left[k]
        left[k] = [cell / left[k][k] for cell in left[k]]
        for i in range(size):
            if i != k and left[i][k]:
                left[i] = [a - left[i][k] * b for a, b in zip(left[i], left[k], strict=True)]
    weights = [-line[-1] for line in left] + [Fraction(1)]
    common = math.lcm(*(weight.denominator for weight in weights))
    return np.array([int(weight * common) for weight in weights], dtype=object)
