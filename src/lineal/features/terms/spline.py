"""A smooth curve of a number."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from lineal.errors import InputError
from lineal.features.terms.curve import Curve, Numbers, bent, through
from lineal.features.terms.members import expect, finite
from lineal.features.terms.term import Cells
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Spline(Curve):
    """A natural cubic spline: cubic between its knots, smooth at them, straight beyond the outer ones.

    With ``t = (x - first) / (last - first)`` and the knots ``u_1, ..., u_K`` on that scale: ``N_1 = t``,
    ``N_(k+1) = d_k - d_(K-1)``, ``d_k = ((t - u_k)_+^3 - (t - u_K)_+^3) / (u_K - u_k)`` for k = 1, ..., K - 2.
    """

    knots: tuple[float, ...]
    kind: ClassVar[str] = "spline"
    usage: ClassVar[str] = "spline(column, pieces)"
    also: ClassVar[tuple[str, ...]] = ("ns",)
    sizes: ClassVar[range] = range(3, 51)
    needs_cells: ClassVar[bool] = True

    @classmethod
    def learned(cls, numbers: Numbers, functions: tuple[str, ...], size: int) -> Self:
        """Return the spline whose knots are quantiles of a column, after the functions."""
        if numbers.cells is None:
            raise ValueError("a spline needs all cells of its column")
        knots = quantiles(bent(numbers.cells, functions), size)
        if len(knots) < 3:
            name = through(numbers.column, functions)
            raise InputError(
                f"spline({name}, {size}) needs at least 3 different knots; {name} has {len(knots)}. Use it as it is."
            )
        return cls(numbers.column, functions, numbers.mean, numbers.missing, knots=knots)

    @property
    def spelled(self) -> str:
        """The term as a formula has it."""
        return f"spline({self.name}, {len(self.knots) - 1})"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of its basis."""
        return tuple(f"{self.spelled}[{k}]" for k in range(1, len(self.knots)))

    def basis(self, x: Array, out: Array) -> None:
        """Write the basis."""
        first, last = self.knots[0], self.knots[-1]
        t = (x - first) / (last - first)
        u = [(knot - first) / (last - first) for knot in self.knots]
        beyond = np.maximum(t - 1.0, 0.0) ** 3

        def d(k: int) -> Array:
            bend: Array = (np.maximum(t - u[k], 0.0) ** 3 - beyond) / (1.0 - u[k])
            return bend

        inner = d(len(u) - 2)
        out[:, 0] = t
        for k in range(len(u) - 2):
            out[:, k + 1] = d(k) - inner

    @classmethod
    def own_members(cls, data: Any) -> dict[str, Any]:
        """Return the knots."""
        knots = data["knots"]
        fine = isinstance(knots, list) and 3 <= len(knots) <= cls.sizes.stop and all(map(finite, knots))
        expect(fine and all(a < b for a, b in pairwise(knots)), f"has no increasing knots for {data['column']!r}")
        return {"knots": tuple(map(float, knots))}

    @classmethod
    def example(cls) -> tuple[Spline, Cells]:
        """Return a spline of three pieces of a column with a missing cell."""
        return cls("x", (), 2.5, True, knots=(1.0, 2.0, 3.0, 4.0)), (["1", "4", None, "2", "3"],)


def quantiles(values: Array, size: int) -> tuple[float, ...]:
    """Return the different ones among the quantiles 0, 1/size, ..., 1 of the values that are numbers.

    >>> quantiles(np.array([0.0, 1.0, 2.0, 4.0, np.nan]), 3)
    (0.0, 1.0, 2.0, 4.0)
    """
    kept = values[np.isfinite(values)]
    return tuple(float(knot) for knot in np.unique(np.quantile(kept, np.arange(size + 1) / size))) if len(kept) else ()
