"""JSON: one object per line, or a list of objects; their keys are the columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pa_compute
import pyarrow.json as pa_json

from lineal.errors import InputError
from lineal.ground.inputs import shown
from lineal.ground.records import dataclass
from lineal.tables.arrow import DOUBLE_EXACT_INTEGERS
from lineal.tables.columnar import InMemory
from lineal.tables.encoding import UTF8_MARK
from lineal.tables.file import File, ahead, chunks, last_line
from lineal.tables.records import from_records, merged
from lineal.tables.tabular import BATCH_ROWS, RowNumbers, Table, check_names

_ROW = re.compile(r" in row (\d+)")


@dataclass(frozen=True)
class JsonLines(Table):
    """A file with one JSON object per line; an absent key is a missing cell.

    The type of a column may differ from one part of the file to another; cells are read by the same rules
    whatever type they have.
    """

    file: File
    keys: tuple[str, ...]

    @classmethod
    def open(cls, file: File) -> JsonLines:
        """Look for the keys: in the first megabyte, and where the file has more, in all of it."""
        data, whole = file.sample()
        keys: dict[str, None] = {}
        for position, line in enumerate(data.split(b"\n") if whole else data.split(b"\n")[:-1] or [data], start=1):
            if line.strip():
                keys.update(dict.fromkeys(_object(line, position, file.name)))
        if not keys:
            raise InputError(f"{file.name} has no rows; write one JSON object per line.")
        check_names(tuple(keys), file.name)
        if not whole:
            for batch in cls(file, tuple(keys))._parsed():  # noqa: SLF001
                keys.update(dict.fromkeys(batch.schema.names))
            check_names(tuple(keys), file.name)
        return cls(file, tuple(keys))

    @property
    def names(self) -> tuple[str, ...]:
        """The keys, in the order in which they appear."""
        return self.keys

    @property
    def origin(self) -> str:  # type: ignore[override]
        """The file's name."""
        return self.file.name

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the rows of the file, in order."""
        start = 0
        for parsed in self._parsed():
            unknown = set(parsed.schema.names) - set(self.keys)
            if unknown:
                raise InputError(
                    f"{self.origin} has a key {min(unknown)!r} that it did not have before; it has changed."
                )
            for batch in parsed.to_batches(max_chunksize=BATCH_ROWS):
                whole = self._complete(batch)
                yield np.arange(start, start + whole.num_rows, dtype=np.int64), whole
                start += whole.num_rows

    def _parsed(self) -> Iterator[Any]:
        """Yield the rows as they were parsed, a piece of the file at a time, with the keys of that piece."""
        start = 0
        with self.file.open() as stream:
            for parsed in ahead(self._attempt, _placed(chunks(stream, last_line))):
                if isinstance(parsed, InputError):
                    raise parsed
                if isinstance(parsed, pa.ArrowInvalid):
                    row = _ROW.search(str(parsed))
                    where = f"{self.place(start + int(row.group(1)))} of " if row else ""
                    raise InputError(f"{where}{self.origin} cannot be read: {str(parsed).splitlines()[0]}")
                yield parsed
                start += parsed.num_rows

    def place(self, row: int) -> str:
        """Return the row, counted from one, and its line in the file."""
        return self.file.place(row)

    def _attempt(self, placed: tuple[int, bytes]) -> Any:
        """Return the rows of a piece, or what is wrong with it.

        Arrow takes objects that share a line, or span some, and dies of a number by itself: lines are looked at before.
        """
        line, piece = placed
        parsed: Any = None
        objects = _objects(piece)
        try:
            if objects >= 0:
                parsed = pa_json.read_json(
                    pa.BufferReader(piece), pa_json.ReadOptions(use_threads=False, block_size=len(piece) + 1)
                )
                if parsed.num_rows == objects:
                    return _in_digits(parsed, piece)
        except pa.ArrowInvalid as problem:
            parsed = problem
        rows = []
        try:
            for position, text in enumerate(piece.split(b"\n"), start=line):
                if text.strip():
                    rows.append(_object(text, position, self.origin))
        except InputError as problem:
            return problem
        if isinstance(parsed, pa.ArrowInvalid):
            try:  # a key whose values are of different kinds
                return merged(rows, list(dict.fromkeys(key for row in rows for key in row)))
            except InputError:
                return parsed
        return InputError(f"{self.origin} has lines from line {line} on that are not one JSON object each.")

    def _complete(self, batch: Any) -> Any:
        arrays = [
            batch.column(k) if (k := batch.schema.get_field_index(key)) >= 0 else pa.nulls(batch.num_rows)
            for key in self.keys
        ]
        return pa.RecordBatch.from_arrays(arrays, names=list(self.keys))


def from_list(file: File) -> InMemory:
    """Return a file that holds one list of objects, a row each, as a table in memory."""
    with file.open() as stream:
        text = stream.read().removeprefix(UTF8_MARK)
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputError(
            f"{file.name} is not JSON ({problem}); write a list of objects, or one object per line."
        ) from problem
    for place, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(
                f"element {place} of the list in {file.name} is {shown(row)}, not an object; "
                'write rows such as {"age": 41}.'
            )
    if not rows:
        raise InputError(f"{file.name} holds an empty list; give at least one row.")
    return replace(from_records(rows), origin=file.name)


def _in_digits(parsed: Any, piece: bytes) -> Any:
    """Return a piece whose whole numbers are as they are written: those that Arrow made doubles, with loss, as texts."""
    for position, name in enumerate(parsed.schema.names):
        column = parsed.column(position)
        if column.type != pa.float64() or not column.null_count < len(column):
            continue
        if not any(abs(value.as_py()) >= DOUBLE_EXACT_INTEGERS for value in pa_compute.min_max(column).values()):
            continue
        records = (json.loads(line) for line in piece.removeprefix(UTF8_MARK).split(b"\n") if line.strip())
        cells = [record.get(name) for record in records]
        if any(isinstance(cell, int) and (abs(cell) >= 2**1024 or int(float(cell)) != cell) for cell in cells):
            parsed = parsed.set_column(position, name, pa.array([*map(_digits, cells)], pa.string()))
    return parsed


def _digits(cell: int | float | None) -> str | None:
    """Return a number as a text: a whole one in all its digits.

    >>> _digits(2**64 + 1), _digits(2.0), _digits(0.1)
    ('18446744073709551617', '2', '0.1')
    """
    if cell is None:
        return None
    return str(int(cell)) if isinstance(cell, int) or cell.is_integer() else repr(cell)


def _placed(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield pieces of whole lines with the number of their first one, blank ones left out."""
    line = 1
    for piece in pieces:
        if piece.strip():
            yield line, piece
        line += piece.count(b"\n")


def _objects(piece: bytes) -> int:
    r"""Return how many lines are not blank, or -1 if one of them does not begin and end like an object.

    Rows as many as this are one for each line, since ``}`` and ``{`` with nothing between never stand inside an object.

    >>> _objects(b'{"a": 1}\n{"a": 2}\n'), _objects(b'{"a": 1}\n\n {"a": 2} \n'), _objects(b'{"a":\n1}')
    (2, 2, -1)
    """
    text = piece.removeprefix(UTF8_MARK).strip()
    breaks = text.count(b"\n")
    if text.startswith(b"{") and text.endswith(b"}") and breaks in (text.count(b"}\n{"), text.count(b"}\r\n{")):
        return breaks + 1
    lines = [line for line in (line.strip() for line in text.split(b"\n")) if line]
    return len(lines) if all(line.startswith(b"{") and line.endswith(b"}") for line in lines) else -1


def _object(line: bytes, position: int, origin: str) -> dict[str, Any]:
    try:
        value = json.loads((line.removeprefix(UTF8_MARK) if position == 1 else line).decode())
    except ValueError as problem:
        raise InputError(
            f"line {position} of {origin} is not JSON ({problem}); write one JSON object per line."
        ) from problem
    if not isinstance(value, dict):
        raise InputError(
            f'line {position} of {origin} is not a JSON object; write one object such as {{"age": 41}} per line.'
        )
    return value
