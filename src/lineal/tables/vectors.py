"""Columns of vectors, such as the output of a network: each becomes as many columns of numbers as it is long."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.tables.arrow import from_numpy, rounded, to_numpy
from lineal.tables.columnar import InMemory
from lineal.tables.tabular import Around, RowNumbers, Table, check_names


def component(name: str, k: int) -> str:
    """Return the name of a component of a vector.

    >>> component("embedding", 3)
    'embedding[3]'
    """
    return f"{name}[{k}]"


def widened(table: Table) -> Table:
    """Return the table with a column of numbers for every component of its vectors; itself if it has none.

    >>> import pyarrow as pa
    >>> widened(InMemory(pa.table({"v": [[1.0, 2.0], [3.0, 4.0]], "y": [0, 1]}))).names
    ('v[0]', 'v[1]', 'y')
    """
    lengths: dict[str, int] = {}
    pending = set(table.vectors())
    if not pending:
        return table
    for _, batch in table.numbered():
        for name in sorted(pending):
            array = batch.column(name)
            sizes = (
                [int(array.type.list_size)] if _fixed(array.type) else array.value_lengths().drop_null().to_pylist()[:1]
            )
            if sizes:
                lengths[name] = sizes[0]
        pending -= set(lengths)
        if not pending:
            break
    return Widened(table, lengths) if lengths else table


@dataclass(frozen=True)
class Widened(Around):
    """A table whose vectors are columns side by side; ``lengths`` says how long they are."""

    lengths: Mapping[str, int]
    wanted: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Check the names."""
        check_names(self.names, self.origin)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        every = (
            name
            for column in self.inner.names
            for name in (
                [component(column, k) for k in range(self.lengths[column])] if column in self.lengths else [column]
            )
        )
        return tuple(name for name in every if self.wanted is None or name in self.wanted)

    def vectors(self) -> frozenset[str]:
        """Return the columns that still hold lists: those without any vector."""
        return self.inner.vectors() - set(self.lengths)

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Table:
        """Return the table with these columns only."""
        kept = frozenset(name for name in self.names if name in numbers or name in texts)
        if not kept:
            return self
        whole = {name for name in self.lengths if any(component(name, k) in kept for k in range(self.lengths[name]))}
        inner = self.inner.select(
            numbers={*numbers, *whole} & set(self.inner.names), texts=set(texts) & set(self.inner.names)
        )
        return replace(self, inner=inner, wanted=kept)

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the batches, vectors spread."""
        for rows, batch in self.inner.numbered():
            arrays, names = [], []
            for field in batch.schema:
                if field.name not in self.lengths:
                    arrays.append(batch.column(field.name))
                    names.append(field.name)
                    continue
                values = self._matrix(batch.column(field.name), field.name, rows)
                for k in range(self.lengths[field.name]):
                    name = component(field.name, k)
                    if self.wanted is None or name in self.wanted:
                        arrays.append(from_numpy(np.ascontiguousarray(values[:, k])))
                        names.append(name)
            yield rows, pa.RecordBatch.from_arrays(arrays, names=names)

    def _matrix(self, array: Any, name: str, rows: RowNumbers) -> Array:
        """Return vectors as rows of a matrix; a missing one, or one of another length, is an error that names its row."""
        length = self.lengths[name]
        bad = ~array.is_valid().to_numpy(zero_copy_only=False)
        if not _fixed(array.type):
            sizes = array.value_lengths().fill_null(-1).to_numpy(zero_copy_only=False)
            bad |= sizes != length
        if bad.any():
            place = f"{self.place(int(rows[np.flatnonzero(bad)[0]]))} of {self.origin}"
            raise InputError(
                f"{place} has no vector of {length} numbers in {name!r} as the other rows have; fix or drop the row."
            )
        flat = array.flatten()
        at = rounded(flat)
        if at is not None:
            place = f"{self.place(int(rows[at // length]))} of {self.origin}"
            raise InputError(
                f"{place} holds {flat[at].as_py()} in {component(name, at % length)!r}, a whole number beyond 2^53 that no "
                "double is; subtract a constant from the component, or store the vectors as doubles."
            )
        return to_numpy(flat.cast(pa.float64(), safe=False).fill_null(np.nan)).reshape(len(array), length)


def _fixed(kind: Any) -> bool:
    return bool(pa.types.is_fixed_size_list(kind))


def from_file(path: Path) -> Table:
    """Return a ``.npy`` array or the arrays of a ``.npz`` file as a table: matrices are columns of vectors.

    Nothing in such a file is run: arrays of Python objects are refused.
    """
    try:
        loaded = np.load(path, allow_pickle=False)
        arrays = dict(loaded) if hasattr(loaded, "files") else {path.stem: loaded}
    except (ValueError, OSError, EOFError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(
            f"{path.name} cannot be read as NumPy arrays: {reason}. Save plain arrays of numbers."
        ) from error
    return from_arrays(arrays, path.name)


def from_arrays(arrays: Mapping[str, npt.NDArray[Any]], origin: str) -> Table:
    """Return arrays as columns: one dimension is a column, two are vectors."""
    columns: dict[str, Any] = {}
    heights = {name: len(array) if array.ndim else -1 for name, array in arrays.items()}
    if len(set(heights.values())) != 1 or -1 in heights.values():
        sizes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(f"the arrays of {origin} must have the same number of rows; they are {sizes or 'none'}.")
    for name, array in arrays.items():
        if array.ndim > 2 or array.dtype.kind not in ("fiub" if array.ndim == 2 else "fiubU"):
            raise InputError(
                f"{origin} holds the array {name!r} of shape {array.shape} and type {array.dtype}; give one or two "
                "dimensions of numbers."
            )
        if array.ndim == 1:
            columns[name] = pa.array(array)
        else:
            whole = array.dtype.kind in "iu" and array.dtype.itemsize == 8  # the survey tells which no double is
            kind = array.dtype.newbyteorder("=") if whole else np.dtype(np.float64)
            columns |= {
                component(name, k): from_numpy(np.ascontiguousarray(array[:, k], dtype=kind))
                for k in range(array.shape[1])
            }
    return InMemory(pa.table(columns), origin)
