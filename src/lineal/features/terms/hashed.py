"""A category of very many levels: some have a column of their own, the others share columns by a hash."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from lineal import _core
from lineal.features.terms.category import Category, Codes
from lineal.features.terms.members import expect, flag, whole
from lineal.features.terms.members import words as different
from lineal.features.terms.term import Cells
from lineal.features.text_options import MAX_HASH_BITS
from lineal.ground.arrays import Mask
from lineal.ground.records import dataclass


def bucket(level: str, bits: int) -> int:
    """Return the first bits of the hash of a level (docs/text.md says how it is computed).

    >>> bucket("word", 8)  # the hash is 10965067365587084685, and 2^56 goes into it 152 times
    152
    """
    return _core.hash_text(level) >> (64 - bits)


@dataclass(frozen=True)
class Hashed(Category):
    """A category whose ``levels`` have a column each; every other is in one of ``buckets``, the first bits of its hash.

    Buckets are those of the training rows. A level of another bucket, never seen, counts for nothing.
    """

    bits: int = 1
    buckets: tuple[int, ...] = ()
    kind: ClassVar[str] = "hashed"
    usage: ClassVar[str] = ""
    is_factor: ClassVar[bool] = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        shown = tuple(f"{self.column}={level}" for level in self.levels)
        shared = tuple(f"{self.column}: #{number}" for number in self.buckets)
        return (*shown, *shared, f"{self.column} is missing") if self.missing else (*shown, *shared)

    @property
    def use(self) -> str:
        """How many levels have their own score, and how many buckets there are."""
        own = f"{len(self.levels):,} levels with their own score, others in " if self.levels else "levels in "
        return f"{own}{len(self.buckets):,} buckets of 2^{self.bits}{'; missing is a level' if self.missing else ''}"

    @cached_property
    def _places(self) -> dict[int, int]:
        return {number: place for place, number in enumerate(self.buckets, len(self.levels))}

    def _table(self, levels: list[str]) -> tuple[Codes, Mask | None]:
        own, places = self._codes, self._places
        codes = (own[level] if level in own else places.get(bucket(level, self.bits), -2) for level in levels)
        missing = len(self.columns) - 1 if self.missing else -1
        table = np.array([missing, *codes], dtype=np.int32)
        unknown = table == -2
        table[unknown] = -1
        return table, unknown if unknown.any() else None

    @classmethod
    def read(cls, data: Any) -> Hashed:
        """Return the term of a model file."""
        column, bits, buckets = data["column"], data["bits"], data["buckets"]
        levels = different(data["levels"], column) if data["levels"] != [] else ()
        expect(data["reference"] is None, f"compares the hashed levels of {column!r} with one of them")
        fine = whole(bits) and 1 <= bits <= MAX_HASH_BITS and isinstance(buckets, list) and all(map(whole, buckets))
        expect(fine and buckets == sorted(set(buckets)), f"has an odd bucket of {column!r}")
        expect(all(0 <= number < 2**bits for number in buckets), f"has an odd bucket of {column!r}")
        missing = flag(data, "missing", f"must say for {column!r} whether cells were missing, true or false")
        return cls(column, levels, None, missing, bits, tuple(buckets))

    @classmethod
    def example(cls) -> tuple[Hashed, Cells]:
        """Return one frequent level, and two in a bucket of four each."""
        buckets = tuple(sorted({bucket(level, 2) for level in ("7b", "9c")}))
        return cls("user", ("4a",), None, True, 2, buckets), (["4a", "7b", None, "4a", "9c"],)
