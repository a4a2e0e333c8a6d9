"""Kernels that fall with the distance of two rows: Gaussian and Laplacian."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from lineal import _core
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.kernels.kernel import UNIT, Kernel, number
from lineal.kernels.points import Points, Rows, compressed
from lineal.kernels.words import numbers


class Distance(Kernel):
    """``k(x, z) = exp(-gamma d(x, z))``; ``between`` is the number of the distance in the core."""

    between: ClassVar[int]
    gamma: float

    def __post_init__(self) -> None:
        number(self.label, "gamma", self.gamma)

    @property
    def normal(self) -> bool:
        """Always: a point is at distance 0 from itself."""
        return True

    def finite(self, entries: Array) -> Array:
        """Return entries as they are: differences may overflow, but exp(-infinity) is 0."""
        return entries

    @abstractmethod
    def sizes(self, rows: Rows) -> Array:
        """Return the distance of every row from zero."""

    def _gram(self, left: Points, right: Points | None) -> Array:
        assert isinstance(left, Rows)
        assert right is None or isinstance(right, Rows)
        if not left.sparse and (right is None or not right.sparse):
            return _core.dense_gram(left.values, None if right is None else right.values, self.between, 1, self.gamma)
        # d(x, z) = d(x, 0) + d(z, 0) less what they share
        one, other = (rows.compressed() for rows in (left, right or left))
        shared = _core.sparse_gram(*compressed(one, None if right is None else other), between=self.between & 2)
        mine, theirs, times = self.sizes(one), self.sizes(other), 1.0 if self.between == 2 else 2.0
        lines = max(1, 2**16 // max(1, len(other)))
        for start in range(0, len(left), lines):
            block = shared[start : start + lines]
            block *= -times
            block += mine[start : start + lines, None] + theirs[None, :]
            np.maximum(block, 0.0, out=block)
            block *= -self.gamma
            np.exp(block, out=block)
        if right is None:
            np.fill_diagonal(shared, 1.0)
        return super().finite(shared)

    def _entry_error(self, points: Points, partners: Points) -> Array:
        assert isinstance(points, Rows)
        assert isinstance(partners, Rows)
        # t = gamma d is a sum of terms from differences, with a relative error of p + 4 roundings, which moves exp(-t) by
        # at most that times t exp(-t) <= 0.37; exp itself errs by a few units
        terms = max(points.terms, partners.terms)
        error = UNIT * (0.4 * (terms + 4) + 8.0)
        if not (points.sparse or partners.sparse):
            return np.full(len(points), math.sqrt(error))
        # d(x, 0) + d(z, 0) - shared: each of the three errs by terms + 2 roundings, none is larger than the sum of the
        # first two twice; and gamma (a + b) <= (1 + gamma a) (1 + gamma b)
        scaled = 1.0 + self.gamma * self.sizes(points) * (1.0 + 2.0**-40)
        return math.sqrt(error + 4.04 * UNIT * (terms + 6)) * np.asarray(scaled)

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
    between: ClassVar[int] = 1
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
        """Return ``rbf:WIDTH`` where six digits of the width say it all, else ``rbf:gamma=GAMMA``."""
        width = f"{(0.5 / self.gamma) ** 0.5:.6g}"
        same = self.gamma == 0.5 / float(width) / float(width)
        return f"{self.name}:{width}" if same else f"{self.name}:gamma={self.gamma!r}"

    def sizes(self, rows: Rows) -> Array:
        """Return squared lengths."""
        return rows.squares


@dataclass(frozen=True)
class Laplacian(Distance):
    """``k(x, z) = exp(-gamma |x - z|_1)``, the sum of absolute differences.

    >>> Laplacian(1.0).gram([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.1353]])
    """

    gamma: float = 1.0
    between: ClassVar[int] = 2
    name: ClassVar[str] = "laplacian"
    label: ClassVar[str] = "Laplacian kernel"
    spelling: ClassVar[str] = "laplacian:GAMMA"

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return a usual and a narrow one."""
        return cls(0.5), cls(10.0)

    def formula(self) -> str:
        """Return the kernel in letters."""
        return f"exp(-{self.gamma:.6g} sum_j |x_j - z_j|)"

    def spelled(self) -> str:
        """Return ``laplacian:GAMMA``."""
        return f"{self.name}:{self.gamma!r}"

    def sizes(self, rows: Rows) -> Array:
        """Return sums of absolute numbers."""
        return rows.sums
