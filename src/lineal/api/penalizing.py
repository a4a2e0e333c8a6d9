"""In which unit a penalty sees a coefficient: that of the column as it is, or that of the standardized column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, Literal

import numpy as np

from lineal.errors import InputError, near
from lineal.features.encoder import INTERCEPT, Encoder
from lineal.features.terms import Text
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass

Penalized = str | Sequence[str] | Mapping[str, str]

CONVENTIONS: Final = ("standardized", "raw")
"""standardized: a penalty sees ``sd_j b_j``; raw: it sees ``b_j``, as in scikit-learn and in the lecture notes."""

_WORD: Final = f"(?:{'|'.join(CONVENTIONS)})"
_ENTRY: Final = re.compile(rf"(?P<all>{_WORD})(?:,|$)|(?P<column>.+?)=(?P<convention>{_WORD})(?:,|$)", re.DOTALL)


@dataclass(frozen=True)
class Penalize:
    """The convention of all columns, and those of single ones by name.

    Without a convention the words of a text are penalized as they are: standardized, a rare word would pay less than a
    frequent one for the same share of a score. All other columns are standardized.

    >>> Penalize.read("raw,age=standardized")
    Penalize(convention='raw', columns=(('age', 'standardized'),))
    """

    convention: str | None = None
    columns: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, asked: Penalized) -> Penalize:
        """Read ``raw``, ``age=raw``, several with commas between or in a list; or a dict from columns to conventions."""
        pairs: list[tuple[str | None, str]]
        if isinstance(asked, Mapping):
            pairs = [(str(name), _known(word, asked)) for name, word in asked.items()]
        else:
            pairs = [pair for text in ([asked] if isinstance(asked, str) else asked) for pair in _pairs(text)]
        names = [name for name, _ in pairs]
        twice = next((name for place, name in enumerate(names) if name in names[:place]), "")
        if twice is None or twice:
            whose = "the convention" if twice is None else f"the convention of {twice!r}"
            raise InputError(f"{whose} by which columns are penalized is given twice; give it once.")
        single = tuple((name, word) for name, word in pairs if name is not None)
        return cls(next((word for name, word in pairs if name is None), None), single)

    def raw(self, columns: Sequence[str], encoder: Encoder | None) -> Mask:
        """Return which design columns are penalized as they are; the intercept only where it is named."""
        raw = np.full(len(columns), self.convention == "raw")
        raw[: int(columns[:1] == (INTERCEPT,))] = False
        for block in text_blocks(columns, encoder).values() if self.convention is None else ():
            raw[block] = True
        for name, word in self.columns:
            if name == INTERCEPT and word == "standardized":
                raise InputError("the intercept has no standard deviation to be penalized by: write (intercept)=raw.")
            raw[_places(name, columns, encoder)] = word == "raw"
        return raw


def text_blocks(columns: Sequence[str], encoder: Encoder | None) -> dict[str, slice]:
    """Return where the words of each column of text stand among the design columns."""
    blocks, at = dict[str, slice](), int(tuple(columns[:1]) == (INTERCEPT,))
    for term in () if encoder is None else encoder.terms:
        if isinstance(term, Text):
            blocks[term.column] = slice(at, at + len(term.columns))
        at += len(term.columns)
    return blocks


@dataclass(frozen=True)
class Units:
    """What a penalty sees of each coefficient: ``sd_j b_j``, or ``sqrt(multiple_j) b_j`` where a column is ``raw``.

    ``texts`` are blocks of words that are raw, ``multiples`` those of blocks that pay more than once; blocks of which nobody
    has asked how they are penalized are ``free`` to.

    >>> units = Units(np.array([0.0, 4.0, 9.0]), np.array([False, True, False]), True)
    >>> units.squares, units.stated("sd")
    (array([0., 1., 9.]), ['none', 'raw', 'sd'])
    """

    variance: Array
    raw: Mask
    intercept: bool
    texts: Mapping[str, slice] = field(default_factory=dict)
    free: bool = True
    multiples: Mapping[str, float] = field(default_factory=dict)

    @property
    def squares(self) -> Array:
        """The square of what each coefficient is multiplied with before a penalty sees it."""
        squares = np.where(self.raw, 1.0, self.variance)
        for name, multiple in self.multiples.items():
            squares[self.texts[name]] *= multiple
        return squares

    def stated(self, unit: Literal["variance", "sd"]) -> str | list[str | float]:
        """Return what a model file says of its penalty factors: one word for all columns, or a word for each.

        A number is the factor itself, in the same unit, where a block of words pays more than others.
        """
        raw, first = self.raw, int(self.intercept)
        if not raw.any():
            return unit
        if raw[first:].all() and not raw[:first].any() and not self.multiples:
            return "raw"
        words: list[str | float] = [
            "raw" if own else "none" if j < first else unit for j, own in enumerate(raw.tolist())
        ]
        for name, multiple in self.multiples.items():
            block = self.texts[name]
            factor = multiple if unit == "variance" else float(np.sqrt(multiple))
            words[block] = [factor] * (block.stop - block.start)
        return words


def _pairs(text: str) -> list[tuple[str | None, str]]:
    """Return columns (None: all of them) and conventions of ``raw,age=standardized``."""
    pairs, at = list[tuple[str | None, str]](), 0
    while at < len(text) or not pairs:
        entry = _ENTRY.match(text, at)
        if entry is None:
            _known(text[at:].rpartition("=")[2], text)
            raise InputError(_refused(text))
        pairs.append((entry["column"], entry["all"] or entry["convention"]))
        at = entry.end()
    return pairs


def _known(word: str, asked: object) -> str:
    if word not in CONVENTIONS:
        raise InputError(f"{_refused(asked)}{near(str(word), CONVENTIONS)}")
    return word


def _refused(asked: object) -> str:
    return (
        f"penalize is {asked!r}; it says how columns are penalized: standardized (by sd_j b_j) or raw (by b_j), for all "
        "columns or for some: raw,age=standardized."
    )


def _places(name: str, columns: Sequence[str], encoder: Encoder | None) -> list[int]:
    """Return the design columns that a name means: itself, or all that come from this column of the table."""
    if name in columns:
        return [list(columns).index(name)]
    made: list[str] = []
    inputs: list[str] = []
    for term in () if encoder is None else encoder.terms:
        inputs += term.inputs
        made += term.columns if name in term.inputs else ()
    if not made:
        known = list(dict.fromkeys([*inputs, *columns]))
        raise InputError(
            f"there is no column {name!r} to be penalized in a way of its own; give a column of the table or of the "
            f"design.{near(name, known)}"
        )
    return [place for place, column in enumerate(columns) if column in set(made)]
