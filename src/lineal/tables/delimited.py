"""CSV, TSV and their kin, read in a stream: pieces of some megabytes, parsed by Arrow in two threads."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from lineal.errors import InputError
from lineal.tables.arrow import to_numpy
from lineal.tables.dialect import MISSING, Dialect, UnclosedError, detect, records_end
from lineal.tables.file import Bytes, File, ahead, buffers
from lineal.tables.plain import Lexicons, plain_batch
from lineal.tables.tabular import BATCH_ROWS, RowNumbers, Table

_FAILED = re.compile(r"CSV column #(\d+): Row #(\d+)")
ODD = 4
"""After so many pieces that the compiled loop gave back, Arrow reads all others."""
_PACKED = pa.dictionary(pa.int32(), pa.string())


class _RowError(Exception):
    """A row that cannot be read; ``number`` counts from one within its chunk."""

    def __init__(self, number: int, sentence: str) -> None:
        super().__init__(sentence)
        self.number = number
        self.sentence = sentence


@dataclass(frozen=True)
class Delimited(Table):
    """A delimited text file. All its cells are text; columns wanted as numbers are parsed while reading.

    A cell that is no number turns its column, in that part of the file, back into text, so that whoever asked
    can say what stands there.
    """

    file: File
    dialect: Dialect
    numbers: frozenset[str] = frozenset()
    texts: frozenset[str] | None = None
    stubborn: set[str] = field(default_factory=set, compare=False)
    odd: list[bool] = field(default_factory=list, compare=False)

    plain = True

    @classmethod
    def open(
        cls, path: Path, *, delimiter: str | None = None, quote: str | None = None, header: bool | None = None
    ) -> Delimited:
        """Look at a file's first megabyte and return it as a table."""
        file = File(path).decoded()
        data, whole = file.sample()
        if delimiter is None and ".tsv" in path.name.lower() and b"\t" in data.split(b"\n", 1)[0]:
            delimiter = "\t"
        dialect = detect(data, whole, file.name, delimiter=delimiter, quote=quote, header=header)
        if dialect.header and whole and not data[dialect.start :].strip(b"\r\n"):
            raise InputError(f"{file.name} has a header but no rows.")
        return cls(file, dialect)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; c1, c2, ... if the file has no header."""
        return self.dialect.names

    @property
    def origin(self) -> str:  # type: ignore[override]
        """The file's name."""
        return self.file.name

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Say if the file was not UTF-8, and if its quotes are no quotes."""
        found = []
        if self.file.encoding is not None:
            spoken = {"windows-1252": "Windows-1252 (Latin-1)"}.get(self.file.encoding, "UTF-16")
            found.append(f"{self.origin} is not UTF-8; it is read as {spoken}.")
        if self.dialect.stray:
            found.append(f"{self.origin} has quotes that do not enclose whole cells; they are read as plain text.")
        return tuple(found)

    def guess(self) -> frozenset[str]:
        """Return the columns whose first cells are all numbers."""
        return self.dialect.numeric

    def few(self) -> frozenset[str]:
        """Return the columns with few different cells in the first rows."""
        return self.dialect.few

    def check(self) -> None:
        """Raise an InputError if the file is not the one first seen."""
        self.file.check()

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Delimited:
        """Return a table that reads these columns only: numbers as doubles, text packed as codes."""
        return replace(self, numbers=frozenset(numbers), texts=frozenset(texts))

    def require(self, column: str, role: str = "column") -> None:
        """Raise an InputError unless there is such a column."""
        try:
            super().require(column, role)
        except InputError as problem:
            if self.dialect.header:
                raise
            raise InputError(
                f"{problem} Its first line was taken as data; say that it is a header if it is one."
            ) from None

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the rows of the file, in order."""
        start = 0
        lexicons = Lexicons()
        with self.file.open() as stream:
            spare: deque[bytearray] = deque()
            pieces = self._pieces(buffers(stream, self._cut, spare))
            for found in ahead(partial(self._attempt, spare), pieces):
                if isinstance(found, _RowError):
                    raise InputError(f"{self.place(start + found.number - 1)} of {self.origin} {found.sentence}")
                batch = lexicons.unified(found)
                for at in range(0, batch.num_rows, BATCH_ROWS):
                    part = batch.slice(at, BATCH_ROWS)
                    yield np.arange(start, start + part.num_rows, dtype=np.int64), part
                    start += part.num_rows
        if start == 0:
            raise InputError(f"{self.origin} has a header but no rows.")

    def place(self, row: int) -> str:
        """Return the row, counted from one, and its line in the file."""
        wanted = row + (2 if self.dialect.header else 1)
        with self.file.open() as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
            options: dict[str, Any] = (
                {"quotechar": self.dialect.quote} if self.dialect.quote else {"quoting": csv.QUOTE_NONE}
            )
            reader = csv.reader(text, delimiter=self.dialect.delimiter, **options)
            seen, before = 0, 0
            try:
                for cells in reader:
                    seen += bool(cells)
                    if seen == wanted:
                        return f"row {row + 1} (line {before + 1})"
                    before = reader.line_num
            except csv.Error:
                pass
        return f"row {row + 1}"

    def _cut(self, data: Bytes, final: bool) -> int:
        try:
            return records_end(data, final, self.dialect.quote, self.dialect.delimiter)
        except UnclosedError as unclosed:
            with self.file.open() as stream:
                line = 1 + sum(1 for text in stream if text.endswith(b"\n")) - unclosed.rest.count(b"\n")
            shown = unclosed.rest[:40].decode(errors="replace")
            raise InputError(
                f"the quote that opens in line {line} of {self.origin} is never closed: {shown!r};"
                " close it, or say that quotes are plain text."
            ) from None

    def _pieces(self, parts: Iterator[bytearray]) -> Iterator[bytearray]:
        skip = self.dialect.start
        for part in parts:
            piece = part[skip:] if skip else part
            skip = max(0, skip - len(part))
            if piece.startswith((b"\r", b"\n")):  # strip copies, so only where it may matter
                piece = piece.lstrip(b"\r\n")
            if piece:
                yield piece

    def _attempt(self, spare: deque[bytearray], piece: bytearray) -> Any:
        """Return the piece as one record batch, or what is wrong with it: threads do not know row numbers."""
        try:
            return self._parse(piece)
        except _RowError as bad:
            return bad
        finally:
            spare.append(piece)

    def _parse(self, piece: bytearray) -> Any:
        if b"\0" in piece:
            raise _RowError(
                piece.count(b"\n", 0, piece.index(b"\0")) + 1, "holds a NUL byte: the file is damaged or not text."
            )
        numbers = self.numbers - self.stubborn
        batch = self._plain(piece, numbers)
        data = b"" if batch is not None else bytes(piece)
        while batch is None:
            try:
                table = self._read(data, numbers)
            except pa.ArrowInvalid as problem:
                failed = _FAILED.search(str(problem))
                if failed is None:
                    raise _RowError(1, f"or one of the rows after it cannot be read: {problem}.") from problem
                name = self.names[int(failed.group(1))]
                if name not in numbers:
                    raise _RowError(
                        int(failed.group(2)),
                        f"holds a cell in column {name!r} that is not UTF-8 text; save the file as UTF-8.",
                    ) from problem
                refused = {name}
            else:
                refused = {name for name in numbers if _has_nan(table[name])}
                if not refused:
                    batches = table.combine_chunks().to_batches()
                    return batches[0] if batches else pa.RecordBatch.from_pylist([], table.schema)
            self.stubborn.update(refused)
            numbers = numbers - refused
        return batch

    def _plain(self, piece: bytearray, numbers: frozenset[str]) -> Any:
        """Return a piece without quotes whose cells are plainly written as one record batch; None for any other."""
        if self.texts is None or len(self.odd) >= ODD or (self.dialect.quote and self.dialect.quote.encode() in piece):
            return None
        batch = plain_batch(piece, self.dialect.delimiter, self.names, numbers, self.numbers | self.texts)
        if batch is None:
            self.odd.append(True)
        return batch

    def _read(self, piece: bytes, numbers: frozenset[str]) -> Any:
        ragged: list[Any] = []

        def refuse(row: Any) -> str:
            ragged.append(row)  # an exception raised here would only be printed by Arrow
            return "error"

        only = (
            None if self.texts is None else [name for name in self.names if name in self.numbers or name in self.texts]
        )
        text = pa.string() if self.texts is None else _PACKED
        wanted = self.names if only is None else only
        quote = self.dialect.quote
        options = pa_csv
        read = options.ReadOptions(use_threads=False, block_size=len(piece) + 1, column_names=list(self.names))
        parse = options.ParseOptions(
            delimiter=self.dialect.delimiter,
            quote_char=quote or False,
            newlines_in_values=quote is not None and quote.encode() in piece,
            invalid_row_handler=refuse,
        )
        convert = options.ConvertOptions(
            column_types={name: pa.float64() if name in numbers else text for name in wanted},
            null_values=list(MISSING),
            strings_can_be_null=False,
            include_columns=only or [],
        )
        try:
            return pa_csv.read_csv(pa.BufferReader(piece), read, parse, convert)
        except pa.ArrowInvalid as problem:
            if not ragged:
                raise
            row = ragged[0]
            raise _RowError(
                row.number,
                f"has {_cells(row.actual_columns)} where {_cells(row.expected_columns)} are expected:"
                f" {row.text[:60]!r};"
                f" the delimiter is {self.dialect.spoken}, and a cell that holds it needs quotes.",
            ) from problem


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"


def _has_nan(column: Any) -> bool:
    """Whether a cell was spelled as NaN in a way that does not count as missing, such as NAN."""
    return any(bool(np.isnan(to_numpy(chunk.drop_null())).any()) for chunk in column.chunks)
