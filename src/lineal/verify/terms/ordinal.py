"""Levels in an order, as 0, 1, 2, ...; missing cells filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lineal.verify import cells
from lineal.verify.terms.number import not_the_mean

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "column": (str,),
    "levels": (list,),
    "fill": (float, int),
    "indicator": (bool,),
}
TYPE: Final = "t"


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "size", "indicator": False})
    ['size']
    """
    return [term["column"], f"{term['column']} is missing"] if term["indicator"] else [term["column"]]


def values(term: Mapping[str, Any], column: Sequence[object]) -> list[list[float]]:
    """Return the values of the design columns, row by row.

    >>> values({"column": "size", "levels": ["S", "M", "L"], "fill": 0.5, "indicator": False}, ["L", "", "S"])
    [[2.0, 0.5, 0.0]]
    """
    filled = []
    for cell in column:
        if cells.missing(cell):
            filled.append(float(term["fill"]))
        elif cells.text(cell) in term["levels"]:
            filled.append(float(term["levels"].index(cells.text(cell))))
        else:
            raise ValueError(f"{cell!r} is none of the levels")
    return [filled, [float(cells.missing(cell)) for cell in column]] if term["indicator"] else [filled]


def learned(term: Mapping[str, Any], column: Sequence[object]) -> str | None:
    """Return what is wrong with the term as learned from these training cells: the fill is the mean."""
    present = [cell for cell in column if not cells.missing(cell)]
    return not_the_mean(float(term["fill"]), values({**term, "indicator": False}, present)[0])
