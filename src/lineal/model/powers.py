"""Coefficients of polynomials on the powers people write, from those of a basis that keeps digits: exact, rounded once."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Powers:
    """``readable = L coef``: for every readable column its name and its row of L, exact.

    >>> Powers(("(intercept)", "x"), ({0: Fraction(1), 1: Fraction(-2)}, {1: Fraction(1, 2)})).apply(np.array([[5.0], [2.0]]))
    array([[1.],
           [1.]])
    """

    columns: tuple[str, ...]
    rows: tuple[Mapping[int, Fraction], ...]

    def apply(self, coef: Array) -> Array:
        """Return the readable coefficients."""
        applied = np.empty((len(self.rows), coef.shape[1]))
        for j, row in enumerate(self.rows):
            for k in range(coef.shape[1]):
                applied[j, k] = _sum(row, coef[:, k])
        return applied

    def covariance(self, covariance: Array, outputs: int) -> Array:
        """Return ``L C L'`` for every pair of outputs; C is output-major."""
        p = covariance.shape[0] // outputs
        spread = np.empty((len(self.rows) * outputs,) * 2)
        for a in range(outputs):
            for b in range(outputs):
                block = covariance[a * p : (a + 1) * p, b * p : (b + 1) * p]
                half = [[_exact(row, block[:, k]) for k in range(p)] for row in self.rows]
                for i, line in enumerate(half):
                    for j, row in enumerate(self.rows):
                        spread[a * len(self.rows) + i, b * len(self.rows) + j] = float(
                            sum((share * line[k] for k, share in row.items()), Fraction(0))
                        )
        return spread


def _sum(row: Mapping[int, Fraction], values: Array) -> float:
    if len(row) == 1:
        (place, share), *_ = row.items()
        if share == 1:
            return float(values[place])  # also where it is not finite
    if not all(np.isfinite(values[k]) for k in row):
        return float("nan")
    return float(_exact(row, values))


def _exact(row: Mapping[int, Fraction], values: Array) -> Fraction:
    return sum((share * Fraction(float(values[k])) for k, share in row.items()), Fraction(0))
