"""Where predictions and other tables go: a file that appears whole or not at all, or stdout."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from lineal.cli.plain_model import finite
from lineal.errors import InputError, LinealError
from lineal.tables import formats
from lineal.tables.writing import Csv, Sink


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
        with _writing("stdout", what), _ended(target):
            yield target
            sys.stdout.buffer.flush()
        return
    made = formats.written_as(path) or formats.DelimitedText
    with _writing(str(path), what):
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield from _filled(made.sink(stream, path.suffix.lower()))
            return
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        try:
            with beside.open("xb") as stream:
                yield from _filled(made.sink(stream, path.suffix.lower()))
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


def _filled(target: Sink) -> Iterator[Sink]:
    try:
        yield target
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to tell
            target.close()
        raise
    target.close()


@contextlib.contextmanager
def _writing(where: str, what: str) -> Iterator[None]:
    """Turn an error of writing into a sentence; a reader who closes the pipe is no error."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"the {what} cannot be written to {where}: {error.strerror or error}.") from error


def table_file(path: Path, option: str) -> None:
    """Refuse, before any work is done, a name of no format that is written, or a folder that does not exist."""
    if formats.written_as(path) is None:
        endings = ", ".join(sorted(one.written[0] for one in formats.ALL if one.written))
        raise InputError(
            f"{option} {path}: the name says how the table is written; it must end in one of {endings} or .tsv."
        )
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{option} {path}: the folder {path.parent} does not exist, or {path} is one; choose another.")


def apart(output: Path | None, option: str, *inputs: Path | str | None) -> None:
    """Refuse an output that is one of the inputs, under whatever name.

    >>> apart(Path("out.csv"), "-o", Path("in.csv"), None)
    """
    if output is None or not output.exists():
        return
    for other in inputs:
        path = Path(other) if isinstance(other, str) else other
        if path is not None and path.exists() and output.samefile(path):
            raise InputError(f"{option} {output} is one of the inputs ({path}); choose another name.")


def write_table(path: Path, columns: Mapping[str, Any], what: str) -> None:
    """Write columns as one table, in the format that the ending of the name says."""
    with sink(path, as_json=False, what=what) as target:
        target.write(pa.RecordBatch.from_pydict({name: pa.array(values) for name, values in columns.items()}))
