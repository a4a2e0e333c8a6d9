"""A text column in plain Python: the characters, words, n-grams, hashes and weights of docs/text.md once more."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.verify.reading import cells

Array = npt.NDArray[np.float64]
Nothing = type(None)

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "column": (str,), "unit": (str,), "low": (int,), "high": (int,), "lower": (bool,), "fold": (bool,), "letters": (int,),
    "weighting": (str,), "least": (int, float), "common": (int, float), "size": (int, Nothing), "bits": (int, Nothing),
    "terms": (list,), "documents": (list, Nothing), "rows": (int,),
}  # fmt: skip
OPTIONAL: Final[dict[str, tuple[type, ...]]] = {
    "once": (bool,), "sublinear": (bool,), "norm": (str,), "stop": (list,), "given": (bool,),
}  # fmt: skip
"""Fields that are there only where they say something."""
TYPE: Final = "t"
OWN_LISTS: Final = ("terms", "documents")
"""Lists that may hold numbers."""
TERM_MAX_BYTES: Final = 4096
"""Longer terms are left out."""


@cache
def becomes(c: str, lower: bool, fold: bool) -> str:
    """Return what one character becomes: lower case, without accents.

    >>> becomes("É", True, True), becomes("É", True, False), becomes("ς", True, False)
    ('e', 'é', 'σ')
    """
    if lower:
        c = c.casefold() if c == "\N{GREEK SMALL LETTER FINAL SIGMA}" else c.lower()
    if not fold:
        return c
    parts = (one if "가" <= one <= "힣" else unicodedata.normalize("NFD", one) for one in c)
    return "".join(part for part in "".join(parts) if not unicodedata.combining(part))


@cache
def in_word(c: str) -> bool:
    """Return whether a character is part of a word: a letter, a digit, a mark or the underscore."""
    return c.isalnum() or c == "_" or unicodedata.category(c)[0] == "M"


def terms_of(term: Mapping[str, Any], cell: object) -> Iterator[str]:
    """Yield the n-grams of a cell, one after the other.

    >>> words = {"unit": "words", "low": 1, "high": 2, "lower": True, "fold": False, "letters": 1}
    >>> list(terms_of(words, "Go, go!"))
    ['go', 'go', 'go go']
    """
    if cells.missing(cell):
        return
    text = "".join(becomes(c, term["lower"], term["fold"]) for c in cells.text(cell))
    if term["unit"] == "words":
        words = "".join(c if in_word(c) else " " for c in text).split(" ")
        stop = frozenset(term.get("stop", ()))
        pieces, glue = [word for word in words if len(word) >= max(1, term["letters"]) and word not in stop], " "
    else:
        pieces, glue = list(re.sub(r"\s+", " ", text)), ""
    for n in range(term["low"], term["high"] + 1):
        for i in range(len(pieces) - n + 1):
            yield glue.join(pieces[i : i + n])


@cache
def hashed(text: str) -> int:
    """Return the 64-bit hash of a term.

    >>> hashed("word")
    10965067365587084685
    """
    data = text.encode()
    factor, ones = 0x9E3779B97F4A7C15, 2**64 - 1
    h = len(data) * factor & ones
    for at in range(0, max(len(data), 1), 8):
        h = (h ^ int.from_bytes(data[at : at + 8], "little")) * factor & ones
        h ^= h >> 32
    h = h * 0xBF58476D1CE4E5B9 & ones
    return h ^ h >> 29


def _keys(term: Mapping[str, Any], cell: object) -> Counter[Any]:
    """Return how often a cell has each term, or each bucket."""
    if term["bits"] is None:
        return Counter(terms_of(term, cell))
    return Counter(hashed(text) >> (64 - term["bits"]) for text in terms_of(term, cell))


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "note", "terms": ["free", "now"], "bits": None})
    ['note: free', 'note: now']
    """
    mark = "" if term["bits"] is None else "#"
    return [f"{term['column']}: {mark}{text}" for text in term["terms"]]


def values(term: Mapping[str, Any], column: cells.Column) -> Array:
    """Return the values of the design columns, row by row.

    >>> one = {"unit": "words", "low": 1, "high": 1, "lower": True, "fold": False, "letters": 1, "bits": None}
    >>> values({**one, "weighting": "counts", "terms": ["a", "b"], "documents": None}, ["a A b", "c"])
    array([[2., 0.],
           [1., 0.]])
    """
    place = {text: number for number, text in enumerate(term["terms"])}
    out = np.zeros((len(place), len(column)))
    idf = [1.0] * len(place)
    tfidf = term["weighting"] == "tfidf"
    if tfidf:
        idf = [math.log((1 + term["rows"]) / (1 + seen)) + 1.0 for seen in term["documents"]]
    for row, cell in enumerate(cells.listed(column)):
        counts = {place[key]: times for key, times in _keys(term, cell).items() if key in place}
        if term["weighting"] == "binary" or term.get("once"):
            counts = dict.fromkeys(counts, 1)
        if term.get("sublinear"):
            weighed = {number: (1.0 + math.log(times)) * idf[number] for number, times in counts.items()}
        else:
            weighed = {number: times * idf[number] for number, times in counts.items()}
        length = _length(weighed.values(), term.get("norm") or ("l2" if tfidf else "none"))
        for number, value in weighed.items():
            out[number, row] = value / length
    return out


def _length(values: Iterable[float], norm: str) -> float:
    """Return what the values of a row are divided by: their Euclidean length, their sum, or 1."""
    if norm == "none":
        return 1.0
    return math.fsum(values) if norm == "l1" else math.sqrt(math.fsum(value * value for value in values))


class Learner:
    """What the training cells teach: terms within the limits, in order."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._term, self._rows = term, 0
        self._documents, self._times = Counter[Any](), Counter[Any]()
        self._fields = _fields(term)

    def see(self, column: cells.Column) -> None:
        """Take some more cells."""
        self._rows += len(column)
        for cell in cells.listed(column) if self._fields is None else ():
            counts = _keys(self._term, cell)
            self._documents.update(counts.keys())
            self._times.update(counts)

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is."""
        if self._fields is not None:
            return self._fields
        term, documents = self._term, self._documents
        if term.get("given"):
            return self._wrong_rows(term["terms"])
        least = term["least"] if term["least"] >= 1 else term["least"] * self._rows - 1e-9
        most = term["common"] * self._rows + 1e-9  # a share of the rows is known to rounding only
        kept = [key for key, seen in documents.items() if least <= seen <= most]
        if term["bits"] is None:
            kept = [key for key in kept if len(key.encode()) <= TERM_MAX_BYTES]
        if term["size"] is not None:
            kept = sorted(kept, key=lambda key: (-self._times[key], key))[: term["size"]]
        kept.sort()
        if kept != term["terms"]:
            odd = sorted(set(kept).symmetric_difference(term["terms"]))[:1] or ["the order"]
            return f"the terms are not those of the training rows within the limits: they differ at {odd[0]!r}"
        return self._wrong_rows(kept)

    def _wrong_rows(self, kept: list[Any]) -> str | None:
        """Return what is wrong with the numbers of rows that have a term."""
        term = self._term
        if term["weighting"] == "tfidf":
            if term["rows"] != self._rows or term["documents"] != [self._documents[key] for key in kept]:
                return "the numbers of rows that have a term are not those of the training rows"
        elif term["documents"] is not None or term["rows"] != 0:
            return "it counts rows, which only tf-idf needs"
        return None


def _fields(term: Mapping[str, Any]) -> str | None:
    """Return which field of a term is out of its range."""
    lists = [] if term["documents"] is None else [term["documents"]]
    fine = (
        term["unit"] in ("words", "characters")
        and term["weighting"] in ("counts", "binary", "tfidf")
        and 1 <= term["low"] <= term["high"] <= 8
        and all(isinstance(item, int) and item >= 0 for numbers in lists for item in numbers)
        and all(isinstance(item, str if term["bits"] is None else int) for item in term["terms"])
        and term.get("norm", "l1") in ("l1", "l2", "none")
        and not (term.get("sublinear") and (term.get("once") or term["weighting"] == "binary"))
        and not (term.get("given") and (term["bits"] is not None or term["terms"] != sorted(set(term["terms"]))))
        and all(term[name] for name in OPTIONAL if name in term)
        and (term["bits"] is None or (1 <= term["bits"] <= 30 and term["least"] == 1 and term["size"] is None))
    )
    return None if fine else "a field is out of its range"
