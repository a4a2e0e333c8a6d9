"""What formulas are made of: signs and words with their places, factors, and the error with a caret below a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NoReturn

from lineal.errors import InputError
from lineal.features.terms.arithmetic import spelled
from lineal.features.terms.curve import through
from lineal.ground.records import dataclass

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<name>[^\W\d][\w.]*)|`(?P<quoted>[^`]+)`"
    r"|(?P<text>'[^']*'|\"[^\"]*\")|(?P<sign>%in%|\*\*|>=|<=|[-+*/:^~(),=.<>]))"
)


class FormulaError(InputError):
    """A formula that cannot be read; ``picture`` (below the sentence) shows where."""

    def __init__(self, sentence: str, picture: str = "") -> None:
        super().__init__(sentence + picture)
        self.picture = picture


@dataclass(frozen=True)
class Factor:
    """A column, through functions, as itself or on a basis: ``poly(log(dose), 3)``.

    ``basis`` is the term that the formula calls, such as "C" or "poly", or "" (a number, or whatever the column holds if
    there are no functions); ``size`` the degree or the number of pieces; ``reference`` the level that others are compared
    with; ``coding`` the contrasts of a category, ``levels`` their order; ``breaks`` where a number is cut;
    ``width`` that of a kernel.
    """

    column: str
    functions: tuple[str, ...] = ()
    basis: str = ""
    size: int = 0
    reference: str | None = None
    coding: str = ""
    levels: tuple[str, ...] = ()
    breaks: tuple[float, ...] = ()
    width: float = 0.0

    @property
    def name(self) -> str:
        """The factor as it is written, without its size and reference."""
        return through(self.column, self.functions)

    @property
    def spelled(self) -> str:
        """The factor as it is written, with its size."""
        if not self.basis:
            return self.name
        if self.breaks:
            return f"{self.basis}({self.name}, c({', '.join(map(spelled, self.breaks))}))"
        return f"{self.basis}({self.name}, {self.size})" if self.size else f"{self.basis}({self.name})"


INSTEAD: Final = {
    "s": "a smooth curve is written spline(x, 5)",
    "te": "a smooth surface is written spline(x, 5)*spline(z, 5)",
    "lo": "a smooth curve is written spline(x, 5)",
    "rcs": "a restricted cubic spline is written ns(x, 4)",
    "as.factor": "write factor(x)",
    "ordered": "write C(x, poly), or give the order: --types x=ordinal:low<mid<high",
    "relevel": "write C(x, ref='level')",
    "contr.sum": "contrasts are written C(x, sum)",
    "as.numeric": "numbers are read as they are; --types x=number for a column that looks like a category",
    "ifelse": "write I(x > 3), which is 1 or 0, or add a column to the table",
    "pmin": "add a column to the table",
    "pmax": "add a column to the table",
    "lag": "add a column of the earlier values to the table",
    "strata": "write C(x), or fit every stratum by itself",
    "Error": "a formula has one kind of noise; for rows that depend on each other use --cluster in summary",
    "c": "a list of numbers stands only in cut(x, c(10, 20))",
}
"""What to write for functions of R that are not there."""

Product = tuple[Factor, ...]
EVERY: Final = Factor(".")
"""Every column that the formula does not name otherwise."""


@dataclass(frozen=True)
class Token:
    """A number, name, text or sign, and its place."""

    kind: str
    text: str
    at: int


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a formula, the last one an end."""
    at = 0
    while at < len(text.rstrip()):
        token = TOKEN.match(text, at)
        if token is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            advice = "put names with such signs into `backquotes`"
            if text[at] == "|":
                advice = "groups have no effects drawn at random here: write C(group) for one of each, or --cluster in summary"
            fail_at(text, at, f"{text[at]!r} has no meaning in a formula; {advice}")
        kind = token.lastgroup or ""
        yield Token(kind, token.group(kind), token.start(kind) - (kind == "quoted"))
        at = token.end()
    yield Token("end", "", len(text.rstrip()))


def fail_at(text: str, at: int, why: str) -> NoReturn:
    """Raise a FormulaError that shows a place."""
    raise FormulaError(f"the formula cannot be read: {why}.", f"\n  {text}\n  {' ' * at}^")
