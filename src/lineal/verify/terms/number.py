"""A number column: itself with missing cells filled, and perhaps an indicator of missing cells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import Array, total
from lineal.verify.reading import cells

FIELDS: Final[dict[str, tuple[type, ...]]] = {"column": (str,), "fill": (float, int), "indicator": (bool,)}
TYPE: Final = "n"


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term.

    >>> names({"column": "age", "fill": 41.5, "indicator": True})
    ['age', 'age is missing']
    """
    return with_mark(term, [term["column"]])


def with_mark(term: Mapping[str, Any], columns: list[str]) -> list[str]:
    """Return the names of columns, and perhaps of one that marks missing cells."""
    return [*columns, f"{term['column']} is missing"] if term["indicator"] else columns


def values(term: Mapping[str, Any], column: cells.Column) -> list[Array]:
    """Return the values of the design columns, row by row.

    >>> [column.tolist() for column in values({"column": "age", "fill": 41.5, "indicator": True}, ["7", "NA"])]
    [[7.0, 41.5], [0.0, 1.0]]
    """
    return filled(term, cells.numbers(column))


def filled(term: Mapping[str, Any], numbers: Array) -> list[Array]:
    """Return numbers, the fill where one is missing, and perhaps a column that marks these."""
    gone = np.isnan(numbers)
    whole = np.where(gone, float(term["fill"]), numbers)
    return [whole, gone.astype(np.float64)] if term["indicator"] else [whole]


class Filled:
    """What the training cells teach any term that is a number: the fill is the mean of what cells mean, NaN if nothing."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._term, self._mean = term, Mean(term["fill"])

    def read(self, column: cells.Column) -> Array:
        """Return the numbers that cells mean."""
        return cells.numbers(column)

    def see(self, column: cells.Column) -> None:
        """Take some more cells."""
        self._mean.see(self.read(column))

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is."""
        return self._mean.wrong(float(self._term["fill"]))


class Learner(Filled):
    """What the training cells teach: the fill must be their mean.

    Where all present cells are the same number, the fill is another one (1 for 0, else 0), and no indicator is needed.
    """

    _gone = False

    def read(self, column: cells.Column) -> Array:
        """Return the cells as numbers, and keep whether one is missing."""
        numbers = cells.numbers(column)
        self._gone = self._gone or bool(np.any(np.isnan(numbers)))
        return numbers

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is.

        >>> one = Learner({"column": "age", "fill": 9.0, "indicator": False})
        >>> one.see(["4", "", "6"])
        >>> one.wrong()
        'the fill is 9.0, the mean of the present cells is 5.0'
        """
        mean, fill = self._mean, float(self._term["fill"])
        if self._gone and mean.low == mean.high and not self._term["indicator"]:
            other = 1.0 if mean.low == 0.0 else 0.0
            return None if fill == other else f"the fill is {fill!r}, it must be {other!r}"
        return super().wrong()


class Mean:
    """The mean of numbers that come some at a time, their least and their largest, and on which side of ``fill`` they are."""

    def __init__(self, fill: float | None) -> None:
        # (columns of an array have no fill)
        self._fill, self._below, self._above = math.nan if fill is None else float(fill), 0, 0
        self._next = (-math.inf, math.inf)  # the numbers next to the fill on either side
        self._count, self._sums, self._sizes = 0, list[float](), list[float]()
        self.low, self.high = math.inf, -math.inf

    def see(self, numbers: Array) -> None:
        """Take some more numbers; NaN does not count."""
        present = numbers[~np.isnan(numbers)]
        if len(present):
            self._count += len(present)
            below, above = present[present < self._fill], present[present > self._fill]
            self._below, self._above = self._below + len(below), self._above + len(above)
            low, high = self._next
            self._next = float(np.max(below, initial=low)), float(np.min(above, initial=high))
            self._sums.append(total(present))
            self._sizes.append(float(np.sum(np.abs(present))))
            self.low, self.high = min(self.low, float(present.min())), max(self.high, float(present.max()))

    def wrong(self, fill: float) -> str | None:
        """Return a sentence if ``fill`` is not the mean, up to the rounding of a plain sum, nor the median, else None.

        Of a median, no more than half of the numbers are on either side; where it is none of them, it is halfway between
        the two in the middle.
        """
        if not self._count:
            return "no cell is present"
        mean = total(np.array(self._sums)) / self._count
        # A sum of n terms may be off by n eps times the sum of their sizes; blocked sums are far better.
        if abs(fill - mean) <= 2.0**-52 * (self._count + 4) * total(np.array(self._sizes)) / self._count:
            return None
        between = self._below + self._above == self._count
        halves = fill == self._fill and 2 * max(self._below, self._above) <= self._count
        if halves and (not between or fill == float(np.mean(self._next))):
            return None
        return f"the fill is {fill!r}, the mean of the present cells is {mean!r}"
