"""Names for columns that have none, or share one: `c17`, `age.2`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lineal.ground.records import dataclass

MAX_NAMES_SHOWN: Final = 5
"""Columns that a note names; it counts the others."""


@dataclass(frozen=True)
class Naming:
    """The names of a header, all different; ``nameless`` are those it left empty, ``notes`` say what was changed."""

    names: tuple[str, ...]
    nameless: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, header: Sequence[str], origin: str) -> Naming:
        """Return names for a header: number 17 without a name is ``c17``, the second ``age`` is ``age.2``.

        A name that the header itself has is never given to another column: the next number is taken.

        >>> Naming.of(["", "age", "age"], "t.csv").names, Naming.of(["a", "a.2", "a"], "t.csv").names
        (('c1', 'age', 'age.2'), ('a', 'a.2', 'a.3'))
        """
        written = [name.strip() for name in header]
        taken, seen = set(written), set[str]()
        last = dict[str, int]()
        names, nameless, again = list[str](), list[str](), list[str]()
        for place, name in enumerate(written, start=1):
            if name and name not in seen:
                seen.add(name)
                names.append(name)
                continue
            given = _free(name or f"c{place}", taken, last, first=2 if name else 1)
            taken.add(given)
            names.append(given)
            (again if name else nameless).append(given)
        return cls(tuple(names), frozenset(nameless), (*_nameless(nameless, origin), *_again(again, origin)))


def _free(name: str, taken: set[str], last: dict[str, int], first: int) -> str:
    """Return a name that no column has: the name itself, or with the first free number behind it.

    The numbers up to ``last[name]`` are known to be taken: asking each again takes time as the square of the columns.
    """
    number = last.get(name, first - 1) + 1
    while (one := name if number == 1 else f"{name}.{number}") in taken:
        number += 1
    last[name] = number
    return one


def _nameless(names: Sequence[str], origin: str) -> list[str]:
    if not names:
        return []
    if len(names) == 1:
        return [f"A column of {origin} has no name; it is called {names[0]!r}."]
    return [f"{len(names)} columns of {origin} have no name; they are called {_listed(names)}."]


def _again(names: Sequence[str], origin: str) -> list[str]:
    if not names:
        return []
    later = "the later column is" if len(names) == 1 else "the later columns are"
    return [f"{origin} has several columns of one name; {later} called {_listed(names)}."]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:MAX_NAMES_SHOWN])
    return shown if len(names) <= MAX_NAMES_SHOWN else f"{shown} and {len(names) - MAX_NAMES_SHOWN} more"
