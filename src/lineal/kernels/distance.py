"""Kernels that fall with the distance of two rows: Gaussian and Laplacian."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final, Self

import numpy as np

from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.kernels.kernel import UNIT, Array, Kernel, mirror, number
from lineal.kernels.points import Points, Rows
from lineal.kernels.words import numbers

BLOCK_BYTES: Final = 2**19
"""A block of distances that stays in cache while it is added to, column by column."""


class Distance(Kernel):
    """``k(x, z) = exp(-gamma d(x, z))``."""

    gamma: float

    def __post_init__(self) -> None:
        number(self.label, "gamma", self.gamma)

    @property
    def normal(self) -> bool:
        """Always: a point is at distance 0 from itself."""
        return True

    @abstractmethod
    def distances(self, left: Rows, right: Rows) -> Array:
        """Return the distances of rows."""

    def _gram(self, left: Points, right: Points | None) -> Array:
        other = left if right is None else right
        assert isinstance(left, Rows)
        assert isinstance(other, Rows)
        entries = np.empty((len(left), len(other)))
        lines = max(1, BLOCK_BYTES // 8 // max(1, len(other)))
        for start in range(0, len(left), lines):
            block = self.distances(left.take(np.arange(start, min(start + lines, len(left)))), other)
            block *= -self.gamma
            np.exp(block, out=entries[start : start + lines])
        if right is None:
            mirror(entries)
            np.fill_diagonal(entries, 1.0)
        return entries

    def _diagonal(self, points: Points) -> Array:
        return np.ones(len(points))


@dataclass(frozen=True)
class Gaussian(Distance):
    """``k(x, z) = exp(-gamma |x - z|^2)``, ``gamma = 1 / (2 width^2)``; typed by its width: ``rbf:WIDTH``.

    >>> Gaussian(0.5).gram([[0.0], [2.0]]).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """

    gamma: float = 1.0
    name: ClassVar[str] = "rbf"
    label: ClassVar[str] = "Gaussian kernel"
    spelling: ClassVar[str] = "rbf:WIDTH | rbf:gamma=GAMMA"

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return a usual, a wide and a narrow one."""
        return cls(0.5), cls(1e-6), cls(40.0)

    @classmethod
    def of_width(cls, width: float) -> Self:
        """Return the kernel ``exp(-|x - z|^2 / (2 width^2))``.

        >>> Gaussian.of_width(2.0)
        Gaussian(gamma=0.125)
        """
        number(cls.label, "width", width)
        gamma = 0.5 / float(width) / float(width)
        if not 0.0 < gamma < math.inf:
            raise InputError(f"the width of the Gaussian kernel is {width!r}; give a number between 1e-150 and 1e150.")
        return cls(gamma)

    @classmethod
    def parse(cls, words: tuple[str, ...], named: Mapping[str, str]) -> Kernel:
        """Return the kernel from ``WIDTH`` or ``gamma=GAMMA``."""
        given = numbers(cls, words, named, {"width": float, "gamma": float})
        if len(given) > 1:
            raise InputError("rbf has a width and a gamma = 1 / (2 width^2), of which one says it all; give one.")
        return cls.of_width(given["width"]) if "width" in given else cls(**given)

    def formula(self) -> str:
        """Return the kernel in letters."""
        return f"exp(-{self.gamma:.6g} |x - z|^2)"

    def spelled(self) -> str:
        """Return ``rbf:gamma=GAMMA``."""
        return f"{self.name}:gamma={self.gamma!r}"

    def distances(self, left: Rows, right: Rows) -> Array:
        """Return squared Euclidean distances: of dense rows from their differences, of sparse ones from inner products."""
        if left.sparse or right.sparse:
            square = left.squares[:, None] + right.squares[None, :] - 2.0 * left.products(right)
            return np.maximum(square, 0.0)
        total = np.zeros((len(left), len(right)))
        for j in range(left.width):
            difference = left.values[:, j, None] - right.values[None, :, j]
            total += np.multiply(difference, difference, out=difference)
        return total

    def _entry_error(self, points: Points, partners: Points) -> Array:
        assert isinstance(points, Rows)
        # t = gamma d has a relative error of p + 4 roundings from differences, which moves exp(-t) by at most that times
        # t exp(-t) <= 0.37; exp itself errs by a few units
        error = UNIT * (0.4 * (points.width + 4) + 8.0)
        if not points.sparse:
            return np.full(len(points), math.sqrt(error))
        # from inner products d errs by (p + 4) u (|x| + |z|)^2 <= 2 (p + 4) u (|x|^2 + |z|^2)
        scaled = 1.0 + 2.0 * self.gamma * points.lengths() ** 2
        return math.sqrt(error + 1.01 * UNIT * (points.width + 6)) * np.asarray(scaled)


@dataclass(frozen=True)
class Laplacian(Distance):
    """``k(x, z) = exp(-gamma |x - z|_1)``, the sum of absolute differences.

    >>> Laplacian(1.0).gram([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.1353]])
    """

    gamma: float = 1.0
    name: ClassVar[str] = "laplacian"
    label: ClassVar[str] = "Laplacian kernel"
    spelling: ClassVar[str] = "laplacian:GAMMA"

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return a usual and a narrow one."""
        return cls(0.5), cls(10.0)

    @classmethod
    def parse(cls, words: tuple[str, ...], named: Mapping[str, str]) -> Kernel:
        """Return the kernel from ``GAMMA``."""
        return cls(**numbers(cls, words, named, {"gamma": float}))

    def formula(self) -> str:
        """Return the kernel in letters."""
        return f"exp(-{self.gamma:.6g} sum_j |x_j - z_j|)"

    def spelled(self) -> str:
        """Return ``laplacian:GAMMA``."""
        return f"{self.name}:{self.gamma!r}"

    def distances(self, left: Rows, right: Rows) -> Array:
        """Return sums of absolute differences."""
        one, other = (rows.values.toarray() if rows.sparse else rows.values for rows in (left, right))
        total = np.zeros((len(left), len(right)))
        for j in range(left.width):
            difference = one[:, j, None] - other[None, :, j]
            total += np.abs(difference, out=difference)
        return total

    def _entry_error(self, points: Points, partners: Points) -> Array:
        assert isinstance(points, Rows)
        return np.full(len(points), math.sqrt(UNIT * (0.4 * (points.width + 4) + 8.0)))
