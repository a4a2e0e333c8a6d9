"""Numbers through functions, polynomials and splines: twins of what formulas make. A missing cell counts as the mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.verify import cells
from lineal.verify.terms.number import Mean, filled

Array = npt.NDArray[np.float64]
Number = (float, int)

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "column": (str,),
    "functions": (list,),
    "fill": Number,
    "indicator": (bool,),
}
TYPE: Final = "n"
KNOWN: Final = ("log", "log2", "log10", "log1p", "sqrt", "exp", "abs", "square", "cube")


def name(term: Mapping[str, Any]) -> str:
    """Return the term as a formula has it.

    >>> name({"column": "x", "functions": ["abs", "log1p"]})
    'log1p(abs(x))'
    """
    written = str(term["column"])
    for function in term["functions"]:
        written = f"{function}({written})"
    return written


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term: those of its basis, and perhaps one that marks missing cells."""
    written = name(term)
    if "degree" in term:
        found = [f"poly({written}, {term['degree']})[{k + 1}]" for k in range(term["degree"])]
    elif "knots" in term:
        count = len(term["knots"]) - 1
        found = [f"spline({written}, {count})[{k + 1}]" for k in range(count)]
    else:
        found = [written]
    return [*found, f"{term['column']} is missing"] if term["indicator"] else found


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row.

    >>> term = {"column": "x", "functions": ["log2"], "fill": 4.0, "indicator": True}
    >>> [found.tolist() for found in values(term, ["8", ""])]
    [[3.0, 2.0], [0.0, 1.0]]
    """
    raw, *gone = filled(term, cells.numbers(column))
    x = through(raw, term)
    return [*(_poly(term, x) if "degree" in term else _spline(term, x) if "knots" in term else [x]), *gone]


def through(x: Array, term: Mapping[str, Any]) -> Array:
    """Return the functions of numbers; ValueError where one of them has none."""
    for function in term["functions"]:
        if function not in KNOWN:
            raise ValueError(f"there is no function {function!r}")
        with np.errstate(all="ignore"):
            x = x * x * x if function == "cube" else getattr(np, function)(x)
        if not np.all(np.isfinite(x)):
            raise ValueError(f"{function} has no finite value in row {int(np.argmin(np.isfinite(x))) + 1}")
    return x


def _poly(term: Mapping[str, Any], x: Array) -> list[Array]:
    """Return Chebyshev's polynomials by their recurrence; without a constant to lean on, one degree lower and times x."""
    t = (x - term["centre"]) / term["half"]
    found = [np.ones_like(t), t]
    while len(found) <= term["degree"]:
        found.append(2.0 * t * found[-1] - found[-2])
    if not term["origin"]:
        return found[1:]
    return [T * (x / (abs(term["centre"]) + term["half"])) for T in found[:-1]]


def _spline(term: Mapping[str, Any], x: Array) -> list[Array]:
    """Return the natural cubic spline's basis: t, then the differences of truncated cubes that are straight outside."""
    first, last = term["knots"][0], term["knots"][-1]
    t, u = (x - first) / (last - first), [(knot - first) / (last - first) for knot in term["knots"][:-1]]
    bends = [(np.maximum(t - v, 0.0) ** 3 - np.maximum(t - 1.0, 0.0) ** 3) / (1.0 - v) for v in u]
    return [t, *(bend - bends[-1] for bend in bends[:-1])]


class Learner:
    """What the training cells teach: fill, range of the powers, knots (for which all cells are kept)."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._term, self._mean, self._kept = term, Mean(), list[Array]()

    def see(self, column: cells.Column) -> None:
        """Take some more cells."""
        found = cells.numbers(column)
        present = found[~np.isnan(found)]
        self._mean.see(found)
        if "knots" in self._term:
            self._kept.append(through(present, self._term))

    def wrong(self) -> str | None:
        """Return what is wrong with the term.

        >>> one = Learner({"column": "x", "functions": [], "fill": 2.0, "indicator": False})
        >>> one.see(["1", "3"])
        >>> one.wrong()
        """
        term, mean = self._term, self._mean
        problem = mean.wrong(float(term["fill"]))
        if problem is not None:
            return problem
        if "degree" in term:
            reach = through(np.linspace(mean.low, mean.high, 101), term)
            low, high = float(reach.min()), float(reach.max())
            if (term["centre"], term["half"]) != (low / 2 + high / 2, high / 2 - low / 2) or not low < high:
                return "the range of the powers is not that of the training rows"
        if "knots" in term:
            x = np.concatenate(self._kept)
            # The number of quantiles asked for is not kept: where some coincide, there are fewer knots than that.
            for count in range(len(term["knots"]) - 1, 51):
                if np.array_equal(np.unique(np.quantile(x, np.arange(count + 1) / count)), term["knots"]):
                    return None
            return "the knots are not quantiles of the training rows"
        return None
