"""Columns with marks of their own for missing cells: which cells are missing is settled once, when rows are read."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from lineal.verify.reading import cells
from lineal.verify.reading.cells import BLOCK_ROWS, Cells, Word
from lineal.verify.reading.tables import Seen, Table


def reading(marks: Collection[str]) -> Callable[[object], object]:
    """Return what makes of a cell None if it is missing by these marks, and a Word if it only looks so.

    A text is missing if it is empty or a mark; a mark that is a number is every cell that is that number.

    >>> what = reading(["-999", "-"])
    >>> [what(cell) for cell in ("-999.0", -999, " - ", "", "None", "7", 7, True)]
    [None, None, None, '', 'None', '7', 7, True]
    >>> cells.missing(what("None"))
    False
    """
    numbers = {value for mark in marks if (value := _number(mark)) is not None}

    def settled(cell: object) -> object:
        if isinstance(cell, str):
            text = cell.strip()
            gone = text in marks or (bool(numbers) and _number(text) in numbers)
            return None if gone else Word(text) if text and text in cells.MISSING_TEXTS else cell
        if isinstance(cell, int | float | decimal.Decimal) and not isinstance(cell, bool):
            return None if float(cell) in numbers else cell
        return cell

    return settled


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


class Told(Seen):
    """A table in some of whose columns it is settled which cells are missing."""

    def __init__(self, table: Table, marks: Mapping[str, Collection[str]]) -> None:
        super().__init__(table)
        self._reading = {name: reading(own) for name, own in marks.items()}
        self._numbers = {name: [v for mark in own if (v := _number(mark)) is not None] for name, own in marks.items()}

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield the needed columns, ``rows`` rows at a time."""
        for block in self._table.blocks(needed, rows):
            told = {name: self._told(name, column) for name, column in block.columns.items() if name in self._reading}
            yield replace(block, columns={**block.columns, **told})

    def _told(self, name: str, column: cells.Column) -> cells.Column:
        if not isinstance(column, np.ndarray):
            return cells.each(column, self._reading[name])
        gone = np.isin(column, np.array(self._numbers[name]))
        return np.where(gone, np.nan, column) if np.any(gone) else column


def told(table: Table, marks: Mapping[str, Collection[str]]) -> Table:
    """Return the table with what is settled about some of its columns, itself if there are none."""
    return Told(table, marks) if marks else table
