"""A data file whose columns have other names than the model knows them by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from lineal.errors import InputError
from lineal.verify.reading.cells import BLOCK_ROWS, Cells
from lineal.verify.reading.tables import Table


def old_name(name: str, old: Mapping[str, str]) -> str:
    """Return what a column is called in the file; a component of a vector goes with its vector.

    >>> old_name("emb[2]", {"emb": "train"}), old_name("age", {"emb": "train"})
    ('train[2]', 'age')
    """
    if name in old:
        return old[name]
    head, place = _parted(name)
    return old[head] + place if place and head in old else name


def _parted(name: str) -> tuple[str, str]:
    head, bracket, place = name.rpartition("[")
    component = bracket and place.endswith("]") and place[:-1].isdecimal()
    return (head, f"[{place}") if component else (name, "")


class Renamed:
    """A table under new names; ``old`` has the old one of every new one."""

    def __init__(self, table: Table, old: Mapping[str, str]) -> None:
        new = {before: after for after, before in old.items()}
        self._table, self._old, self._gone = table, old, set(old.values()) - set(old)
        self.zero, self.names = table.zero, [old_name(name, new) for name in table.names]

    def has(self, name: str) -> bool:
        """Return whether there is a column of that new name."""
        return _parted(name)[0] not in self._gone and self._table.has(old_name(name, self._old))

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield the needed columns, ``rows`` rows at a time."""
        before = {name: old_name(name, self._old) for name in needed}
        for block in self._table.blocks(dict.fromkeys(before.values()), rows):
            there = {name: block.columns[old] for name, old in before.items() if old in block.columns}
            yield replace(block, columns=there)


def called(table: Table, name: str, key: str | None) -> Renamed:
    """Return a table whose only column beside the key, or whose vectors, have this name."""
    heads = sorted({_parted(one)[0] for one in table.names if one != key})
    if len(heads) != 1:
        raise InputError(f"a file of the columns {heads[:5]} cannot be called {name!r}: it needs to have one.")
    return Renamed(table, {name: heads[0]})
