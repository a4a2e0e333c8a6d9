"""SVMlight files: a label and the features that are not zero, one row per line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.tables.file import File, ahead, chunks, last_line
from lineal.tables.tabular import RowNumbers, Table

LABEL = "y"
MAX_FEATURE_NUMBER = 2**24
"""Largest feature number: what is learned of each feature is kept in arrays of that length."""


@dataclass(frozen=True)
class SparseRows:
    """Some rows: labels, and in compressed rows the numbers of the features that are not zero, with values.

    ``y`` are the labels as numbers, ``labels`` as they are written.
    """

    y: Array
    labels: npt.NDArray[np.bytes_]
    indptr: npt.NDArray[np.int64]
    features: npt.NDArray[np.int64]
    values: Array

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def filter(self, mask: Mask) -> SparseRows:
        """Return the rows where ``mask`` is true."""
        lengths = np.diff(self.indptr)
        inside = np.repeat(mask, lengths)
        indptr = np.concatenate([[0], np.cumsum(lengths[mask])]).astype(np.int64)
        return SparseRows(self.y[mask], self.labels[mask], indptr, self.features[inside], self.values[inside])

    def matrix(self, wanted: Mapping[int, int], width: int) -> Any:
        """Return a scipy CSR array whose column ``wanted[f]`` is feature f; other features are left out."""
        import scipy.sparse  # only for sparse files

        largest = max([int(self.features.max(initial=0)), *wanted]) if wanted else int(self.features.max(initial=0))
        place = np.full(largest + 1, -1, dtype=np.int64)
        place[list(wanted)] = list(wanted.values())
        columns = place[self.features]
        kept = columns >= 0
        indptr = np.concatenate([[0], np.cumsum(kept)])[self.indptr]
        matrix = scipy.sparse.csr_array(
            (self.values[kept], columns[kept].astype(np.int32), indptr), shape=(self.num_rows, width)
        )
        matrix.sort_indices()
        return matrix

    @staticmethod
    def joined(parts: Sequence[SparseRows]) -> SparseRows:
        """Return several parts as one."""
        lengths = np.concatenate([np.diff(part.indptr) for part in parts])
        return SparseRows(
            np.concatenate([part.y for part in parts]),
            np.concatenate([part.labels for part in parts]),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.values for part in parts]),
        )


@dataclass(frozen=True)
class Svmlight(Table):
    """An SVMlight file: the column ``y`` is the label, other columns are called by their feature numbers."""

    file: File
    sparse = True

    @property
    def origin(self) -> str:  # type: ignore[override]
        """The file's name."""
        return self.file.name

    @cached_property
    def _names(self) -> tuple[str, ...]:
        seen: set[int] = set()
        for rows in self.batches():
            seen.update(np.unique(rows.features).tolist())
        return (LABEL, *(str(feature) for feature in sorted(seen)))

    @property
    def names(self) -> tuple[str, ...]:
        """The label and the features that occur; found by reading the file once."""
        return self._names

    def numbered(self) -> Iterator[tuple[RowNumbers, SparseRows]]:
        """Yield the rows of the file, in order."""
        start = 0
        with self.file.open() as stream:
            for parsed in ahead(_attempt, chunks(stream, last_line)):
                if isinstance(parsed, _LineError):
                    raise InputError(f"{self.place(start + parsed.row)} of {self.origin} {parsed.sentence}")
                if parsed.num_rows:
                    yield np.arange(start, start + parsed.num_rows, dtype=np.int64), parsed
                    start += parsed.num_rows
        if start == 0:
            raise InputError(f"{self.origin} has no rows.")

    def place(self, row: int) -> str:
        """Return the row, counted from one, and its line in the file."""
        return self.file.place(row, _content)


class _LineError(Exception):
    def __init__(self, row: int, sentence: str) -> None:
        super().__init__(sentence)
        self.row, self.sentence = row, sentence


def _attempt(piece: bytes) -> SparseRows | _LineError:
    try:
        return parse(piece)
    except _LineError as bad:
        return bad


def parse(piece: bytes) -> SparseRows:
    """Return whole lines of an SVMlight file as sparse rows.

    >>> rows = parse(b"+1 1:0.5 3:2" + bytes([10]) + b"-1 2:1 # a comment")
    >>> rows.y.tolist(), rows.features.tolist(), rows.indptr.tolist()
    ([1.0, -1.0], [1, 3, 2], [0, 2, 3])
    """
    lines = [line for line in map(_content, piece.split(b"\n")) if line]
    if b"\0" in piece and any(b"\0" in line for line in lines):
        raise _LineError(
            next(row for row, line in enumerate(lines) if b"\0" in line), "holds a NUL byte: the file is damaged."
        )
    if b"qid:" in piece:
        lines = [b" ".join(token for token in line.split() if not token.startswith(b"qid:")) for line in lines]
    counts = np.array([line.count(b":") for line in lines], dtype=np.int64)
    tokens = b" ".join(lines).replace(b":", b" ").split()
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if len(tokens) != len(lines) + 2 * int(indptr[-1]):
        raise _first_bad(lines)
    try:
        written = np.array(tokens, dtype=np.bytes_)
        numbers = written.astype(np.float64)
    except ValueError:
        raise _first_bad(lines) from None
    label = 2 * indptr[:-1] + np.arange(len(lines))
    rest = np.delete(numbers, label)
    features, values = rest[0::2], rest[1::2]
    y = numbers[label]
    rising = np.diff(features) > 0
    rising[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < len(features))] - 1] = True  # a new row may start lower
    sound = (features >= 0) & (features <= MAX_FEATURE_NUMBER) & (features == np.floor(features)) & np.isfinite(values)
    if not (rising.all() and sound.all() and np.isfinite(y).all()):
        raise _first_bad(lines)
    return SparseRows(y, written[label], indptr, features.astype(np.int64), values)


def _content(line: bytes) -> bytes:
    """Return a line without its comment."""
    return line.split(b"#", 1)[0].strip()


def _first_bad(lines: list[bytes]) -> _LineError:
    """Return what is wrong with the first bad line, read slowly."""
    for row, line in enumerate(lines):
        label, *pairs = line.split()
        try:
            previous = -1
            good = np.isfinite(float(label))
            for pair in pairs:
                feature, value = pair.split(b":")
                good = good and previous < int(feature) <= MAX_FEATURE_NUMBER and np.isfinite(float(value))
                previous = int(feature)
        except ValueError:
            good = False
        if not good:
            shown = line[:60].decode(errors="replace")
            wanted = (
                f"'label feature:value ...' with finite numbers and rising feature numbers up to {MAX_FEATURE_NUMBER}"
            )
            return _LineError(row, f"is not {wanted}: {shown!r}.")
    return _LineError(0, "or one of the rows after it is not 'label feature:value ...'.")
