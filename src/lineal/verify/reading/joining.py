"""Data files side by side: rows joined by their order, or by a key, before anything is checked."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

from lineal.errors import InputError
from lineal.verify.reading import cells
from lineal.verify.reading.cells import BLOCK_ROWS, Cells
from lineal.verify.reading.marks import told
from lineal.verify.reading.questions import about, answers
from lineal.verify.reading.renaming import Renamed, called, old_name
from lineal.verify.reading.tables import Table, kept, read

Other = tuple[str | os.PathLike[str], str | None] | tuple[str | os.PathLike[str], str | None, str | None]
"""A file beside another, its key column, and what its only column is called where that is said."""


def gathered(
    path: str | os.PathLike[str],
    needed: Iterable[str],
    beside: Sequence[Other] = (),
    *,
    delimiter: str | None = None,
    quote: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    rename: Mapping[str, str] | None = None,
    marks: Mapping[str, Collection[str]] | None = None,
) -> Table:
    """Return a data file with the columns of those beside it, each of which may be joined by a key column.

    ``rename`` has new names for columns, from old to new. A needed name that is a question about a column (``num > 0``)
    is answered from it, unless a column is called so. ``marks`` stand for missing cells in the columns that have their own.
    """
    marks = marks or {}
    if rename:
        old = {after: before for before, after in rename.items()}
        asked = [old_name(name, old) if about(name) is None or name in old else name for name in needed]
        theirs = {old_name(name, old): own for name, own in marks.items()}
        table = gathered(
            path, asked, beside, delimiter=delimiter, quote=quote, header=header, sheet=sheet, marks=theirs
        )
        return Renamed(table, old)
    wanted = list(needed)
    options = {"delimiter": delimiter, "quote": quote, "header": header, "sheet": sheet}
    questions = {name: column for name in wanted if (column := about(name)) is not None}
    if questions:
        table = told(_together(path, [questions.get(name, name) for name in wanted], beside, options), marks)
        if all(name not in table.names and table.has(column) for name, column in questions.items()):
            return Answered(table, questions)
    return told(_together(path, wanted, beside, options), marks)


class Answered:
    """A table with columns that are answers to questions about others."""

    def __init__(self, table: Table, questions: Mapping[str, str]) -> None:
        self._table, self._questions = table, questions
        self.zero, self.names = table.zero, [*table.names, *questions]

    def has(self, name: str) -> bool:
        """Return whether it is such an answer, or a column of the table."""
        return name in self._questions or self._table.has(name)

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield the needed columns, ``rows`` rows at a time."""
        wanted = list(needed)
        for block in self._table.blocks([self._questions.get(name, name) for name in wanted], rows):
            asked = {name: column for name, column in self._questions.items() if name in wanted}
            made = {name: answers(name, block.column(column)) for name, column in asked.items()}
            yield replace(block, columns={**block.columns, **made})


def _together(
    path: str | os.PathLike[str], needed: Iterable[str], beside: Sequence[Other], options: Mapping[str, Any]
) -> Table:
    wanted, keys = set(needed), {key for _, key, *_ in beside if key is not None}
    others = []
    for file, key, *name in beside:
        given = next(iter(name), None)
        known = _opened(file, (), key, given)
        own = {name for name in wanted if name != key and _holds(known, name)}
        others.append(Beside(file, key, _opened(file, own | ({key} if key is not None else set()), key, given), own))
        wanted -= own - keys
    first = read(path, wanted | keys, **options)
    return Joined(path, first, others) if others else first


def _opened(file: str | os.PathLike[str], needed: Iterable[str], key: str | None, name: str | None) -> Table:
    """Return a file beside another, under its own name where it has one."""
    return read(file, needed) if name is None else called(read(file, [] if key is None else [key]), name, key)


def _holds(table: Table, name: str) -> bool:
    return name in table.names or (name.partition("[")[0] in table.names and table.has(name))


@dataclass
class Beside:
    """A file with further columns, ``own``: row by row, or found by a key, for which it is held in memory."""

    file: str | os.PathLike[str]
    key: str | None
    table: Table
    own: set[str]

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the row with each key stands."""
        places: dict[str, int] = {}
        for place, cell in enumerate(self.whole[self.key or ""]):
            if not cells.missing(cell) and places.setdefault(cells.text(cell), place) != place:
                raise InputError(f"{os.fspath(self.file)} has the key {cells.text(cell)!r} twice.")
        return places

    @cached_property
    def whole(self) -> dict[str, cells.Column]:
        """All cells of a file that is joined by a key."""
        return kept(self.table, (*self.own, self.key or "")).columns

    def beside(self, keys: cells.Column) -> dict[str, cells.Column]:
        """Return the columns of the rows with these keys."""
        wanted = ["" if cells.missing(cell) else cells.text(cell) for cell in cells.listed(keys)]
        lost = [text for text in wanted if text not in self.places]
        if lost:
            raise InputError(f"{os.fspath(self.file)} has no row with the key {lost[0]!r}.")
        places = [self.places[text] for text in wanted]
        return {name: [self.whole[name][place] for place in places] for name in self.own}


class Joined:
    """A table with the columns of others beside its own."""

    def __init__(self, path: str | os.PathLike[str], first: Table, others: Sequence[Beside]) -> None:
        self._path, self._first, self._others, self.zero = path, first, others, first.zero
        self.names = [*first.names, *(name for other in others for name in other.table.names if name != other.key)]

    def has(self, name: str) -> bool:
        """Return whether any of the files has a column of that name."""
        return self._first.has(name) or any(name in other.own for other in self._others)

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield the needed columns, ``rows`` rows at a time."""
        wanted = list(needed)
        used = [other for other in self._others if other.own & set(wanted) or other.key is None]
        elsewhere = {name for other in used for name in other.own}
        mine = [name for name in wanted if name not in elsewhere]
        streams = [other.table.blocks(other.own & set(wanted), rows) for other in used if other.key is None]
        keys = [other.key for other in used if other.key is not None]
        seen = [0] * (1 + len(streams))
        for block, *more in zip_longest(self._first.blocks([*mine, *keys], rows), *streams):
            seen = [
                count + (0 if part is None else part.rows) for count, part in zip(seen, (block, *more), strict=True)
            ]
            if len(set(seen)) > 1:
                self._uneven(used)
            parts = iter(more)
            columns = dict(block.columns)
            for other in used:
                columns |= other.beside(block.column(other.key)) if other.key is not None else next(parts).columns
            yield replace(block, columns=columns)

    def _uneven(self, used: Sequence[Beside]) -> None:
        """Say which file has another number of rows."""
        count = sum(block.rows for block in self._first.blocks(()))
        for other in (other for other in used if other.key is None):
            if (rows := sum(block.rows for block in other.table.blocks(()))) != count:
                raise InputError(
                    f"{os.fspath(self._path)} has {count} rows, {os.fspath(other.file)} has {rows}; give as many."
                )
