"""Kernels of rows by their formulas, in plain numpy, each entry with a bound on its rounding error.

A kernel of a file is an object: its name, its numbers, the kernels it is made of. Bounds hold for the kernel of the doubles that
are given, as a formula: a sum of p products is off by ``p EPS |x| |z|``, one of p terms above zero by ``p EPS`` of itself, and
``exp(-t)`` moves by at most 0.37 times the relative error of t.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import EPS, Array

Entries = tuple[Array, Array]
"""Entries, and how far each may be off: arrays of one shape."""
DEEPEST: Final = 20
"""Layers of a kernel that is made of kernels."""
LOST: Final = 1e-290
"""More than falls below the smallest doubles on the way."""


class Kernel(ABC):
    """A symmetric function of two rows; ``definite`` says that every matrix of its exact entries is positive semi-definite."""

    definite: bool = True

    @abstractmethod
    def between(self, x: Any, z: Any) -> Entries:
        """Return the entries of some rows with some others."""

    @abstractmethod
    def own(self, x: Any) -> Entries:
        """Return the entry of every row with itself."""


@dataclass(frozen=True)
class Dot(Kernel):
    """``bend(x.z)``."""

    def between(self, x: Any, z: Any) -> Entries:
        """Return the entries of some rows with some others."""
        return self._bent(x @ z.T, np.outer(_lengths(x), _lengths(z)), x.shape[1])

    def own(self, x: Any) -> Entries:
        """Return the entry of every row with itself."""
        return self._bent(np.sum(x * x, axis=1), _lengths(x) ** 2, x.shape[1])

    @abstractmethod
    def _bent(self, products: Array, most: Array, columns: int) -> Entries:
        """Return entries from products that are at most ``most``."""


@dataclass(frozen=True)
class Linear(Dot):
    """``x.z``."""

    def _bent(self, products: Array, most: Array, columns: int) -> Entries:
        return products, EPS * columns * most + LOST


@dataclass(frozen=True)
class Polynomial(Dot):
    """``(gamma x.z + coef0)^degree``."""

    degree: int
    coef0: float
    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "definite", self.coef0 >= 0.0)

    def _bent(self, products: Array, most: Array, columns: int) -> Entries:
        base, size = self.gamma * products + self.coef0, self.gamma * most + abs(self.coef0)
        power, largest = np.ones_like(base), np.ones_like(size)
        for _ in range(self.degree):  # one after the other: every factor adds its roundings
            power, largest = power * base, largest * size
        return power, EPS * (self.degree * (columns + 5)) * largest * (1.0 + 1e-9) + LOST


@dataclass(frozen=True)
class Falling(Kernel):
    """``exp(-gamma d(x, z))``, d a sum over columns of |x_j - z_j| or of its square."""

    gamma: float
    squared: bool

    def between(self, x: Any, z: Any) -> Entries:
        """Return the entries of some rows with some others."""
        far = np.zeros((len(x), len(z)))
        for j in range(x.shape[1]):
            apart = np.subtract.outer(x[:, j], z[:, j])
            far += np.square(apart, out=apart) if self.squared else np.abs(apart, out=apart)
        far *= -self.gamma
        np.exp(far, out=far)
        return far, np.full_like(far, EPS * (0.37 * (x.shape[1] + 4) + 4.0))

    def own(self, x: Any) -> Entries:
        """Return one for every row, exactly."""
        return np.ones(len(x)), np.zeros(len(x))


@dataclass(frozen=True)
class Composed(Kernel):
    """What is made of several kernels, one after the other."""

    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "definite", all(part.definite for part in self.parts))

    def between(self, x: Any, z: Any) -> Entries:
        """Return the entries of some rows with some others."""
        return self._joined([part.between(x, z) for part in self.parts])

    def own(self, x: Any) -> Entries:
        """Return the entry of every row with itself."""
        return self._joined([part.own(x) for part in self.parts])

    def _joined(self, all_entries: list[Entries]) -> Entries:
        whole, error = all_entries[0]
        for entries, more in all_entries[1:]:
            whole, error = self._next(whole, error, entries, more)
        return whole, error

    @abstractmethod
    def _next(self, whole: Array, error: Array, entries: Array, more: Array) -> Entries:
        """Return the entries so far with those of the next part."""


@dataclass(frozen=True)
class Sum(Composed):
    """A sum of kernels."""

    def _next(self, whole: Array, error: Array, entries: Array, more: Array) -> Entries:
        total = whole + entries
        return total, (error + more) * (1.0 + 4 * EPS) + EPS * np.abs(total)


@dataclass(frozen=True)
class Product(Composed):
    """A product of kernels."""

    def _next(self, whole: Array, error: Array, entries: Array, more: Array) -> Entries:
        product = whole * entries
        off = error * (np.abs(entries) + more) + np.abs(whole) * more
        return product, off * (1.0 + 8 * EPS) + EPS * np.abs(product) + LOST


@dataclass(frozen=True)
class Normalized(Kernel):
    """``k(x, z) / sqrt(k(x, x) k(z, z))``, 0 where one of the two is zero."""

    base: Kernel

    def between(self, x: Any, z: Any) -> Entries:
        """Return the entries of some rows with some others."""
        (one, lost), (other, missed) = self._roots(x), self._roots(z)
        entries, error = self.base.between(x, z)
        shown = entries / one[:, None] / other
        # 1 / sqrt(1 + r) is between 1 - |r| and 1 + |r| for |r| <= 1/4
        wide = (1.0 + lost)[:, None] * (1.0 + missed)
        off = (np.abs(shown) + error / one[:, None] / other) * wide - np.abs(shown) + 8 * EPS * np.abs(shown)
        zero = np.isinf(one)[:, None] | np.isinf(other)
        return np.where(zero, 0.0, shown), np.where(zero, 0.0, off)

    def own(self, x: Any) -> Entries:
        """Return one for every row that is not zero, exactly."""
        return np.isfinite(self._roots(x)[0]).astype(np.float64), np.zeros(len(x))

    def _roots(self, x: Any) -> Entries:
        """Return the root of every row's own entry, infinite where that is zero, and its relative error."""
        value, error = self.base.own(x)
        there = value > 0.0
        share = np.where(there, error / np.where(there, value, 1.0), 0.0)
        return np.where(there, np.sqrt(np.where(there, value, 1.0)), np.inf), np.where(share <= 0.25, share, np.inf)


def _lengths(x: Array) -> Array:
    """Return an upper bound on the length of every row."""
    return np.asarray(np.sqrt(np.sum(x * x, axis=1)) * (1.0 + EPS * (x.shape[1] + 4)) + LOST)


Leaf = Callable[[str, Mapping[str, Any]], Kernel]
"""What makes a kernel of its name and members, one that is not made of kernels."""


def take(data: Any) -> Kernel:
    """Return the kernel of rows that a model file names, or refuse the file.

    >>> take({"kernel": "rbf", "gamma": 0.5}).between(np.zeros((1, 1)), np.full((1, 1), 2.0))[0].round(4)
    array([[0.1353]])
    """
    return taken(data, _of_rows)


def taken(data: Any, leaf: Leaf, layer: int = 0) -> Kernel:
    """Return a kernel whose parts are all made by ``leaf``."""
    if not isinstance(data, Mapping) or layer > DEEPEST:
        raise ModelFileError("the kernel of the feature map is not a kernel that this checker can read.")
    name = data.get("kernel")
    if name == "normalized":
        base = taken(member(data, "base")["base"], leaf, layer + 1)
        if not base.definite:
            raise ModelFileError("a normalized kernel must be made of a positive semi-definite one.")
        return Normalized(base)
    if name in ("sum", "product"):
        parts = member(data, "parts")["parts"]
        if not isinstance(parts, list) or len(parts) < 2:
            raise ModelFileError("a sum or product of kernels must have two parts or more.")
        return (Sum if name == "sum" else Product)(tuple(taken(part, leaf, layer + 1) for part in parts))
    return leaf(str(name), data)


def member(data: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """Return the members of a kernel, which must be these and no others."""
    if set(data) != {"kernel", *names}:
        raise ModelFileError(
            f"the kernel {data['kernel']} must have the members kernel{', '.join(['', *names])} alone."
        )
    return data


def _of_rows(name: str, data: Mapping[str, Any]) -> Kernel:
    """Return a kernel of rows."""
    if name == "linear":
        member(data)
        return Linear()
    if name == "poly":
        member(data, "degree", "coef0", "gamma")
        return Polynomial(whole(data, "degree", 100), number(data, "coef0", -math.inf), number(data, "gamma"))
    if name in ("rbf", "laplacian"):
        return Falling(number(member(data, "gamma"), "gamma"), squared=name == "rbf")
    if name == "sigmoid":
        raise ModelFileError(
            "the sigmoid is not positive semi-definite, so that nothing can be proven of a fit with it."
        )
    raise ModelFileError(f"this checker does not know kernels of rows that are called {name!r}.")


def number(data: Mapping[str, Any], name: str, least: float = 0.0) -> float:
    """Return a finite number above ``least``."""
    value = data[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= least:
        raise ModelFileError(f"{name} of the kernel is {value!r}, which it cannot be.")
    return float(value)


def whole(data: Mapping[str, Any], name: str, most: int) -> int:
    """Return a whole number from 1 to ``most``."""
    value = data[name]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ModelFileError(f"{name} of the kernel is {value!r}, which it cannot be.")
    return value
