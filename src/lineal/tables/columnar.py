"""Typed tables: Parquet and Arrow files, Arrow tables, data frames and plain dictionaries of columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from lineal.errors import InputError
from lineal.ground.inputs import names_of, real, shown
from lineal.ground.records import dataclass
from lineal.tables.file import File
from lineal.tables.tabular import BATCH_ROWS, RowNumbers, Table, check_names


@dataclass(frozen=True)
class InMemory(Table):
    """An Arrow table in memory."""

    table: Any
    origin: str = "the table"

    def __post_init__(self) -> None:
        """Check the names."""
        check_names(self.names, self.origin)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.table.schema.names)

    def vectors(self) -> frozenset[str]:
        """Return the columns that hold lists of numbers."""
        return vectors(self.table.schema)

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the table's batches."""
        return number(self.table.to_batches(max_chunksize=BATCH_ROWS), self.origin)

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Table:
        """Return the table with these columns only."""
        wanted = [name for name in self.names if name in numbers or name in texts]
        return replace(self, table=self.table.select(wanted)) if wanted else self


@dataclass(frozen=True)
class TypedFile(Table):
    """A file that holds the types of its columns."""

    file: File
    title: ClassVar[str]

    def __post_init__(self) -> None:
        """Check that the file is readable and its names are usable."""
        check_names(self.names, self.origin)

    @property
    def origin(self) -> str:  # type: ignore[override]
        """The file's name."""
        return self.file.name

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Open the file; Arrow's own errors become a sentence."""
        try:
            with self.file.open() as stream:
                yield stream
        except InputError:
            raise
        except (pa.ArrowException, OSError) as problem:
            first = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
            raise InputError(
                f"{self.origin} cannot be read as a {self.title} file: {first.rstrip('.')}; give it an extension that "
                "says what it is, or write it again."
            ) from problem

    @staticmethod
    @abstractmethod
    def schema(stream: Any) -> Any:
        """Return the names and types of the columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        with self.opened() as stream:
            return tuple(self.schema(stream).names)

    def vectors(self) -> frozenset[str]:
        """Return the columns that hold lists of numbers."""
        with self.opened() as stream:
            return vectors(self.schema(stream))


@dataclass(frozen=True)
class Parquet(TypedFile):
    """A Parquet file, read a row group at a time."""

    columns: tuple[str, ...] | None = None
    title: ClassVar[str] = "Parquet"

    @staticmethod
    def schema(stream: Any) -> Any:
        """Return the names and types of the columns."""
        return _parquet(stream).schema_arrow

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return super().names if self.columns is None else self.columns

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the file's batches."""
        with self.opened() as stream:
            columns = None if self.columns is None else list(self.columns)
            yield from number(_parquet(stream).iter_batches(batch_size=BATCH_ROWS, columns=columns), self.origin)

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Table:
        """Return the file with these columns only."""
        wanted = tuple(name for name in self.names if name in numbers or name in texts)
        return replace(self, columns=wanted) if wanted else self


@dataclass(frozen=True)
class Feather(TypedFile):
    """A Feather file (version 2) or Arrow IPC file or stream, read a batch at a time."""

    title: ClassVar[str] = "Feather or Arrow"

    @staticmethod
    def schema(stream: Any) -> Any:
        """Return the names and types of the columns."""
        return _ipc(stream)[0]

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the file's batches, in slices of moderate size."""
        with self.opened() as stream:
            _, batches = _ipc(stream)
            slices = (batch.slice(at, BATCH_ROWS) for batch in batches for at in range(0, batch.num_rows, BATCH_ROWS))
            yield from number(slices, self.origin)


def vectors(schema: Any) -> frozenset[str]:
    """Return the columns of a schema that hold lists of numbers."""
    return frozenset(field.name for field in schema if is_vector(field.type))


def is_vector(kind: Any) -> bool:
    """Whether a type is a list of numbers."""
    lists = pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(lists and (pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type)))


def _parquet(stream: Any) -> Any:
    import pyarrow.parquet as pq  # slow to load, so only for Parquet files

    return pq.ParquetFile(stream)


def _ipc(stream: Any) -> tuple[Any, Iterator[Any]]:
    magic = stream.read(6)
    stream.seek(0)
    if magic == b"ARROW1":
        file = pa.ipc.open_file(stream)
        return file.schema, (file.get_batch(k) for k in range(file.num_record_batches))
    reader = pa.ipc.open_stream(stream)
    return reader.schema, iter(reader)


def number(batches: Any, origin: str) -> Iterator[tuple[RowNumbers, Any]]:
    """Yield batches with their rows numbered from zero; a table without rows is refused."""
    start = 0
    for batch in batches:
        if batch.num_rows:
            yield np.arange(start, start + batch.num_rows, dtype=np.int64), batch
            start += batch.num_rows
    if start == 0:
        raise InputError(f"{origin} has no rows; give at least one.")


def from_mapping(columns: Mapping[Any, Any]) -> InMemory:
    """Return a dictionary of columns as a table."""
    if not columns:
        raise InputError("the dictionary of columns is empty; give at least one column.")
    arrays = {}
    for name, cells in columns.items():
        if isinstance(cells, np.ndarray) and cells.ndim != 1:
            if cells.ndim != 2 or cells.dtype.kind not in "fiu":
                raise InputError(
                    f"column {name!r} has {cells.ndim} dimensions; a column is a list of cells, one for each row, or a "
                    "matrix of numbers with a row for each."
                )
            if cells.dtype.kind in "iu":
                real(np.ma.getdata(cells), f"column {name!r}")  # refuses what no double is
            whole = np.ma.filled(cells.astype(np.float64), np.nan)  # a masked cell is a missing one
            flat = pa.array(np.ascontiguousarray(whole).reshape(-1))
            arrays[str(name)] = pa.FixedSizeListArray.from_arrays(flat, cells.shape[1])
            continue
        arrays[str(name)] = column_of(cells, str(name))
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the columns have different lengths: {lengths}; every column needs one cell for each row.")
    if len(arrays) < len(columns):
        raise InputError("two columns have the same name once written as text; rename one of them.")
    return InMemory(pa.table(arrays))


def column_of(cells: Any, name: str) -> Any:
    """Return cells as an Arrow array: a list, a numpy array, a series of any library, or an Arrow array.

    >>> column_of([1, None, 3], "a").null_count
    1
    """
    if isinstance(cells, str | bytes) or not hasattr(cells, "__len__"):
        raise InputError(f"column {name!r} is {shown(cells)}; a column is a list of cells, one for each row.")
    if isinstance(cells, pa.Array | pa.ChunkedArray):
        return cells
    try:
        if hasattr(cells, "to_arrow"):  # polars
            return cells.to_arrow()
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
        raise InputError(
            f"column {name!r} cannot be used: {' '.join(str(problem).split())}; give cells of one kind, with None where "
            "one is missing."
        ) from problem


def from_arrow(data: Any) -> InMemory | None:
    """Return an Arrow table, batch or reader as a table, or None for anything else."""
    if isinstance(data, pa.Table):
        return InMemory(data)
    if isinstance(data, pa.RecordBatch):
        return InMemory(pa.Table.from_batches([data]))
    if isinstance(data, pa.RecordBatchReader):
        return InMemory(data.read_all())
    return None


def from_frame(data: Any) -> InMemory | None:
    """Return a data frame of any library that narwhals knows as a table, or None for anything else."""
    import narwhals  # only when an object arrives that may be a frame

    if hasattr(data, "set_axis") and hasattr(data, "columns"):  # pandas, which also has numbers as names
        texts = [str(name) for name in names_of(data, "the data frame") or ()]
        data = data if list(data.columns) == texts else data.set_axis(texts, axis="columns")
    try:
        frame = narwhals.from_native(data, pass_through=True)
    except narwhals.exceptions.NarwhalsError as problem:
        raise InputError(
            f"the data frame cannot be used: {' '.join(str(problem).split())}; rename its columns."
        ) from problem
    if isinstance(frame, narwhals.LazyFrame):
        frame = frame.collect("pyarrow")
    if not isinstance(frame, narwhals.DataFrame):
        return None
    try:
        names = tuple(str(name) for name in frame.columns)
        check_names(names, "the table")
        table = frame.to_arrow()
    except InputError:
        raise
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
        raise InputError(
            f"the data frame cannot be used: {' '.join(str(problem).split())}; give columns of one kind each."
        ) from problem
    # A pandas index that is not 0, 1, ... comes as a further column: after dropna, for one.
    return InMemory(table.select(range(len(names))).rename_columns(list(names)))
