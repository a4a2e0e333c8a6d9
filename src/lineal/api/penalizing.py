"""In which unit a penalty sees a coefficient: that of the column as it is, or that of the standardized column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError, near
from lineal.features.encoder import INTERCEPT, Encoder
from lineal.ground.records import dataclass

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Penalized = str | Sequence[str] | Mapping[str, str]

CONVENTIONS: Final = ("standardized", "raw")
"""standardized: a penalty sees ``sd_j b_j``; raw: it sees ``b_j``, as in scikit-learn and in the lecture notes."""

_WORD: Final = f"(?:{'|'.join(CONVENTIONS)})"
_ENTRY: Final = re.compile(rf"(?P<all>{_WORD})(?:,|$)|(?P<column>.+?)=(?P<convention>{_WORD})(?:,|$)", re.DOTALL)


@dataclass(frozen=True)
class Penalize:
    """The convention of all columns, and those of single ones by name.

    >>> Penalize.read("raw,age=standardized")
    Penalize(convention='raw', columns=(('age', 'standardized'),))
    """

    convention: str = CONVENTIONS[0]
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
        return cls(next((word for name, word in pairs if name is None), CONVENTIONS[0]), single)

    def raw(self, columns: Sequence[str], encoder: Encoder | None) -> Mask:
        """Return which design columns are penalized as they are; the intercept only where it is named."""
        raw = np.full(len(columns), self.convention == "raw")
        raw[: int(columns[:1] == (INTERCEPT,))] = False
        for name, word in self.columns:
            if name == INTERCEPT and word == "standardized":
                raise InputError("the intercept has no standard deviation to be penalized by: write (intercept)=raw.")
            raw[_places(name, columns, encoder)] = word == "raw"
        return raw


def squared_scales(variance: Array, raw: Mask) -> Array:
    """Return the square of what each coefficient is multiplied with before a penalty sees it.

    >>> squared_scales(np.array([0.0, 4.0, 9.0]), np.array([False, True, False]))
    array([0., 1., 9.])
    """
    return np.where(raw, 1.0, variance)


def stated(unit: Literal["variance", "sd"], raw: Mask, intercept: bool) -> str | list[str]:
    """Return what a model file says of its penalty factors: one word for all columns, or a word for each.

    >>> stated("sd", np.array([False, True, False]), True)
    ['none', 'raw', 'sd']
    """
    free = int(intercept)
    if not raw.any():
        return unit
    if raw[free:].all() and not raw[:free].any():
        return "raw"
    return ["raw" if own else "none" if j < free else unit for j, own in enumerate(raw.tolist())]


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
