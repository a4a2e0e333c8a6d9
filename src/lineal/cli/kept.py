"""Columns of DATA that stand beside its predictions, as its cells stand there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from lineal.errors import InputError
from lineal.tables.table import Table


def wanted(said: str | None, table: Table) -> tuple[str, ...]:
    """Return the columns that ``--keep`` names: all of them, or those between its commas."""
    if said is None:
        return ()
    if table.sparse:
        raise InputError("--keep is for tables with cells; a row of an SVMlight file has none. Leave it out.")
    names = table.names if said == "all" else tuple(dict.fromkeys(word.strip() for word in said.split(",")))
    for name in names:
        table.require(name, "column to keep,")
    return names


class Kept:
    """The kept columns of a table, handed out in as many rows at a time as are asked for, in order."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self._names = names
        self._batches: Iterator[Any] = table.select(texts=names).batches()
        self._left: Any = None

    def next(self, rows: int) -> dict[str, Any]:
        """Return the cells of the next ``rows`` rows by column."""
        parts = [] if self._left is None else [self._left]
        while sum(part.num_rows for part in parts) < rows:
            batch = next(self._batches)
            arrays = [plain(batch.column(name), name) for name in self._names]
            parts.append(pa.Table.from_arrays(arrays, names=list(self._names)))
        whole = pa.concat_tables(parts)
        self._left = whole.slice(rows)
        return {name: whole[name].slice(0, rows).combine_chunks() for name in self._names}


def plain(array: Any, name: str) -> Any:
    """Return cells of one type for all batches of a column: texts, or what a typed file holds."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_nested(array.type):
        raise InputError(f"column {name!r} holds lists, which cannot stand beside predictions; leave it out of --keep.")
    text = pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type)
    return array.cast(pa.string()) if text or pa.types.is_null(array.type) else array
