"""Numbers as people write them: decimal comma, thousands separators, a currency or percent sign, marks for no value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Protocol, TypeVar

from lineal.ground.records import dataclass

SPACES = "\u00a0\u202f\u2009"
"""Blanks that stand between thousands as a plain blank does."""
UNITS = ("%", "$", "€", "£", "¥", "₹", "CHF", "USD", "EUR", "GBP", "kr", "zł")
MARKERS = frozenset(
    ("-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "*", "n/a", "n.a.", "na", "N.A.", "#N/A", "#NA", "#VALUE!")
) | frozenset(
    ("#DIV/0!", "<NA>", "NaT", "NAN", "none", "nil", "Null", "missing", "Missing", "unknown", "Unknown", "(blank)")
)
"""Text that stands for a missing cell where every other cell of the column is a number or a date."""

STYLES = ((".", ""), (".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
"""Decimal mark and thousands separator, the likelier first."""


@dataclass(frozen=True)
class Notation:
    """How the numbers of a column are written, and which texts stand for no number.

    ``unit`` is a sign that every number carries, before or after; it does not change the number.

    >>> Notation(",", ".", "€").value("-1.234,50 €")
    -1234.5
    """

    decimal: str = "."
    group: str = ""
    unit: str = ""
    missing: tuple[str, ...] = ()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        d, g, u = map(re.escape, (self.decimal, self.group, self.unit))
        whole = rf"(?:\d{{1,3}}(?:{g}\d{{3}})+|\d+)" if g else r"\d+"
        digits = rf"({whole}(?:{d}\d*)?(?:[eE][+-]?\d+)?|{d}\d+(?:[eE][+-]?\d+)?)"
        if not u:
            return re.compile(rf"([+-]?){digits}", re.ASCII)
        return re.compile(rf"(?:([+-]?) ?{u} ?([+-]?){digits}|([+-]?){digits} ?{u})", re.ASCII)

    def value(self, text: str) -> float | None:
        """Return the number a text means, or None if it is not written like that."""
        for space in SPACES:
            if space in text:
                text = text.replace(space, " ")
        match = self._pattern.fullmatch(text)
        if match is None:
            return None
        signs = [part for part in match.groups() if part in ("+", "-")]
        if len(signs) > 1:
            return None
        digits = next(part for part in match.groups() if part and part not in ("+", "-"))
        if self.group:
            digits = digits.replace(self.group, "")
        return float("".join(signs) + digits.replace(self.decimal, "."))

    @property
    def plain(self) -> bool:
        """Whether numbers are written the way programs write them, without signs or marks."""
        return self == Notation()

    @property
    def example(self) -> str:
        """The notation by an example.

        >>> Notation(",", ".", "%").example
        '1.234,5 %'
        """
        return f"1{self.group}234{self.decimal}5{' ' if self.unit else ''}{self.unit}"


def named(example: str) -> Notation | None:
    """Return the notation that writes 1234.5 like the example, or None if there is none.

    >>> named("1.234,5 €"), named("1234,5%").unit, named("five")
    (Notation(decimal=',', group='.', unit='€', missing=()), '%', None)
    """
    digits, unit = example.strip(), ""
    for sign in UNITS:
        if digits.startswith(sign) or digits.endswith(sign):
            digits, unit = digits.removeprefix(sign).removesuffix(sign).strip(), sign
            break
    styles = {f"1{group}234{decimal}5": (decimal, group) for decimal, group in STYLES}
    return Notation(*styles[digits], unit) if digits in styles else None


def notations(text: str) -> list[Notation]:
    """Return the notations that a column may have whose first cell is this text, the likelier first.

    >>> [one.example for one in notations("1,234")]
    ['1,234.5', '1234,5', '1.234,5', '1 234,5', "1'234,5"]
    """
    unit = next((sign for sign in UNITS if sign in text), "")
    return fitting([Notation(decimal, group, unit) for decimal, group in STYLES], [text])


class _Way(Protocol):
    """A way to write numbers or dates: a Notation or a Calendar."""

    @property
    def missing(self) -> tuple[str, ...]: ...

    def value(self, text: str) -> float | None: ...


W = TypeVar("W", bound=_Way)


def fitting(candidates: list[W], texts: Iterable[str], markers: Collection[str] = MARKERS) -> list[W]:
    """Return the ways of writing that every text agrees with; a mark for no value is set aside, not judged.

    >>> [one.example for one in fitting([Notation(".", ""), Notation(",", "")], ["1,5"])]
    ['1234,5']
    """
    for text in texts:
        if not candidates:
            break
        if text in markers:
            marks = tuple(sorted({*candidates[0].missing, text}))
            candidates = [replace(one, missing=marks) for one in candidates]  # type: ignore[type-var]
        else:
            candidates = [one for one in candidates if one.value(text) is not None]
    return candidates
