"""Where predictions and other tables go: a file that appears whole or not at all, or stdout."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.compute

from lineal.cli.opening import joined
from lineal.cli.summary import finite
from lineal.errors import InputError, LinealError
from lineal.tables.arrow import from_texts


class Sink(Protocol):
    """Something that takes record batches, all of one schema."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Take one batch."""

    def close(self) -> None:
        """Write what has to stand at the end."""


class Csv:
    """Comma-separated text with a header; a cell is quoted only where it must be."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._started = False

    def write(self, batch: pa.RecordBatch) -> None:
        """Write one batch, the header before the first."""
        if not self._started:
            self._stream.write((",".join(quoted(name) for name in batch.schema.names) + "\n").encode())
            self._started = True
        comma = from_texts([","])[0]  # (a plain one would load pandas)
        lines = pyarrow.compute.binary_join_element_wise(*(_texts(array) for array in batch.columns), comma)
        self._stream.write("".join(f"{line}\n" for line in lines.to_pylist()).encode())

    def close(self) -> None:
        """Nothing stands at the end of a CSV file."""


def quoted(cell: str) -> str:
    """Return a cell as CSV wants it.

    >>> quoted("plain"), quoted("a, b")
    ('plain', '"a, b"')
    """
    special = any(mark in cell for mark in ',"\n\r') or cell != cell.strip()
    return '"' + cell.replace('"', '""') + '"' if special else cell


def _texts(array: pa.Array) -> pa.Array:
    """Return an array as cells; a number has the fewest digits that give it back exactly."""
    if not pa.types.is_string(array.type):
        return array.cast(pa.string())
    codes = array.dictionary_encode()
    return from_texts([quoted(level) for level in codes.dictionary.to_pylist()]).take(codes.indices)


class Parquet:
    """A Parquet file."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._writer: Any = None

    def write(self, batch: pa.RecordBatch) -> None:
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


class JsonLines:
    """One JSON object whose list of predictions is written as it comes."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._between = '{"predictions": ['

    @property
    def begun(self) -> bool:
        """Whether something was written."""
        return self._between == ","

    def write(self, batch: pa.RecordBatch) -> None:
        """Write one object per row."""
        for row in batch.to_pylist():
            self._stream.write(f"{self._between}\n{json.dumps(finite(row), ensure_ascii=False)}".encode())
            self._between = ","

    def close_with(self, facts: Mapping[str, Any]) -> None:
        """End the list and add what is known of the whole."""
        opening = self._between if self._between != "," else ""
        rest = json.dumps(dict(facts), ensure_ascii=False)[1:]
        self._stream.write(f"{opening}\n], {rest}\n".encode())

    def close(self) -> None:
        """Everything was written by close_with."""


@contextlib.contextmanager
def sink(path: Path | None, as_json: bool, what: str = "predictions") -> Iterator[Sink]:
    """Open the place for predictions: a file by its ending, or stdout as CSV (as one JSON object with --json).

    A file is written beside its place and renamed at the end, so that an error leaves nothing; a device is written to
    as it is.
    """
    if path is None:
        target: Sink = JsonLines(sys.stdout.buffer) if as_json else Csv(sys.stdout.buffer)
        with _told("stdout", what), _ended(target):
            yield target
            sys.stdout.buffer.flush()
        return
    kind = Parquet if path.suffix.lower() in (".parquet", ".pq") else Csv
    with _told(str(path), what):
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield from _filled(kind(stream))
            return
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        try:
            with beside.open("xb") as stream:
                yield from _filled(kind(stream))
                stream.flush()
                os.fsync(stream.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


@contextlib.contextmanager
def _ended(target: Sink) -> Iterator[None]:
    """End an object that has begun where an error comes in between: what was printed is JSON all the same."""
    try:
        yield
    except LinealError as error:
        if isinstance(target, JsonLines) and target.begun:
            target.close_with({"error": str(error), "exit_code": error.exit_code})
            error.answered = True
        raise


def _filled(target: Csv | Parquet) -> Iterator[Sink]:
    try:
        yield target
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to tell
            target.close()
        raise
    target.close()


@contextlib.contextmanager
def _told(where: str, what: str) -> Iterator[None]:
    """Turn an error of writing into a sentence; a reader who closes the pipe is no error."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"the {what} cannot be written to {where}: {error.strerror or error}.") from error


def table_file(path: Path, option: str) -> None:
    """Refuse, before any work is done, a name that says neither CSV nor Parquet, or a place that is none."""
    if path.suffix.lower() not in (".csv", ".parquet", ".pq"):
        raise InputError(
            f"{option} {path}: the name must end in .csv or .parquet, which says how the table is written."
        )
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{option} {path}: the folder {path.parent} does not exist, or {path} is one; choose another.")


def apart(output: Path | None, option: str, *inputs: Path | str | None) -> None:
    """Refuse an output that is one of the inputs, under whatever name; ``--beside`` may name its key, as in FILE:KEY.

    >>> apart(Path("out.csv"), "-o", Path("in.csv"), None, "more.csv:id")
    """
    if output is None or not output.exists():
        return
    for given in inputs:
        path = joined(given)[0] if isinstance(given, str) else given
        if path is not None and path.exists() and output.samefile(path):
            raise InputError(f"{option} {output} is one of the inputs ({path}); choose another name.")


def write_table(path: Path, columns: Mapping[str, Any], what: str) -> None:
    """Write columns as one table, CSV or Parquet by the ending of the name."""
    with sink(path, as_json=False, what=what) as target:
        target.write(pa.RecordBatch.from_pydict({name: pa.array(values) for name, values in columns.items()}))
