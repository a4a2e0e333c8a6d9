"""Powers of a number up to a degree, on a basis that keeps digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms import curve
from lineal.verify.terms.number import with_mark

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    **curve.FIELDS,
    "degree": (int,),
    "centre": (float, int),
    "half": (float, int),
    "origin": (bool,),
}
OPTIONAL: Final[dict[str, tuple[type, ...]]] = {"unit": (float, int), "reach": (float, int)}
"""Files of before powers of two name neither: then these are ``half`` and ``|centre| + half``."""
TYPE: Final = curve.TYPE
OWN_LISTS: Final = curve.OWN_LISTS


def check(term: Mapping[str, Any]) -> None:
    """Refuse functions that are no names, and a degree that no polynomial has."""
    curve.check(term)
    if not term["half"] > 0.0:
        raise ModelFileError("the range of a polynomial must be above 0.")
    if ("unit" in term) != ("reach" in term) or not min(units(term)) > 0.0:
        raise ModelFileError("a polynomial names both of its units, above 0, or neither.")
    if not 0 < term["degree"] <= 20:
        raise ModelFileError("the degree of a polynomial must be 1 to 20.")


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "x", "functions": ["log"], "indicator": False, "degree": 2})
    ['poly(log(x), 2)[1]', 'poly(log(x), 2)[2]']
    """
    degree = term["degree"]
    return with_mark(term, [f"poly({curve.name(term)}, {degree})[{k + 1}]" for k in range(degree)])


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return Chebyshev's polynomials by their recurrence, in units of powers of two; without a constant, times x."""
    x, marks = curve.bent(term, column)
    unit, reach = units(term)
    t, square = (x - term["centre"]) / unit, (term["half"] / unit) ** 2
    basis = [np.ones_like(t), t]
    while len(basis) <= term["degree"]:
        basis.append(2.0 * t * basis[-1] - square * basis[-2])
    if not term["origin"]:
        return [*basis[1:], *marks]
    return [*(part * (x / reach) for part in basis[:-1]), *marks]


def units(term: Mapping[str, Any]) -> tuple[float, float]:
    """Return what x less the centre, and x, are divided by."""
    return term.get("unit", term["half"]), term.get("reach", abs(term["centre"]) + term["half"])


class Learner(curve.Learner):
    """What the training cells teach: the fill, and the range of the powers."""

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is."""
        problem = super().wrong()
        if problem is not None:
            return problem
        reach = curve.through(np.linspace(self._mean.low, self._mean.high, 101), self._term)
        low, high = float(reach.min()), float(reach.max())
        if (self._term["centre"], self._term["half"]) != (low / 2 + high / 2, high / 2 - low / 2) or not low < high:
            return "the range of the powers is not that of the training rows"
        halves = (self._term["half"], abs(self._term["centre"]) + self._term["half"])
        if "unit" in self._term and units(self._term) != tuple(2.0 ** round(math.log2(half)) for half in halves):
            return "the units of the powers are not the powers of two next to their range"
        return None
