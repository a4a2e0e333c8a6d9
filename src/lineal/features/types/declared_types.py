"""What a person says a column is: the words of `--types` and of `types=`, one class for each type.

A declared type holds, or the first cell against it is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from lineal.errors import InputError, near
from lineal.features.cells.dates import Calendar
from lineal.features.cells.notation import Notation, named
from lineal.features.pair_options import PairOptions
from lineal.features.terms import Boolean, Number, Ordinal, Verbatim
from lineal.features.types.choices import check_bits, check_levels
from lineal.features.types.decision import Decision, Reread, cells, marked, without
from lineal.features.types.readings import calendar_of, dated, notation_of, place, where, written
from lineal.features.types.survey import MAX_LEVELS, Column
from lineal.features.types.target_type import check_numbers, lacks_text
from lineal.ground.records import dataclass
from lineal.tables.tabular import Table

TRUE: Final = frozenset(("true", "yes", "t", "y"))
FALSE: Final = frozenset(("false", "no", "f", "n"))
"""Words that mean true and false wherever they are all a column has, in any case."""
ORDERS: Final = ("YMD", "DMY", "MDY")


class DeclaredType:
    """A type that a person gives a column; ``name`` is its word, which a detail may follow after a colon."""

    name: ClassVar[str]

    @classmethod
    def parse(cls, column: str, detail: str) -> DeclaredType:
        """Return the type with what follows its name: nothing, unless a type says otherwise."""
        if detail:
            raise InputError(f"the type {cls.name} of column {column!r} takes nothing after it; leave {detail!r} out.")
        return cls()

    @property
    def as_text(self) -> bool:
        """Whether the cells must be read as text."""
        return True

    def decide(self, survey: Column, table: Table) -> Decision | Reread | None:
        """Return what becomes of the column; None if it is decided as any other of its kind."""
        return None


@dataclass(frozen=True)
class NumberType(DeclaredType):
    """Numbers, whatever share of the cells are; ``notation`` says how they are written."""

    name: ClassVar[str] = "number"
    notation: Notation | None = None

    @classmethod
    def parse(cls, column: str, detail: str) -> NumberType:
        """Read an example of 1234.5, if there is one."""
        notation = named(detail) if detail else None
        if detail and notation is None:
            raise InputError(
                f"{detail!r} is no way to write numbers (column {column!r}); show it by writing 1234.5 in it,"
                " such as 'number:1.234,5' or 'number:1,234.5 $'."
            )
        return cls(notation)

    @property
    def as_text(self) -> bool:
        """Whether the notation needs the text of the cells."""
        return self.notation is not None

    def decide(self, survey: Column, table: Table) -> Decision | Reread:
        """Return the decision on a column of numbers."""
        if isinstance(survey.reading, Notation):
            check_numbers(survey, table)
            return replace(written(survey, survey.reading), lost=_nearest(survey))
        if self.notation is not None:
            for one in survey.notations or ():
                if replace(one, missing=()) == self.notation:
                    return Reread(survey.name, one)
            if survey.bad or not self.notation.plain:
                raise self._odd(self.notation, survey, table)
        if survey.bad or survey.kinds - {"number", "text"}:
            if survey.straight:
                return Reread(survey.name)
            notation = notation_of(survey)
            if notation is not None:
                return Reread(survey.name, notation)
            _check(survey, table, self.name)
        check_numbers(survey, table)
        if survey.values.low == survey.values.high:
            return without(survey, self.name, f"it is {survey.values.low:g} {where(survey)}")
        if lacks_text(survey, table):
            return Reread(survey.name)
        fill = survey.values.mean
        why = marked(survey.missing, fill) if survey.missing else ""
        term = Number(survey.name, fill, survey.missing > 0)
        return Decision(survey.name, self.name, survey.missing, term, why, declared=self.name, lost=_nearest(survey))

    @staticmethod
    def _odd(notation: Notation, survey: Column, table: Table) -> InputError:
        """Return the error that names the first cell that is not written like that."""
        odd = next(
            (level for level in survey.levels if notation.value(level) is None and level not in survey.markers), None
        )
        against = "" if odd is None else f", but {place(survey, table, odd)} of {table.origin} holds {odd!r}"
        return InputError(
            f"column {survey.name!r} was declared to hold numbers written like {notation.example!r}{against};"
            " fix the cell, or tell another type."
        )


@dataclass(frozen=True)
class CategoryType(DeclaredType):
    """Levels; the ``most`` frequent ones have a column each, and others share one, or with ``bits`` those of a hash."""

    name: ClassVar[str] = "category"
    most: int | None = None
    bits: int | None = None

    @classmethod
    def parse(cls, column: str, detail: str) -> CategoryType:
        """Read ``max=N`` and ``hash=2^B``."""
        given: dict[str, int] = {}
        for word in _words(detail, ","):
            key, _, value = word.partition("=")
            plain = value.removeprefix("2^") if key == "hash" else value
            if (
                key not in ("max", "hash")
                or key in given
                or not plain.isdecimal()
                or (key == "hash") == (plain == value)
            ):
                raise InputError(
                    f"the type category of column {column!r} takes max=N and hash=2^B after it, not {word!r}; write"
                    " 'category:max=1000' or 'category:max=1000,hash=2^12'."
                )
            given[key] = int(plain)
        if "max" in given:
            check_levels(given["max"], f"max of column {column!r}")
        if "hash" in given:
            check_bits(given["hash"], f"hash of column {column!r}")
        return cls(given.get("max"), given.get("hash"))

    @property
    def capped(self) -> bool:
        """Whether it says how many levels have a column."""
        return self.most is not None or self.bits is not None

    @property
    def spelled(self) -> str:
        """The type in the words of `--types`."""
        most = [] if self.most is None else [f"max={self.most}"]
        words = most + ([] if self.bits is None else [f"hash=2^{self.bits}"])
        return f"category:{','.join(words)}" if words else "category"

    def decide(self, survey: Column, table: Table) -> None:
        """Refuse a column that has too many levels to be a category; it is decided as any other."""
        if survey.full:
            raise InputError(
                f"column {survey.name!r} was declared a category, but has more than {MAX_LEVELS:,} levels;"
                f" leave it out (--drop {survey.name})."
            )


@dataclass(frozen=True)
class BooleanType(DeclaredType):
    """Two kinds of words; ``words`` mean true, else the usual ones do."""

    name: ClassVar[str] = "boolean"
    words: tuple[str, ...] = ()

    @classmethod
    def parse(cls, column: str, detail: str) -> BooleanType:
        """Read the words that mean true."""
        return cls(_words(detail, ","))

    def decide(self, survey: Column, table: Table) -> Decision:
        """Return the decision on a column of two kinds of words."""
        levels = sorted(survey.levels)
        if self.words:
            yes = tuple(level for level in levels if level.lower() in {word.lower() for word in self.words})
            no = tuple(level for level in levels if level not in yes)
        else:
            yes = tuple(level for level in levels if level.lower() in TRUE | {"1"})
            no = tuple(level for level in levels if level.lower() in FALSE | {"0"})
        if survey.full or len(yes) + len(no) < len(levels) or not yes or not no:
            shown = ", ".join(map(repr, levels[:5]))
            raise InputError(
                f"column {survey.name!r} was declared Boolean, but holds {shown};"
                f" say which word means true, such as --types {survey.name}=boolean:{levels[-1] if levels else 'yes'}."
            )
        spelling = f"boolean:{','.join(yes)}" if self.words else "boolean"
        return boolean(survey, yes, no, spelling)


def boolean(survey: Column, true: tuple[str, ...], false: tuple[str, ...], declared: str) -> Decision:
    """Return the decision on a column of words that mean true and words that mean false."""
    fill = sum(survey.levels[level] for level in true) / survey.present
    why = f"{' or '.join(map(repr, true))} is 1, {' or '.join(map(repr, false))} is 0"
    if survey.missing:
        why += f"; {marked(survey.missing, fill)}"
    term = Boolean(survey.name, true, false, fill, survey.missing > 0)
    count = len(survey.levels)
    return Decision(survey.name, "boolean", survey.missing, term, why, levels=count, declared=declared)


@dataclass(frozen=True)
class OrdinalType(DeclaredType):
    """Levels in an order; without ``words``, they are sorted as numbers if they are."""

    name: ClassVar[str] = "ordinal"
    words: tuple[str, ...] = ()

    @classmethod
    def parse(cls, column: str, detail: str) -> OrdinalType:
        """Read the levels in order."""
        words = _words(detail, "<")
        if detail and (len(words) < 2 or "" in words or len(set(words)) < len(words)):
            raise InputError(
                f"the levels of column {column!r} must be given in order, each once, such as 'ordinal:low<middle<high'."
            )
        return cls(words)

    def decide(self, survey: Column, table: Table) -> Decision:
        """Return the decision on levels in an order."""
        order = self.words
        if not order:
            if survey.full or any(survey.parsed[level] != survey.parsed[level] for level in survey.levels):
                raise InputError(
                    f"the order of column {survey.name!r} is not known;"
                    f" give it: --types {survey.name}=ordinal:low<middle<high."
                )
            order = tuple(sorted(survey.levels, key=lambda level: survey.parsed[level]))
        odd = [level for level in survey.levels if level not in order]
        if odd or survey.full:
            at = f" in {place(survey, table, odd[0])} of {table.origin}" if odd else ""
            raise InputError(
                f"column {survey.name!r} holds {odd[0] if odd else 'too many levels'!r}{at}, which is not among the"
                f" levels {' < '.join(order)}; add it to the order, or fix the cell."
            )
        if len(survey.levels) == 1:
            return without(survey, "ordinal", f"it is {next(iter(survey.levels))!r} {where(survey)}")
        fill = sum(order.index(level) * count for level, count in survey.levels.items()) / survey.present
        why = f"{' < '.join(order)} as 0 to {len(order) - 1}"
        if survey.missing:
            why += f"; {marked(survey.missing, fill)}"
        term = Ordinal(survey.name, order, fill, survey.missing > 0)
        spelling = f"ordinal:{'<'.join(order)}"
        return Decision(survey.name, "ordinal", survey.missing, term, why, levels=len(order), declared=spelling)


@dataclass(frozen=True)
class DateType(DeclaredType):
    """Dates, in an ``order`` of year, month and day if it is given."""

    name: ClassVar[str] = "date"
    order: str | None = None

    @classmethod
    def parse(cls, column: str, detail: str) -> DateType:
        """Read the order."""
        if detail and detail not in ORDERS:
            raise InputError(
                f"{detail!r} is no order of year, month and day (column {column!r}); it is YMD, DMY or MDY."
            )
        return cls(detail or None)

    @property
    def as_text(self) -> bool:
        """Whether the text of the cells is needed: a column may hold dates as such."""
        return False

    def decide(self, survey: Column, table: Table) -> Decision | Reread:
        """Return the decision on a column of dates."""
        if isinstance(survey.reading, Calendar):
            return dated(survey, survey.reading)
        if survey.straight:
            return Reread(survey.name)
        calendar = calendar_of(survey, self.order)
        if calendar is None:
            shown = f" in the order {self.order}" if self.order else ""
            raise InputError(
                f"column {survey.name!r} was declared to hold dates{shown}, but its cells are not all written as dates in one"
                f" way{_first(survey, table)}; fix the cells, or tell another type."
            )
        return Reread(survey.name, calendar)


@dataclass(frozen=True)
class TextType(DeclaredType):
    """Free text; ``options`` say how it is read, in the words of `--text`."""

    name: ClassVar[str] = "text"
    options: str = ""

    @classmethod
    def parse(cls, column: str, detail: str) -> TextType:
        """Check the options."""
        PairOptions.read(detail)
        return cls(detail)

    @property
    def spelled(self) -> str:
        """The type as it was declared."""
        return f"text:{self.options}" if self.options else "text"


@dataclass(frozen=True)
class VerbatimType(DeclaredType):
    """Texts as they are, for kernels that compare texts."""

    name: ClassVar[str] = "verbatim"

    def decide(self, survey: Column, table: Table) -> Decision:
        """Return the decision: whatever the cells are, their text is kept."""
        why = "texts as they are" + (f"; {cells(survey.missing)} an empty text" if survey.missing else "")
        return Decision(survey.name, self.name, survey.missing, Verbatim(survey.name), why, declared=self.name)


@dataclass(frozen=True)
class DropType(DeclaredType):
    """No part of the model."""

    name: ClassVar[str] = "drop"

    @property
    def as_text(self) -> bool:
        """Whether the text is needed: nothing is."""
        return False


ALL: tuple[type[DeclaredType], ...] = (
    NumberType, CategoryType, BooleanType, OrdinalType, DateType, TextType, VerbatimType, DropType,
)  # fmt: skip
"""Every type that can be declared."""


def parse(column: str, spelling: str) -> DeclaredType:
    """Read a type: ``number:1.234,5``, ``category``, ``boolean:ja``, ``ordinal:low<high``, ``date:DMY``, ``text``, ``drop``.

    >>> parse("size", "ordinal:S<M<L")
    OrdinalType(words=('S', 'M', 'L'))
    """
    name, _, detail = spelling.partition(":")
    by_name = {kind.name: kind for kind in ALL}
    kind = by_name.get(name.strip())
    if kind is None:
        raise InputError(
            f"{name.strip()!r} is no type for column {column!r}; the types are {', '.join(by_name)}."
            f"{near(name.strip(), list(by_name))}"
        )
    return kind.parse(column, detail.strip())


def declared(types: Mapping[str, str] | None) -> dict[str, DeclaredType]:
    """Return the declared types of columns.

    >>> declared({"age": "number"})["age"].name
    'number'
    """
    return {column: parse(column, spelling) for column, spelling in (types or {}).items()}


def _words(detail: str, separator: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in detail.split(separator)) if detail else ()


def _nearest(survey: Column) -> str:
    """Return what is said of whole numbers that no double is, where a person declared that they are numbers."""
    if survey.rounded is None:
        return ""
    return f"whole numbers beyond 2^53, such as {survey.rounded[1]}, are taken as the nearest doubles"


def _check(survey: Column, table: Table, kind: str) -> None:
    if survey.bad:
        raise InputError(
            f"column {survey.name!r} was declared a {kind}{_first(survey, table)}; fix the cell, or tell another type."
        )
    if survey.kinds - {"number", "text"}:
        raise InputError(f"column {survey.name!r} was declared a {kind}, but it holds {min(survey.kinds)} cells.")


def _first(survey: Column, table: Table) -> str:
    if not survey.bad:
        return ""
    row, cell = survey.bad[0]
    return f", but {table.place(row)} of {table.origin} holds {cell!r}"
