"""A number less its mean, divided by its standard deviation."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from lineal.errors import InputError
from lineal.features.terms.curve import Curve, Numbers, bent, through
from lineal.features.terms.members import expect, finite
from lineal.features.terms.term import Cells
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Scaled(Curve):
    """``(x - centre) / spread``: mean and standard deviation (of n - 1, as R's) of the present training cells."""

    centre: float
    spread: float
    kind: ClassVar[str] = "scaled"
    usage: ClassVar[str] = "scale(column)"
    needs_cells: ClassVar[bool] = True

    @classmethod
    def learned(cls, numbers: Numbers, functions: tuple[str, ...], size: int) -> Self:
        """Return the term of a column, after the functions."""
        if numbers.cells is None:
            raise ValueError("a scale needs all cells of its column")
        values = bent(numbers.cells[~np.isnan(numbers.cells)], functions)
        values = values[~np.isnan(values)]  # (where a function has no value, encoding says so)
        spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        if not spread > 0.0:
            name = through(numbers.column, functions)
            raise InputError(f"scale({name}) needs a column that varies; {name} is the same in every row.")
        base = (numbers.column, functions, numbers.mean, numbers.missing)
        return cls(*base, centre=float(values.mean()), spread=spread)

    @property
    def spelled(self) -> str:
        """The term as a formula has it."""
        return f"scale({self.name})"

    @property
    def names(self) -> tuple[str, ...]:
        """The name of its column."""
        return (self.spelled,)

    def basis(self, x: Array, out: Array) -> None:
        """Write the column."""
        out[:, 0] = (x - self.centre) / self.spread

    @classmethod
    def own_members(cls, data: Any) -> dict[str, Any]:
        """Return mean and standard deviation."""
        column, centre, spread = data["column"], data["centre"], data["spread"]
        expect(finite(centre) and finite(spread) and spread > 0, f"has no scale for {column!r}")
        return {"centre": float(centre), "spread": float(spread)}

    @classmethod
    def example(cls) -> tuple[Scaled, Cells]:
        """Return the scale of a column with a missing cell."""
        return cls("x", (), 3.0, True, centre=3.0, spread=2.0), (["1", "5", None, "3"],)
