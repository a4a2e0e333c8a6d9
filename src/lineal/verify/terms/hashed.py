"""A category of which some levels have a column each, and all others that of the first bits of their hash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms import category, text

FIELDS: Final[dict[str, tuple[type, ...]]] = {**category.FIELDS, "bits": (int,), "buckets": (list,)}
TYPE: Final = "t"
OWN_LISTS: Final = ("buckets",)


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "user", "levels": ["4a"], "reference": None, "missing": True, "bits": 2, "buckets": [0, 3]})
    ['user=4a', 'user: #0', 'user: #3', 'user is missing']
    """
    columns = [f"{term['column']}={level}" for level in term["levels"]]
    columns += [f"{term['column']}: #{number}" for number in term["buckets"]]
    return [*columns, f"{term['column']} is missing"] if term["missing"] else columns


def values(term: Mapping[str, Any], column: cells.Column) -> Array:
    """Return the values of the design columns, row by row.

    >>> term = {"levels": ["A"], "missing": False, "bits": 8, "buckets": [152]}  # the bucket of "word"
    >>> values(term, ["word", "A", ""]).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    place: dict[object, int] = {level: number for number, level in enumerate(term["levels"])}
    place |= {number: len(term["levels"]) + at for at, number in enumerate(term["buckets"])}
    out = np.zeros((len(place) + int(term["missing"]), len(column)))
    for row, level in enumerate(cells.texts(column)):
        if level is None:
            at = len(place) if term["missing"] else None
        else:
            at = place[level] if level in place else place.get(text.hashed(level) >> (64 - term["bits"]))
        if at is not None:
            out[at, row] = 1.0
    return out


class Learner(category.Counted):
    """What the training cells teach: which levels are the most frequent ones, and which buckets the others are in."""

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is.

        >>> one = Learner({"levels": ["A"], "reference": None, "missing": False, "bits": 8, "buckets": [152]})
        >>> one.see(["A", "A", "word", "A"])
        >>> one.wrong()
        """
        term = self._term
        if term["reference"] is not None or not 1 <= term["bits"] <= 20:
            return "it has a reference, or a number of bits out of range"
        first = self.by_frequency()
        kept, rest = first[: len(term["levels"])], first[len(term["levels"]) :]
        if term["levels"] != sorted(kept):
            return "the levels that have a column of their own are not the most frequent ones, sorted"
        if term["buckets"] != sorted({text.hashed(level) >> (64 - term["bits"]) for level in rest}):
            return "the buckets are not those of the other levels, sorted"
        return None if term["missing"] == (self._counts[None] > 0) else "whether cells are missing is not as stated"
