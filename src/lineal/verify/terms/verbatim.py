"""A column of texts as they are: code points, one column for each place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells

FIELDS: Final[dict[str, tuple[type, ...]]] = {"column": (str,), "width": (int,)}
TYPE: Final = "t"
MAX_WIDTH: Final = 2**15
"""The most characters of a text."""


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "t", "width": 2})
    ['t[0]', 't[1]']
    """
    return [f"{term['column']}[{place}]" for place in range(term["width"])]


def check(term: Mapping[str, Any]) -> None:
    """Refuse a width that no file has."""
    if not 0 < term["width"] <= MAX_WIDTH:
        raise ModelFileError(f"a verbatim term has a width of 1 to {MAX_WIDTH}.")


def values(term: Mapping[str, Any], column: cells.Column) -> Array:
    """Return the values of the design columns, row by row: code points plus one, 0 behind the end of a text.

    >>> values({"column": "t", "width": 3}, ["ab", None]).tolist()
    [[98.0, 0.0], [99.0, 0.0], [0.0, 0.0]]
    """
    out = np.zeros((term["width"], len(column)))
    for row, cell in enumerate(cells.listed(column)):
        text = "" if cell is None else str(cell)
        if len(text) > len(out):
            raise ValueError(f"a text has {len(text)} characters, and at most {len(out)} are kept")
        out[: len(text), row] = [ord(letter) + 1.0 for letter in text]
    return out


def texts(rows: Array) -> list[str]:
    """Return the texts of rows of such columns.

    >>> texts(values({"column": "t", "width": 2}, ["ab", "é"]).T)
    ['ab', 'é']
    """
    return ["".join(chr(int(code) - 1) for code in row[row > 0.0]) for row in rows]


class Learner:
    """What training cells teach such a term: nothing."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._term = term

    def see(self, column: cells.Column) -> None:
        """Take some more cells."""

    def wrong(self) -> str | None:
        """Return what is wrong with the term: nothing can be."""
        return None
