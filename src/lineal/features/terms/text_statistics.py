"""Statistics of a text column: what can be said about a text without its words."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from lineal import _core
from lineal.errors import InputError
from lineal.features.terms.members import expect
from lineal.features.terms.term import Cells, Numeric
from lineal.features.terms.text import MAX_TERMS, TERM_MAX_CHARACTERS, documents, from_strings, reading
from lineal.features.text_options import Options
from lineal.ground.arrays import Array
from lineal.ground.files import text_of
from lineal.ground.records import dataclass
from lineal.tables.marked import settled

STATISTIC_NAMES: Final = (
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
MAX_WORDS: Final = 2**20
"""The most words that a list may have."""


@dataclass(frozen=True)
class TextStatistics(Numeric):
    """Numbers of words and characters, and shares of punctuation, brackets, numbers, capitals and misspelt words.

    ``spelling`` are the words that are known, in the order of the alphabet. An empty or missing text has zeros.
    """

    column: str
    spelling: tuple[str, ...] | None = None
    kind: ClassVar[str] = "statistics"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return tuple(
            f"{self.column} {name}" for name in STATISTIC_NAMES[: len(STATISTIC_NAMES) - (self.spelling is None)]
        )

    @cached_property
    def _known(self) -> _core.Lexicon | None:
        if self.spelling is None:
            return None
        lexicon = _core.Lexicon()
        lexicon.add(list(self.spelling))
        return lexicon

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown (none)."""
        how = reading(Options(), missing=not settled(arrays[0]))
        out[:] = _core.text_statistics(how, documents(arrays[0]), self._known)
        return 0

    @property
    def use(self) -> str:
        """How its columns enter the model, in words."""
        return "statistics of the text"

    @classmethod
    def from_dict(cls, data: Any) -> TextStatistics:
        """Return the term of a model file, or refuse the file naming what is wrong."""
        members = {"kind", *cls.members()}
        expect(set(data) == members, "has text statistics with other members than column and spelling")
        name = data["column"]
        expect(isinstance(name, str) and name != "", "has text statistics without a column name")
        return cls.read(data)

    @classmethod
    def read(cls, data: Any) -> TextStatistics:
        """Return the term of a model file."""
        words = data["spelling"]
        if words is not None:
            fine = isinstance(words, list) and 0 < len(words) <= MAX_TERMS
            fine = fine and all(isinstance(word, str) and 0 < len(word) <= TERM_MAX_CHARACTERS for word in words)
            expect(fine, "has an odd word list")
            expect(all(a < b for a, b in pairwise(words)), "has a word list that is not in order")
        return cls(data["column"], None if words is None else tuple(words))

    @classmethod
    def example(cls) -> tuple[TextStatistics, Cells]:
        """Return statistics of three texts, with a list of known words."""
        return cls("t", ("is", "rose")), (["A rose (1) is a rose.", "is it?", None],)


def known_words(path: str) -> tuple[str, ...]:
    """Return the words of a text file, read as every text is, in the order of the alphabet."""
    lines = text_of(Path(path), "the word list").splitlines()
    lexicon = _core.Lexicon()
    if not lexicon.count(reading(Options(), missing=False), from_strings(lines), MAX_WORDS):
        raise InputError(f"the word list {path} has more than {MAX_WORDS:,} words; give a shorter one.")
    if not len(lexicon):
        raise InputError(f"the word list {path} has no words; put one on every line.")
    return tuple(sorted(lexicon.take(np.arange(len(lexicon)))))
