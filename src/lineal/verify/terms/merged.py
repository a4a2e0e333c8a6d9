"""A category whose rare levels share one column, which stands after those of the other levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lineal.verify import cells
from lineal.verify.terms import category

FIELDS: Final = category.FIELDS
TYPE: Final = "t"


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "city", "levels": ["Bonn", "Rome"], "reference": "Rome", "missing": True})
    ['city=Bonn', 'city=(rare)', 'city is missing']
    """
    found = [f"{term['column']}={level}" for level in term["levels"] if level != term["reference"]]
    found.append(f"{term['column']}=(rare)")
    return [*found, f"{term['column']} is missing"] if term["missing"] else found


def values(term: Mapping[str, Any], column: Sequence[object]) -> list[list[float]]:
    """Return the values of the design columns, row by row.

    >>> values({"column": "c", "levels": ["A", "B"], "reference": "A", "missing": False}, ["B", "Z", "A", ""])
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    """
    texts = [None if cells.missing(cell) else cells.text(cell) for cell in column]
    found = [[float(text == level) for text in texts] for level in term["levels"] if level != term["reference"]]
    found.append([float(text is not None and text not in term["levels"]) for text in texts])
    return [*found, [float(text is None) for text in texts]] if term["missing"] else found


def learned(term: Mapping[str, Any], column: Sequence[object]) -> str | None:
    """Return what is wrong with the term: a level merged is rarer in the training rows than every level kept.

    >>> learned({"levels": ["A"], "reference": "A", "missing": False}, ["A", "A", "B", "C"])
    """
    counts = Counter(cells.text(cell) for cell in column if not cells.missing(cell))
    if term["levels"] != sorted(term["levels"]) or term["reference"] not in (None, *term["levels"]):
        return "the levels are not sorted, or the reference is none of them"
    kept = min(counts[level] for level in term["levels"])
    rest = {level: count for level, count in counts.items() if level not in term["levels"]}
    if not rest:
        return "no level is merged"
    if kept <= max(rest.values()):
        return f"a level that occurs {max(rest.values())} times is merged, one that occurs {kept} times is not"
    return None if term["missing"] == any(map(cells.missing, column)) else "whether cells are missing is not as stated"
