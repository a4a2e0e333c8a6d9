"""Which columns are combinations of others: found in floats, checked row by row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lineal.verify.arithmetic import EPS, Array, times

Index = npt.NDArray[np.intp]

DEPENDENT = 64 * EPS
"""A weighted sum of columns is zero if in every row it is at most this part of the sum of the sizes of its terms."""


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
        if dependence(np.column_stack([base, x[:, j]]), np.append(weights, 1.0)) > DEPENDENT:
            raise NotProvenError("the columns are nearly but not quite dependent")
    return columns[kept]
