"""A natural cubic spline of a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms import curve
from lineal.verify.terms.number import with_mark

FIELDS: Final[dict[str, tuple[type, ...]]] = {**curve.FIELDS, "knots": (list,)}
TYPE: Final = curve.TYPE
OWN_LISTS: Final = (*curve.OWN_LISTS, "knots")


def check(term: Mapping[str, Any]) -> None:
    """Refuse functions that are no names, and knots that are no numbers."""
    curve.check(term)
    if not 3 <= len(term["knots"]) <= 51 or not all(isinstance(knot, float | int) for knot in term["knots"]):
        raise ModelFileError("the knots of a spline must be 3 to 51 numbers.")


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "x", "functions": [], "indicator": True, "knots": [0.0, 1.0, 2.0]})
    ['spline(x, 2)[1]', 'spline(x, 2)[2]', 'x is missing']
    """
    count = len(term["knots"]) - 1
    return with_mark(term, [f"spline({curve.name(term)}, {count})[{k + 1}]" for k in range(count)])


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the basis: t, then the differences of truncated cubes that are straight outside."""
    x, marks = curve.bent(term, column)
    first, last = term["knots"][0], term["knots"][-1]
    t, u = (x - first) / (last - first), [(knot - first) / (last - first) for knot in term["knots"][:-1]]
    bends = [(np.maximum(t - v, 0.0) ** 3 - np.maximum(t - 1.0, 0.0) ** 3) / (1.0 - v) for v in u]
    return [t, *(bend - bends[-1] for bend in bends[:-1]), *marks]


class Learner(curve.Learner):
    """What the training cells teach: the fill, and the knots, for which all cells are kept."""

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
        x, knots = np.concatenate(self._kept), self._term["knots"]
        # The number of quantiles asked for is not kept: where some coincide, there are fewer knots than that.
        for count in range(len(knots) - 1, 51):
            if np.array_equal(np.unique(np.quantile(x, np.arange(count + 1) / count)), knots):
                return None
        return "the knots are not quantiles of the training rows"
