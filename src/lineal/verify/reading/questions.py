"""A column made of another: a target that is a question, such as `num > 0`, or a function, `log(y)`; made again from cells."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lineal.verify.reading import cells
from lineal.verify.reading.functions import FUNCTIONS, applied

COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
CALL: Final = re.compile(r"(\w+)\((.+)\)")
QUESTION: Final = re.compile(r"(.+?)\s*(>=|<=|!=|==|>|<|=)\s*(.+)")


def about(name: str) -> str | None:
    """Return the column that a question or a function is about; None if the name is neither.

    >>> about("num > 0"), about("log(sqrt(n))"), about("num")
    ('num', 'n', None)
    """
    inner, functions = function_of(name)
    if functions:
        return inner
    match = QUESTION.fullmatch(name.strip())
    return None if match is None else match[1]


def function_of(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the column that functions are of, and these, the innermost first.

    >>> function_of("log(sqrt(n))"), function_of("f(x)")
    (('n', ('sqrt', 'log')), ('f(x)', ()))
    """
    functions: tuple[str, ...] = ()
    while (match := CALL.fullmatch(name)) is not None and match[1] in FUNCTIONS:
        name, functions = match[2], (match[1], *functions)
    return name.strip("`"), functions


def answers(name: str, column: cells.Column) -> list[object]:
    """Return yes or no for every cell, or the function of it, None where it is missing.

    >>> answers("num > 0", ["1", "0", "NA"]), answers("kind != 'a'", ["a", "b"])
    (['yes', 'no', None], ['no', 'yes'])
    """
    functions = function_of(name)[1]
    if functions:
        numbers = cells.numbers(column)
        gone = np.isnan(numbers)
        for function in functions:
            numbers[~gone] = applied(function, numbers[~gone])
        return [None if lost else value for lost, value in zip(gone.tolist(), numbers.tolist(), strict=True)]
    match = QUESTION.fullmatch(name.strip())
    assert match is not None
    sign, word = COMPARISONS[match[2]], match[3].strip("'\"")
    try:
        value: float | str = cells.number(word)
    except ValueError:
        value = word
    replies: list[object] = []
    for cell in cells.listed(column):
        if cells.missing(cell):
            replies.append(None)
            continue
        own = cells.text(cell) if isinstance(value, str) else cells.number(cell)
        replies.append("yes" if sign(own, value) else "no")
    return replies
