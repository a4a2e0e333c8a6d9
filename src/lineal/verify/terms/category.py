"""A category column: one column of zeros and ones per level but the reference, and perhaps one for missing cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "column": (str,),
    "levels": (list,),
    "reference": (str, type(None)),
    "missing": (bool,),
}
TYPE: Final = "t"


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "island", "levels": ["A", "B", "C"], "reference": "A", "missing": True})
    ['island=B', 'island=C', 'island is missing']
    """
    columns = [f"{term['column']}={level}" for level in term["levels"] if level != term["reference"]]
    return [*columns, f"{term['column']} is missing"] if term["missing"] else columns


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row.

    >>> term = {"column": "i", "levels": ["A", "B"], "reference": "A", "missing": True}
    >>> [column.tolist() for column in values(term, ["B", "A", ""])]
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    code = {level: number for number, level in enumerate(term["levels"])}
    texts = cells.texts(column)
    codes = np.array([-1 if text is None else code.get(text, -2) for text in texts], dtype=np.int64)
    chosen = [number for level, number in code.items() if level != term["reference"]]
    place = np.full(
        len(code) + 2, -1, dtype=np.int64
    )  # the last two are those of -2, an unknown level, and -1, missing
    place[chosen] = np.arange(len(chosen))
    place[-1] = len(chosen) if term["missing"] else -1
    out = np.zeros((len(chosen) + int(term["missing"]), len(codes)))
    rows = np.flatnonzero(place[codes] >= 0)
    out[place[codes[rows]], rows] = 1.0
    return list(out)


class Counted:
    """How often the training cells have every text, and how many of them hold nothing."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._term, self._counts = term, Counter[str | None]()

    def see(self, column: cells.Column) -> None:
        """Take some more cells."""
        self._counts.update(cells.texts(column))

    def by_frequency(self) -> list[str]:
        """Return the texts, the most frequent first, equal ones in the order of the alphabet."""
        counts = {text: count for text, count in self._counts.items() if text is not None}
        return sorted(counts, key=lambda text: (-counts[text], text))


class Learner(Counted):
    """What the training cells teach: the levels are theirs, sorted."""

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is.

        >>> one = Learner({"levels": ["A", "C"], "reference": "A", "missing": False})
        >>> one.see(["A", "B"])
        >>> one.wrong()
        'the levels are not those of the training rows, sorted: they differ at ...B...'
        """
        seen, levels = set(self.by_frequency()), self._term["levels"]
        if levels != sorted(seen):
            odd = sorted(seen.symmetric_difference(levels)) or ["the order"]
            return f"the levels are not those of the training rows, sorted: they differ at ...{odd[0]}..."
        if self._term["reference"] is not None and self._term["reference"] not in seen:
            return f"the reference {self._term['reference']!r} is not a level"
        return None
