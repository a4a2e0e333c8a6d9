"""The gate for tables: a path, a frame, an Arrow table or dictionaries become one stream of named columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineal.errors import InputError, near
from lineal.ground.inputs import are_records
from lineal.tables.tabular import Table, split, uniform

if TYPE_CHECKING:
    from lineal.tables.file import File

__all__ = ["Table", "as_table", "split", "uniform"]


def as_table(data: Any, *, delimiter: str | None = None, quote: str | None = None, header: bool | None = None) -> Table:
    """Return data as a table: a path, a data frame, an Arrow table, a dictionary of columns or a list of dictionaries.

    The format of a file follows from its extension, else from its content; ``.gz`` is unpacked on the way.
    ``delimiter``, ``quote`` ("" for none) and ``header`` are for delimited text and detected if not given.

    >>> as_table({"age": [41, 7], "name": ["Ada", "Tim"]}).names
    ('age', 'name')
    """
    options = {
        name: value
        for name, value in {"delimiter": delimiter, "quote": quote, "header": header}.items()
        if value is not None
    }
    if isinstance(data, Table):
        table: Table | None = data
    elif isinstance(data, str | os.PathLike):
        from lineal.tables import formats  # array users never pay for files

        file = _file(Path(data))
        chosen = formats.format_of(file)
        if chosen is formats.DelimitedText:
            return formats.DelimitedText.open(file, delimiter=delimiter, quote=quote, header=header)
        table = formats.opened(file, chosen)
    else:
        table = _from_object(data)
    if table is None:
        raise InputError(
            f"a {type(data).__name__} is not a table;"
            " give a path, a data frame, an Arrow table, a dictionary of columns or a list of dictionaries."
        )
    if options:
        raise InputError(
            f"{', '.join(options)} can be given for delimited text only, and {table.origin} is not such a file."
        )
    return table


def _from_object(data: Any) -> Table | None:
    from lineal.tables.columnar import from_arrow, from_frame, from_mapping
    from lineal.tables.records import from_records
    from lineal.tables.vectors import widened

    if hasattr(data, "tocsr"):  # (some are dictionaries, too)
        return None
    if are_records(data):
        return widened(from_records(data))
    table = from_mapping(data) if isinstance(data, Mapping) else from_arrow(data) or from_frame(data)
    return None if table is None else widened(table)


def _file(path: Path) -> File:
    """Return the file of a path; an InputError with near names if there is none."""
    from lineal.tables.file import File

    if str(path) == "-" and not path.exists():
        raise InputError(
            "'-' is no file: standard input is not read, since a table is read several times; save it first."
        )
    if not path.exists():
        folder = path.parent
        names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
        missing = "" if folder.is_dir() else f" The folder {str(folder)!r} does not exist."
        raise InputError(f"there is no file {str(path)!r}.{near(path.name, names)}{missing}")
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give a file.")
    if not path.is_file():
        raise InputError(f"{str(path)!r} is not a regular file; it is read several times, so save it to a file first.")
    return File(path)
