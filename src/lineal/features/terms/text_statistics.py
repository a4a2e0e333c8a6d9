"""Statistics of a text column: what can be said about a text without its words."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.errors import InputError
from lineal.features.terms.text import documents, from_strings, reading
from lineal.features.text_options import Options
from lineal.ground.files import text_of
from lineal.ground.records import dataclass

Array = npt.NDArray[np.float64]

NAMES: Final = (
    "words",
    "characters",
    "characters per word",
    "different words per word",
    "punctuation share",
    "bracket share",
    "number share",
    "capital share",
    "misspelling share",
)
"""What follows the column's name; the last one only with a list of known words."""
LONG: Final = 2**20
"""At most so many words a list may have."""


@dataclass(frozen=True)
class TextStatistics:
    """Numbers of words and characters, and shares of punctuation, brackets, numbers, capitals and misspelt words.

    ``spelling`` are the words that are known, in the order of the alphabet. An empty or missing text has zeros.
    """

    column: str
    spelling: tuple[str, ...] | None = None
    kind: ClassVar[str] = "statistics"
    as_text: ClassVar[tuple[bool, ...]] = (True,)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The table's columns it needs; ``as_text`` says of each whether it is read as text."""
        return (self.column,)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return tuple(f"{self.column} {name}" for name in NAMES[: len(NAMES) - (self.spelling is None)])

    @cached_property
    def _known(self) -> _core.Lexicon | None:
        if self.spelling is None:
            return None
        lexicon = _core.Lexicon()
        lexicon.add(list(self.spelling))
        return lexicon

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown (none)."""
        out[:] = _core.text_statistics(reading(Options()), documents(arrays[0]), self._known)
        return 0

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        words = None if self.spelling is None else list(self.spelling)
        return {"kind": self.kind, "column": self.column, "spelling": words}


def known_words(path: str) -> tuple[str, ...]:
    """Return the words of a text file, read as every text is, in the order of the alphabet."""
    lines = text_of(Path(path), "the word list").splitlines()
    lexicon = _core.Lexicon()
    if not lexicon.count(reading(Options(), missing=False), from_strings(lines), LONG):
        raise InputError(f"the word list {path} has more than {LONG:,} words; give a shorter one.")
    if not len(lexicon):
        raise InputError(f"the word list {path} has no words; put one on every line.")
    return tuple(sorted(lexicon.take(np.arange(len(lexicon)))))
