"""Two words, one of which means true."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lineal.features.cells.cells import texts
from lineal.features.terms.members import expect, fill_and_indicator, words
from lineal.features.terms.term import Cells, Single, filled
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Boolean(Single):
    """True or false as 1 or 0; a missing or unknown cell counts as ``fill``."""

    column: str
    true: tuple[str, ...]
    false: tuple[str, ...]
    fill: float
    indicator: bool
    kind: ClassVar[str] = "boolean"
    is_factor: ClassVar[bool] = True

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown words."""
        codes, levels = texts(arrays[0])
        values = [self._value(level) for level in levels]
        table = np.array([*(np.nan if value is None else value for value in values), np.nan])
        unknown = np.array([*(value is None for value in values), False])
        missing = (codes < 0) | unknown[codes]
        filled(table[codes], self.fill, indicator=False, out=out[:, :1])
        if self.indicator:
            out[:, 1] = missing
        return int(unknown[codes].sum())

    def _value(self, level: str) -> float | None:
        for meaning, value in ((self.true, 1.0), (self.false, 0.0)):
            if level.lower() in (word.lower() for word in meaning):  # case is no part of such a word
                return value
        return None

    @property
    def meaning(self) -> str:
        """Which words are 1 and which are 0."""
        return f"{'/'.join(self.true)} is 1, {'/'.join(self.false)} is 0"

    @classmethod
    def read(cls, data: Any) -> Boolean:
        """Return the term of a model file."""
        fill, indicator = fill_and_indicator(data)
        name = data["column"]
        true, false = words(data["true"], name), words(data["false"], name)
        expect(
            not {word.lower() for word in true} & {word.lower() for word in false},
            f"has a word of {name!r} that is both true and false",
        )
        return cls(name, true, false, fill, indicator)

    @classmethod
    def example(cls) -> tuple[Boolean, Cells]:
        """Return a Boolean column with a missing cell."""
        return cls("member", ("yes",), ("no",), 0.5, True), (["yes", "no", None],)
