"""Which columns are combinations of others: found in floats, proven in whole numbers.

A dual point whose gradient is zero on some columns has a zero gradient on another only if that is their combination in every
digit: doubles are exact numbers, and a column that is off by one rounding error is a column of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from lineal.verify.arithmetic import EPS, Array, Index, Whole, signs, times
from lineal.verify.problem.formulas import Training

DEPENDENCE_SHARE = 64 * EPS
"""A weighted sum of columns is zero to rounding if in every row it is at most this part of the sum of the sizes of its terms."""


class NotProvenError(Exception):
    """Nothing can be proven at this point, and why."""


def dependence(x: Array, weights: Array) -> float:
    """Return the largest |sum_j x_ij d_j| / sum_j |x_ij d_j| over the rows: 0 if d is an exact dependency of the columns."""
    size = np.abs(x) @ np.abs(weights)
    value = np.abs(times(x, weights[:, None])[:, 0])
    return float(np.max(np.where(size > 0.0, value / np.where(size > 0.0, size, 1.0), 0.0), initial=0.0))


@dataclass(frozen=True)
class Columns:
    """Some columns of a design, each in a unit of its own: a power of two, so that no dependency changes."""

    design: Training
    chosen: Index

    @cached_property
    def unit(self) -> Array:
        """The powers of two."""
        scale = self.design.extent.x[self.chosen]
        return np.asarray(np.exp2(np.round(np.log2(np.where(scale > 0.0, scale, 1.0)))))

    def blocks(self) -> Iterator[Array]:
        """Yield the columns, some rows at a time."""
        for block in self.design.blocks():
            yield block.x[:, self.chosen] / self.unit


def triangle(x: Array) -> Array:
    """Return R of a matrix Q R with orthonormal columns Q."""
    return np.asarray(np.linalg.qr(x, mode="r"))


def spanning(design: Training, columns: Index) -> Index:
    """Return columns of which all others are combinations: found by pivoting, each checked row by row."""
    x = Columns(design, columns)
    factor = np.zeros((0, len(columns)))
    for part in x.blocks():
        factor = triangle(np.vstack([factor, part]))
    left, kept = factor.copy(), np.zeros(len(columns), dtype=bool)
    for _ in range(min(left.shape)):
        size = np.linalg.norm(left, axis=0)
        pivot = int(np.argmax(size))
        if not size[pivot] > 1e-12 * np.linalg.norm(factor[:, pivot]):
            break
        kept[pivot] = True
        unit = left[:, pivot] / size[pivot]
        left -= np.outer(unit, unit @ left)
        left -= np.outer(unit, unit @ left)
        left[:, kept] = 0.0
    others = np.flatnonzero(~kept)
    if len(others):
        weights = _weights(x, factor, np.flatnonzero(kept), others)
        if not _combined(x, np.flatnonzero(kept), others, weights):
            raise NotProvenError("the columns are nearly but not quite dependent")
    return columns[kept]


def spanned(design: Training) -> tuple[Index, str]:
    """Return the unpenalized columns of which all others are combinations; all, and why, where that is not proven."""
    try:
        return spanning(design, design.unpenalized), ""
    except NotProvenError as error:
        return design.unpenalized, str(error)


def _weights(x: Columns, factor: Array, base: Index, others: Index) -> Array:
    """Return weights of the base columns that take each other column away: least squares, with one correction."""
    inverse = np.linalg.pinv(factor[:, base])
    weights = -inverse @ factor[:, others]
    # (A'A)^-1 A' r, with the residuals r in twice the digits
    right = sum(part[:, base].T @ times(part[:, base], weights, part[:, others]) for part in x.blocks())
    return np.asarray(weights - inverse @ (inverse.T @ np.asarray(right)))


def _combined(x: Columns, base: Index, others: Index, weights: Array) -> bool:
    """Whether every other column is a combination of the base, whose columns are independent, in every digit.

    It is if there are no more rows than base columns; else its weights are near the given ones: simple ones, or those that as
    many rows as columns leave no choice of.
    """
    rows = 0
    # where a row holds zeros, what rounding left of the weights is all that is seen of it: the largest row is the measure
    value, size = np.zeros(len(others)), np.zeros(len(others))
    simple = np.vstack([np.round(64.0 * weights) / 64.0, np.ones(len(others))])
    plain = np.ones(len(others), dtype=bool)
    chosen = np.zeros((0, len(base) + len(others)))
    for part in x.blocks():
        rows += len(part)
        for k, j in enumerate(others):
            both = part[:, [*base, j]]
            own = np.append(weights[:, k], 1.0)
            value[k] = max(value[k], np.max(np.abs(times(both, own[:, None])), initial=0.0))
            size[k] = max(size[k], np.max(np.abs(both) @ np.abs(own), initial=0.0))
            plain[k] = plain[k] and not np.any(signs(both, simple[:, k]))
        some = np.vstack([chosen, part[:, [*base, *others]]])
        chosen = some[_regular(some[:, : len(base)])]
    # fractions of more than 40 columns grow too long
    if np.any(value > DEPENDENCE_SHARE * size) or (rows > len(base) > 40 and not np.all(plain)):
        return False
    left = [] if rows <= len(base) else np.flatnonzero(~plain).tolist()
    exact = {k: _solved(chosen[:, [*range(len(base)), len(base) + k]]) for k in left}
    if any(whole is None for whole in exact.values()):
        return False
    return not any(
        np.any(signs(part[:, [*base, others[k]]], whole))
        for part in (x.blocks() if exact else ())
        for k, whole in exact.items()
        if whole is not None
    )


def _regular(base: Array) -> Index:
    """Return as many rows as columns, independent as far as floats can tell."""
    left, rows = base.copy(), list[int]()
    for _ in range(min(base.shape)):
        size = np.linalg.norm(left, axis=1)
        rows.append(int(np.argmax(size)))
        unit = left[rows[-1]] / max(size[rows[-1]], 1e-300)
        left = left - np.outer(left @ unit, unit)
    return np.array(rows, dtype=np.intp)


def _solved(x: Array) -> Whole | None:
    """Return whole weights that make the combination of all columns zero in all rows; None where they leave a choice."""
    left = [[Fraction(cell) for cell in line] for line in x.tolist()]
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
