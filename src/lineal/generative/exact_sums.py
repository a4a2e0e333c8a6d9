"""Sums of doubles without rounding: of any partition of the rows, in any order, the same to the last bit.

Every double is split into parts ``x = sum_l q_l``, ``q_l`` a whole multiple of ``2^(26 l)`` below ``2^(26 (l + 1))``. Of up
to 2^26 such parts every sum, in any order, is a double exactly. A sum that holds the totals of its levels is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Final

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

LEVEL_BITS: Final = 26
"""Bits of a part: half of a double's 53, so that 2^26 of them add up exactly."""
MAX_TERMS: Final = 2**26
"""How many parts of a level may be added before the upper bits are carried to the next."""


def levels(values: Array) -> Iterator[tuple[int, Array]]:
    """Yield the level and the parts of finite numbers, from the largest level down.

    >>> [(level, part.tolist()) for level, part in levels(np.array([2.0**30 + 0.25, 3.0]))]
    [(1, [1073741824.0, 0.0]), (0, [0.0, 3.0]), (-1, [0.25, 0.0])]
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    if largest < 2.0**LEVEL_BITS and np.array_equal(values, np.trunc(values)):
        if largest:
            yield 0, values
        return
    level, rest = (math.frexp(largest)[1] - 1) // LEVEL_BITS, values
    while rest.any():
        shift = 1.5 * 2.0 ** (52 + LEVEL_BITS * level)
        part = (rest + shift) - shift
        if part.any():
            yield level, part
        rest = rest - part
        level -= 1


@dataclass(frozen=True)
class ExactSums:
    """Exact sums, one for every cell of an array: the totals of every level. ``terms`` were added to a cell at most.

    >>> sums = ExactSums.of([np.array([[1e16], [1.0], [-1e16]])], lambda part: part.sum(axis=0), 3)
    >>> sums.values().tolist()
    [1.0]
    """

    totals: Mapping[int, Array]
    shape: tuple[int, ...]
    terms: int

    @staticmethod
    def of(
        summands: Iterable[Array], add: Callable[[Array], Array], terms: int, shape: tuple[int, ...] | None = None
    ) -> ExactSums:
        """Return the sums that ``add`` makes of several arrays: of each level on its own, where it cannot round.

        ``add`` adds at most ``terms`` numbers for a cell, each times one or zero; ``shape`` is that of its result.
        """
        totals: dict[int, Array] = {}
        shapes = [] if shape is None else [shape]
        for values in summands:
            for level, part in levels(values):
                added = add(part)
                totals[level] = totals[level] + added if level in totals else added
                shapes.append(added.shape)
            if not shapes:
                shapes.append(add(values).shape)
        return ExactSums(totals, shapes[0], terms).carried()

    @staticmethod
    def zeros(shape: tuple[int, ...]) -> ExactSums:
        """Return sums of nothing."""
        return ExactSums({}, shape, 0)

    def __add__(self, other: ExactSums) -> ExactSums:
        if self.shape != other.shape:
            raise ValueError(f"sums of shape {self.shape} and {other.shape} cannot be added")
        totals = dict(self.totals)
        for level, added in other.totals.items():
            totals[level] = totals[level] + added if level in totals else added
        return ExactSums(totals, self.shape, self.terms + other.terms).carried()

    def carried(self) -> ExactSums:
        """Return the same sums, with upper bits carried to the next level where there are many terms."""
        return self if self.terms <= MAX_TERMS // 2 else self.settled()

    def settled(self) -> ExactSums:
        """Return the same sums, every level smaller than one unit of the next."""
        totals = {level: total.copy() for level, total in self.totals.items()}
        level = min(totals, default=0)
        while level <= max(totals, default=-1):
            if level in totals:
                shift = 1.5 * 2.0 ** (52 + LEVEL_BITS * (level + 1))
                upper = (totals[level] + shift) - shift
                totals[level] -= upper
                if upper.any():
                    totals[level + 1] = totals[level + 1] + upper if level + 1 in totals else upper
            level += 1
        return ExactSums({level: total for level, total in totals.items() if total.any()}, self.shape, 1)

    def values(self) -> Array:
        """Return the nearest double of every sum."""
        settled = self.settled().totals
        order = sorted(settled, reverse=True)
        if len(order) <= 1:
            return settled[order[0]].copy() if order else np.zeros(self.shape)
        cells = np.stack([settled[level].ravel() for level in order], axis=1)
        return np.array([math.fsum(row) for row in cells.tolist()]).reshape(self.shape)

    def whole(self) -> tuple[list[int], int]:
        """Return every sum, in the order of its cells, as a whole number of units ``2^e``; and e.

        >>> ExactSums.of([np.array([[0.75], [2.0]])], lambda part: part.sum(axis=0), 2).whole()
        ([11], -2)
        """
        settled = self.settled().totals
        if not settled:
            return [0] * math.prod(self.shape), 0
        lowest = min(settled)
        unit = LEVEL_BITS * lowest
        numbers = [0] * math.prod(self.shape)
        for level, total in settled.items():
            scaled = np.ldexp(total.ravel(), -LEVEL_BITS * level).tolist()
            shift = LEVEL_BITS * (level - lowest)
            numbers = [number + (int(part) << shift) for number, part in zip(numbers, scaled, strict=True)]
        if any(numbers):
            spare = min((number & -number).bit_length() - 1 for number in numbers if number)
            numbers, unit = [number >> spare for number in numbers], unit + spare
        return numbers, unit

    def fractions(self) -> list[Fraction]:
        """Return every sum as a fraction, in the order of its cells."""
        numbers, unit = self.whole()
        scale = Fraction(2) ** unit
        return [number * scale for number in numbers]
