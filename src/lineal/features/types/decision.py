"""What becomes of a column, as a record: its terms, or why it has none, in a sentence."""

from __future__ import annotations

from lineal.features.terms.base import Term
from lineal.features.types.survey import Column
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Decision:
    """A column's term (a date has ``more``), or why it is left out; ``told`` says it again in the words of --types.

    ``lost`` says what of its cells the term does not see.
    """

    column: str
    type: str
    missing: int
    term: Term | None
    why: str
    levels: int | None = None
    more: tuple[Term, ...] = ()
    told: str = ""
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


def without(survey: Column, kind: str, why: str) -> Decision:
    """Return the decision to leave a column out."""
    return Decision(survey.name, kind, survey.missing, None, why, told="drop")


def cells(count: int) -> str:
    """Return a number of missing cells as the beginning of a sentence.

    >>> cells(1), cells(3)
    ('1 missing cell is', '3 missing cells are')
    """
    return "1 missing cell is" if count == 1 else f"{count} missing cells are"
