"""A Boolean column: 1 for the texts that mean true, 0 for those that mean false, missing cells filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lineal.verify import cells
from lineal.verify.terms.number import not_the_mean

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "column": (str,),
    "true": (list,),
    "false": (list,),
    "fill": (float, int),
    "indicator": (bool,),
}
TYPE: Final = "t"


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "smoker", "true": ["yes"], "false": ["no"], "fill": 0.2, "indicator": False})
    ['smoker']
    """
    return [term["column"], f"{term['column']} is missing"] if term["indicator"] else [term["column"]]


def values(term: Mapping[str, Any], column: Sequence[object]) -> list[list[float]]:
    """Return the values of the design columns, row by row.

    >>> values({"column": "s", "true": ["yes"], "false": ["no"], "fill": 0.2, "indicator": True}, ["yes", "no", ""])
    [[1.0, 0.0, 0.2], [0.0, 0.0, 1.0]]
    """
    means = {**dict.fromkeys(term["true"], 1.0), **dict.fromkeys(term["false"], 0.0)}
    filled = []
    for cell in column:
        if cells.missing(cell):
            filled.append(float(term["fill"]))
        elif cells.text(cell) in means:
            filled.append(means[cells.text(cell)])
        else:
            raise ValueError(f"{cell!r} is neither true nor false")
    lost = [float(cells.missing(cell)) for cell in column]
    return [filled, lost] if term["indicator"] else [filled]


def learned(term: Mapping[str, Any], column: Sequence[object]) -> str | None:
    """Return what is wrong with the term as learned from these training cells: texts in one list, the fill the mean.

    >>> learned({"true": ["yes"], "false": ["yes", "no"], "fill": 0.5}, ["yes", "no"])
    "'yes' means both true and false"
    """
    both = set(term["true"]) & set(term["false"])
    if both:
        return f"{min(both)!r} means both true and false"
    present = [cell for cell in column if not cells.missing(cell)]
    unused = (set(term["true"]) | set(term["false"])) - {cells.text(cell) for cell in present}
    if unused:
        return f"{min(unused)!r} does not occur in the training rows"
    return not_the_mean(float(term["fill"]), values({**term, "indicator": False}, present)[0])
