"""A number as people write it: a decimal mark, perhaps a thousands separator, a sign that every number carries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lineal.verify import cells
from lineal.verify.terms.number import not_the_mean

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
    return [term["column"], f"{term['column']} is missing"] if term["indicator"] else [term["column"]]


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


def values(term: Mapping[str, Any], column: Sequence[object]) -> list[list[float]]:
    """Return the values of the design columns, row by row.

    >>> term = {"decimal": ",", "group": "", "unit": "%", "markers": ["-"], "fill": 2.0, "indicator": True}
    >>> values(term, ["1,5 %", "-", ""])
    [[1.5, 2.0, 2.0], [0.0, 1.0, 1.0]]
    """
    gone = [absent(term, cell) for cell in column]
    filled = [float(term["fill"]) if lost else number(term, cell) for cell, lost in zip(column, gone, strict=True)]
    return [filled, [float(lost) for lost in gone]] if term["indicator"] else [filled]


def learned(term: Mapping[str, Any], column: Sequence[object]) -> str | None:
    """Return what is wrong with the term as learned from these training cells: markers that occur, the mean as fill.

    >>> term = {"decimal": ",", "group": "", "unit": "", "markers": [], "fill": 2.0, "indicator": False}
    >>> learned(term, ["1,5", "2,5"])
    """
    unused = marks_unused(term, column)
    if unused is not None:
        return unused
    return not_the_mean(float(term["fill"]), [number(term, cell) for cell in column if not absent(term, cell)])


def marks_unused(term: Mapping[str, Any], column: Sequence[object]) -> str | None:
    """Return a sentence if a marker does not occur."""
    unused = set(term["markers"]) - {cells.text(cell) for cell in column if not cells.missing(cell)}
    return f"{min(unused)!r} does not occur in the training rows" if unused else None
