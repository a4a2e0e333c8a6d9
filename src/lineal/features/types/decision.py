"""What becomes of a column, as a record: its terms, or why it has none, in a sentence; or that it must be read again."""

from __future__ import annotations

from lineal.features.cells.dates import Calendar
from lineal.features.cells.notation import Notation
from lineal.features.terms import Term
from lineal.features.types.survey import Column
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Decision:
    """A column's term (a date has ``more``), or why it is left out; ``declared`` says it again in the words of --types.

    ``lost`` says what of its cells the term does not see.
    """

    column: str
    type: str
    missing: int
    term: Term | None
    why: str
    levels: int | None = None
    more: tuple[Term, ...] = ()
    declared: str = ""
    lost: str = ""

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms of the column."""
        return () if self.term is None else (self.term, *self.more)

    @property
    def sentence(self) -> str:
        """The decision in the user's words."""
        if self.term is None:
            return f"{self.column!r} is left out: {self.why}."
        article = "an" if self.type[0] in "aeio" else "a"
        return f"{self.column!r} is {article} {self.type}{': ' if self.why else ''}{self.why}."


@dataclass(frozen=True)
class Reread:
    """The answer that nothing can be decided before a column is read again, as text; ``reading`` says how it is written.

    The text of a column that was read as numbers is not known, nor are the numbers and dates that texts mean.
    """

    column: str
    reading: Notation | Calendar | None = None


def without(survey: Column, kind: str, why: str) -> Decision:
    """Return the decision to leave a column out."""
    return Decision(survey.name, kind, survey.missing, None, why, declared="drop")


def cells(count: int) -> str:
    """Return a number of missing cells as the beginning of a sentence.

    >>> cells(1), cells(3)
    ('1 missing cell is', '3 missing cells are')
    """
    return "1 missing cell is" if count == 1 else f"{count} missing cells are"


def marked(count: int, mean: float | None = None) -> str:
    """Return in words that missing cells count as the mean and are marked.

    >>> marked(2, 1.5)
    '2 missing cells are replaced by the mean 1.5 and marked'
    """
    return f"{cells(count)} replaced by the mean{'' if mean is None else f' {mean:.6g}'} and marked"


def own_level(count: int) -> str:
    """Return in words that missing cells are a level."""
    return f"{cells(count)} a level of their own"
