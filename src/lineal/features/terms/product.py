"""Products of terms: `age:dose`, `dose:job`, `sex:job`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.features.terms.category import Category
from lineal.features.terms.members import expect
from lineal.features.terms.number import Number
from lineal.features.terms.term import Cells, Numeric
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

Factor = Numeric | Category

MAX_COLUMNS: Final = 10_000
"""More columns than this from products are refused: each is a number in every row."""


@dataclass(frozen=True)
class Product(Numeric):
    """Every product of one column of each factor, the last factor's columns running fastest."""

    factors: tuple[Factor, ...]
    kind: ClassVar[str] = "product"
    most: ClassVar[int] = 10

    @property
    def column(self) -> str:
        """The term as a formula has it."""
        return _product([factor.name for factor in self.factors])

    @property
    def inputs(self) -> tuple[str, ...]:
        """The table's columns it needs."""
        return tuple(name for factor in self.factors for name in factor.inputs)

    @property
    def spelled(self) -> str:
        """The factors as a formula has them."""
        return ":".join(factor.spelled for factor in self.factors)

    @property
    def use(self) -> str:
        """How its columns enter the model: as the product."""
        return self.spelled

    @property
    def as_text(self) -> tuple[bool, ...]:
        """Whether each of them is read as text."""
        return tuple(flag for factor in self.factors for flag in factor.as_text)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return tuple(_product(names) for names in product(*(factor.columns for factor in self.factors)))

    @property
    def width(self) -> int:
        """How many columns it makes."""
        return prod(len(factor.columns) for factor in self.factors)

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the products for every row; return how many cells were unknown."""
        products, unknown = np.ones((len(out), 1)), 0
        for factor, array in zip(self.factors, arrays, strict=True):
            values = np.zeros((len(out), len(factor.columns)))
            unknown += factor.write(values, array)
            products = (products[:, :, None] * values[:, None, :]).reshape(len(out), -1)
        out[:] = products
        return unknown

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {"kind": self.kind, "factors": [factor.to_dict() for factor in self.factors]}

    @classmethod
    def from_dict(cls, data: Any) -> Product:
        """Return the term of a model file, or refuse the file naming what is wrong."""
        expect(set(data) == {"kind", "factors"}, f"has a {cls.kind} with other members than its factors")
        return cls.read(data)

    @classmethod
    def read(cls, data: Any) -> Product:
        """Return the term of a model file."""
        term = cls(cls.read_factors(data["factors"]))
        expect(term.width <= MAX_COLUMNS, f"has a {cls.kind} of too many columns")
        return term

    @classmethod
    def read_factors(cls, listed: Any, least: int = 2) -> tuple[Factor, ...]:
        """Return the factors of a model file, at least so many."""
        from lineal.features import terms  # the catalogue, which lists this term as well

        expect(
            isinstance(listed, list) and least <= len(listed) <= cls.most,
            f"has a {cls.kind} of fewer than {least} or more than {cls.most} factors",
        )
        factors: list[Factor] = []
        for one in listed:
            nested = not isinstance(one, dict) or one.get("kind") in ("product", "quadratic", "fourier", "nystroem")
            expect(not nested, "has a product within a product")
            factor = terms.read(one)
            if not (factor.is_factor and isinstance(factor, Factor)):
                raise ModelFileError("the encoder in the model file has a product of what cannot be multiplied.")
            factors.append(factor)
        return tuple(factors)

    @classmethod
    def example(cls) -> tuple[Product, Cells]:
        """Return a number times a category."""
        factors = Number("dose", 2.0, False), Category("sex", ("f", "m"), "f", False)
        return cls(factors), (["1", "2", "3"], ["f", "m", "f"])


def _product(names: Sequence[str]) -> str:
    """Return the name of a product: ``a^2:b``."""
    return ":".join(name if times == 1 else f"{name}^{times}" for name, times in Counter(names).items())
