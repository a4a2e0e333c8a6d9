"""Files of typed columns, block by block: Parquet, Feather, NumPy and idx."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.verify.reading.cells import BLOCK_ROWS, Cells, Column
from lineal.verify.reading.packed import damage, unpacked

WIDTHS: Final = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
"""The numbers of idx files by the code of their type."""


class Arrow:
    """A Parquet or Feather file; the components of a column of vectors are called name[0], name[1], ..."""

    zero = False

    def __init__(self, path: Path, *, parquet: bool) -> None:
        import pyarrow as pa  # here: only these two formats need it

        self._path, self._errors = path, (OSError, pa.ArrowException)
        try:
            if parquet:
                import pyarrow.parquet as pq

                # column chunks are read piece by piece, however long the row groups are
                self._file: Any = pq.ParquetFile(path, buffer_size=2**20, pre_buffer=False)
                self.names, self._rows = list(self._file.schema_arrow.names), self._file.metadata.num_rows
            else:
                self._file = pa.ipc.open_file(pa.memory_map(str(path)))
                self.names = list(self._file.schema.names)
                self._rows = sum(self._file.get_batch(k).num_rows for k in range(self._file.num_record_batches))
        except self._errors as error:
            raise InputError(f"the data file {path} cannot be read: {error}.") from error
        self._parquet = parquet

    def has(self, name: str) -> bool:
        """Return whether there is such a column, or such a component of one."""
        return name in self.names or name.partition("[")[0] in self.names

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield the needed columns, ``rows`` rows at a time."""
        wanted = list(dict.fromkeys(needed))
        plain = [name for name in wanted if name in self.names]
        vectors = dict.fromkeys(name.partition("[")[0] for name in wanted if name not in self.names)
        parents = [name for name in vectors if name in self.names]
        for name in (*plain, *parents):
            if self.names.count(name) > 1:
                raise InputError(f"{self._path} has two columns called {name!r}; rename one.")
        done, width = 0, dict[str, int]()
        for batch in _regular(self._batches(list(dict.fromkeys([*plain, *parents])), rows), rows):
            columns = {name: _column(batch.column(name)) for name in plain}
            for name in parents:
                columns |= self._spread(name, batch.column(name), width)
            done += batch.num_rows
            yield Cells(batch.num_rows, columns, share=done / max(self._rows, 1))

    def _batches(self, names: list[str], rows: int) -> Iterator[Any]:
        import pyarrow as pa

        try:
            if self._parquet:
                for batch in self._file.iter_batches(batch_size=rows, columns=names):
                    yield pa.Table.from_batches([batch])
            else:
                for k in range(self._file.num_record_batches):
                    yield pa.Table.from_batches([self._file.get_batch(k)]).select(names)
        except self._errors as error:
            raise InputError(f"the data file {self._path} cannot be read: {error}.") from error

    def _spread(self, name: str, column: Any, width: dict[str, int]) -> dict[str, Column]:
        """Return a column of vectors as one column per component."""
        import pyarrow as pa
        import pyarrow.compute as pc

        flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        lists = isinstance(flat.type, pa.ListType | pa.LargeListType | pa.FixedSizeListType)
        lengths = set(pc.list_value_length(flat).to_pylist()) if lists else {None}
        size = lengths.pop() if len(lengths) == 1 else None
        if size is None or width.setdefault(name, size) != size:
            raise InputError(f"the vectors in column {name!r} of {self._path} are not all there, or not of one length.")
        cells = _column(pc.list_flatten(flat))
        return {f"{name}[{k}]": cells[k::size] for k in range(size)}


def _regular(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Yield tables of ``rows`` rows each, the last with what is left."""
    import pyarrow as pa

    held: list[Any] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        while count >= rows:
            whole = pa.concat_tables(held)
            yield whole.slice(0, rows)
            held, count = [whole.slice(rows)], count - rows
    if count:
        yield pa.concat_tables(held)


def _column(column: Any) -> Column:
    """Return the cells of an Arrow column: numbers as an array, anything else as Python objects."""
    import pyarrow as pa

    if pa.types.is_floating(column.type) or (pa.types.is_integer(column.type) and not column.null_count):
        return np.asarray(column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy())
    cells: list[object] = column.to_pylist()
    return cells


@dataclass
class Arrays:
    """The arrays of a NumPy file as columns: those of a matrix are called name[0], name[1], ..."""

    path: Path
    idx: bool = False
    zero: bool = False
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        try:
            self._arrays = _idx(self.path) if self.idx else self._loaded()
        except (ValueError, OSError, EOFError) as error:
            kind = "an idx file" if self.idx else "NumPy arrays"
            raise InputError(f"the data file {self.path} cannot be read as {kind}: {error}.") from error
        lengths = {len(array) if 1 <= array.ndim <= 2 else -1 for array in self._arrays.values()}
        if len(lengths) != 1 or -1 in lengths:
            raise InputError(
                f"the data file {self.path} must hold arrays of one or two dimensions with the same number of rows."
            )
        self._rows, self._places = lengths.pop(), dict[str, tuple[str, int | None]]()
        for name, array in self._arrays.items():
            if array.ndim == 1:
                self._places[name] = (name, None)
            else:
                self._places |= {f"{name}[{k}]": (name, k) for k in range(array.shape[1])}
        self.names = list(self._places)

    def _loaded(self) -> dict[str, Any]:
        loaded = np.load(self.path, allow_pickle=False, mmap_mode="r" if self.path.suffix == ".npy" else None)
        return dict(loaded) if hasattr(loaded, "files") else {self.path.stem: loaded}

    def has(self, name: str) -> bool:
        """Return whether there is such an array, or such a column of one."""
        return name in self._places

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield the needed columns, ``rows`` rows at a time."""
        wanted = [name for name in needed if name in self._places]
        used = dict.fromkeys(self._places[name][0] for name in wanted)
        for start in range(0, self._rows, rows):
            parts = {name: np.array(self._arrays[name][start : start + rows]) for name in used}
            columns: dict[str, Column] = {}
            for name in wanted:
                array, column = self._places[name]
                part = parts[array] if column is None else parts[array][:, column].astype(np.float64)
                columns[name] = part if part.dtype.kind in "fiu" else part.tolist()
            yield Cells(min(rows, self._rows - start), columns, share=min(1.0, (start + rows) / self._rows))


def is_idx(path: Path) -> bool:
    """Return whether a file, packed or not, begins with two zeros, a known type and a number of dimensions."""
    try:
        with path.open("rb") as raw, unpacked(raw) as file:
            first = file.read(4)
    except damage():
        return False
    return len(first) == 4 and first[:2] == bytes(2) and first[2] in WIDTHS and 1 <= first[3] <= 8


def _idx(path: Path) -> dict[str, Any]:
    """Return the array of an idx file: labels, or a matrix with a row for every picture."""
    with path.open("rb") as raw, unpacked(raw) as file:
        data = file.read()
    kind, dimensions = WIDTHS[data[2]], data[3]
    shape = [int.from_bytes(data[4 + 4 * k : 8 + 4 * k], "big") for k in range(dimensions)]
    numbers = np.frombuffer(data, kind, offset=4 + 4 * dimensions)
    if len(numbers) != int(np.prod(shape)):
        raise ValueError(f"it holds {len(numbers)} numbers for the shape {shape}")
    return {"label": numbers} if dimensions == 1 else {"pixel": numbers.reshape(shape[0], -1)}
