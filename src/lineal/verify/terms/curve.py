"""Numbers through functions, the twin of what formulas make. A missing cell counts as the mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.reading.functions import applied
from lineal.verify.terms.number import Filled, filled, with_mark

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "column": (str,),
    "functions": (list,),
    "fill": (float, int),
    "indicator": (bool,),
}
TYPE: Final = "n"
OWN_LISTS: Final = ("functions",)
_NUMBER: Final = r"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
STEP: Final = re.compile(rf"([-+*/^]|>=|<=|>|<){_NUMBER}|{_NUMBER}([-/])")
"""One step of arithmetic: sign and number, or number and sign."""
COMPARED: Final = {">": np.greater, "<": np.less, ">=": np.greater_equal, "<=": np.less_equal}


def name(term: Mapping[str, Any]) -> str:
    """Return the term as a formula has it.

    >>> name({"column": "x", "functions": ["abs", "log1p"]})
    'log1p(abs(x))'
    >>> name({"column": "x", "functions": ["+1", "^2"]})
    'I((x + 1)^2)'
    """
    written, inside = str(term["column"]), ""
    for function in term["functions"]:
        step = STEP.fullmatch(function)
        if step is None:
            written, inside = f"{function}({inside or written})", ""
            continue
        sign, right, left, of = step.groups()
        shown = f"({inside})" if inside else written
        if sign is None:
            inside = f"{left}/{shown}" if of == "/" else f"{left} - {shown}"
        else:
            inside = f"{shown}{sign}{right}" if sign in "*/^" else f"{shown} {sign} {right}"
    return f"I({inside})" if inside else written


def check(term: Mapping[str, Any]) -> None:
    """Refuse functions that are no names."""
    if not all(isinstance(function, str) for function in term["functions"]):
        raise ModelFileError("the functions of a term must be names.")


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term."""
    return with_mark(term, [name(term)])


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row.

    >>> term = {"column": "x", "functions": ["log2"], "fill": 4.0, "indicator": True}
    >>> [column.tolist() for column in values(term, ["8", ""])]
    [[3.0, 2.0], [0.0, 1.0]]
    """
    x, marks = bent(term, column)
    return [x, *marks]


def bent(term: Mapping[str, Any], column: cells.Column) -> tuple[Array, list[Array]]:
    """Return the cells through the functions, missing ones filled before, and perhaps a column that marks these."""
    raw, *marks = filled(term, cells.numbers(column))
    return through(raw, term), marks


def through(x: Array, term: Mapping[str, Any]) -> Array:
    """Return the functions of numbers; ValueError where one of them has none."""
    for function in term["functions"]:
        step = STEP.fullmatch(function)
        if step is None:
            x = applied(function, x)
            continue
        with np.errstate(all="ignore"):
            x = arithmetic(x, *step.groups())
        if not np.all(np.isfinite(x)):
            raise ValueError(f"{function} has no finite value in row {int(np.argmin(np.isfinite(x))) + 1}")
    return x


def arithmetic(x: Array, sign: str | None, right: str | None, left: str | None, of: str | None) -> Array:
    """Return one step of arithmetic with a number.

    >>> arithmetic(np.array([3.0]), "^", "2", None, None), arithmetic(np.array([4.0]), None, None, "1", "/")
    (array([9.]), array([0.25]))
    """
    if sign is None:
        c = float(left or 0.0)
        return c / x if of == "/" else c - x
    c = float(right or 0.0)
    if sign in COMPARED:
        return np.asarray(COMPARED[sign](x, c), dtype=np.float64)
    if sign == "^":
        return np.asarray(x**c)
    return {"+": x + c, "-": x - c, "*": x * c, "/": x / c if sign == "/" else x}[sign]


class Learner(Filled):
    """What the training cells teach: the fill.

    >>> one = Learner({"column": "x", "functions": [], "fill": 2.0, "indicator": False})
    >>> one.see(["1", "3"])
    >>> one.wrong()
    """
