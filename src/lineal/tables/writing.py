"""Tables going out: batches written as delimited text, JSON lines or Parquet."""

from __future__ import annotations

import json
import math
from typing import Any, BinaryIO, Protocol


class Sink(Protocol):
    """Something that takes record batches, all of one schema."""

    def write(self, batch: Any) -> None:
        """Take one batch."""

    def close(self) -> None:
        """Write what has to stand at the end."""


class Csv:
    """Text with a header, cells apart by a delimiter; a cell is quoted only where it must be."""

    def __init__(self, stream: BinaryIO, delimiter: str = ",") -> None:
        self._stream, self._delimiter = stream, delimiter
        self._started = False

    def write(self, batch: Any) -> None:
        """Write one batch, the header before the first."""
        if not self._started:
            names = (quoted(name, self._delimiter) for name in batch.schema.names)
            self._stream.write((self._delimiter.join(names) + "\n").encode())
            self._started = True
        from pyarrow import compute  # what only reads never pays for it

        from lineal.tables.arrow import from_texts

        between = from_texts([self._delimiter])[0]  # (a plain one would load pandas)
        columns = (_texts(array, self._delimiter) for array in batch.columns)
        lines = compute.binary_join_element_wise(*columns, between)
        self._stream.write("".join(f"{line}\n" for line in lines.to_pylist()).encode())

    def close(self) -> None:
        """Nothing stands at the end of a text file."""


def quoted(cell: str, delimiter: str = ",") -> str:
    """Return a cell as delimited text wants it.

    >>> quoted("plain"), quoted("a, b"), quoted("a, b", chr(9))
    ('plain', '"a, b"', 'a, b')
    """
    special = delimiter in cell or any(mark in cell for mark in '"\n\r') or cell != cell.strip()
    return '"' + cell.replace('"', '""') + '"' if special else cell


def _texts(array: Any, delimiter: str) -> Any:
    """Return an array as cells; a number has the fewest digits that give it back exactly, what is missing is empty."""
    import pyarrow as pa

    from lineal.tables.arrow import from_texts

    if not pa.types.is_string(array.type):
        cells = array.cast(pa.string())
    else:
        codes = array.dictionary_encode()
        cells = from_texts([quoted(level, delimiter) for level in codes.dictionary.to_pylist()]).take(codes.indices)
    return cells.fill_null(from_texts([""])[0]) if cells.null_count else cells


class JsonRows:
    """An object for every row, on a line of its own; a number that is not finite is null."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, batch: Any) -> None:
        """Write one batch."""
        for row in batch.to_pylist():
            cells = {
                name: None if isinstance(cell, float) and not math.isfinite(cell) else cell
                for name, cell in row.items()
            }
            self._stream.write(f"{json.dumps(cells, ensure_ascii=False, default=str)}\n".encode())

    def close(self) -> None:
        """Nothing stands at the end."""


class Parquet:
    """A Parquet file."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._writer: Any = None

    def write(self, batch: Any) -> None:
        """Write one batch as a row group."""
        if self._writer is None:
            from pyarrow.parquet import ParquetWriter  # slow to load, so only for Parquet files

            self._writer = ParquetWriter(self._stream, batch.schema)
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Write the footer."""
        if self._writer is not None:
            try:
                self._writer.close()
            finally:
                self._writer.is_open = False  # or its destructor tries again, and complains on stderr
