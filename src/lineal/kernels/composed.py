"""Kernels made of kernels: sums, products, and kernels scaled to one on the diagonal."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.kernels.distance import Gaussian, Laplacian
from lineal.kernels.dot import Linear, Polynomial
from lineal.kernels.kernel import SMALLEST, UNIT, Kernel, Takes, expect, from_file
from lineal.kernels.points import Points
from lineal.kernels.texts import Spectrum, Subsequence

PIECE_ENTRIES: Final = 1 << 19
"""Entries of every part that are made at once where there are more: 4 MiB."""


class Composed(Kernel):
    """What sums and products share: parts that take the same points."""

    parts: tuple[Kernel, ...]
    sign: ClassVar[str]

    def __post_init__(self) -> None:
        parts = self.parts
        if not isinstance(parts, tuple) or len(parts) < 2 or not all(isinstance(part, Kernel) for part in parts):
            raise InputError(f"a {self.label} has a tuple of two kernels or more, got {parts!r}.")
        kinds = sorted({part.takes for part in parts})
        if len(kinds) > 1:
            raise InputError(
                f"the parts of a {self.label} must take the same points; these take {' and '.join(kinds)}."
            )

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        """What the parts take."""
        return self.parts[0].takes

    @property
    def saved(self) -> bool:  # type: ignore[override]
        """Whether all parts can be saved."""
        return all(part.saved for part in self.parts)

    @property
    def mercer(self) -> bool:
        """Whether all parts are: sums and products keep it."""
        return all(part.mercer for part in self.parts)

    @property
    def bounded(self) -> bool:
        """Whether rounding is known: the entries of a part are bounded by its diagonal only if it is Mercer's."""
        return self.mercer

    @classmethod
    def parse(cls, words: tuple[str, ...], named: Mapping[str, str]) -> Kernel:
        """Refuse: composed kernels are written with their sign."""
        raise InputError(f"a {cls.label} is written {cls.spelling}.")

    @classmethod
    def member(cls, name: str, value: Any) -> Any:
        """Return the parts from a file."""
        expect(isinstance(value, list), f"has no list of {name!r}")
        return tuple(from_file(one) for one in value)

    def points(self, X: Any, name: str = "X") -> Points:
        """Return points as the first part has them."""
        return self.parts[0].points(X, name)

    def formula(self) -> str:
        """Return the parts in brackets."""
        return self.sign.join(f"({part.formula()})" for part in self.parts)

    def spelled(self) -> str:
        """Return the parts with their sign between them."""
        return self.sign.join(
            f"({part.spelled()})" if isinstance(part, Composed) else part.spelled() for part in self.parts
        )

    @abstractmethod
    def joined(self, total: Array, entries: Array) -> Array:
        """Return entries of the parts so far with those of the next, written over the former."""

    def _gram(self, left: Points, right: Points | None) -> Array:
        """Return the matrix, of many rows some at a time: two whole matrices would be twice the memory."""
        others = left if right is None else right
        if self.takes != "rows" or len(left) * len(others) <= PIECE_ENTRIES:
            return self._at_once(left, right)
        out = np.empty((len(left), len(others)))
        lines = max(1, PIECE_ENTRIES // len(others))
        for first in range(0, len(left), lines):
            last = min(first + lines, len(left))
            some = left.take(np.arange(first, last))
            if right is not None:
                out[first:last] = self._at_once(some, right)
                continue
            out[first:last, first:last] = self._at_once(some, None)
            out[first:last, last:] = self._at_once(some, left.take(np.arange(last, len(left))))
            out[last:, first:last] = out[first:last, last:].T
        return out

    def _at_once(self, left: Points, right: Points | None) -> Array:
        total = self.parts[0].gram(left, right).copy()
        for part in self.parts[1:]:
            total = self.joined(total, part.gram(left, right))
        return total

    def _diagonal(self, points: Points) -> Array:
        total = self.parts[0].diagonal(points)
        for part in self.parts[1:]:
            total = self.joined(total, part.diagonal(points))
        return total

    def _sizes(self, points: Points, partners: Points) -> list[Array]:
        """Return a number s_i for every part with ``|k(x_i, z_j)| <= s_i s_j``, exact and computed entries alike."""
        return [size(part, points, partners) for part in self.parts]


def size(kernel: Kernel, points: Points, partners: Points) -> Array:
    """Return ``s_i`` with ``|k(x_i, z_j)| <= s_i s_j``: the root of ``k(x_i, x_i)`` of a Mercer kernel, with its rounding."""
    if not kernel.mercer:
        raise InputError(
            f"the rounding of a kernel made of a {kernel.label} is not bounded, since it is not Mercer's; use it alone."
        )
    error = kernel.entry_error(points, partners)
    return np.sqrt(np.maximum(kernel.diagonal(points), 0.0) + error**2) * (1.0 + 2.0**-50) + error


@dataclass(frozen=True)
class Sum(Composed):
    """``k(x, z) = k_1(x, z) + k_2(x, z) + ...``.

    >>> Sum((Linear(), Polynomial(2))).gram([[2.0]])
    array([[29.]])
    """

    parts: tuple[Kernel, ...]
    name: ClassVar[str] = "sum"
    label: ClassVar[str] = "sum of kernels"
    spelling: ClassVar[str] = "KERNEL + KERNEL"
    sign: ClassVar[str] = " + "

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return one of rows and one of texts."""
        return cls((Linear(), Gaussian(0.5))), cls((Spectrum(1, "words"), Normalized(Spectrum(2)), Subsequence(2)))

    def joined(self, total: Array, entries: Array) -> Array:
        """Return the sum."""
        total += entries
        return total

    def _entry_error(self, points: Points, partners: Points) -> Array:
        # (sum_k a_k b_k) <= |a| |b|; each entry is rounded once more for every part behind the first
        rounding = 1.01 * UNIT * len(self.parts)
        square = sum(part.entry_error(points, partners) ** 2 for part in self.parts)
        return np.asarray(
            np.sqrt(square + rounding * sum(s**2 for s in self._sizes(points, partners))) * (1.0 + 2.0**-50)
        )


@dataclass(frozen=True)
class Product(Composed):
    """``k(x, z) = k_1(x, z) k_2(x, z) ...``.

    >>> Product((Linear(), Linear())).gram([[2.0]])
    array([[16.]])
    """

    parts: tuple[Kernel, ...]
    name: ClassVar[str] = "product"
    label: ClassVar[str] = "product of kernels"
    spelling: ClassVar[str] = "KERNEL * KERNEL"
    sign: ClassVar[str] = " * "

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return one of rows and one that holds a sum."""
        return cls((Linear(), Laplacian(0.5))), cls((Sum((Linear(), Polynomial(2))), Gaussian(1.0)))

    def joined(self, total: Array, entries: Array) -> Array:
        """Return the product."""
        total *= entries
        return total

    def _entry_error(self, points: Points, partners: Points) -> Array:
        # each part may err while the others are as large as can be: a sum over parts of products, as above
        sizes = self._sizes(points, partners)
        errors = [part.entry_error(points, partners) for part in self.parts]
        whole = np.prod(sizes, axis=0)
        square = 1.01 * UNIT * len(sizes) * whole**2
        for k, error in enumerate(errors):
            square = square + (error * np.prod([s for i, s in enumerate(sizes) if i != k], axis=0)) ** 2
        return np.asarray(np.sqrt(square) * (1.0 + 2.0**-50) + SMALLEST)


@dataclass(frozen=True)
class Normalized(Kernel):
    """``k(x, z) / sqrt(k(x, x) k(z, z))``: the cosine of the angle between ``phi(x)`` and ``phi(z)``; 0 where one is zero.

    >>> Normalized(Spectrum(2)).gram(["banana", "ananas", ""]).round(3)
    array([[1.   , 0.889, 0.   ],
           [0.889, 1.   , 0.   ],
           [0.   , 0.   , 0.   ]])
    """

    base: Kernel
    name: ClassVar[str] = "normalized"
    label: ClassVar[str] = "normalized kernel"
    spelling: ClassVar[str] = "normalized(KERNEL)"

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return one of rows and one of texts."""
        return cls(Polynomial(2)), cls(Subsequence(3, 0.5))

    @classmethod
    def parse(cls, words: tuple[str, ...], named: Mapping[str, str]) -> Kernel:
        """Refuse: the kernel stands in brackets."""
        raise InputError(f"a {cls.label} is written {cls.spelling}.")

    def __post_init__(self) -> None:
        if not isinstance(self.base, Kernel):
            raise InputError(f"a normalized kernel is made of a kernel, got {self.base!r}.")
        if not self.base.mercer:
            raise InputError(
                f"the {self.base.label} is not Mercer's, and k(x, x) may be negative; only Mercer kernels are normalized."
            )

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        """What the kernel takes."""
        return self.base.takes

    @property
    def saved(self) -> bool:  # type: ignore[override]
        """Whether the kernel can be saved."""
        return self.base.saved

    @classmethod
    def member(cls, name: str, value: Any) -> Any:
        """Return the kernel from a file."""
        return from_file(value)

    def points(self, X: Any, name: str = "X") -> Points:
        """Return points as the kernel has them."""
        return self.base.points(X, name)

    def formula(self) -> str:
        """Return the kernel in letters."""
        return f"k(x, z) / sqrt(k(x, x) k(z, z)), k = {self.base.formula()}"

    def spelled(self) -> str:
        """Return ``normalized(KERNEL)``."""
        return f"{self.name}({self.base.spelled()})"

    def _gram(self, left: Points, right: Points | None) -> Array:
        entries = self.base.gram(left, right)
        one = self._scale(np.diagonal(entries) if right is None else self.base.diagonal(left))
        other = one if right is None else self._scale(self.base.diagonal(right))
        # in one go: the two factors could leave the range of doubles one after the other, and both halves have to agree
        for i in range(len(entries)):
            entries[i] *= one[i] * other
        if right is None:
            np.fill_diagonal(entries, one > 0.0)
        return entries

    def _diagonal(self, points: Points) -> Array:
        return (self.base.diagonal(points) > 0.0).astype(np.float64)

    @staticmethod
    def _scale(diagonal: Array) -> Array:
        return np.where(diagonal > 0.0, 1.0 / np.sqrt(diagonal), 0.0)

    def _entry_error(self, points: Points, partners: Points) -> Array:
        # with e^2 <= share k(x, x) everywhere: k errs by share, each of two roots by not much more than half of it, and
        # roundings follow: one root, one quotient for each point, two products
        share = max(self._share(points, partners), self._share(partners, points))
        return np.full(len(points), np.inf if share > 0.25 else np.sqrt(3.0 * share + 8.0 * UNIT))

    def _share(self, points: Points, partners: Points) -> float:
        diagonal = self.base.diagonal(points)
        square = self.base.entry_error(points, partners) ** 2
        return float(np.where(diagonal > 0.0, square / diagonal, 0.0).max(initial=0.0))
