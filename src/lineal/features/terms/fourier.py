"""Random Fourier features of several numbers: columns for linear models whose inner products come near a Gaussian kernel."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, ClassVar, Final

import numpy as np

from lineal.features.terms.members import expect, finite
from lineal.features.terms.number import Number
from lineal.features.terms.product import Factor, Product
from lineal.features.terms.term import Cells
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

WIDTH: Final = 1.0
"""The width of the kernel unless one is given, in halves of the ranges of the columns."""


@dataclass(frozen=True)
class Fourier(Product):
    """``phi_j(x) = sqrt(2 / m) cos(w_j.t / width + b_j)``, ``t_k = x_k / half_k``, j = 1, ..., m (Rahimi and Recht, 2007).

    ``phi(x).phi(z)`` is near ``exp(-|t - u|^2 / (2 width^2))``, with a standard deviation of at most ``1 / sqrt(m)``. Each
    column counts in halves of its range among the training rows. The w are normal, the b between 0 and 2 pi; they come from
    numpy's frozen ``RandomState(0)``, so that a file need not hold them.

    >>> Fourier((Number("a", 0.0, False), Number("b", 0.0, False)), (2.0, 3.0), 100, 0.5).spelled
    'fourier(a, b, 100, 0.5)'
    """

    factors: tuple[Factor, ...]
    halves: tuple[float, ...]
    count: int
    kernel_width: float
    kind: ClassVar[str] = "fourier"
    usage: ClassVar[str] = "fourier(column, column, ..., columns to make, width)"
    several: ClassVar[bool] = True
    sizes: ClassVar[range] = range(2, 5001)
    most: ClassVar[int] = 140

    @property
    def column(self) -> str:
        """The term as a formula has it."""
        return self.spelled

    @property
    def spelled(self) -> str:
        """The term as a formula has it."""
        return (
            f"{self.kind}({', '.join(factor.spelled for factor in self.factors)}, {self.count}, {self.kernel_width:g})"
        )

    @property
    def use(self) -> str:
        """How its columns enter the model, and how far their inner products are from the kernel's."""
        error = 1.0 / math.sqrt(self.count)
        return f"{self.count} random features of a Gaussian kernel, whose values they miss by {error:.2g} or less on average"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return tuple(f"{self.spelled}[{j + 1}]" for j in range(self.count))

    @property
    def width(self) -> int:
        """How many columns it makes."""
        return self.count

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the cosines for every row; return how many cells were unknown."""
        scaled, unknown = np.empty((len(out), len(self.factors))), 0
        for k, (factor, array) in enumerate(zip(self.factors, arrays, strict=True)):
            unknown += factor.write(scaled[:, k : k + 1], array)
            scaled[:, k] /= self.halves[k] * self.kernel_width
        weights, offsets = drawn(len(self.factors), self.count)
        np.cos(scaled @ weights + offsets, out=out)
        out *= math.sqrt(2.0 / self.count)
        return unknown

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            **super().to_dict(),
            "halves": list(self.halves),
            "count": self.count,
            "kernel_width": self.kernel_width,
        }

    @classmethod
    def from_dict(cls, data: Any) -> Fourier:
        """Return the term of a model file, or refuse the file naming what is wrong."""
        return cls(*cls.read_shared(data, cls.sizes))

    @classmethod
    def read_shared(cls, data: Any, sizes: range) -> tuple[tuple[Factor, ...], tuple[float, ...], int, float]:
        """Return factors, halves, count and width of a model file; other members only have to be there."""
        expect(set(data) == {"kind", *cls.members()}, f"has a {cls.kind} with other members than {cls.members()}")
        halves, count, width = data["halves"], data["count"], data["kernel_width"]
        factors = cls.read_factors(data["factors"], least=1)
        fine = (
            isinstance(halves, list)
            and len(halves) == len(factors)
            and all(finite(half) and half > 0.0 for half in halves)
        )
        expect(fine, "has random features without a number above 0 for every column")
        expect(type(count) is int and count in sizes, "has too few or too many random features")
        expect(finite(width) and width > 0.0, "has random features of a width that is no number above 0")
        expect(all(len(one.columns) == 1 for one in factors), "has random features of what is no single number")
        return factors, tuple(map(float, halves)), count, float(width)

    @classmethod
    def example(cls) -> tuple[Fourier, Cells]:
        """Return features of two numbers."""
        factors = Number("x1", 2.0, False), Number("x2", 0.5, False)
        return cls(factors, (1.0, 1.5), 3, 0.5), (["1", "2", "3"], ["0.5", "-1", "2"])


@lru_cache(maxsize=8)
def drawn(columns: int, count: int) -> tuple[Array, Array]:
    """Return w, a column for each feature, and b."""
    random = np.random.RandomState(0)
    return random.normal(size=(columns, count)), random.uniform(0.0, 2.0 * math.pi, size=count)
