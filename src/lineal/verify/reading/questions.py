"""A target that is a question about a column, such as `num > 0`: answered again from the cells."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final

from lineal.verify.reading import cells

COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
QUESTION: Final = re.compile(r"(.+?)\s*(>=|<=|!=|==|>|<|=)\s*(.+)")


def about(name: str) -> str | None:
    """Return the column that a question is about; None if the name is no question.

    >>> about("num > 0"), about("num")
    ('num', None)
    """
    match = QUESTION.fullmatch(name.strip())
    return None if match is None else match[1]


def answers(name: str, column: cells.Column) -> list[object]:
    """Return yes or no for every cell, None where it is missing.

    >>> answers("num > 0", ["1", "0", "NA"]), answers("kind != 'a'", ["a", "b"])
    (['yes', 'no', None], ['no', 'yes'])
    """
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
