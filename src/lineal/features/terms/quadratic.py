"""The explicit map of the quadratic kernel: squares, and products of two times the root of two."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from lineal.features.terms.members import expect
from lineal.features.terms.number import Number
from lineal.features.terms.product import Product
from lineal.features.terms.term import Cells
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Quadratic(Product):
    """``phi(x) = (x_1^2, ..., x_p^2, sqrt(2) x_1 x_2, sqrt(2) x_1 x_3, ...)``, so that ``phi(x).phi(z) = (x.z)^2``.

    >>> numbers = Number("a", 0.0, False), Number("b", 0.0, False)
    >>> Quadratic(numbers).columns
    ('a^2', 'b^2', 'sqrt(2) a:b')
    """

    kind: ClassVar[str] = "quadratic"
    usage: ClassVar[str] = "quadratic(column, column, ...)"
    several: ClassVar[bool] = True
    most: ClassVar[int] = 140

    @property
    def column(self) -> str:
        """The term as a formula has it."""
        return self.spelled

    @property
    def spelled(self) -> str:
        """The term as a formula has it."""
        return f"quadratic({', '.join(factor.spelled for factor in self.factors)})"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        names = [factor.name for factor in self.factors]
        return (*(f"{name}^2" for name in names), *(f"sqrt(2) {a}:{b}" for a, b in combinations(names, 2)))

    @property
    def width(self) -> int:
        """How many columns it makes."""
        return len(self.factors) * (len(self.factors) + 1) // 2

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write squares and products for every row; return how many cells were unknown."""
        values, unknown = np.empty((len(out), len(self.factors))), 0
        for k, (factor, array) in enumerate(zip(self.factors, arrays, strict=True)):
            unknown += factor.write(values[:, k : k + 1], array)
        for j, (a, b) in enumerate(_pairs(len(self.factors))):
            np.multiply(values[:, a], values[:, b], out=out[:, j])
        out[:, len(self.factors) :] *= np.sqrt(2.0)
        return unknown

    @classmethod
    def read(cls, data: Any) -> Quadratic:
        """Return the term of a model file."""
        term = super().read(data)
        assert isinstance(term, Quadratic)
        expect(all(len(one.columns) == 1 for one in term.factors), "has a quadratic map of what is no single number")
        return term

    @classmethod
    def example(cls) -> tuple[Quadratic, Cells]:
        """Return the map of two numbers."""
        return cls((Number("x1", 2.0, False), Number("x2", 0.5, False))), (["1", "2", "3"], ["0.5", "-1", "2"])


def _pairs(count: int) -> Iterator[tuple[int, int]]:
    """Yield which two factors make every column."""
    yield from ((k, k) for k in range(count))
    yield from combinations(range(count), 2)
