"""A number column: itself with missing cells filled, and perhaps an indicator of missing cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lineal.verify import cells

FIELDS: Final[dict[str, tuple[type, ...]]] = {"column": (str,), "fill": (float, int), "indicator": (bool,)}
TYPE: Final = "n"


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "age", "fill": 41.5, "indicator": True})
    ['age', 'age is missing']
    """
    return [term["column"], f"{term['column']} is missing"] if term["indicator"] else [term["column"]]


def values(term: Mapping[str, Any], column: Sequence[object]) -> list[list[float]]:
    """Return the values of the design columns, row by row.

    >>> values({"column": "age", "fill": 41.5, "indicator": True}, ["7", "NA"])
    [[7.0, 41.5], [0.0, 1.0]]
    """
    gone = [cells.missing(cell) for cell in column]
    filled = [float(term["fill"]) if lost else cells.number(cell) for cell, lost in zip(column, gone, strict=True)]
    return [filled, [float(lost) for lost in gone]] if term["indicator"] else [filled]


def learned(term: Mapping[str, Any], column: Sequence[object]) -> str | None:
    """Return what is wrong with the term as learned from these training cells: the fill must be their mean.

    Where all present cells are the same number, the fill is another one (1 for 0, else 0), and no indicator is needed.

    >>> learned({"column": "age", "fill": 5.0, "indicator": False}, ["4", "", "6"])
    >>> learned({"column": "age", "fill": 9.0, "indicator": False}, ["4", "", "6"])
    'the fill is 9.0, the mean of the present cells is 5.0'
    """
    present = [cells.number(cell) for cell in column if not cells.missing(cell)]
    if len(present) < len(column) and len(set(present)) == 1 and not term["indicator"]:
        other = 1.0 if present[0] == 0.0 else 0.0
        return None if term["fill"] == other else f"the fill is {term['fill']!r}, it must be {other!r}"
    return not_the_mean(float(term["fill"]), present)


def not_the_mean(fill: float, present: Sequence[float]) -> str | None:
    """Return a sentence if ``fill`` is not the mean of the present values, up to the rounding of a plain sum."""
    if not present:
        return "no cell is present"
    mean = math.fsum(present) / len(present)
    # A sum of n terms may be off by n eps times the sum of their sizes; blocked sums are far better.
    if abs(fill - mean) <= 2.0**-52 * (len(present) + 4) * math.fsum(map(abs, present)) / len(present):
        return None
    return f"the fill is {fill!r}, the mean of the present cells is {mean!r}"
