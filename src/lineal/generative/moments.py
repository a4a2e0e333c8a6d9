"""Means and variances of every class, each the nearest double to the exact one: columns may be as far from zero as they like.

``mean = B / A`` and ``variance = (A C - B^2) / A^2`` from the exact sums ``A = sum s``, ``B = sum s x``, ``C = sum s x^2``.
"""

from __future__ import annotations

import numpy as np

from lineal.generative.class_sums import ClassSums
from lineal.generative.exact_sums import ExactSums
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class ClassMoments:
    """``weight`` (K,), ``mean + low`` and ``variance`` (K, p) of the classes; ``spread`` (p,) is the variance over all rows.

    A class without rows has mean and variance zero.
    """

    weight: Array
    mean: Array
    low: Array
    variance: Array
    spread: Array


def moments(sums: ClassSums, lacking: ExactSums | None = None) -> ClassMoments:
    """Return the moments of classes from their sums of columns and of squares.

    ``lacking`` (K, p) is the weight of the rows of a class that lack a cell, whose sums hold zeros for it.
    """
    if sums.squares is None:
        raise ValueError("variances need the sums of squares")
    classes, columns = sums.sums.shape
    weights, weight_unit = _present(sums, lacking)
    firsts, first_unit = sums.sums.whole()
    seconds, second_unit = sums.squares.whole()
    mean, low, variance = (np.zeros((classes, columns)) for _ in range(3))
    for k in range(classes):
        for j in range(columns):
            first, second, weight = (numbers[k * columns + j] for numbers in (firsts, seconds, weights))
            if weight:
                mean[k, j] = ratio(first, weight, first_unit - weight_unit)
                low[k, j] = _remainder(first, weight, first_unit - weight_unit, float(mean[k, j]))
                variance[k, j] = _variance(weight, first, second, weight_unit, first_unit, second_unit)
    spread = np.zeros(columns)
    for j in range(columns):
        first, second, total = (sum(numbers[j::columns]) for numbers in (firsts, seconds, weights))
        if total:
            spread[j] = _variance(total, first, second, weight_unit, first_unit, second_unit)
    return ClassMoments(sums.weight.values(), mean, low, variance, spread)


def _present(sums: ClassSums, lacking: ExactSums | None) -> tuple[list[int], int]:
    """Return the weight behind every mean, as whole numbers of a unit."""
    columns = sums.sums.shape[1]
    weights, unit = sums.weight.whole()
    each = [weight for weight in weights for _ in range(columns)]
    if lacking is None:
        return each, unit
    gone, other = lacking.whole()
    least = min(unit, other)
    pairs = zip(each, gone, strict=True)
    return [(weight << (unit - least)) - (less << (other - least)) for weight, less in pairs], least


def _remainder(above: int, below: int, unit: int, rounded: float) -> float:
    """Return what ``above 2^unit / below`` is more than the double it was rounded to."""
    top, bottom = rounded.as_integer_ratio()
    above, below = (above << unit, below) if unit >= 0 else (above, below << -unit)
    return (above * bottom - top * below) / (below * bottom)


def _variance(weight: int, first: int, second: int, weight_unit: int, first_unit: int, second_unit: int) -> float:
    """Return ``(A C - B^2) / A^2``, whole numbers of units."""
    upper, lower = weight_unit + second_unit, 2 * first_unit
    least = min(upper, lower)
    scatter = (weight * second << (upper - least)) - (first * first << (lower - least))
    return ratio(scatter, weight * weight, least - 2 * weight_unit)


def ratio(above: int, below: int, unit: int) -> float:
    """Return ``above 2^unit / below``, rounded once.

    >>> ratio(1, 3, 1)
    0.6666666666666666
    """
    return (above << unit) / below if unit >= 0 else above / (below << -unit)
