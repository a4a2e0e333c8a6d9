"""Weights, sums and moments of classes in whole numbers: nothing here is rounded before it is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.claims.training import Examples

SMALL = 2.0**15
"""Products of two whole numbers up to this are added in 64 bits, for up to 2^33 rows."""


@dataclass(frozen=True)
class Moments:
    """Of K classes and q numbers: means as the nearest doubles and what these lack, variances; the variance over all rows."""

    weight: Array
    mean: Array
    low: Array
    variance: Array
    spread: Array


@dataclass
class ClassTotals:
    """``weight`` of every class; ``sums[k]`` of every column; of numbers without missing cells ``firsts`` and ``squares``."""

    weight: list[Fraction]
    sums: list[list[Fraction]]
    firsts: list[list[Fraction]]
    squares: list[list[Fraction]]

    def moments(self, numbers: Sequence[int], markers: Sequence[int]) -> Moments:
        """Return the moments of the numbers; where a marker says so, a cell is missing."""
        classes, count = len(self.weight), len(numbers)
        mean, low, variance = (np.zeros((classes, count)) for _ in range(3))
        spread = np.zeros(count)
        for j in range(count):
            present = [self.weight[k] - (self.sums[k][markers[j]] if markers[j] >= 0 else 0) for k in range(classes)]
            for k in range(classes):
                if present[k]:
                    exact = self.firsts[k][j] / present[k]
                    mean[k, j] = float(exact)
                    low[k, j] = float(exact - Fraction(float(mean[k, j])))
                    variance[k, j] = float(self.squares[k][j] / present[k] - exact**2)
            whole = sum(present)
            if whole:
                level = sum(self.firsts[k][j] for k in range(classes)) / whole
                spread[j] = float(sum(self.squares[k][j] for k in range(classes)) / whole - level**2)
        return Moments(np.array([float(weight) for weight in self.weight]), mean, low, variance, spread)


def totals(rows: Examples, classes: int, numbers: Sequence[int], markers: Sequence[int]) -> ClassTotals:
    """Go through the rows once; the first column is the intercept, places count from the next."""
    sums: ClassTotals | None = None
    for block in rows.store:
        x, target, weight = block["x"][:, 1:], block["target"][:, 0], block["weight"]
        if sums is None:
            none = [[Fraction(0)] * x.shape[1] for _ in range(classes)]
            apart = [[[Fraction(0)] * len(numbers) for _ in range(classes)] for _ in range(2)]
            sums = ClassTotals([Fraction(0)] * classes, none, *apart)
        for k in range(classes):
            own = np.flatnonzero(target == k)
            cells, heavy = x[own], weight[own]
            sums.weight[k] += total(heavy, np.ones(len(own)), 1)
            for j in range(x.shape[1]):
                sums.sums[k][j] += total(heavy, cells[:, j], 1)
            for j, (place, marker) in enumerate(zip(numbers, markers, strict=True)):
                seen = slice(None) if marker < 0 else cells[:, marker] == 0.0
                sums.firsts[k][j] += total(heavy[seen], cells[seen, place], 1)
                sums.squares[k][j] += total(heavy[seen], cells[seen, place], 2)
    assert sums is not None
    return sums


def total(weight: Array, x: Array, power: int) -> Fraction:
    """Return ``sum weight x^power`` without rounding.

    >>> total(np.array([1.0, 0.5]), np.array([1e9, 3.0]), 2)
    Fraction(2000000000000000009, 2)
    """
    here = np.flatnonzero(x)
    x, weight = x[here], weight[here]
    small = all(np.max(np.abs(one), initial=0.0) <= SMALL and np.array_equal(one, np.trunc(one)) for one in (x, weight))
    if small and power == 1:
        return Fraction(int(np.sum(weight.astype(np.int64) * x.astype(np.int64))))
    m, e = _whole(x)
    w, f = _whole(weight)
    if not m:
        return Fraction(0)
    least = min(power * one + other for one, other in zip(e, f, strict=True))
    added = sum((s * v**power) << (power * one + other - least) for v, one, s, other in zip(m, e, w, f, strict=True))
    return Fraction(added) * Fraction(2) ** least


def _whole(x: Array) -> tuple[list[int], list[int]]:
    """Return whole numbers and exponents with ``x = m 2^e``."""
    part, exponent = np.frexp(x)
    return (part * 2.0**53).astype(np.int64).tolist(), (exponent.astype(np.int64) - 53).tolist()
