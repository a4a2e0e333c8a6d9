"""Statistics of a text column in plain Python, once more."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms import text

FIELDS: Final[dict[str, tuple[type, ...]]] = {"column": (str,), "spelling": (list, type(None))}
TYPE: Final = "t"
NAMES: Final = (
    "words", "characters", "characters per word", "different words per word", "punctuation share", "bracket share",
    "number share", "capital share", "misspelling share",
)  # fmt: skip
WORDS: Final = {"unit": "words", "low": 1, "high": 1, "lower": True, "fold": False, "letters": 1}


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "note", "spelling": None})[:2]
    ['note words', 'note characters']
    """
    shown = NAMES[:-1] if term["spelling"] is None else NAMES
    return [f"{term['column']} {name}" for name in shown]


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row.

    >>> [float(row[0]) for row in values({"column": "note", "spelling": ["go"]}, ["Go (at) 10"])]
    [3.0, 10.0, 2.0, 1.0, 0.2, 0.2, 0.3333333333333333, 0.1, 0.3333333333333333]
    """
    dictionary = None if term["spelling"] is None else set(term["spelling"])
    rows = [_described(cell, dictionary) for cell in cells.listed(column)]
    return list(np.array(rows, dtype=np.float64).reshape(len(rows), len(names({"column": "", **term}))).T)


def _described(cell: object, dictionary: set[str] | None) -> list[float]:
    """Return the statistics of one cell."""
    body = "" if cells.missing(cell) else cells.text(cell)
    words = list(text.terms_of(WORDS, cell))
    kinds = [unicodedata.category(c) for c in body]
    numbers = [word.isdecimal() for word in words]
    figures = [
        float(len(words)),
        float(len(body)),
        _share(sum(map(len, words)), len(words)),
        _share(len(set(words)), len(words)),
        _share(sum(kind[0] == "P" for kind in kinds), len(body)),
        _share(sum(kind in ("Ps", "Pe") for kind in kinds), len(body)),
        _share(sum(numbers), len(words)),
        _share(sum(c.isupper() for c in body), len(body)),
    ]
    if dictionary is not None:
        strange = sum(word not in dictionary and not number for word, number in zip(words, numbers, strict=True))
        figures.append(_share(strange, len(words)))
    return figures


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


class Learner:
    """Nothing is learned but the list of words, which must be in order."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._words = term["spelling"]

    def see(self, column: cells.Column) -> None:
        """Take some more cells."""

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is."""
        words = self._words
        return None if words is None or words == sorted(set(words)) else "the list of words is not in order"
