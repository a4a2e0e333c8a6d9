"""A number in pieces: which of some intervals it lies in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from lineal.errors import InputError
from lineal.features.terms.arithmetic import spelled
from lineal.features.terms.curve import Curve, Numbers, through
from lineal.features.terms.members import expect, finite, flag
from lineal.features.terms.poly import bounds
from lineal.features.terms.term import Cells
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Cut(Curve):
    """Ones and zeros for the intervals between breaks, closed on the right; the outer ones have no end.

    The first interval is the reference and has no column, unless there is no constant to lean on (``full``).
    """

    breaks: tuple[float, ...]
    full: bool
    kind: ClassVar[str] = "cut"
    usage: ClassVar[str] = "cut(column, pieces) or cut(column, c(10, 20))"
    sizes: ClassVar[range] = range(2, 51)
    has_powers: ClassVar[bool] = False

    @classmethod
    def learned(cls, numbers: Numbers, functions: tuple[str, ...], size: int) -> Self:
        """Return pieces of one width over the range of a column, after the functions."""
        low, high = bounds(numbers.low, numbers.high, functions)
        if not low < high:
            name = through(numbers.column, functions)
            raise InputError(f"cut({name}, {size}) needs a column that varies; {name} is {low:g} in every row.")
        return cls.at(numbers, functions, [low + (high - low) * k / size for k in range(1, size)])

    @classmethod
    def at(cls, numbers: Numbers, functions: tuple[str, ...], breaks: Sequence[float]) -> Self:
        """Return the pieces between breaks."""
        base = (numbers.column, functions, numbers.mean, numbers.missing)
        return cls(*base, breaks=tuple(breaks), full=False)

    @property
    def spelled(self) -> str:
        """The term as a formula has it."""
        return f"cut({self.name}, c({', '.join(map(spelled, self.breaks))}))"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns: the intervals."""
        shown = [f"{value:.6g}" for value in self.breaks]
        shown = shown if len(set(shown)) == len(shown) else [repr(value) for value in self.breaks]
        inner = [f"{self.name} in ({a}, {b}]" for a, b in pairwise(shown)]
        every = (f"{self.name} <= {shown[0]}", *inner, f"{self.name} > {shown[-1]}")
        return every if self.full else every[1:]

    def coded(self, *, margin: bool) -> Self:
        """Return the pieces with a column for each where there is no constant to lean on."""
        return replace(self, full=not margin)

    def basis(self, x: Array, out: Array) -> None:
        """Write the columns."""
        place = np.searchsorted(self.breaks, x, side="left") - (0 if self.full else 1)
        width = len(self.names)
        out[:, :width] = place[:, None] == np.arange(width)

    @classmethod
    def own_members(cls, data: Any) -> dict[str, Any]:
        """Return the breaks."""
        breaks, column = data["breaks"], data["column"]
        fine = isinstance(breaks, list) and 1 <= len(breaks) < cls.sizes.stop and all(map(finite, breaks))
        expect(fine and all(a < b for a, b in pairwise(breaks)), f"has no increasing breaks for {column!r}")
        full = flag(data, "full", f"must say for {column!r} whether every piece has a column, true or false")
        return {"breaks": tuple(map(float, breaks)), "full": full}

    @classmethod
    def example(cls) -> tuple[Cut, Cells]:
        """Return three pieces of a column with a missing cell."""
        return cls("x", (), 2.5, True, breaks=(2.0, 3.0), full=False), (["1", "4", None, "2", "3"],)
