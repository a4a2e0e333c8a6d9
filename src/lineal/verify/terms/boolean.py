"""A Boolean column: 1 for the texts that mean true, 0 for those that mean false, missing cells filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms.number import Filled, filled, with_mark

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "column": (str,),
    "true": (list,),
    "false": (list,),
    "fill": (float, int),
    "indicator": (bool,),
}
TYPE: Final = "t"


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "smoker", "true": ["yes"], "false": ["no"], "fill": 0.2, "indicator": False})
    ['smoker']
    """
    return with_mark(term, [term["column"]])


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row.

    >>> term = {"column": "s", "true": ["yes"], "false": ["no"], "fill": 0.2, "indicator": True}
    >>> [column.tolist() for column in values(term, ["yes", "no", ""])]
    [[1.0, 0.0, 0.2], [0.0, 0.0, 1.0]]
    """
    return filled(term, _meant(term, column))


def _meant(term: Mapping[str, Any], column: cells.Column) -> Array:
    """Return 1 and 0, NaN where a cell holds nothing."""
    means = {**dict.fromkeys(term["true"], 1.0), **dict.fromkeys(term["false"], 0.0), None: np.nan}
    texts = cells.texts(column)
    strange = set(texts) - set(means)
    if strange:
        raise ValueError(f"{min(map(str, strange))!r} is neither true nor false")
    return np.array([means[text] for text in texts], dtype=np.float64)


class Learner(Filled):
    """What the training cells teach: every text is in one list, the fill is the mean."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        super().__init__(term)
        self._seen = set[str | None]()

    def read(self, column: cells.Column) -> Array:
        """Return 1 and 0, and keep the texts."""
        self._seen.update(cells.texts(column))
        return _meant(self._term, column)

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is.

        >>> Learner({"true": ["yes"], "false": ["yes", "no"], "fill": 0.5}).wrong()
        "'yes' means both true and false"
        """
        both = set(self._term["true"]) & set(self._term["false"])
        if both:
            return f"{min(both)!r} means both true and false"
        unused = (set(self._term["true"]) | set(self._term["false"])) - self._seen
        if unused:
            return f"{min(unused)!r} does not occur in the training rows"
        return super().wrong()
