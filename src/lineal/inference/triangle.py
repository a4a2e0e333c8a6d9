"""The triangle R of a matrix that comes in blocks, ``R'R = A'A``, and what follows from it: leverage, inflation, regressions.

``R'R`` is never formed, so that the digits of R are those of the columns and not their squares.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass

DEPENDENT_SHARE: Final = 1e-12
"""Singular values below this share of the largest, of columns of length one, belong to columns that depend on each other."""


@dataclass(frozen=True)
class Triangle:
    """A triangle whose sum with another one is that of the rows of both.

    >>> both = Triangle.of(np.array([[3.0]])) + Triangle.of(np.array([[4.0]]))
    >>> abs(float(both.factor[0, 0]))
    5.0
    """

    factor: Array

    @staticmethod
    def of(matrix: Array) -> Triangle:
        """Return the triangle of a matrix."""
        return Triangle(np.asarray(np.linalg.qr(matrix, mode="r")))

    def __add__(self, other: Triangle) -> Triangle:
        return Triangle.of(np.concatenate([self.factor, other.factor]))


@dataclass(frozen=True)
class Inverse:
    """``half half' = (A'A)^-1`` on the columns that are not zero; ``condition`` of the columns at length one."""

    half: Array
    condition: float

    @staticmethod
    def of(factor: Array) -> Inverse:
        """Return the inverse from the triangle of A; zero for columns of zeros, and along dependencies."""
        length = np.sqrt((factor**2).sum(axis=0))
        unit = np.where(length > 0.0, length, np.inf)
        _, values, turn = np.linalg.svd(factor / unit, full_matrices=False)
        kept = values > DEPENDENT_SHARE * values.max(initial=0.0)
        half = (turn[kept] / values[kept, None]).T / unit[:, None]
        used = values[: int((length > 0.0).sum())]
        least = used.min(initial=math.inf) if len(used) == (length > 0.0).sum() else 0.0
        condition = float(values.max(initial=0.0) / least) if least > 0.0 else math.inf
        return Inverse(half, condition)


def inflation(factor: Array, groups: list[Index]) -> list[float]:
    """Return the generalized variance inflation of groups of columns, given the triangle of the columns less their means.

    ``det(R_T) det(R_rest) / det(R)`` of the correlations R of all columns: for a group of one ``1 / (1 - R^2)``, R^2 that
    of the column on all others. Infinite where columns depend on each other.

    >>> round(inflation(np.linalg.cholesky(np.array([[1.0, 0.6], [0.6, 1.0]])).T, [np.array([0])])[0], 4)
    1.5625
    """
    length = np.sqrt((factor**2).sum(axis=0))
    unit = factor / np.where(length > 0.0, length, 1.0)
    _, values, turn = np.linalg.svd(unit, full_matrices=False)
    free = len(values) < factor.shape[1] or np.any(values <= DEPENDENT_SHARE * values.max(initial=0.0))
    if free or not np.all(length > 0.0):
        return [math.inf] * len(groups)
    half = turn.T / values
    answers = []
    for group in groups:
        inverse = np.linalg.slogdet(half[group] @ half[group].T)[1]
        answers.append(float(np.exp(inverse + np.linalg.slogdet(unit[:, group].T @ unit[:, group])[1])))
    return answers


def regression(factor: Array, columns: int) -> tuple[float, int]:
    """Return R^2 of the last column of A on its first ``columns``, of which the very first is ones, and their rank less one.

    >>> rows = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 2.0], [1.0, 2.0, 4.0]])
    >>> share, more = regression(Triangle.of(rows).factor, 2)
    >>> round(share, 4), more
    (0.9643, 1)
    """
    target, left = factor[:, -1], factor[:, :columns]
    length = np.sqrt((left**2).sum(axis=0))
    basis, values, _ = np.linalg.svd(left / np.where(length > 0.0, length, 1.0), full_matrices=False)
    rank = int((values > 1e-10 * values.max(initial=0.0)).sum())
    rest = target - basis[:, :rank] @ (basis[:, :rank].T @ target)
    total = float(target[1:] @ target[1:])  # (about the mean: the first row is along the ones)
    share = 1.0 - float(rest @ rest) / total if total > 0.0 else math.nan
    return share, rank - 1
