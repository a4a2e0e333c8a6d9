"""A category coded by contrasts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells

FIELDS: Final[dict[str, tuple[type, ...]]] = {"column": (str,), "levels": (list,), "coding": (str,), "missing": (bool,)}
TYPE: Final = "t"


def check(term: Mapping[str, Any]) -> None:
    """Refuse codings that there are not."""
    if term["coding"] not in ("sum", "helmert", "poly", "full") or len(term["levels"]) < 2:
        raise ModelFileError("contrasts are sum, helmert, poly or full, of at least 2 levels.")


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "job", "levels": ["a", "b", "c"], "coding": "helmert", "missing": True})
    ['job[helmert b]', 'job[helmert c]', 'job is missing']
    """
    name, levels, coding = term["column"], term["levels"], term["coding"]
    trends = ["linear", "quadratic", "cubic"] + [f"degree {k}" for k in range(4, len(levels))]
    columns = {
        "full": [f"{name}={level}" for level in levels],
        "sum": [f"{name}[sum {level}]" for level in levels[:-1]],
        "helmert": [f"{name}[helmert {level}]" for level in levels[1:]],
        "poly": [f"{name}[{trend}]" for trend in trends[: len(levels) - 1]],
    }[coding]
    return [*columns, f"{name} is missing"] if term["missing"] else columns


def codes(coding: str, count: int) -> Array:
    """Return the contrasts of every level: one row each.

    >>> codes("sum", 3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]
    """
    if coding == "full":
        return np.eye(count)
    rows = np.zeros((count, count - 1))
    if coding == "sum":
        rows[:-1], rows[-1] = np.eye(count - 1), -1.0
    elif coding == "helmert":
        for k in range(1, count):
            rows[:k, k - 1], rows[k, k - 1] = -1.0, k
    else:
        powers = np.vander(np.linspace(-1.0, 1.0, count), increasing=True)
        basis, triangle = np.linalg.qr(powers)
        rows = (basis * np.sign(np.diag(triangle)))[:, 1:]
    return rows


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row."""
    place = {level: k for k, level in enumerate(term["levels"])}
    table = codes(term["coding"], len(place))
    out = np.array(
        [table[place[text]] if text in place else np.zeros(table.shape[1]) for text in cells.texts(column)]
    ).reshape(-1, table.shape[1])
    marks = [np.array([float(text is None) for text in cells.texts(column)])] if term["missing"] else []
    return [*out.T, *marks]


class Learner:
    """What the training cells teach: the levels are theirs, in whatever order."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._term, self._seen = term, set[str | None]()

    def see(self, column: cells.Column) -> None:
        """Take some more cells."""
        self._seen.update(cells.texts(column))

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is."""
        seen, levels = {text for text in self._seen if text is not None}, self._term["levels"]
        if sorted(levels) != sorted(seen):
            return f"the levels {levels} are not those of the training rows"
        return None
