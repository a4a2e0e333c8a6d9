"""Terms that bend a number: functions, polynomials, splines. A missing cell counts as the mean of the column, before all else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from lineal.features.cells.cells import cell
from lineal.features.terms.base import CellError, finite_numbers
from lineal.ground.records import dataclass

Array = npt.NDArray[np.float64]

FUNCTIONS: Final[Mapping[str, tuple[Callable[[Array], Array], float, bool]]] = {
    "log": (np.log, 0.0, False),
    "log2": (np.log2, 0.0, False),
    "log10": (np.log10, 0.0, False),
    "log1p": (np.log1p, -1.0, False),
    "sqrt": (np.sqrt, 0.0, True),
    "exp": (np.exp, -np.inf, True),
    "abs": (np.abs, -np.inf, True),
    "square": (np.square, -np.inf, True),
    "cube": (lambda x: x * x * x, -np.inf, True),
}
"""Each function with the least number it takes, and whether it takes that number itself."""


def written(column: str, functions: tuple[str, ...]) -> str:
    """Return a column with its functions as a formula has them.

    >>> written("x", ("abs", "log1p"))
    'log1p(abs(x))'
    """
    for function in functions:
        column = f"{function}({column})"
    return column


def bent(values: Array, functions: tuple[str, ...]) -> Array:
    """Return the functions of numbers, one after the other; what is outside a domain becomes NaN.

    >>> bent(np.array([1.0, -1.0]), ("log",))
    array([ 0., nan])
    """
    with np.errstate(all="ignore"):
        for name in functions:
            function, least, itself = FUNCTIONS[name]
            inside = values >= least if itself else values > least
            values = function(np.where(inside, values, np.nan))
    found: Array = np.where(np.isfinite(values), values, np.nan)
    return found


@dataclass(frozen=True)
class Curve:
    """A number through functions: ``log(x)``."""

    column: str
    functions: tuple[str, ...]
    fill: float
    indicator: bool
    kind: ClassVar[str] = "function"
    as_text: ClassVar[tuple[bool, ...]] = (False,)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The table's column it needs."""
        return (self.column,)

    @property
    def name(self) -> str:
        """The term as a formula has it."""
        return written(self.column, self.functions)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of its basis."""
        return (self.name,)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return (*self.names, f"{self.column} is missing") if self.indicator else self.names

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown (none)."""
        (array,) = arrays
        values = finite_numbers(self.column, array)
        missing = np.isnan(values)
        x = bent(np.where(missing, self.fill, values), self.functions)
        if np.isnan(x).any():
            position = int(np.flatnonzero(np.isnan(x))[0])
            raise CellError(self.column, position, cell(array, position), f"a number that {self.name} can take")
        self.basis(x, out)
        if self.indicator:
            out[:, -1] = missing
        return 0

    def basis(self, x: Array, out: Array) -> None:
        """Write the columns of the basis."""
        out[:, 0] = x

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "kind": self.kind,
            "column": self.column,
            "functions": list(self.functions),
            "fill": self.fill,
            "indicator": self.indicator,
        }


@dataclass(frozen=True)
class Poly(Curve):
    """Powers up to ``degree``, as Chebyshev's polynomials of ``t = (x - centre) / half``: ``T_k = 2 t T_(k-1) - T_(k-2)``.

    The powers themselves are so alike that rounding them costs half of all digits; these columns are not, and together with
    a constant they span the same curves. Where there is none (``origin``), the columns are ``T_(k-1) x / (|centre| + half)``.
    """

    degree: int
    centre: float
    half: float
    origin: bool
    kind: ClassVar[str] = "poly"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of its basis."""
        return tuple(f"poly({self.name}, {self.degree})[{k}]" for k in range(1, self.degree + 1))

    @property
    def powers(self) -> tuple[str, ...]:
        """Names of the powers that the basis spans, from the first."""
        return (self.name, *(f"{self.name}^{k}" for k in range(2, self.degree + 1)))

    def basis(self, x: Array, out: Array) -> None:
        """Write Chebyshev's polynomials 1 to degree, or 0 to degree - 1 times x."""
        t = (x - self.centre) / self.half
        before, now = np.ones_like(t), t
        for k in range(self.degree):
            out[:, k] = before * (x / (abs(self.centre) + self.half)) if self.origin else now
            before, now = now, 2.0 * t * now - before

    def unfolded(self) -> list[list[Fraction]]:
        """Return the coefficients of x^0, ..., x^degree in each column, exactly.

        >>> Poly("x", (), 0.0, False, 2, 1.0, 2.0, False).unfolded()[1]
        [Fraction(-1, 2), Fraction(-1, 1), Fraction(1, 2)]
        """
        centre, half = Fraction(self.centre), Fraction(self.half)
        t = [-centre / half, 1 / half]
        rows = [[Fraction(1)], t]
        for _ in range(self.degree - 1):
            twice = [2 * c for c in _times(t, rows[-1])]
            rows.append([c - (rows[-2][k] if k < len(rows[-2]) else 0) for k, c in enumerate(twice)])
        scaled = [Fraction(0), 1 / (abs(centre) + half)]
        kept = [_times(scaled, row) for row in rows[:-1]] if self.origin else rows[1:]
        return [row + [Fraction(0)] * (self.degree + 1 - len(row)) for row in kept]

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            **super().to_dict(),
            "degree": self.degree,
            "centre": self.centre,
            "half": self.half,
            "origin": self.origin,
        }


def _times(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    found = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            found[i + j] += left * right
    return found


@dataclass(frozen=True)
class Spline(Curve):
    """A natural cubic spline: cubic between its knots, smooth at them, straight beyond the outer ones.

    With ``t = (x - first) / (last - first)`` and the knots ``u_1, ..., u_K`` on that scale: ``N_1 = t``,
    ``N_(k+1) = d_k - d_(K-1)``, ``d_k = ((t - u_k)_+^3 - (t - u_K)_+^3) / (u_K - u_k)`` for k = 1, ..., K - 2.
    """

    knots: tuple[float, ...]
    kind: ClassVar[str] = "spline"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of its basis."""
        return tuple(f"spline({self.name}, {len(self.knots) - 1})[{k}]" for k in range(1, len(self.knots)))

    def basis(self, x: Array, out: Array) -> None:
        """Write the basis."""
        first, last = self.knots[0], self.knots[-1]
        t = (x - first) / (last - first)
        u = [(knot - first) / (last - first) for knot in self.knots]
        beyond = np.maximum(t - 1.0, 0.0) ** 3

        def d(k: int) -> Array:
            found: Array = (np.maximum(t - u[k], 0.0) ** 3 - beyond) / (1.0 - u[k])
            return found

        inner = d(len(u) - 2)
        out[:, 0] = t
        for k in range(len(u) - 2):
            out[:, k + 1] = d(k) - inner

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {**super().to_dict(), "knots": list(self.knots)}
