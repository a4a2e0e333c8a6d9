"""Texts and lists of tokens as points: symbols by number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.ground.inputs import absent, shown
from lineal.kernels.points import Chosen, Points

Symbols = npt.NDArray[np.int64]
Unit = Literal["characters", "words"]


class Sequences(Points):
    """Texts, whose symbols are characters or words (what blanks part), or lists of tokens, whose symbols they are.

    >>> Sequences(["ab", ["a", "b", "a"]]).lengths.tolist()
    [2, 3]
    """

    def __init__(self, X: Any, name: str = "X", unit: Unit = "characters") -> None:
        self.values = listed(X, name)
        self.unit = unit
        self.tokens = [tokens(one, unit, i, name) for i, one in enumerate(self.values)]

    def __len__(self) -> int:
        return len(self.values)

    def take(self, index: Chosen) -> Self:
        """Return some of the sequences, in this order."""
        return type(self)([self.values[i] for i in index], unit=self.unit)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many symbols each has."""
        return np.array([len(one) for one in self.tokens], dtype=np.int64)


def numbered(*sets: Sequences) -> tuple[Symbols, Symbols]:
    """Return where each sequence of some sets begins, and the symbols of all of them as numbers.

    Characters are their code points; where there are tokens, symbols are numbered as they come.

    >>> numbered(Sequences(["ab", "ba"]))
    (array([0, 2, 4]), array([97, 98, 98, 97]))
    """
    known: dict[str, int] = {}
    everything = [one for points in sets for one in points.tokens]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in everything], dtype=np.int64)]).astype(np.int64)
    if all(isinstance(one, str) for one in everything):
        code_points = "".join(map(str, everything)).encode("utf-32-le", errors="surrogatepass")
        return starts, np.frombuffer(code_points, dtype="<u4").astype(np.int64)
    symbols = [known.setdefault(token, len(known)) for one in everything for token in one]
    return starts, np.array(symbols, dtype=np.int64)


def listed(X: Any, name: str) -> list[Any]:
    """Return points that are texts or lists as a list of them."""
    if X is None or isinstance(X, str | bytes | dict) or not isinstance(X, Iterable):
        raise InputError(f"{name} is {shown(X)}; give a list of texts, one for every point.")
    if isinstance(X, np.ndarray) and X.ndim != 1:
        raise InputError(f"{name} is an array of {X.ndim} dimensions; give one text for every point.")
    return list(X)


def tokens(one: Any, unit: Unit, place: int, name: str) -> Sequence[str]:
    """Return the symbols of a text or of a list of tokens."""
    if isinstance(one, str):
        return one if unit == "characters" else one.split()
    if isinstance(one, list | tuple) and all(isinstance(token, str) for token in one):
        return one
    what = "a missing value" if absent(one) else shown(one)
    raise InputError(f"{name}[{place}] is {what}; give a text, or a list of tokens that are texts.")
