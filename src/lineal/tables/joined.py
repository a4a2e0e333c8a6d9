"""Tables side by side: rows joined by their order, or by a key."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from lineal.errors import InputError
from lineal.ground.inputs import names_of, shown
from lineal.ground.records import dataclass
from lineal.tables.arrow import from_numpy
from lineal.tables.columnar import InMemory, column_of
from lineal.tables.tabular import Around, RowNumbers, Table, check_names


def beside(table: Table, other: Table, key: str | None = None) -> Table:
    """Return the columns of both tables; rows belong together by their order, or where their cells of ``key`` are equal.

    The other table is held in memory, the first is not. A row whose key the other does not have is an error.

    >>> from lineal.tables.table import as_table
    >>> joined = beside(as_table({"id": ["b", "a"]}), as_table({"id": ["a", "b"], "x": [1.0, 2.0]}), "id")
    >>> joined.names, next(joined.numbered())[1]["x"].to_pylist()
    (('id', 'x'), [2.0, 1.0])
    """
    for one in (table, other):
        if one.sparse:
            raise InputError(
                f"{one.origin} is an SVMlight file, whose columns have no names; it cannot stand beside another."
            )
    batches = [_unpacked(batch) if other.plain else batch for _, batch in other.numbered()]
    held = pa.Table.from_batches(batches) if batches else pa.table({name: [] for name in other.names})
    if key is None:
        return Joined(table, held, other.origin, other.notes)
    table.require(key, "key column")
    other.require(key, "key column")
    places: dict[str, int] = {}
    for place, cell in enumerate(_cells(held.column(key))):
        if cell is not None and places.setdefault(cell, place) != place:
            raise InputError(f"{other.origin} has the key {cell!r} twice in {key!r}; a key names one row.")
    return Joined(table, held.drop_columns([key]), other.origin, other.notes, key, places)


@dataclass(frozen=True)
class Joined(Around):
    """A table with the columns of another one; ``places`` says where a key stands there.

    One of them may be a text file and the other not: the texts of a file are handed out as texts, not packed as codes,
    which would mean a category.
    """

    held: Any
    named: str
    own_notes: tuple[str, ...] = ()
    key: str | None = None
    places: dict[str, int] | None = None
    wanted: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Check the names."""
        if self.wanted is None:
            check_names(self.names, f"{self.inner.origin} beside {self.named}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of both."""
        every = (*self.inner.names, *self.held.schema.names)
        return tuple(name for name in every if self.wanted is None or name in self.wanted)

    @property
    def plain(self) -> bool:  # type: ignore[override]
        """Whether every cell is text: not own_notes of both together."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Sentences about how both are read."""
        return (*self.inner.notes, *self.own_notes)

    def guess(self) -> frozenset[str]:
        """Return the columns that look like numbers."""
        return self.inner.guess() | frozenset(self.held.schema.names)

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Table:
        """Return both with these columns only."""
        kept = frozenset(name for name in self.names if name in numbers or name in texts)
        if not kept:
            return self
        own = set(self.inner.names)
        as_text = set(texts) | ({self.key} if self.key is not None else set())
        inner = self.inner.select(numbers=(set(numbers) - as_text) & own, texts=as_text & own)
        return replace(
            self, inner=inner, held=self.held.select([n for n in self.held.schema.names if n in kept]), wanted=kept
        )

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the batches of the first table with the columns of the other."""
        last = -1
        for rows, part in self.inner.numbered():
            batch = _unpacked(part) if self.inner.plain else part
            taken = self.held.take(from_numpy(self._taken(rows, batch))).combine_chunks()
            last = max(last, int(rows[-1]) if len(rows) else -1)
            arrays = {name: batch.column(name) for name in batch.schema.names}
            for name in self.held.schema.names:
                chunk = taken.column(name)
                arrays[name] = chunk.combine_chunks() if isinstance(chunk, pa.ChunkedArray) else chunk
            yield rows, pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))
        if self.places is None and last + 1 != self.held.num_rows:
            raise InputError(
                f"{self.origin} has {last + 1} rows, {self.named} has {self.held.num_rows}; rows joined by their order must be "
                "as many: give one for every row, or join tables by a key column."
            )

    def _taken(self, rows: RowNumbers, batch: Any) -> RowNumbers:
        if self.places is None:
            if len(rows) and int(rows[-1]) >= self.held.num_rows:
                raise InputError(
                    f"{self.origin} has more rows than {self.named}, which has {self.held.num_rows}; rows joined by their "
                    "order must be as many: give one for every row, or join tables by a key column."
                )
            return rows
        columns = []
        for row, cell in zip(rows.tolist(), _cells(batch.column(self.key)), strict=True):
            place = None if cell is None else self.places.get(cell)
            if place is None:
                words = "no key" if cell is None else f"the key {cell!r}, which {self.named} does not have,"
                raise InputError(
                    f"{self.place(row)} of {self.origin} has {words} in {self.key!r}; every row needs one."
                )
            columns.append(place)
        return np.array(columns, dtype=np.int64)


def attached(table: Table, values: Any, role: str) -> tuple[Table, Any]:
    """Return the table with what was given for a role as columns of it, and their names; names of columns stay names.

    A text is a column's name, and so are different texts in a list that is no longer than the table is wide. A series
    keeps its name, with "(given)" after it where the table has such a column; what has none is called by its role (a target: y).

    >>> from lineal.tables.table import as_table
    >>> joined, name = attached(as_table({"x": [1.0, 2.0]}), np.array([3.0, 5.0]), "target")
    >>> joined.names, name
    (('x', 'y'), 'y')
    """
    if values is None or isinstance(values, str) or (isinstance(values, Collection) and _named(values, table)):
        return table, values
    if isinstance(values, int | np.integer) and not isinstance(values, bool):
        return table, str(values)  # a column that is called by a number
    columns = {name: column_of(cells, name) for name, cells in _given(values, role, table).items()}
    joined = beside(table, InMemory(pa.table(columns), f"the {role} given"))
    names = list(columns)
    return joined, names[0] if len(names) == 1 else names


def _named(values: Collection[Any], table: Table) -> bool:
    """Whether a list names columns."""
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        return False
    return 0 < len(values) <= len(table.names) and len(set(values)) == len(values)


def _given(values: Any, role: str, table: Table) -> dict[str, Any]:
    """Return the columns that were given: one, or those of a matrix or of a data frame."""
    called = "y" if role == "target" else role
    named = names_of(values, f"the {role}")
    if named is not None:
        columns = {str(name): values[name] for name in named}
    elif getattr(values, "ndim", 1) == 2:
        columns = {called if values.shape[1] == 1 else f"{called}{k}": values[:, k] for k in range(values.shape[1])}
    elif getattr(values, "ndim", 1) != 1 or not hasattr(values, "__len__"):
        raise InputError(f"the {role} is {shown(values)}; name a column, or give a value for every row.")
    else:
        own = getattr(values, "name", None)
        columns = {called if own is None or own == "" else str(own): values}
    return {f"{name} (given)" if name in table.names else name: cells for name, cells in columns.items()}


def _unpacked(batch: Any) -> Any:
    """Return a batch of a text file whose packed texts are plain ones."""
    columns = [batch.column(k) for k in range(batch.num_columns)]
    plain = [one.dictionary_decode() if pa.types.is_dictionary(one.type) else one for one in columns]
    return pa.RecordBatch.from_arrays(plain, names=batch.schema.names)


def _cells(column: Any) -> list[str | None]:
    """Return keys as text: 7, 7.0 and "7" are the same."""
    cells: list[str | None] = []
    for value in column.to_pylist():
        whole = isinstance(value, float) and value.is_integer()
        cells.append(None if value is None else str(int(value) if whole else value).strip())
    return cells
