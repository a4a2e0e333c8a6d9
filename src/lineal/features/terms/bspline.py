"""A smooth curve of a number on B-splines: cubic to both ends, where a natural spline is straight."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Final, Self

import numpy as np

from lineal.errors import InputError
from lineal.features.terms.curve import Curve, Numbers, bent, through
from lineal.features.terms.members import expect, finite
from lineal.features.terms.spline import quantiles
from lineal.features.terms.term import Cells
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

DEGREE: Final = 3


@dataclass(frozen=True)
class BSpline(Curve):
    """Cubic B-splines but the first, on knots at the ends of the range and at quantiles between, as R's ``bs``.

    Of a piece four of them are not zero: ``N_i,k = (x - t_i) / (t_(i+k) - t_i) N_i,k-1 + (t_(i+k+1) - x) / (t_(i+k+1) -
    t_(i+1)) N_(i+1),k-1``. Beyond the outer knots the curve goes on as the polynomial of the last piece.
    """

    knots: tuple[float, ...]
    kind: ClassVar[str] = "bspline"
    usage: ClassVar[str] = "bs(column, columns)"
    sizes: ClassVar[range] = range(3, 51)
    needs_cells: ClassVar[bool] = True

    @classmethod
    def learned(cls, numbers: Numbers, functions: tuple[str, ...], size: int) -> Self:
        """Return the splines of a column, after the functions."""
        if numbers.cells is None:
            raise ValueError("a spline needs all cells of its column")
        knots = quantiles(bent(numbers.cells, functions), size - DEGREE + 1)
        if len(knots) < 2:
            name = through(numbers.column, functions)
            raise InputError(f"bs({name}, {size}) needs a column that varies; {name} is the same in every row.")
        return cls(numbers.column, functions, numbers.mean, numbers.missing, knots=knots)

    @property
    def spelled(self) -> str:
        """The term as a formula has it."""
        return f"bs({self.name}, {len(self.knots) + DEGREE - 2})"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of its basis."""
        return tuple(f"{self.spelled}[{k}]" for k in range(1, len(self.knots) + DEGREE - 1))

    def basis(self, x: Array, out: Array) -> None:
        """Write the basis: the four splines of the piece of every row, by the triangle of de Boor and Cox."""
        ends = (self.knots[:1] * DEGREE, self.knots[-1:] * DEGREE)
        knots = np.array([*ends[0], *self.knots, *ends[1]])
        piece = np.clip(np.searchsorted(self.knots, x, side="right") - 1, 0, len(self.knots) - 2)
        span = piece + DEGREE
        parts = [np.ones_like(x)]
        for k in range(1, DEGREE + 1):
            saved, grown = np.zeros_like(x), []
            for r in range(k):
                right, left = knots[span + r + 1], knots[span + 1 - k + r]
                share = parts[r] / (right - left)
                grown.append(saved + (right - x) * share)
                saved = (x - left) * share
            parts = [*grown, saved]
        every = np.zeros((len(x), len(self.knots) + DEGREE - 1))
        rows = np.arange(len(x))
        for r, part in enumerate(parts):
            every[rows, piece + r] = part
        out[:, : every.shape[1] - 1] = every[:, 1:]

    @classmethod
    def own_members(cls, data: Any) -> dict[str, Any]:
        """Return the knots."""
        knots = data["knots"]
        fine = isinstance(knots, list) and 2 <= len(knots) < cls.sizes.stop and all(map(finite, knots))
        expect(fine and all(a < b for a, b in pairwise(knots)), f"has no increasing knots for {data['column']!r}")
        return {"knots": tuple(map(float, knots))}

    @classmethod
    def example(cls) -> tuple[BSpline, Cells]:
        """Return splines with two inner knots of a column with a missing cell."""
        return cls("x", (), 2.5, True, knots=(1.0, 2.0, 3.0, 4.0)), (["1", "4", None, "2", "3"],)
