"""A number as people write it: a decimal mark, perhaps a thousands separator, a sign that every number carries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms.number import Filled, filled, with_mark

Number = Callable[[Mapping[str, Any], object], float]
"""What reads a present cell of a term."""

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "column": (str,),
    "decimal": (str,),
    "group": (str,),
    "unit": (str,),
    "markers": (list,),
    "fill": (float, int),
    "indicator": (bool,),
}
TYPE: Final = "t"


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "price", "indicator": True})
    ['price', 'price is missing']
    """
    return with_mark(term, [term["column"]])


def absent(term: Mapping[str, Any], cell: object) -> bool:
    """Return whether a cell holds nothing, or a text that the term says stands for nothing."""
    return cells.missing(cell) or cells.text(cell) in term["markers"]


def number(term: Mapping[str, Any], cell: object) -> float:
    """Return the number a present cell means: sign and unit taken off, thousands joined, the mark made a point.

    >>> number({"decimal": ",", "group": ".", "unit": "€"}, "-1.234,5 €")
    -1234.5
    """
    rest = cells.text(cell)
    for blank in "\u00a0\u202f\u2009":
        rest = rest.replace(blank, " ")
    sign, unit = "", term["unit"]
    if rest[:1] in ("+", "-"):
        sign, rest = rest[0], rest[1:]
    if unit:
        if rest.removeprefix(" ").startswith(unit):
            rest = rest.removeprefix(" ")[len(unit) :].removeprefix(" ")
            if rest[:1] in ("+", "-") and not sign:
                sign, rest = rest[0], rest[1:]
        elif rest.endswith(unit):
            rest = rest[: -len(unit)].removesuffix(" ")
        else:
            raise ValueError(f"{cell!r} does not carry {unit!r}")
    digits, _, power = rest.lower().partition("e")
    whole, mark, part = digits.partition(term["decimal"])
    groups = whole.split(term["group"]) if term["group"] else [whole]
    good = (
        all(re.fullmatch("[0-9]+", group) for group in groups if whole)
        and (len(groups) == 1 or (len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])))
        and (re.fullmatch("[0-9]*", part) if whole else re.fullmatch("[0-9]+", part))
        and ("e" not in rest.lower() or re.fullmatch("[+-]?[0-9]+", power))
    )
    if not good:
        raise ValueError(f"{cell!r} is not a number in the notation of the column")
    return float(sign + "".join(groups) + ("." if mark else "") + part + (f"e{power}" if power else ""))


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row.

    >>> term = {"decimal": ",", "group": "", "unit": "%", "markers": ["-"], "fill": 2.0, "indicator": True}
    >>> [column.tolist() for column in values(term, ["1,5 %", "-", ""])]
    [[1.5, 2.0, 2.0], [0.0, 1.0, 1.0]]
    """
    return filled(term, numbers(term, column, number))


def numbers(term: Mapping[str, Any], column: cells.Column, number: Number) -> Array:
    """Return the numbers that cells mean, NaN where one holds nothing."""
    doubles = [np.nan if absent(term, cell) else number(term, cell) for cell in cells.listed(column)]
    return np.array(doubles, dtype=np.float64)


class Learner(Filled):
    """What the training cells teach: markers that occur, the mean as fill. ``number`` reads a present cell."""

    def __init__(self, term: Mapping[str, Any], number: Number = number) -> None:
        super().__init__(term)
        self._number, self._marks = number, Marks(term)

    def read(self, column: cells.Column) -> Array:
        """Return the numbers that cells mean, and keep the markers that occur."""
        self._marks.see(column)
        return numbers(self._term, column, self._number)

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is.

        >>> one = Learner({"decimal": ",", "group": "", "unit": "", "markers": [], "fill": 2.0, "indicator": False})
        >>> one.see(["1,5", "2,5"])
        >>> one.wrong()
        """
        return self._marks.wrong() or super().wrong()


class Marks:
    """The texts that stand for nothing, each of which must occur."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._left = set(term["markers"])

    def see(self, column: cells.Column) -> None:
        """Take some more cells."""
        if self._left:
            self._left -= {cells.text(cell) for cell in cells.listed(column) if not cells.missing(cell)}

    def wrong(self) -> str | None:
        """Return a sentence if a marker does not occur."""
        return f"{min(self._left)!r} does not occur in the training rows" if self._left else None
