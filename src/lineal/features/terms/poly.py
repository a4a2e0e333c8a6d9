"""Powers of a number, on a basis that keeps digits."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from lineal.errors import InputError
from lineal.features.terms.curve import Curve, Numbers, bent, through
from lineal.features.terms.members import expect, finite, flag, whole
from lineal.features.terms.term import Cells, Term
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Poly(Curve):
    """Powers up to ``degree``, as Chebyshev's polynomials in units of powers of two: ``V_k = 2 s V_(k-1) - g V_(k-2)``.

    ``s = (x - centre) / unit`` and ``g = (half / unit)^2``, so that ``V_k = (half / unit)^k T_k``, T_k Chebyshev's polynomial of
    ``(x - centre) / half``. The powers themselves are so alike that rounding them costs half of all digits; these columns are
    not, and of short numbers, such as whole ones, they are not rounded at all where ``unit`` is a power of two. Together with
    a constant they span the same curves. Where there is none (``origin``), the columns are ``V_(k-1) x / reach``. Files of
    before powers of two name neither unit nor reach: then these are ``half`` and ``|centre| + half``.
    """

    degree: int
    centre: float
    half: float
    origin: bool
    unit: float
    reach: float
    kind: ClassVar[str] = "poly"
    usage: ClassVar[str] = "poly(column, degree)"
    sizes: ClassVar[range] = range(1, 21)

    @classmethod
    def learned(cls, numbers: Numbers, functions: tuple[str, ...], size: int) -> Self:
        """Return the powers of a column over its range, after the functions."""
        low, high = bounds(numbers.low, numbers.high, functions)
        if not low < high:
            name = through(numbers.column, functions)
            raise InputError(f"poly({name}, {size}) needs a column that varies; {name} is {low:g} in every row.")
        base = (numbers.column, functions, numbers.mean, numbers.missing)
        centre, half = low / 2 + high / 2, high / 2 - low / 2
        unit, reach = power_of_two(half), power_of_two(abs(centre) + half)
        return cls(*base, degree=size, centre=centre, half=half, origin=False, unit=unit, reach=reach)

    @property
    def spelled(self) -> str:
        """The term as a formula has it."""
        return f"poly({self.name}, {self.degree})"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of its basis."""
        return tuple(f"{self.spelled}[{k}]" for k in range(1, self.degree + 1))

    @property
    def powers(self) -> tuple[str, ...]:
        """Names of the powers that the basis spans, from the first."""
        return (self.name, *(f"{self.name}^{k}" for k in range(2, self.degree + 1)))

    def coded(self, *, margin: bool) -> Self:
        """Return the powers through the origin where there is no constant to lean on."""
        return replace(self, origin=not margin)

    def basis(self, x: Array, out: Array) -> None:
        """Write the polynomials 1 to degree, or 0 to degree - 1 times x."""
        s, square = (x - self.centre) / self.unit, (self.half / self.unit) ** 2
        before, now = np.ones_like(s), s
        for k in range(self.degree):
            out[:, k] = before * (x / self.reach) if self.origin else now
            before, now = now, 2.0 * s * now - square * before

    def unfolded(self) -> list[list[Fraction]]:
        """Return the coefficients of x^0, ..., x^degree in each column, exactly.

        >>> Poly("x", (), 0.0, False, 2, 1.0, 2.0, False, 2.0, 4.0).unfolded()[1]
        [Fraction(-1, 2), Fraction(-1, 1), Fraction(1, 2)]
        """
        unit, reach = Fraction(self.unit), Fraction(self.reach)
        square = Fraction((self.half / self.unit) ** 2)  # as it is rounded in the columns
        t = [-Fraction(self.centre) / unit, 1 / unit]
        rows = [[Fraction(1)], t]
        for _ in range(self.degree - 1):
            twice = [2 * c for c in _times(t, rows[-1])]
            rows.append([c - square * (rows[-2][k] if k < len(rows[-2]) else 0) for k, c in enumerate(twice)])
        scaled = [Fraction(0), 1 / reach]
        kept = [_times(scaled, row) for row in rows[:-1]] if self.origin else rows[1:]
        return [row + [Fraction(0)] * (self.degree + 1 - len(row)) for row in kept]

    @classmethod
    def from_dict(cls, data: Any) -> Term:
        """Return the term of a model file; those of before powers of two name no units."""
        centre, half = data.get("centre"), data.get("half")
        if finite(centre) and finite(half) and not {"unit", "reach"} & set(data):
            data = {**data, "unit": half, "reach": abs(centre) + half}
        return super().from_dict(data)

    @classmethod
    def own_members(cls, data: Any) -> dict[str, Any]:
        """Return degree, range, units and whether there is a constant."""
        column, degree, centre, half = (data[member] for member in ("column", "degree", "centre", "half"))
        origin = flag(data, "origin", f"must say for {column!r} whether there is a constant, true or false")
        expect(whole(degree) and degree in cls.sizes, "has an odd degree")
        expect(finite(centre) and finite(half) and half > 0, f"has no range for the powers of {column!r}")
        unit, reach = data["unit"], data["reach"]
        expect(finite(unit) and finite(reach) and min(unit, reach) > 0, f"has no units for the powers of {column!r}")
        sizes = {"centre": float(centre), "half": float(half), "unit": float(unit), "reach": float(reach)}
        return {"degree": degree, "origin": origin, **sizes}

    @classmethod
    def example(cls) -> tuple[Poly, Cells]:
        """Return a cubic of a column with a missing cell."""
        return cls("x", (), 2.5, True, degree=3, centre=2.5, half=1.5, origin=False, unit=2.0, reach=4.0), (
            ["1", "4", None, "2", "3"],
        )


def power_of_two(value: float) -> float:
    """Return the power of two next to a number above 0.

    >>> power_of_two(10.0), power_of_two(0.7)
    (8.0, 0.5)
    """
    return float(2.0 ** round(math.log2(value)))


def bounds(low: float, high: float, functions: tuple[str, ...]) -> tuple[float, float]:
    """Return about how far the functions of numbers between ``low`` and ``high`` reach: on 101 even steps."""
    values = bent(np.linspace(low, high, 101), functions)
    return (float(np.nanmin(values)), float(np.nanmax(values))) if np.isfinite(values).any() else (0.0, 0.0)


def _times(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    """Return the coefficients of the product of two polynomials."""
    product = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            product[i + j] += left * right
    return product
