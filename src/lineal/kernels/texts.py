"""Kernels of texts: common subsequences with gaps, common substrings."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import numpy as np

from lineal import _core
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.kernels.kernel import UNIT, Kernel, Takes, expect, number, whole
from lineal.kernels.points import Points
from lineal.kernels.sequences import Sequences, Symbols, Unit, numbered

LONGEST: Final = 32
"""The longest subsequences that are compared."""


class TextKernel(Kernel):
    """What kernels of texts share: symbols are characters or words."""

    unit: Unit
    takes: ClassVar[Takes] = "sequences"

    def _unit(self) -> None:
        if self.unit not in ("characters", "words"):
            raise InputError(f"unit of the {self.label} is {self.unit!r}; it must be 'characters' or 'words'.")

    def points(self, X: Any, name: str = "X") -> Points:
        """Return texts as symbols."""
        if isinstance(X, Sequences) and X.unit == self.unit:
            return X
        return Sequences(X.values if isinstance(X, Points) else X, name, self.unit)

    @classmethod
    def member(cls, name: str, value: Any) -> Any:
        """Return the value of one field from a file."""
        if name != "unit":
            return super().member(name, value)
        expect(isinstance(value, str), "has no text for 'unit'")
        return value


@dataclass(frozen=True)
class Subsequence(TextKernel):
    """``k(x, z) = sum over u of length symbols, over its places i in x and j in z, of decay^(span i + span j)``.

    The gap-weighted subsequence kernel of Lodhi and others (2002): a subsequence counts the less the more symbols lie
    between its first and its last one, both included in its span. In ``O(length |x| |z|)``.

    >>> Subsequence(2, 0.5).gram(["cat", "car"])  # doctest: +NORMALIZE_WHITESPACE
    array([[0.140625, 0.0625 ],
           [0.0625 , 0.140625]])
    """

    length: int = 3
    decay: float = 0.5
    unit: Unit = "characters"
    name: ClassVar[str] = "ssk"
    label: ClassVar[str] = "subsequence kernel"
    spelling: ClassVar[str] = "string:ssk,LENGTH,DECAY[,unit=words]"

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return a usual one, one of single symbols, one without decay, one of words."""
        return cls(3, 0.5), cls(1, 0.5), cls(2, 1.0), cls(2, 0.7, "words"), cls(9, 0.9)

    def __post_init__(self) -> None:
        whole(self.label, "length", self.length, most=LONGEST)
        number(self.label, "decay", self.decay)
        if self.decay > 1.0:
            raise InputError(f"decay of the {self.label} is {self.decay!r}; it must be above 0 and at most 1.")
        self._unit()

    def formula(self) -> str:
        """Return the kernel in letters."""
        return f"sum over common subsequences of {self.length} {self.unit} of {self.decay:.6g}^(span in x + span in z)"

    def spelled(self) -> str:
        """Return ``string:ssk,LENGTH,DECAY,unit=UNIT``."""
        return f"string:ssk,{self.length},{self.decay!r},unit={self.unit}"

    def _gram(self, left: Points, right: Points | None) -> Array:
        assert isinstance(left, Sequences)
        if right is None:
            return _core.subsequence_gram(*numbered(left), self.length, self.decay)
        assert isinstance(right, Sequences)
        return _core.subsequence_gram(*numbered(left, right), self.length, self.decay, len(left))

    def _diagonal(self, points: Points) -> Array:
        assert isinstance(points, Sequences)
        return _core.subsequence_diagonal(*numbered(points), self.length, self.decay)

    def _entry_error(self, points: Points, partners: Points) -> Array:
        assert isinstance(points, Sequences)
        assert isinstance(partners, Sequences)
        # A sum of terms above zero, each of which is rounded at most twice wherever one of its two places moves on, some
        # times more at each of its symbols, and in two sums over places. What is smaller than 2^-1022 counts as zero.
        longest = max(points.lengths.max(initial=0), partners.lengths.max(initial=0))
        share = 1.01 * UNIT * (6.0 * float(longest) + 8.0 * self.length)
        return np.sqrt(share * self._diagonal(points)) * (1.0 + share) + 2.0**-400


@dataclass(frozen=True)
class Spectrum(TextKernel):
    """``k(x, z) = sum over all u of length symbols of (times u is in x) (times u is in z)``, without gaps.

    The p-spectrum kernel of Leslie and others (2002); whole numbers, so that no entry is rounded below 2^53.

    >>> Spectrum(2).gram(["banana", "ananas"])
    array([[9., 8.],
           [8., 9.]])
    """

    length: int = 3
    unit: Unit = "characters"
    name: ClassVar[str] = "spectrum"
    label: ClassVar[str] = "spectrum kernel"
    spelling: ClassVar[str] = "spectrum:LENGTH[,unit=words]"

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return a usual one, one of single symbols, one of words."""
        return cls(3), cls(1), cls(2, "words")

    def __post_init__(self) -> None:
        whole(self.label, "length", self.length, most=10_000)
        self._unit()

    def formula(self) -> str:
        """Return the kernel in letters."""
        return f"sum over {self.length} consecutive {self.unit} u of (times u is in x) (times u is in z)"

    def spelled(self) -> str:
        """Return ``spectrum:LENGTH,unit=UNIT``."""
        return f"{self.name}:{self.length},unit={self.unit}"

    def _gram(self, left: Points, right: Points | None) -> Array:
        assert isinstance(left, Sequences)
        if right is None:
            return _core.sparse_gram(*substrings(*numbered(left), self.length))
        assert isinstance(right, Sequences)
        return _core.sparse_gram(*substrings(*numbered(left, right), self.length), len(left))

    def _diagonal(self, points: Points) -> Array:
        assert isinstance(points, Sequences)
        starts, _, times, _ = substrings(*numbered(points), self.length)
        sums = np.concatenate([[0.0], np.cumsum(times * times)])
        return np.asarray(sums[starts[1:]] - sums[starts[:-1]])

    def _entry_error(self, points: Points, partners: Points) -> Array:
        square = self._diagonal(points)
        # whole numbers below 2^53 are exact; sums beyond that are rounded once for every substring
        assert isinstance(points, Sequences)
        share = 1.01 * UNIT * float(points.lengths.max(initial=0)) * (square.max(initial=0.0) >= 2.0**53)
        return np.asarray(np.sqrt(share * square))


def substrings(starts: Symbols, symbols: Symbols, length: int) -> tuple[Symbols, Symbols, Array, int]:
    """Return which substrings of a length every sequence has and how often, as compressed rows, and how many there are.

    Substrings are numbered by pairs: one of ``k + 1`` symbols is one of ``k`` and the symbol behind it.

    >>> substrings(np.array([0, 3, 5]), np.array([0, 1, 0, 0, 1]), 2)
    (array([0, 2, 3]), array([0, 1, 0]), array([1., 1., 1.]), 2)
    """
    sizes = np.maximum(np.diff(starts) - length + 1, 0)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    ends = np.cumsum(sizes)
    places = np.arange(len(owner)) - np.repeat(ends - sizes, sizes) + np.repeat(starts[:-1], sizes)
    base = int(symbols.max(initial=0)) + 1
    numbers = np.zeros(len(owner), dtype=np.int64)
    for k in range(length):
        # below (substrings so far) (symbols), at most the square of the number of places
        numbers = np.unique(numbers * base + symbols[places + k], return_inverse=True)[1].reshape(-1)
    width = int(numbers.max(initial=-1)) + 1
    pairs, times = np.unique(owner * max(width, 1) + numbers, return_counts=True)
    rows, columns = np.divmod(pairs, max(width, 1))
    return np.searchsorted(rows, np.arange(len(sizes) + 1)).astype(np.int64), columns, times.astype(np.float64), width
