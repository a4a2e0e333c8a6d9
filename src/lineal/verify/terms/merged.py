"""A category whose rare levels share one column, which stands after those of the other levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms import category

FIELDS: Final = category.FIELDS
TYPE: Final = "t"


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "city", "levels": ["Bonn", "Rome"], "reference": "Rome", "missing": True})
    ['city=Bonn', 'city=(rare)', 'city is missing']
    """
    columns = [f"{term['column']}={level}" for level in term["levels"] if level != term["reference"]]
    columns.append(f"{term['column']}=(rare)")
    return [*columns, f"{term['column']} is missing"] if term["missing"] else columns


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row.

    >>> term = {"column": "c", "levels": ["A", "B"], "reference": "A", "missing": False}
    >>> [column.tolist() for column in values(term, ["B", "Z", "A", ""])]
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    """
    kept = set(term["levels"])
    rare = [float(text is not None and text not in kept) for text in cells.texts(column)]
    columns = category.values(term, column)
    columns.insert(len(columns) - int(term["missing"]), np.array(rare))
    return columns


class Learner(category.Counted):
    """What the training cells teach: the levels kept are the most frequent ones, equal ones in the order of the alphabet."""

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is.

        >>> one = Learner({"levels": ["A"], "reference": "A", "missing": False})
        >>> one.see(["A", "A", "B", "C"])
        >>> one.wrong()
        """
        term, gone, first = self._term, self._counts[None] > 0, self.by_frequency()
        if term["levels"] != sorted(term["levels"]) or term["reference"] not in (None, *term["levels"]):
            return "the levels are not sorted, or the reference is none of them"
        if len(first) <= len(term["levels"]):
            return "no level is merged"
        if term["levels"] != sorted(first[: len(term["levels"])]):
            odd = min(set(term["levels"]).difference(first[: len(term["levels"])]))
            return f"{odd!r} has a column of its own, but is not among the {len(term['levels'])} most frequent levels"
        return None if gone or not term["missing"] else "whether cells are missing is not as stated"
