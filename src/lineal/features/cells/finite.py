"""A column as finite numbers, or the first cell that is not one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lineal.errors import InputError
from lineal.features.cells.cells import cell, numbers
from lineal.ground.arrays import Array
from lineal.tables.tabular import RowNumbers, Table


class CellError(InputError):
    """A cell that cannot be used; ``position`` is its place in the batch."""

    def __init__(self, column: str, position: int, cell: str, expected: str) -> None:
        super().__init__(f"column {column!r} holds {cell!r}, which is not {expected}.")
        self.column, self.position, self.cell, self.expected = column, position, cell, expected


def located(bad: CellError, table: Table | None, rows: RowNumbers | None) -> InputError:
    """Return the error that says where a bad cell stands."""
    row = bad.position if rows is None else int(rows[bad.position])
    place = f"row {row + 1}" if table is None else f"{table.place(row)} of {table.origin}"
    shown = repr(bad.cell) if bad.cell else "no value"
    return InputError(f"{place} holds {shown} in column {bad.column!r}, which needs {bad.expected}; fix the cell.")


def numbers_of(column: str, array: Any) -> Array:
    """Return a column as numbers, NaN where missing; raise CellError for text."""
    values, bad = numbers(array)
    if bad.size:
        raise CellError(column, int(bad[0]), cell(array, int(bad[0])), "a number")
    return values


def finite_numbers(column: str, array: Any) -> Array:
    """Return a column as numbers, NaN where missing; raise CellError for text and infinities."""
    values = numbers_of(column, array)
    if not math.isfinite(_total(values)) and np.isinf(np.fmax.reduce(np.abs(values), initial=0.0)):
        position = int(np.flatnonzero(np.isinf(values))[0])
        raise CellError(column, position, cell(array, position), "a finite number")
    return values


def _total(values: Array) -> float:
    """Return the sum: finite only if there is no NaN and no infinity, which one look at the numbers tells."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.add.reduce(values))
