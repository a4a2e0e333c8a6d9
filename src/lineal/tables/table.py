"""The gate for tables: a path, a frame, an Arrow table or dictionaries become one stream of named columns."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineal.errors import InputError, near
from lineal.ground.inputs import are_records
from lineal.tables.tabular import Table, split, uniform

if TYPE_CHECKING:
    from lineal.tables.file import File

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,2}(?=[^/])")
"""How an address begins, also one that a path has taken a stroke from: https://, s3:/."""

__all__ = ["Table", "as_table", "split", "uniform"]


def as_table(
    data: Any,
    *,
    delimiter: str | None = None,
    quote: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
) -> Table:
    """Return data as a table: a path, a data frame, an Arrow table, a dictionary of columns or a list of dictionaries.

    The format of a file follows from its extension, else from its content; ``.gz``, ``.bz2``, ``.xz`` and ``.zst`` are
    unpacked on the way. ``delimiter``, ``quote`` ("" for none) and ``header`` are for delimited text and detected if not
    given; ``sheet`` is one of a spreadsheet, whose ``header`` may be said as well.

    >>> as_table({"age": [41, 7], "name": ["Ada", "Tim"]}).names
    ('age', 'name')
    """
    said = {"delimiter": delimiter, "quote": quote, "header": header, "sheet": sheet}
    options = {name: value for name, value in said.items() if value is not None}
    if isinstance(data, Table):
        table: Table | None = data
    elif isinstance(data, str | os.PathLike):
        from lineal.tables import formats  # array users never pay for files

        file = _file(data)
        chosen = formats.format_of(file)
        if chosen is formats.DelimitedText and sheet is None:
            return formats.DelimitedText.open(file, delimiter=delimiter, quote=quote, header=header)
        if chosen is formats.SpreadsheetFile and delimiter is None and quote is None and file.packing is None:
            return formats.SpreadsheetFile.open(file, sheet=sheet, header=header)
        table = formats.opened(file, chosen)
    else:
        table = _from_object(data)
    if table is None:
        raise InputError(
            f"a {type(data).__name__} is not a table;"
            " give a path, a data frame, an Arrow table, a dictionary of columns or a list of dictionaries."
        )
    if options:
        where = "a spreadsheet" if sheet is not None else "delimited text"
        raise InputError(f"{', '.join(options)} can be given for {where} only, and {table.origin} is no such file.")
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


def _file(data: str | os.PathLike[str]) -> File:
    """Return the file of a path; an InputError with near names if there is none."""
    from lineal.tables.file import File

    path, address = Path(data), _ADDRESS.match(os.fspath(data))
    if str(path) == "-" and not path.exists():
        raise InputError("'-' is no file; the command line alone reads standard input. Save the table to a file first.")
    if address is not None and not path.exists():
        where = address[1] + "://" + os.fspath(data)[address.end() :]
        raise InputError(
            f"{where!r} is an address, and lineal opens no connections: fetch the table (curl -O '{where}'), then give the file."
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
