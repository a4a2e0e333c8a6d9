"""A category column: one column of zeros and ones per level but the reference, and perhaps one for missing cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lineal.verify import cells

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
    found = [f"{term['column']}={level}" for level in term["levels"] if level != term["reference"]]
    return [*found, f"{term['column']} is missing"] if term["missing"] else found


def values(term: Mapping[str, Any], column: Sequence[object]) -> list[list[float]]:
    """Return the values of the design columns, row by row.

    >>> values({"column": "i", "levels": ["A", "B"], "reference": "A", "missing": True}, ["B", "A", ""])
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    texts = [None if cells.missing(cell) else cells.text(cell) for cell in column]
    found = [[float(text == level) for text in texts] for level in term["levels"] if level != term["reference"]]
    return [*found, [float(text is None) for text in texts]] if term["missing"] else found


def learned(term: Mapping[str, Any], column: Sequence[object]) -> str | None:
    """Return what is wrong with the term as learned from these training cells: its levels are theirs, sorted.

    >>> learned({"levels": ["A", "C"], "reference": "A", "missing": False}, ["A", "B"])
    'the levels are not those of the training rows, sorted: they differ at ...B...'
    """
    found = {cells.text(cell) for cell in column if not cells.missing(cell)}
    if term["levels"] != sorted(found):
        odd = sorted(found.symmetric_difference(term["levels"])) or ["the order"]
        return f"the levels are not those of the training rows, sorted: they differ at ...{odd[0]}..."
    if term["reference"] is not None and term["reference"] not in found:
        return f"the reference {term['reference']!r} is not a level"
    return None
