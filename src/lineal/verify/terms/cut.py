"""A number in intervals that are closed on the right; the outer ones have no end."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms import curve
from lineal.verify.terms.number import with_mark

FIELDS: Final[dict[str, tuple[type, ...]]] = {**curve.FIELDS, "breaks": (list,), "full": (bool,)}
TYPE: Final = curve.TYPE
OWN_LISTS: Final = (*curve.OWN_LISTS, "breaks")
Learner = curve.Learner
"""Breaks are as they were asked for: nothing but the fill is learned."""


def check(term: Mapping[str, Any]) -> None:
    """Refuse functions that are no names, and breaks that are no increasing numbers."""
    curve.check(term)
    breaks = term["breaks"]
    numbers = all(isinstance(one, float | int) and not isinstance(one, bool) for one in breaks)
    if not 1 <= len(breaks) <= 50 or not numbers or any(not a < b for a, b in pairwise(breaks)):
        raise ModelFileError("the breaks of a number must be 1 to 50 numbers that increase.")


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "x", "functions": [], "indicator": False, "breaks": [1.0, 2.0], "full": False})
    ['x in (1, 2]', 'x > 2']
    """
    name, shown = curve.name(term), [f"{float(value):.6g}" for value in term["breaks"]]
    if len(set(shown)) < len(shown):
        shown = [repr(float(value)) for value in term["breaks"]]
    columns = [f"{name} in ({low}, {high}]" for low, high in pairwise(shown)]
    first = [f"{name} <= {shown[0]}"] if term["full"] else []
    return with_mark(term, [*first, *columns, f"{name} > {shown[-1]}"])


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row."""
    x, marks = curve.bent(term, column)
    ends = [-np.inf, *term["breaks"], np.inf]
    inside = [((x > low) & (x <= high)).astype(np.float64) for low, high in pairwise(ends)]
    return [*(inside if term["full"] else inside[1:]), *marks]
