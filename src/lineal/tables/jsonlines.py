"""JSON lines: one object per line, its keys are the columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pa_json

from lineal.errors import InputError
from lineal.records import dataclass
from lineal.tables.file import File, ahead, chunks, last_line
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
        """Look at a file's first megabyte for the keys."""
        data, whole = file.sample()
        lines = data.splitlines() if whole else data.splitlines()[:-1] or data.splitlines()
        keys: dict[str, None] = {}
        for position, line in enumerate(lines, start=1):
            if line.strip():
                keys.update(dict.fromkeys(_object(line, position, file.name)))
        if not keys:
            raise InputError(f"{file.name} has no rows; write one JSON object per line.")
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
        with self.file.open() as stream:
            for found in ahead(self._attempt, (piece for piece in chunks(stream, last_line) if piece.strip())):
                if isinstance(found, pa.ArrowInvalid):
                    row = _ROW.search(str(found))
                    where = f"{self.place(start + int(row.group(1)))} of " if row else ""
                    raise InputError(f"{where}{self.origin} cannot be read: {str(found).splitlines()[0]}")
                unknown = set(found.schema.names) - set(self.keys)
                if unknown:
                    raise InputError(
                        f"{self.origin} has a key {min(unknown)!r} that its first megabyte does not have;"
                        " write it, even if null, in the first row."
                    )
                for batch in found.to_batches(max_chunksize=BATCH_ROWS):
                    whole = self._complete(batch)
                    yield np.arange(start, start + whole.num_rows, dtype=np.int64), whole
                    start += whole.num_rows

    def _attempt(self, piece: bytes) -> Any:
        try:
            return pa_json.read_json(
                pa.BufferReader(piece), pa_json.ReadOptions(use_threads=False, block_size=len(piece) + 1)
            )
        except pa.ArrowInvalid as problem:
            return problem

    def _complete(self, batch: Any) -> Any:
        arrays = [
            batch.column(k) if (k := batch.schema.get_field_index(key)) >= 0 else pa.nulls(batch.num_rows)
            for key in self.keys
        ]
        return pa.RecordBatch.from_arrays(arrays, names=list(self.keys))


def _object(line: bytes, position: int, origin: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as problem:
        raise InputError(
            f"line {position} of {origin} is not JSON ({problem}); write one JSON object per line."
        ) from problem
    if not isinstance(found, dict):
        raise InputError(
            f'line {position} of {origin} is not a JSON object; write one object such as {{"age": 41}} per line.'
        )
    return found
