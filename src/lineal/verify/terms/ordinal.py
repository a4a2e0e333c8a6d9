"""Levels in an order, as 0, 1, 2, ...; missing cells filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms.number import Filled, filled, with_mark

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
    return with_mark(term, [term["column"]])


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row.

    >>> term = {"column": "size", "levels": ["S", "M", "L"], "fill": 0.5, "indicator": False}
    >>> values(term, ["L", "", "S"])[0].tolist()
    [2.0, 0.5, 0.0]
    """
    return filled(term, _placed(term, column))


def _placed(term: Mapping[str, Any], column: cells.Column) -> Array:
    """Return the place of every level, NaN where a cell holds nothing."""
    places: dict[str | None, float] = {level: float(number) for number, level in enumerate(term["levels"])}
    texts = cells.texts(column)
    strange = set(texts) - {*places, None}
    if strange:
        raise ValueError(f"{min(map(str, strange))!r} is none of the levels")
    return np.array([places.get(text, np.nan) for text in texts], dtype=np.float64)


class Learner(Filled):
    """What the training cells teach: the fill is the mean."""

    def read(self, column: cells.Column) -> Array:
        """Return the places of levels."""
        return _placed(self._term, column)
