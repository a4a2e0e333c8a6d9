"""CSV, TSV and their kin, read in a stream: pieces of some megabytes, parsed by Arrow in two threads."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import field, replace
from functools import partial
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.tables.arrow import to_numpy
from lineal.tables.dialect import MISSING, Dialect, detect, records_end
from lineal.tables.file import Bytes, File, ahead, buffers
from lineal.tables.plain import Lexicons, plain_batch
from lineal.tables.quoting import Quoting, decided, surveyed
from lineal.tables.tabular import BATCH_ROWS, RowNumbers, Table

_FAILED = re.compile(r"CSV column #(\d+): Row #(\d+)")
MAX_ODD_PIECES = 4
"""After this many pieces that the compiled loop gave back, Arrow reads all others."""
_PACKED = pa.dictionary(pa.int32(), pa.string())


class _RowError(Exception):
    """A row that cannot be read; ``number`` counts from one within its chunk."""

    def __init__(self, number: int, sentence: str) -> None:
        super().__init__(sentence)
        self.number = number
        self.sentence = sentence


@dataclass
class Findings:
    """What passes over a file have found so far; all tables of the file share it, and none is read wrongly without it.

    ``encoded`` is the file with its encoding, ``quoting`` what its quotes are; None until they are known. ``not_numbers``
    are columns wanted as numbers that some cell refused; ``odd_pieces`` counts those that the compiled loop gave back,
    ``empty_rows`` the rows without a cell at the end of the file.
    """

    encoded: File | None = None
    quoting: Quoting | None = None
    not_numbers: set[str] = field(default_factory=set)
    odd_pieces: int = 0
    empty_rows: int = 0


@dataclass(frozen=True)
class Delimited(Table):
    """A delimited text file. All its cells are text; columns wanted as numbers are parsed while reading.

    A cell that is no number turns its column, in that part of the file, back into text, so that whoever asked
    can say what stands there. The encoding of a long file that begins with ASCII is known after the first pass, which
    goes on in another one where it meets other characters. What quotes are is settled for the whole file when the
    first one is met; ``quote_given`` says that this was not left to be found.
    """

    file: File
    dialect: Dialect
    findings: Findings = field(compare=False)
    numbers: frozenset[str] = frozenset()
    texts: frozenset[str] | None = None
    quote_given: bool = False

    plain = True

    @classmethod
    def open(
        cls, file: File, *, delimiter: str | None = None, quote: str | None = None, header: bool | None = None
    ) -> Delimited:
        """Look at a file's first megabyte and return it as a table."""
        encoded = None if file.begins_plainly() else file.decoded()
        file = encoded or file
        data, whole = file.sample()
        if delimiter is None and ".tsv" in file.name.lower() and b"\t" in data.split(b"\n", 1)[0]:
            delimiter = "\t"
        dialect = detect(data, whole, file.name, delimiter=delimiter, quote=quote, header=header)
        quoting = Quoting(None) if quote == "" else None
        mark = quote or '"'
        if quoting is None and mark.encode() in data:
            quoting = decided(surveyed(file, mark, dialect.delimiter), mark, quote is not None, file.name)
            if quoting.quote != dialect.quote:
                agreed = quoting.quote or ""
                dialect = detect(data, whole, file.name, delimiter=dialect.delimiter, quote=agreed, header=header)
        return cls(file, dialect, Findings(encoded, quoting), quote_given=quote is not None)

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
        """Say what names were given, if the file was not UTF-8, and what is odd about its quotes and its end."""
        encoding, empty = self._encoded().encoding, self.findings.empty_rows
        spoken = {None: "", "windows-1252": "Windows-1252 (Latin-1)"}.get(encoding, "UTF-16")
        read = [f"{self.origin} is not UTF-8; it is read as {spoken}."] if spoken else []
        rows = "An empty row" if empty == 1 else f"{empty:,} empty rows"
        ended = [f"{rows} at the end of {self.origin} {'is' if empty == 1 else 'are'} left out."] if empty else []
        return (*self.dialect.naming.notes, *read, *self._quoting().notes, *ended)

    @property
    def nameless(self) -> frozenset[str]:  # type: ignore[override]
        """The columns for which the header has no name."""
        return self.dialect.naming.nameless

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

    def _encoded(self) -> File:
        """Return the file with its encoding, which is looked for if need be."""
        if self.findings.encoded is None:
            self.findings.encoded = self.file.decoded()
        return self.findings.encoded

    def _quoting(self) -> Quoting:
        """Return what the file's quotes are; all of them are looked at if that is not known."""
        if self.findings.quoting is None:
            mark = self.dialect.quote or '"'
            survey = surveyed(self._file, mark, self.dialect.delimiter)
            self.findings.quoting = decided(survey, mark, self.quote_given, self.origin)
        return self.findings.quoting

    @property
    def _quote(self) -> str | None:
        return self.dialect.quote if self.findings.quoting is None else self.findings.quoting.quote

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the rows of the file, in order."""
        start, lexicons = 0, Lexicons()
        offset: int | None = 0
        while offset is not None:
            sizes: deque[int] = deque()
            began, offset = offset, None
            with self._file.open(began) as stream:
                for parsed in self._parsed(stream, 0 if began else self.dialect.start, sizes):
                    if isinstance(parsed, _RowError):
                        raise InputError(f"{self.place(start + parsed.number - 1)} of {self.origin} {parsed.sentence}")
                    if (
                        parsed is None
                    ):  # the first characters that are not ASCII: the same bytes again in their encoding
                        offset = began
                        break
                    began += sizes.popleft()
                    batch = lexicons.unified(parsed)
                    for at in range(0, batch.num_rows, BATCH_ROWS):
                        part = batch.slice(at, BATCH_ROWS)
                        yield np.arange(start, start + part.num_rows, dtype=np.int64), part
                        start += part.num_rows
            if offset is not None:
                self._encoded()
        if self.findings.encoded is None:
            self.findings.encoded = self.file
        if self.findings.quoting is None:  # no quote was met
            self.findings.quoting = Quoting(None)
        if start == 0:
            raise InputError(f"{self.origin} has a header but no rows.")

    @property
    def _file(self) -> File:
        return self.findings.encoded or self.file

    def _parsed(self, stream: IO[bytes], skip: int, sizes: deque[int]) -> Iterator[Any]:
        """Yield what the pieces of a stream hold, and note how many bytes each took."""
        spare: deque[bytearray] = deque()
        pieces = self._pieces(buffers(stream, self._cut, spare, self._file.piece_bytes), skip, sizes)
        yield from ahead(partial(self._attempt, spare), pieces)

    def place(self, row: int) -> str:
        """Return the row, counted from one, and its line in the file."""
        wanted = row + (2 if self.dialect.header else 1)
        with self._file.open() as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
            options: dict[str, Any] = {"quotechar": self._quote} if self._quote else {"quoting": csv.QUOTE_NONE}
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
        mark = self.dialect.quote
        if self.findings.quoting is None and mark is not None and mark.encode() not in data:
            return len(data) if final else data.rfind(b"\n") + 1
        return records_end(data, final, self._quoting(), self.dialect.delimiter)

    def _pieces(self, parts: Iterator[bytearray], skip: int, sizes: deque[int]) -> Iterator[bytearray]:
        """Yield the pieces without what stands above the rows, and without empty rows at the end of the file."""
        size, held = 0, b""
        for part in parts:
            size += len(part)
            before = len(part)
            del part[:skip]  # nothing is moved
            skip = max(0, skip - before)
            if part.startswith((b"\r", b"\n")):  # strip copies, so only where it may matter
                del part[: len(part) - len(part.lstrip(b"\r\n"))]
            end = empty_tail(part, self.dialect.delimiter)
            tail = bytes(part[end:])
            del part[end:]
            if not part:
                held += tail
                continue
            part[:0] = held
            held = tail
            sizes.append(size - len(held))
            size = len(held)
            yield part
        self.findings.empty_rows = sum(bool(line.strip(b"\r\n")) for line in held.splitlines())

    def _attempt(self, spare: deque[bytearray], piece: bytearray) -> Any:
        """Return the piece as one record batch, or what is wrong with it: threads do not know row numbers.

        None: it is not ASCII, and the file's encoding is not known yet.
        """
        try:
            return self._parse(piece)
        except _RowError as bad:
            return bad
        finally:
            spare.append(piece)

    def _parse(self, piece: bytearray) -> Any:
        numbers = self.numbers - self.findings.not_numbers
        unsure = self.findings.encoded is None
        batch = self._plain(piece, numbers, unsure)
        if batch is not None or (unsure and not piece.isascii()):
            return batch
        if b"\0" in piece:
            raise _RowError(
                piece.count(b"\n", 0, piece.index(b"\0")) + 1, "holds a NUL byte: the file is damaged or not text."
            )
        data = bytes(piece)
        while True:
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
            self.findings.not_numbers.update(refused)
            numbers = numbers - refused

    def _plain(self, piece: bytearray, numbers: frozenset[str], strict: bool) -> Any:
        """Return a piece without quotes whose cells are plainly written as one record batch; None for any other."""
        if self.texts is None or self.findings.odd_pieces >= MAX_ODD_PIECES:
            return None
        quote, wanted = self._quote, self.numbers | self.texts
        batch = plain_batch(piece, self.dialect.delimiter, self.names, numbers, wanted, quote, strict=strict)
        if batch is None and not (quote and quote.encode() in piece) and not (strict and not piece.isascii()):
            self.findings.odd_pieces += 1
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
        quote = self._quote
        options = pa_csv
        read = options.ReadOptions(use_threads=False, block_size=len(piece) + 1, column_names=list(self.names))
        parse = options.ParseOptions(
            delimiter=self.dialect.delimiter,
            quote_char=quote or False,
            newlines_in_values=self.findings.quoting is not None and self.findings.quoting.spans,
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


def empty_tail(piece: bytes | bytearray, delimiter: str) -> int:
    r"""Return where the rows begin that have no cell and stand last in a piece of whole rows: its length if there are none.

    >>> empty_tail(b"1,2,\n,,\n, ,\n", ","), empty_tail(b"1,2\n", ","), empty_tail(b",\n", ",")
    (5, 4, 0)
    """
    nothing = delimiter.encode() + b" \t\r\n"
    if piece[piece.rfind(b"\n", 0, max(len(piece) - 1, 0)) + 1 :].strip(nothing):
        return len(piece)
    end = piece.find(b"\n", len(piece.rstrip(nothing)))
    return 0 if not piece.strip(nothing) else end + 1


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"


def _has_nan(column: Any) -> bool:
    """Whether a cell was spelled as NaN in a way that does not count as missing, such as NAN."""
    return any(bool(np.isnan(to_numpy(chunk.drop_null())).any()) for chunk in column.chunks)
