"""Cubic B-splines of a number but the first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms import curve, spline
from lineal.verify.terms.number import with_mark

FIELDS: Final[dict[str, tuple[type, ...]]] = {**curve.FIELDS, "knots": (list,)}
TYPE: Final = curve.TYPE
OWN_LISTS: Final = (*curve.OWN_LISTS, "knots")
Learner = spline.Learner
"""What the training cells teach: the fill, and the knots, which are quantiles."""


def check(term: Mapping[str, Any]) -> None:
    """Refuse functions that are no names, and knots that are no numbers."""
    curve.check(term)
    if not 2 <= len(term["knots"]) <= 51 or not all(isinstance(knot, float | int) for knot in term["knots"]):
        raise ModelFileError("the knots of B-splines must be 2 to 51 numbers.")


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "x", "functions": [], "indicator": False, "knots": [0.0, 1.0]})
    ['bs(x, 3)[1]', 'bs(x, 3)[2]', 'bs(x, 3)[3]']
    """
    count = len(term["knots"]) + 1
    return with_mark(term, [f"bs({curve.name(term)}, {count})[{k + 1}]" for k in range(count)])


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the basis by its recurrence, from the pieces up; the outer pieces have no end."""
    x, marks = curve.bent(term, column)
    inner = [float(knot) for knot in term["knots"]]
    knots = [inner[0]] * 3 + inner + [inner[-1]] * 3
    last = len(knots) - 5
    splines = []
    for k in range(len(knots) - 1):
        begins, ends = k == 3, k == last
        there = (k >= 3) & (k <= last) & (begins | (x >= knots[k])) & (ends | (x < knots[k + 1]))
        splines.append(np.where(there, 1.0, 0.0))
    for degree in (1, 2, 3):
        grown = []
        for k in range(len(splines) - 1):
            rise, fall = knots[k + degree] - knots[k], knots[k + degree + 1] - knots[k + 1]
            up = (x - knots[k]) / rise * splines[k] if rise else 0.0 * x
            down = (knots[k + degree + 1] - x) / fall * splines[k + 1] if fall else 0.0 * x
            grown.append(up + down)
        splines = grown
    return [*splines[1:], *marks]
