"""The contract of a term: how columns of a table become columns of a design, and all that belongs to it.

A term is one frozen dataclass in a file of its own, listed in ``terms.ALL``. It says how a formula calls it, which
columns it makes, how it stands in a model file and on a page, and gives an example that the laws run over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from lineal.features.terms.members import expect
from lineal.features.terms.rows import Rows
from lineal.ground.arrays import Array

Cells = tuple[Sequence[str | None], ...]
"""Cells of a table, one sequence for every column that a term takes."""


class Term(ABC):
    """How one column of a table, or several, becomes columns of a design.

    ``kind`` is its name in a model file, ``rank`` where it stands in an encoder: numbers (0), text (1), categories (2).
    ``reads_text`` says that it reads the text of its cells, not their numbers. ``usage`` is how a formula calls it, "" if it
    does not, ``also`` are other names for the call; the number after the column is one of ``sizes``, if there is one;
    ``several`` says that it takes several columns. ``is_factor`` says that products may hold it, ``has_powers`` that products
    may hold it twice, ``is_number`` that its first column is the number its cells mean.
    """

    kind: ClassVar[str]
    rank: ClassVar[int] = 0
    reads_text: ClassVar[bool] = True
    usage: ClassVar[str] = ""
    also: ClassVar[tuple[str, ...]] = ()
    sizes: ClassVar[range | None] = None
    several: ClassVar[bool] = False
    is_factor: ClassVar[bool] = False
    has_powers: ClassVar[bool] = False
    is_number: ClassVar[bool] = False

    if TYPE_CHECKING:  # (dataclasses take a property of a parent for the default of a field)

        @property
        def column(self) -> str:
            """The table's column, or those of a pair or a product as one name."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The table's columns it needs; ``as_text`` says of each whether it is read as text."""
        return (self.column,)

    @property
    def as_text(self) -> tuple[bool, ...]:
        """Whether each of its inputs is read as text."""
        return (self.reads_text,) * len(self.inputs)

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""

    @property
    def name(self) -> str:
        """The column, with the functions that it goes through."""
        return self.column

    @property
    def spelled(self) -> str:
        """The term as a formula has it."""
        return self.name

    @property
    def use(self) -> str:
        """How its columns enter the model, in words; "" where the type of the column says it all."""
        return ""

    def bare(self) -> Self:
        """Return the term without a column for missing cells, as a product has it."""
        return self

    def coded(self, *, margin: bool) -> Self:
        """Return the term as it stands beside its margin: a constant, or the other factors of its product."""
        return self

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file: the kind, then the members."""
        return {"kind": self.kind, **{name: _plain(getattr(self, name)) for name in self.members()}}

    @classmethod
    def members(cls) -> tuple[str, ...]:
        """Return the names of its members in a model file, beside its kind."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]

    @classmethod
    def from_dict(cls, data: Any) -> Term:
        """Return the term of a model file, or refuse the file naming what is wrong."""
        members = {"kind", *cls.members()}
        expect(set(data) == members, f"has a {cls.kind} term with other members than {sorted(members)}")
        column = data["column"]
        expect(isinstance(column, str) and column != "", f"has a {cls.kind} term without a column name")
        return cls.read(data)

    @classmethod
    @abstractmethod
    def read(cls, data: Any) -> Term:
        """Return the term of a model file whose members are known to be there."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what was worked out from them, some of it compiled, is worked out again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @classmethod
    @abstractmethod
    def example(cls) -> tuple[Term, Cells]:
        """Return a term, and cells that it could have been learned from: what the laws run over."""


class Numeric(Term):
    """A term whose columns are numbers, side by side with those of its like."""

    @abstractmethod
    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown."""

    def raw(self, array: Any) -> Array | None:
        """Return its only column where that is the cells as they are, missing ones and infinities included."""
        return None


class SparseTerm(Term):
    """A term whose columns are those of sparse rows."""

    rank: ClassVar[int] = 1

    @abstractmethod
    def encode(self, array: Any) -> Rows:
        """Return the rows of a column of cells."""


class Single(Numeric):
    """A numeric term of one column, which marks where the column is missing if ``indicator``.

    ``unseen`` says what a cell counts as that no training row could have had.
    """

    unseen: ClassVar[str] = "missing"

    if TYPE_CHECKING:

        @property
        def fill(self) -> float:
            """What a missing cell counts as."""

        @property
        def indicator(self) -> bool:
            """Whether missing cells are marked in a column of their own."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the design columns but the one that marks missing cells."""
        return (self.name,)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        return (*self.names, f"{self.column} is missing") if self.indicator else self.names

    @property
    def meaning(self) -> str:
        """What the numbers are, in words; "" where the type of the column says it."""
        return ""

    @property
    def use(self) -> str:
        """How its columns enter the model, in words."""
        if not self.indicator:
            return self.meaning
        return (
            f"{self.meaning}{'; ' if self.meaning else ''}empty cells count as {self.fill:.4g}, and a column says which"
        )

    def bare(self) -> Self:
        """Return the term without a column for missing cells."""
        return replace(self, indicator=False)  # type: ignore[type-var]


def design_columns(terms: Sequence[Term]) -> tuple[str, ...]:
    """Return the names of the design columns of these terms, in order."""
    return tuple(name for term in terms for name in term.columns)


def filled(values: Array, fill: float, indicator: bool, out: Array) -> None:
    """Write numbers to the first column, ``fill`` where they are NaN; mark those in the second if ``indicator``."""
    missing = np.isnan(values)
    out[:, 0] = np.where(missing, fill, values) if missing.any() else values
    if indicator:
        out[:, 1] = missing


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
