"""A column of texts as they are, character by character, for kernels that compare texts."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Final

import numpy as np

from lineal.errors import InputError
from lineal.features.terms.members import expect, whole
from lineal.features.terms.rows import Rows
from lineal.features.terms.term import Cells, SparseTerm
from lineal.features.terms.text import utf8
from lineal.ground.records import dataclass

MAX_CHARACTERS: Final = 2**15
"""The most characters of a text: kernels of texts take as much time as the product of two lengths."""


@dataclass(frozen=True)
class Verbatim(SparseTerm):
    """Character k of a text as column k: its code point plus one, 0 behind the end; a missing cell is an empty text.

    Texts have at most ``width`` characters. The columns are no numbers to be weighed: only a feature map that compares
    texts reads them (``feature_map.texts``).
    """

    column: str
    width: int = MAX_CHARACTERS
    kind: ClassVar[str] = "verbatim"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return tuple(f"{self.column}[{k}]" for k in range(self.width))

    @property
    def use(self) -> str:
        """What became of the text, in words."""
        return "texts as they are"

    def encode(self, array: Any) -> Rows:
        """Return the rows of a column of cells."""
        starts, data = utf8(array)
        cells = [bytes(data[a:b]).decode() for a, b in pairwise(starts.tolist())]
        lengths = np.array([len(cell) for cell in cells], dtype=np.int64)
        if np.any(lengths > self.width):
            raise InputError(
                f"a cell of column {self.column!r} has {int(lengths.max()):,} characters; texts that are kept as they are have"
                f" at most {self.width:,}: cut them, or read them as words (--types {self.column}=text)."
            )
        codes = np.frombuffer("".join(cells).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        first = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        places = np.arange(len(codes)) - np.repeat(first[:-1], lengths)
        return Rows(first, places.astype(np.int32), codes + 1.0, len(codes), 0)

    @classmethod
    def read(cls, data: Any) -> Verbatim:
        """Return the term of a model file."""
        width = data["width"]
        expect(whole(width) and 0 < width <= MAX_CHARACTERS, f"has an odd width for {data['column']!r}")
        return cls(data["column"], width)

    @classmethod
    def example(cls) -> tuple[Verbatim, Cells]:
        """Return some texts."""
        return cls("t", 8), (["a rose", None, "é", "", "NA"],)
