"""Spreadsheets: Excel's and OpenDocument's, one sheet as a table of texts, as if it were saved as delimited text."""

from __future__ import annotations

import datetime as dt
import io
import math
from typing import Any, BinaryIO, Final

import pyarrow as pa

from lineal.errors import InputError, near
from lineal.ground.records import dataclass
from lineal.tables.columnar import InMemory
from lineal.tables.dialect import check_first, has_header
from lineal.tables.file import File
from lineal.tables.naming import Naming

MAX_ROWS: Final = 1_048_576
MAX_COLUMNS: Final = 16_384
MAX_CHARACTERS: Final = 32_767
"""What a sheet of Excel holds: rows, columns, characters of a cell."""


@dataclass(frozen=True)
class Sheet(InMemory):
    """A sheet in memory. Its cells are texts, as in a text file; a number has the fewest digits that give it back."""

    naming: Naming = Naming(())
    said: tuple[str, ...] = ()

    plain = True

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Say which sheet is read, and what names were given."""
        return (*self.said, *self.naming.notes)

    @property
    def nameless(self) -> frozenset[str]:  # type: ignore[override]
        """The columns for which the header has no name."""
        return self.naming.nameless

    @classmethod
    def open(cls, file: File, *, sheet: str | None = None, header: bool | None = None) -> Sheet:
        """Return a sheet of a file: the one named, or the first that holds anything."""
        name, cells, others = _cells(file, sheet)
        rows = trimmed([[cell_text(cell) for cell in row] for row in cells])
        if not rows:
            raise InputError(f"{file.name} holds no cell in its sheet {name!r}; a table needs a header and a row.")
        check_first(rows, file.name)
        named = has_header(rows) if header is None else header
        naming = Naming.of(rows[0], file.name) if named else Naming(tuple(f"c{j + 1}" for j in range(len(rows[0]))))
        if named and len(rows) == 1:
            raise InputError(f"{file.name} has a header but no rows in its sheet {name!r}.")
        columns = [pa.array(column, pa.string()) for column in zip(*rows[int(named) :], strict=True)]
        said = (f"{file.name} has {others + 1} sheets; {name!r} is read.",) if others and sheet is None else ()
        return cls(pa.table(columns, names=list(naming.names)), file.name, naming, said)


def _cells(file: File, wanted: str | None) -> tuple[str, list[list[Any]], int]:
    """Return a sheet's name and its cells, and how many others there are."""
    try:
        import python_calamine as calamine
    except ImportError:
        raise InputError(
            f"{file.name} is a spreadsheet, which python-calamine reads: pip install 'lineal[excel]', "
            "or save its sheet as CSV."
        ) from None
    with file.open() as stream:
        data = stream.read()
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = list(book.sheet_names)
        if wanted is not None and wanted not in names:
            raise InputError(
                f"{file.name} has no sheet {wanted!r}.{near(wanted, names)} Its sheets are {', '.join(map(repr, names))}."
            )
        for name in names if wanted is None else [wanted]:
            cells = book.get_sheet_by_name(name).to_python()
            if any(cell != "" for row in cells for cell in row) or wanted is not None:
                return name, cells, len(names) - 1
    except calamine.PasswordError:
        raise InputError(f"{file.name} is locked with a password; save it without one.") from None
    except calamine.CalamineError as problem:
        raise InputError(
            f"{file.name} cannot be read as a spreadsheet ({problem}); save its sheet as CSV."
        ) from problem
    raise InputError(f"{file.name} has no sheet that holds a cell; a table needs a header and at least one row.")


def cell_text(cell: Any) -> str:
    """Return a cell as the text that means it; a duration is its seconds.

    >>> cell_text(3.0), cell_text(True), cell_text(dt.datetime(2020, 1, 2)), cell_text(dt.time(13, 5))
    ('3', 'true', '2020-01-02', '13:05:00')
    """
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    if isinstance(cell, dt.datetime):
        return str(cell.date()) if cell.time() == dt.time() else str(cell)
    if isinstance(cell, dt.timedelta):
        return cell_text(cell.total_seconds())
    return str(cell)


def trimmed(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows without empty rows and columns at the end.

    >>> trimmed([["a", "b", ""], ["1", "", ""], ["", " ", ""]])
    [['a', 'b'], ['1', '']]
    """
    height = max((place for place, row in enumerate(rows, 1) if any(cell.strip() for cell in row)), default=0)
    width = max((place for row in rows for place, cell in enumerate(row, 1) if cell.strip()), default=0)
    return [row[:width] for row in rows[:height]]


class Xlsx:
    """A workbook of one sheet; texts stay texts, never formulas or links."""

    def __init__(self, stream: BinaryIO) -> None:
        try:
            import xlsxwriter
        except ImportError:
            raise InputError(
                "XlsxWriter writes .xlsx files: pip install 'lineal[excel]', or give a name that ends in .csv."
            ) from None
        self._book = xlsxwriter.Workbook(stream, {"constant_memory": True, "nan_inf_to_errors": False})
        self._book.set_properties({"created": dt.datetime(2000, 1, 1)})  # noqa: DTZ001  (the same bytes every time)
        self._sheet = self._book.add_worksheet()
        self._row = 0

    def write(self, batch: Any) -> None:
        """Write one batch, the header before the first."""
        if not self._row:
            if batch.num_columns > MAX_COLUMNS:
                raise InputError(
                    f"a sheet holds {MAX_COLUMNS:,} columns, and these are {batch.num_columns:,}; write .csv."
                )
            self._line(batch.schema.names)
        if self._row + batch.num_rows > MAX_ROWS:
            raise InputError(f"a sheet holds {MAX_ROWS:,} rows, its header among them; write .csv or .parquet instead.")
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            self._line(row)

    def _line(self, cells: Any) -> None:
        for place, cell in enumerate(cells):
            if isinstance(cell, bool):
                self._sheet.write_boolean(self._row, place, cell)
            elif isinstance(cell, int | float):
                if math.isfinite(cell):
                    self._sheet.write_number(self._row, place, cell)
            elif cell is not None:
                self._sheet.write_string(self._row, place, str(cell)[:MAX_CHARACTERS])
        self._row += 1

    def close(self) -> None:
        """Write the file."""
        self._book.close()
