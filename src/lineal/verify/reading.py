"""A plain reader of data files: CSV, TSV, JSON lines, SVMlight (also .gz), Parquet and Feather, to named cells."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lineal.errors import InputError
from lineal.verify.quoting import quoting

DELIMITERS = (",", "\t", ";", "|", " ")
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
JSON_LINES = (".jsonl", ".ndjson")


@dataclass
class Table:
    """Named columns of cells, all of one length. ``zero`` says that an absent number column is all zeros (SVMlight)."""

    rows: int
    columns: dict[str, list[object]]
    zero: bool = False
    names: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        """Return whether the table has a column of that name."""
        return name in self.columns or (self.zero and name.isdecimal())

    def column(self, name: str) -> list[object]:
        """Return the cells of a column."""
        return self.columns[name] if name in self.columns else [0.0] * self.rows


def read(
    path: str | os.PathLike[str],
    needed: Iterable[str],
    *,
    delimiter: str | None = None,
    quote: str | None = None,
    header: bool | None = None,
) -> Table:
    """Return the needed columns of a data file.

    Where the delimiter or the header is not given, the reading under which the needed names are found is taken; whether
    quotes quote follows from the file. ``quote=""`` switches quoting off.
    """
    path, needed = Path(path), set(needed)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"the data file {path} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    if data[:6] == b"\x93NUMPY" or path.suffix.lower() == ".npz":
        return _arrays(path)
    if data[:4] == b"PAR1" or data[:6] == b"ARROW1":
        return _arrow(path, needed, parquet=data[:4] == b"PAR1")
    try:
        content = decoded(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except (OSError, EOFError) as error:
        raise InputError(f"the data file {path} is damaged: {error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"the data file {path} is not text: byte {error.start} cannot be read.") from error
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix in SVMLIGHT:
        return _svmlight(content, path)
    if suffix in JSON_LINES:
        return _json_lines(content, needed, path)
    if quote is None:
        delimiter = _chosen(content, needed, delimiter, '"', header)[0]
        quote = quoting(content, delimiter)
    return _delimited(content, needed, path, delimiter, quote, header)


def decoded(data: bytes) -> str:
    r"""Return the text of a file: UTF-16 if its first bytes say so, UTF-8, or else Windows-1252.

    A byte that is none of UTF-8 after a character of several bytes is damage, not another encoding.

    >>> decoded(b"caf\xe9"), decoded("für".encode("utf-16"))
    ('café', 'für')
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    for encoding, zero in (("utf-16-le", 1), ("utf-16-be", 0)):
        some = data[:400]
        if len(some) >= 4 and some[zero::2].count(0) > 0.8 * len(some[zero::2]) and not some[1 - zero :: 2].count(0):
            return data.decode(encoding)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if max(data[: error.start], default=0) > 127:
            raise
    holes = {0x81, 0x8D, 0x8F, 0x90, 0x9D}  # not assigned in Windows-1252: as in Latin-1
    return "".join(chr(code) if code in holes else bytes([code]).decode("cp1252") for code in data)


def _delimited(
    content: str, needed: set[str], path: Path, delimiter: str | None, quote: str, header: bool | None
) -> Table:
    best, first_is_header, first = _chosen(content, needed, delimiter, quote, header)
    names = [name.strip() for name in first] if first_is_header else [f"c{i}" for i in range(1, len(first) + 1)]
    for name in names:
        if name in needed and names.count(name) > 1:
            raise InputError(f"{path} has two columns called {name!r}; rename one.")
    wanted = [(position, name) for position, name in enumerate(names) if name in needed]
    columns: dict[str, list[object]] = {name: [] for _, name in wanted}
    rows = 0
    for record in _records(content, best, quote):
        if first_is_header:
            first_is_header = False
            continue
        rows += 1
        if len(record) != len(names):
            raise InputError(f"row {rows} of {path} has {len(record)} cells, the first line has {len(names)}.")
        for position, name in wanted:
            columns[name].append(record[position])
    return Table(rows, columns, names=names)


def _chosen(
    content: str, needed: set[str], delimiter: str | None, quote: str, header: bool | None
) -> tuple[str, bool, list[str]]:
    """Return the delimiter, whether the first record is a header, and that record."""
    choices = DELIMITERS if delimiter is None else (delimiter,)
    firsts = {choice: _first(content, choice, quote) for choice in choices}
    named, numbered = header is not False, header is not True
    if not needed:
        best = next((choice for choice in choices if len(firsts[choice]) > 1), choices[0])
        return best, named, firsts[best]
    for choice in choices:
        if named and needed <= {name.strip() for name in firsts[choice]}:
            return choice, True, firsts[choice]
        if numbered and needed <= {f"c{number}" for number in range(1, len(firsts[choice]) + 1)}:
            return choice, False, firsts[choice]
    best = max(choices, key=lambda choice: len(firsts[choice]))
    return best, named, firsts[best]


def _first(content: str, delimiter: str, quote: str) -> list[str]:
    """Return the first record; its line as it stands where quoted cells do not end at a delimiter."""
    try:
        return next(_records(content, delimiter, quote), [])
    except InputError:
        return next(_records(content, delimiter, ""), [])


def _records(content: str, delimiter: str, quote: str) -> Iterator[list[str]]:
    """Yield the records of a delimited text; blank lines are not records."""
    limit = csv.field_size_limit(2**31 - 1)  # the default refuses cells longer than 128 kB
    try:
        text = io.StringIO(content, newline="")
        if quote:
            reader = csv.reader(text, delimiter=delimiter, quotechar=quote, strict=True)
        else:
            reader = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        yield from (record for record in reader if record)
    except csv.Error as error:
        raise InputError(f"the data is not delimited text: {error}.") from error
    finally:
        csv.field_size_limit(limit)


def _json_lines(content: str, needed: set[str], path: Path) -> Table:
    columns: dict[str, list[object]] = {}
    rows = 0
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputError(f"line {number} of {path} is not JSON: {error}.") from error
        if not isinstance(record, dict):
            raise InputError(f"line {number} of {path} is not a JSON object.")
        for name in record:
            if name not in columns:
                columns[name] = [None] * rows
        for name, cells in columns.items():
            cells.append(record.get(name))
        rows += 1
    return Table(rows, {name: cells for name, cells in columns.items() if name in needed}, names=list(columns))


def _svmlight(content: str, path: Path) -> Table:
    """Read ``label index:value ... # comment`` lines: target ``y``, columns named by their index, absent ones zero."""
    labels: list[object] = []
    entries: dict[str, dict[int, float]] = {}
    for number, line in enumerate(content.split("\n"), 1):
        fields = line.split("#", 1)[0].split()
        if not fields:
            continue
        try:
            for item in fields[1:]:
                index, value = item.split(":")
                if index != "qid":
                    entries.setdefault(str(int(index)), {})[len(labels)] = float(value)
        except ValueError as error:
            raise InputError(f"line {number} of {path} is not SVMlight: {error}.") from error
        labels.append(fields[0])
    columns: dict[str, list[object]] = {"y": labels}
    for name, values in entries.items():
        columns[name] = [values.get(row, 0.0) for row in range(len(labels))]
    return Table(len(labels), columns, zero=True, names=list(columns))


def _arrow(path: Path, needed: set[str], *, parquet: bool) -> Table:
    import pyarrow as pa  # here: only these two formats need it

    try:
        if parquet:
            import pyarrow.parquet as pq

            table = pq.read_table(path)
        else:
            with pa.OSFile(str(path), "rb") as file:
                table = pa.ipc.open_file(file).read_all()
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"the data file {path} cannot be read: {error}.") from error
    names = list(table.column_names)
    for name in needed:
        if names.count(name) > 1:
            raise InputError(f"{path} has two columns called {name!r}; rename one.")
    columns = {name: table.column(name).to_pylist() for name in names if name in needed}
    for name in names:
        if name not in needed and any(other.startswith(f"{name}[") for other in needed):
            columns |= _spread(name, table.column(name).to_pylist(), path)
    return Table(table.num_rows, columns, names=[*names, *(name for name in columns if name not in names)])


def _spread(name: str, vectors: list[list[object] | None], path: Path) -> dict[str, list[object]]:
    """Return a column of vectors as one column per component, called name[0], name[1], ..."""
    present = [vector for vector in vectors if isinstance(vector, list)]
    if len(present) < len(vectors) or len({len(vector) for vector in present}) != 1:
        raise InputError(f"the vectors in column {name!r} of {path} are not all there, or not of one length.")
    return {f"{name}[{k}]": list(part) for k, part in enumerate(zip(*present, strict=True))}


def _arrays(path: Path) -> Table:
    """Return the arrays of a NumPy file as columns: those of a matrix are called name[0], name[1], ..."""
    try:
        loaded = np.load(path, allow_pickle=False)
        arrays = dict(loaded) if hasattr(loaded, "files") else {path.stem: loaded}
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"the data file {path} cannot be read as NumPy arrays: {error}.") from error
    columns: dict[str, list[object]] = {}
    for name, array in arrays.items():
        if array.ndim == 1:
            columns[name] = array.tolist()
        else:
            columns |= {f"{name}[{k}]": array[:, k].astype(float).tolist() for k in range(array.shape[1])}
    return Table(len(next(iter(arrays.values()))), columns, names=list(columns))
