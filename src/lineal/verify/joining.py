"""Data files side by side: rows joined by their order, or by a key, before anything is checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from lineal.errors import InputError
from lineal.verify import cells
from lineal.verify.questions import about, answers
from lineal.verify.reading import Table, read

Other = tuple[str | os.PathLike[str], str | None]


def gathered(
    path: str | os.PathLike[str],
    needed: Iterable[str],
    beside: Sequence[Other] = (),
    *,
    delimiter: str | None = None,
    quote: str | None = None,
    header: bool | None = None,
) -> Table:
    """Return the needed columns of a data file and of those beside it, each of which may be joined by a key column.

    A needed name that is a question about a column (``num > 0``) is answered from it, unless a column is called so.
    """
    wanted = list(needed)
    questions = {name: column for name in wanted if (column := about(name)) is not None}
    if not questions:
        return _together(path, wanted, beside, delimiter, quote, header)
    found = _together(path, [questions.get(name, name) for name in wanted], beside, delimiter, quote, header)
    if any(name in found.names or column not in found.columns for name, column in questions.items()):
        return _together(path, wanted, beside, delimiter, quote, header)
    made = {name: answers(name, found.column(column)) for name, column in questions.items()}
    return Table(found.rows, {**found.columns, **made}, zero=found.zero, names=[*found.names, *made])


def _together(
    path: str | os.PathLike[str],
    needed: Iterable[str],
    beside: Sequence[Other],
    delimiter: str | None,
    quote: str | None,
    header: bool | None,
) -> Table:
    wanted, keys = set(needed), {key for _, key in beside if key is not None}
    others: list[tuple[Table, Other]] = []
    for file, key in beside:
        part = _read(file, wanted, key)
        others.append((part, (file, key)))
        wanted -= set(part.columns) - keys
    first = read(path, wanted | keys, delimiter=delimiter, quote=quote, header=header)
    columns, named = dict(first.columns), list(first.names)
    for part, (file, key) in others:
        places = range(part.rows) if key is None else _places(first, part, key, file)
        if key is None and part.rows != first.rows:
            raise InputError(
                f"{os.fspath(path)} has {first.rows} rows, {os.fspath(file)} has {part.rows}; give as many."
            )
        own = {name: column for name, column in part.columns.items() if name != key}
        columns |= {name: [column[place] for place in places] for name, column in own.items()}
        named += [name for name in part.names if name != key]
    return Table(first.rows, columns, zero=first.zero, names=named)


def _read(file: str | os.PathLike[str], wanted: set[str], key: str | None) -> Table:
    """Return the columns that a file has of those that are wanted, and its key."""
    names = set(read(file, ()).names)
    spread = {name for name in wanted if name.partition("[")[0] in names}
    return read(file, (wanted & names) | spread | ({key} if key is not None else set()))


def _places(first: Table, part: Table, key: str, file: str | os.PathLike[str]) -> list[int]:
    """Return where the row with the key of each row of the first table stands in the other."""
    found: dict[str, int] = {}
    for place, cell in enumerate(part.column(key)):
        if not cells.missing(cell) and found.setdefault(cells.text(cell), place) != place:
            raise InputError(f"{os.fspath(file)} has the key {cells.text(cell)!r} twice.")
    wanted = ["" if cells.missing(cell) else cells.text(cell) for cell in first.column(key)]
    lost = [text for text in wanted if text not in found]
    if lost:
        raise InputError(f"{os.fspath(file)} has no row with the key {lost[0]!r}.")
    return [found[text] for text in wanted]
