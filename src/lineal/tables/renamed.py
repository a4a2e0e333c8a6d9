"""A table under other column names, and one that is called by a name of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from lineal.errors import InputError, near
from lineal.ground.records import dataclass
from lineal.tables.tabular import Around, RowNumbers, Table, check_names


def renamed(table: Table, names: Mapping[str, str]) -> Table:
    """Return the table with other names for some columns, from old to new; that of a vector is that of its components.

    >>> from lineal.tables.table import as_table
    >>> renamed(as_table({"Age": [1, 2], "v[0]": [3, 4], "v[1]": [5, 6]}), {"Age": "age", "v": "emb"}).names
    ('age', 'emb[0]', 'emb[1]')
    """
    if not names:
        return table
    if table.sparse:
        raise InputError(f"{table.origin} is an SVMlight file, whose columns have no names to change.")
    heads = {vector(name) for name in table.names}
    for old in names:
        if old not in table.names and old not in heads:
            raise InputError(
                f"{table.origin} has no column {old!r} to rename.{near(old, dict.fromkeys([*table.names, *heads]))}"
            )
    return Renamed(table, {name: _new(name, names) for name in table.names})


def called(table: Table, name: str, key: str | None = None) -> Table:
    """Return a table whose only column, or column of vectors, has this name; the key beside it keeps its own."""
    heads = dict.fromkeys(vector(one) for one in table.names if one != key)
    if len(heads) != 1:
        raise InputError(
            f"{table.origin} has {len(heads)} columns, so {name!r} cannot be the name of one; leave the name out, and use "
            "--rename for single columns."
        )
    return renamed(table, {next(iter(heads)): name})


def vector(name: str) -> str:
    """Return the name of the vector that a column is a component of, or the column's own.

    >>> vector("embedding[3]"), vector("age")
    ('embedding', 'age')
    """
    head, bracket, place = name.rpartition("[")
    return head if bracket and place[-1:] == "]" and place[:-1].isdecimal() else name


def _new(name: str, names: Mapping[str, str]) -> str:
    if name in names:
        return names[name]
    head = vector(name)
    return names[head] + name[len(head) :] if head in names else name


@dataclass(frozen=True)
class Renamed(Around):
    """A table whose columns have other names; ``changes`` has the new one of every old one."""

    changes: Mapping[str, str]

    def __post_init__(self) -> None:
        """Check that the new names are different."""
        check_names(self.names, self.origin)

    @property
    def names(self) -> tuple[str, ...]:
        """The new names."""
        return tuple(self.changes[name] for name in self.inner.names)

    @cached_property
    def _old(self) -> dict[str, str]:
        return {new: old for old, new in self.changes.items()}

    def _renamed(self, names: Collection[str]) -> frozenset[str]:
        return frozenset(self.changes[name] for name in names)

    def guess(self) -> frozenset[str]:
        """Return the columns that look like numbers."""
        return self._renamed(self.inner.guess())

    def few(self) -> frozenset[str]:
        """Return the columns with few different cells."""
        return self._renamed(self.inner.few())

    @property
    def nameless(self) -> frozenset[str]:  # type: ignore[override]
        """The columns that got no name here either."""
        return frozenset(name for name in self.inner.nameless if self.changes[name] == name)

    def vectors(self) -> frozenset[str]:
        """Return the columns that hold lists of numbers."""
        return self._renamed(self.inner.vectors())

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Table:
        """Return the table with these columns only."""
        wanted = [{self._old[name] for name in some if name in self._old} for some in (numbers, texts)]
        return replace(self, inner=self.inner.select(numbers=wanted[0], texts=wanted[1]))

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the batches under the new names."""
        for rows, batch in self.inner.numbered():
            arrays = [batch.column(k) for k in range(batch.num_columns)]
            yield rows, pa.RecordBatch.from_arrays(arrays, names=[self.changes[name] for name in batch.schema.names])
