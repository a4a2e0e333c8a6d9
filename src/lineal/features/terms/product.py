"""Products of terms: `age:dose`, `dose:job`, `sex:job`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from lineal.features.terms.base import Boolean, Category, Number
from lineal.features.terms.curves import Curve
from lineal.features.terms.written import Ordinal, Written
from lineal.ground.records import dataclass

Array = npt.NDArray[np.float64]
Factor = Number | Boolean | Curve | Category | Written | Ordinal

MANY: Final = 10_000
"""More columns than this from products are refused: each is a number in every row."""


@dataclass(frozen=True)
class Product:
    """Every product of one column of each factor, the last factor's columns running fastest."""

    factors: tuple[Factor, ...]
    kind: ClassVar[str] = "product"

    @property
    def column(self) -> str:
        """The term as a formula has it."""
        return _product([factor.name if isinstance(factor, Curve) else factor.column for factor in self.factors])

    @property
    def inputs(self) -> tuple[str, ...]:
        """The table's columns it needs."""
        return tuple(name for factor in self.factors for name in factor.inputs)

    @property
    def as_text(self) -> tuple[bool, ...]:
        """Whether each of them is read as text."""
        return tuple(flag for factor in self.factors for flag in factor.as_text)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return tuple(_product(names) for names in product(*(factor.columns for factor in self.factors)))

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the products for every row; return how many cells were unknown."""
        found, unknown = np.ones((len(out), 1)), 0
        for factor, array in zip(self.factors, arrays, strict=True):
            values = np.zeros((len(out), len(factor.columns)))
            if isinstance(factor, Category):
                codes, new = factor.codes(array)
                rows = np.flatnonzero(codes >= 0)
                values[rows, codes[rows]] = 1.0
            else:
                new = factor.write(values, array)
            unknown += new
            found = (found[:, :, None] * values[:, None, :]).reshape(len(out), -1)
        out[:] = found
        return unknown

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {"kind": self.kind, "factors": [factor.to_dict() for factor in self.factors]}


def _product(names: Sequence[str]) -> str:
    """Return the name of a product: ``a^2:b``."""
    return ":".join(name if times == 1 else f"{name}^{times}" for name, times in Counter(names).items())
