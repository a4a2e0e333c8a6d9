"""Rows as dictionaries, in a list or on lines of a file: their keys are the columns, an absent key is a missing cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lineal.errors import InputError
from lineal.ground.inputs import shown
from lineal.tables.arrow import DOUBLE_EXACT_INTEGERS
from lineal.tables.columnar import InMemory, column_of


def from_records(rows: Sequence[Any]) -> InMemory:
    """Return a list of dictionaries as a table, its columns in the order in which keys appear.

    >>> from_records([{"a": 1}, {"b": "x", "a": None}]).table.to_pydict()
    {'a': [1, None], 'b': [None, 'x']}
    """
    for position, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise InputError(f"row {position} of the list is {shown(row)}; every row needs to be a dictionary.")
    keys = dict.fromkeys(key for row in rows for key in row)
    if not keys:
        raise InputError("the dictionaries of the list have no keys; give at least one column.")
    names = [str(key) for key in keys]
    if len(set(names)) < len(names):
        raise InputError("two columns have the same name once written as text; rename one of them.")
    columns = [cells_of([row.get(key) for row in rows], name) for key, name in zip(keys, names, strict=True)]
    return InMemory(pa.table(columns, names=names), "the list")


def cells_of(values: list[Any], name: str) -> Any:
    """Return cells of a column; those of different kinds become texts, which are read as in a text file.

    >>> cells_of([1, "a", None, True, 2.5], "x").to_pylist()
    ['1', 'a', None, 'true', '2.5']
    """
    kinds = {_sort(value) for value in values if value is not None}
    whole = kinds <= {"number", "long number"} and not any(isinstance(value, float) for value in values)
    if len(kinds) <= 1 or whole:
        return column_of(values, name)
    return pa.array([None if _absent(value) else _text(value) for value in values], pa.string())


def merged(rows: Iterable[Mapping[str, Any]], keys: Sequence[str]) -> Any:
    """Return rows as one Arrow table with these columns."""
    held = list(rows)
    return pa.table([cells_of([row.get(key) for row in held], key) for key in keys], names=list(keys))


def _sort(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "number" if abs(value) < DOUBLE_EXACT_INTEGERS else "long number"  # beside decimals, all its digits
    if isinstance(value, float):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _text(value: Any) -> str:
    """Return a cell as the text that means it (docs/model-file.md)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)
