"""A sheet of a workbook as texts, the way it would be saved as delimited text (docs/model-file.md, "Cells")."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from lineal.errors import InputError
from lineal.verify.reading import naming
from lineal.verify.reading.cells import text


def sheet_rows(path: Path, wanted: str | None) -> list[list[str]]:
    """Return the cells of a sheet, the first with any unless one is wanted, up to the last row and column with any."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise InputError(
            f"{path} is a spreadsheet, which python-calamine reads: pip install 'lineal[excel]'."
        ) from None
    try:
        book = CalamineWorkbook.from_path(str(path))
        if wanted is not None and wanted not in book.sheet_names:
            raise InputError(f"{path} has no sheet {wanted!r}.")
        for name in book.sheet_names if wanted is None else [wanted]:
            rows = [[spoken(cell) for cell in row] for row in book.get_sheet_by_name(name).to_python()]
            while rows and not any(map(str.strip, rows[-1])):
                rows.pop()
            if rows:
                width = max(len(row) - next(k for k, cell in enumerate(reversed(row)) if cell.strip())
                            for row in rows if any(map(str.strip, row)))  # fmt: skip
                return [row[:width] for row in rows]
    except (CalamineError, OSError) as error:
        raise InputError(f"the data file {path} cannot be read as a spreadsheet: {error}.") from error
    raise InputError(f"the data file {path} holds no cell.")


def spoken(cell: Any) -> str:
    """Return a cell as text: days and times in digits, durations in seconds.

    >>> [spoken(cell) for cell in (1.0, False, dt.datetime(1999, 12, 31, 18), dt.timedelta(minutes=1.5), " x ")]
    ['1', 'false', '1999-12-31 18:00:00', '90', ' x ']
    """
    if isinstance(cell, dt.datetime):
        day, clock = cell.isoformat(" ").split(" ")
        return day if clock == "00:00:00" else f"{day} {clock}"
    if isinstance(cell, dt.timedelta):
        return text(cell.total_seconds())
    return cell if isinstance(cell, str) else text(cell)


def parted(rows: list[list[str]], needed: set[str], header: bool | None) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns and the rows below them; without a header they are c1, c2, ..."""
    named, counted = naming.named(rows[0]), [f"c{number}" for number in range(1, len(rows[0]) + 1)]
    if header is None:
        header = needed <= set(named) or not needed <= set(counted)
    return (named, rows[1:]) if header else (counted, rows)
