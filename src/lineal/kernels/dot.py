"""Kernels of the inner product: linear, polynomial, sigmoid."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from lineal import _core
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.kernels.kernel import SMALLEST, UNIT, Kernel, number, whole
from lineal.kernels.points import Points, Rows, compressed, in_blocks


class Dot(Kernel):
    """A function of ``x.z``."""

    @abstractmethod
    def bend(self, products: Array) -> Array:
        """Return the entries, written over the inner products."""

    def native(self) -> tuple[int, float, float, int]:
        """Return what the core makes of a product: see `_core.dense_gram`."""
        return 0, 1.0, 0.0, 1

    def _gram(self, left: Points, right: Points | None) -> Array:
        assert isinstance(left, Rows)
        assert right is None or isinstance(right, Rows)
        if not left.sparse and (right is None or not right.sparse):
            entries = _core.dense_gram(left.values, None if right is None else right.values, 0, *self.native())
            if self.native()[0] == 0:
                entries = self.bend(entries)
        elif left.sparse and (right is None or right.sparse):
            entries = in_blocks(_core.sparse_gram(*compressed(left, right)), self.bend)
        else:
            entries = in_blocks(np.ascontiguousarray(left.values @ right.values.T), self.bend)  # type: ignore[union-attr]
        if right is None:
            np.fill_diagonal(entries, self._diagonal(left))
        return entries

    def _diagonal(self, points: Points) -> Array:
        assert isinstance(points, Rows)
        return self.bend(points.squares.copy())


@dataclass(frozen=True)
class Linear(Dot):
    """``k(x, z) = x.z``.

    >>> Linear().gram([[1, 2], [3, 4]])
    array([[ 5., 11.],
           [11., 25.]])
    """

    name: ClassVar[str] = "linear"
    label: ClassVar[str] = "linear kernel"
    spelling: ClassVar[str] = "linear"

    def formula(self) -> str:
        """Return the kernel in letters."""
        return "x.z"

    def spelled(self) -> str:
        """Return its name."""
        return self.name

    def bend(self, products: Array) -> Array:
        """Return the products."""
        return products

    def _entry_error(self, points: Points, partners: Points) -> Array:
        assert isinstance(points, Rows)
        # a sum of p products in any order: |error| <= p u / (1 - p u) |x| |z|
        return np.asarray(np.sqrt(_rounding(points.terms)) * points.lengths() + SMALLEST)


@dataclass(frozen=True)
class Polynomial(Dot):
    """``k(x, z) = (gamma x.z + coef0)^degree``; with gamma 1 and coef0 1 the kernel of the notes, coef0 0 a pure power.

    >>> Polynomial(2).gram([[1, 2]], [[3, 4]])
    array([[144.]])
    """

    degree: int = 3
    coef0: float = 1.0
    gamma: float = 1.0
    name: ClassVar[str] = "poly"
    label: ClassVar[str] = "polynomial kernel"
    spelling: ClassVar[str] = "poly:DEGREE[,COEF0[,GAMMA]]"

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return one of the notes, a pure one, and one of a high degree."""
        return cls(2), cls(2, 0.0), cls(5, 0.5, 0.25), cls(1, 0.0)

    def __post_init__(self) -> None:
        whole(self.label, "degree", self.degree, most=100)
        number(self.label, "coef0", self.coef0, least=-np.inf)
        number(self.label, "gamma", self.gamma)

    @property
    def mercer(self) -> bool:
        """Whether coef0 is not negative: otherwise products of features have negative weights."""
        return self.coef0 >= 0.0

    def formula(self) -> str:
        """Return the kernel in letters."""
        product = "x.z" if self.gamma == 1.0 else f"{self.gamma:.6g} x.z"
        return f"({product} {'-' if self.coef0 < 0 else '+'} {abs(self.coef0):.6g})^{self.degree}"

    def spelled(self) -> str:
        """Return ``poly:DEGREE,COEF0,GAMMA``."""
        return f"{self.name}:{self.degree},{self.coef0!r},{self.gamma!r}"

    def native(self) -> tuple[int, float, float, int]:
        """Return the power."""
        return 2, self.gamma, self.coef0, self.degree

    def bend(self, products: Array) -> Array:
        """Return the power, by squaring."""
        products *= self.gamma
        products += self.coef0
        return _power(products, self.degree)

    def _entry_error(self, points: Points, partners: Points) -> Array:
        assert isinstance(points, Rows)
        # |gamma x.z| + |coef0| <= s_x s_z with s^2 = gamma |x|^2 + |coef0|; roundings: p + 2 of the base, each taken
        # degree times, and fewer than 2 degree of the power
        size = np.sqrt(self.gamma * points.lengths() ** 2 + abs(self.coef0)) ** self.degree * (1.0 + 2.0**-40)
        return np.asarray(np.sqrt(_rounding((points.terms + 5) * self.degree)) * size + SMALLEST)


@dataclass(frozen=True)
class Sigmoid(Dot):
    """``k(x, z) = tanh(gamma x.z + coef0)``: no Mercer kernel, so that no fit with it is called optimal.

    >>> Sigmoid(1.0, 0.0).mercer
    False
    """

    gamma: float = 1.0
    coef0: float = 0.0
    name: ClassVar[str] = "sigmoid"
    label: ClassVar[str] = "sigmoid kernel"
    spelling: ClassVar[str] = "sigmoid:GAMMA[,COEF0]"

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return two."""
        return cls(), cls(0.1, -1.0)

    def __post_init__(self) -> None:
        number(self.label, "gamma", self.gamma)
        number(self.label, "coef0", self.coef0, least=-np.inf)

    @property
    def mercer(self) -> bool:
        """Never: its Gram matrices may have negative eigenvalues."""
        return False

    def formula(self) -> str:
        """Return the kernel in letters."""
        return f"tanh({self.gamma:.6g} x.z {'-' if self.coef0 < 0 else '+'} {abs(self.coef0):.6g})"

    def spelled(self) -> str:
        """Return ``sigmoid:GAMMA,COEF0``."""
        return f"{self.name}:{self.gamma!r},{self.coef0!r}"

    def bend(self, products: Array) -> Array:
        """Return the hyperbolic tangent."""
        products *= self.gamma
        products += self.coef0
        return np.tanh(products, out=products)

    def _entry_error(self, points: Points, partners: Points) -> Array:
        assert isinstance(points, Rows)
        # tanh moves no more than its argument does; its own rounding is below 4 units of 1
        size = np.sqrt(self.gamma * points.lengths() ** 2 + abs(self.coef0) + 1.0) * (1.0 + 2.0**-40)
        return np.asarray(np.sqrt(_rounding(points.terms + 8)) * size)


def _rounding(operations: int) -> float:
    """Return ``m u / (1 - m u)``, the relative error of so many roundings."""
    return 1.01 * operations * UNIT


def _power(base: Array, degree: int) -> Array:
    """Return the power by repeated squaring, at most ``2 log2(degree)`` products one after the other."""
    if degree == 1:
        return base
    half = _power(base, degree // 2) if degree > 3 else base.copy()
    result = half * half if degree > 3 else base * base
    if degree % 2:
        result *= base
    return result
