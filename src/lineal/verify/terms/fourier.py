"""Random Fourier features: cosines of random directions, ``sqrt(2 / m) cos(sum_k w_kj x_k / (half_k width) + b_j)``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells

FIELDS = {"halves", "count", "kernel_width"}


def check(term: Mapping[str, Any], sizes: range = range(2, 5001)) -> None:
    """Refuse numbers that are none."""
    halves, count, width = term["halves"], term["count"], term["kernel_width"]
    numbers: list[Any] = [*halves, width] if isinstance(halves, list) else [None]
    if not all(isinstance(one, int | float) and 0.0 < one < math.inf for one in numbers):
        raise ModelFileError(f"halves and kernel_width of a {term['kind']} term must be numbers above 0.")
    if len(halves) != len(term["factors"]) or type(count) is not int or count not in sizes:
        raise ModelFileError(
            f"a {term['kind']} term must have a half for every factor, and from {sizes[0]} to {sizes[-1]} columns."
        )


def names(term: Mapping[str, Any], factors: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of the features.

    >>> names({"kind": "fourier", "count": 2, "kernel_width": 0.5}, [["a"], ["b"]])
    ['fourier(a, b, 2, 0.5)[1]', 'fourier(a, b, 2, 0.5)[2]']
    """
    spelled = f"{', '.join(factor[0] for factor in factors)}, {term['count']}, {term['kernel_width']:g}"
    return [f"{term['kind']}({spelled})[{j + 1}]" for j in range(term["count"])]


def values(term: Mapping[str, Any], factors: Sequence[Sequence[Array]]) -> list[Array]:
    """Return the features; w and b are the first numbers of numpy's frozen generator with seed 0."""
    random, p, m = np.random.RandomState(0), len(factors), term["count"]
    w, b = random.normal(size=(p, m)), random.uniform(0.0, 2.0 * math.pi, size=m)
    angles = [
        sum(
            factor[0] / (half * term["kernel_width"]) * w[k, j]
            for k, (factor, half) in enumerate(zip(factors, term["halves"], strict=True))
        )
        + b[j]
        for j in range(m)
    ]
    return [math.sqrt(2.0 / m) * np.cos(angle) for angle in angles]


class Learner:
    """What the training cells teach: half of the range of every column."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._columns = [factor["column"] for factor in term["factors"]]
        self._halves = term["halves"]
        self._ends = [(math.inf, -math.inf)] * len(self._columns)

    def see(self, columns: Mapping[str, cells.Column]) -> None:
        """Take some more rows."""
        for k, name in enumerate(self._columns):
            numbers = cells.numbers(columns[name])
            present = numbers[~np.isnan(numbers)]
            if len(present):
                low, high = self._ends[k]
                self._ends[k] = min(low, float(present.min())), max(high, float(present.max()))

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is."""
        for name, half, (low, high) in zip(self._columns, self._halves, self._ends, strict=True):
            expected = high / 2.0 - low / 2.0 if high > low else 1.0
            if half != expected:
                return f"half of the range of {name!r} is stated as {half!r}, it is {expected!r}"
        return None
