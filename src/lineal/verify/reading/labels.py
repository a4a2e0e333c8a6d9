"""Labels of rows as columns of 1, 0 and NaN (not known): told by columns of yes and no, or listed in the cells of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.reading.cells import BLOCK_ROWS, Cells, Column
from lineal.verify.reading.tables import Seen, Table

WORDS: Final = {
    **dict.fromkeys(("1", "true", "t", "yes", "y"), 1.0),
    **dict.fromkeys(("0", "false", "f", "no", "n"), 0.0),
}
STRANGE: Final = 2.0
"""What stands for a cell that is neither yes, no nor missing: a training row that has one is refused."""


@dataclass(frozen=True)
class Listing:
    """The column whose cells list labels, as a list or as a text whose words stand apart ``by`` this."""

    column: str
    by: str | None


class Labeled(Seen):
    """A table with a column of numbers for every one of the ``labels`` beside its own."""

    def __init__(self, table: Table, labels: Sequence[str], listing: Listing | None) -> None:
        super().__init__(table)
        self._labels, self._listing = labels, listing

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield the needed columns and the labels, ``rows`` rows at a time."""
        for block in self._table.blocks(needed, rows):
            if self._listing is None:
                columns: dict[str, Column] = {name: answers(block.column(name)) for name in self._labels}
            else:
                columns = self._listed(self._listing, block.column(self._listing.column))
            yield replace(block, columns=block.columns | columns)

    def _listed(self, listing: Listing, column: Column) -> dict[str, Column]:
        lead = f"{listing.column}="
        said = [words(cell, listing.by) for cell in cells.listed(column)]
        unknown = np.array([one is None for one in said], dtype=bool)
        columns: dict[str, Column] = {}
        for name in self._labels:
            word = name.removeprefix(lead) if name.startswith(lead) else None
            there = np.array([one is not None and word in one for one in said], dtype=np.float64)
            columns[name] = np.where(unknown, np.nan, there)
        return columns


def answers(column: Column) -> Array:
    """Return cells of yes and no as 1 and 0, NaN where missing.

    >>> answers(["Yes", "0.0", "NA", "maybe"]).tolist()
    [1.0, 0.0, nan, 2.0]
    """
    return np.array(cells.each(column, _answer), dtype=np.float64)


def _answer(cell: object) -> float:
    if cells.missing(cell):
        return float("nan")
    if isinstance(cell, list):
        return STRANGE
    word = cells.text(cell).lower()
    if word in WORDS:
        return WORDS[word]
    try:
        number = cells.number(cell)
    except ValueError:
        return STRANGE
    return number if number in (0.0, 1.0) else STRANGE


def words(cell: object, by: str | None) -> set[str] | None:
    """Return the labels a cell lists; None where it is missing. An empty text or list has none.

    >>> sorted(words("b; a;", ";")), words([], None), words("", ";"), words("NA", ";")
    (['a', 'b'], set(), set(), None)
    """
    if isinstance(cell, list):
        parts = ["" if cells.missing(one) and not isinstance(one, str) else cells.text(one) for one in cell]
    elif isinstance(cell, str) and by is not None and not cell.strip():
        return set()
    elif cells.missing(cell) or by is None:
        return None
    else:
        parts = cells.text(cell).split(by)
    return {part.strip() for part in parts if part.strip()}
