"""A number less its mean, in standard deviations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import Array, total
from lineal.verify.reading import cells
from lineal.verify.terms import curve
from lineal.verify.terms.number import with_mark

FIELDS: Final[dict[str, tuple[type, ...]]] = {**curve.FIELDS, "centre": (float, int), "spread": (float, int)}
TYPE: Final = curve.TYPE
OWN_LISTS: Final = curve.OWN_LISTS
check = curve.check


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "x", "functions": [], "indicator": False})
    ['scale(x)']
    """
    return with_mark(term, [f"scale({curve.name(term)})"])


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row."""
    x, marks = curve.bent(term, column)
    return [(x - term["centre"]) / term["spread"], *marks]


class Learner(curve.Learner):
    """What the training cells teach: the fill, mean and standard deviation; all cells are kept."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        super().__init__(term)
        self._kept = list[Array]()

    def see(self, column: cells.Column) -> None:
        """Take some more cells."""
        super().see(column)
        numbers = cells.numbers(column)
        self._kept.append(curve.through(numbers[~np.isnan(numbers)], self._term))

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is."""
        problem = super().wrong()
        if problem is not None:
            return problem
        x, centre, spread = np.concatenate(self._kept), float(self._term["centre"]), float(self._term["spread"])
        mean = total(x) / len(x)
        rounding = 2.0**-50 * (len(x) + 4) * float(np.max(np.abs(x)))
        deviation = (total((x - mean) ** 2) / max(len(x) - 1, 1)) ** 0.5
        if abs(centre - mean) > rounding or not abs(spread - deviation) <= rounding + 1e-10 * deviation:
            return f"mean and deviation are {centre!r} and {spread!r}, those of the training rows {mean!r} and {deviation!r}"
        return None
