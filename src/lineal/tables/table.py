"""The gate for tables: a path, a frame, an Arrow table or a dictionary becomes one stream of named columns."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineal.errors import InputError, near
from lineal.tables.tabular import Table, split, uniform

if TYPE_CHECKING:
    from lineal.tables.file import File

__all__ = ["Table", "as_table", "split", "uniform"]

_FORMATS = {
    ".csv": "delimited",
    ".tsv": "delimited",
    ".tab": "delimited",
    ".txt": "delimited",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".jsonl": "jsonlines",
    ".ndjson": "jsonlines",
    ".json": "jsonlines",
    ".npy": "arrays",
    ".npz": "arrays",
    ".svmlight": "svmlight",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
}
_SVMLIGHT = re.compile(rb"\s*[-+.0-9eE]+(\s+qid:\d+)?(\s+\d+:[-+.0-9eE]+)+\s*(#.*)?\r?$")


def as_table(data: Any, *, delimiter: str | None = None, quote: str | None = None, header: bool | None = None) -> Table:
    """Return data as a table: a path, a data frame, an Arrow table or a dictionary of columns.

    The format of a file follows from its extension, else from its content; ``.gz`` is unpacked on the way.
    ``delimiter``, ``quote`` ("" for none) and ``header`` are for delimited text and detected if not given.

    >>> as_table({"age": [41, 7], "name": ["Ada", "Tim"]}).names
    ('age', 'name')
    """
    told = {
        name: value
        for name, value in {"delimiter": delimiter, "quote": quote, "header": header}.items()
        if value is not None
    }
    if isinstance(data, Table):
        found: Table | None = data
    elif isinstance(data, str | os.PathLike):
        path = Path(data)
        kind, file = _format(path)
        if kind == "delimited":
            from lineal.tables.delimited import Delimited  # each format's reader only when such a file arrives

            return Delimited.open(path, delimiter=delimiter, quote=quote, header=header)
        found = _open(kind, file)
    else:
        found = _from_object(data)
    if found is None:
        raise InputError(
            f"a {type(data).__name__} is not a table;"
            " give a path, a data frame, an Arrow table or a dictionary of columns."
        )
    if told:
        raise InputError(
            f"{', '.join(told)} can be given for delimited text only, and {found.origin} is not such a file."
        )
    return found


def _from_object(data: Any) -> Table | None:
    from lineal.tables.columnar import from_arrow, from_frame, from_mapping
    from lineal.tables.vectors import widened

    if hasattr(data, "tocsr"):  # (some are dictionaries, too)
        return None
    found = from_mapping(data) if isinstance(data, Mapping) else from_arrow(data) or from_frame(data)
    return None if found is None else widened(found)


def _open(kind: str, file: File) -> Table:
    if kind == "jsonlines":
        from lineal.tables.jsonlines import JsonLines

        return JsonLines.open(file.decoded())
    if kind == "svmlight":
        from lineal.tables.svmlight import Svmlight

        return Svmlight(file)
    from lineal.tables.columnar import Feather, Parquet

    if file.gzipped:
        raise InputError(f"{file.name} is packed with gzip; unpack it: this format compresses by itself.")
    from lineal.tables.vectors import from_file, widened

    if kind == "arrays":
        return from_file(file.path)
    return widened(Parquet(file) if kind == "parquet" else Feather(file))


def _format(path: Path) -> tuple[str, File]:
    from lineal.tables.file import File

    if str(path) == "-" and not path.exists():
        raise InputError(
            "'-' is no file: standard input is not read, since a table is read several times; save it first."
        )
    if not path.exists():
        folder = path.parent
        known = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
        missing = "" if folder.is_dir() else f" The folder {str(folder)!r} does not exist."
        raise InputError(f"there is no file {str(path)!r}.{near(path.name, known)}{missing}")
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give a file.")
    if not path.is_file():
        raise InputError(f"{str(path)!r} is not a regular file; it is read several times, so save it to a file first.")
    file = File(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    kind = _FORMATS.get(suffixes[-1]) if suffixes else None
    return kind or _by_content(file), file


def _by_content(file: File) -> str:
    data, _ = file.sample()
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith(b"ARROW1"):
        return "feather"
    if data.startswith(b"\x93NUMPY"):
        return "arrays"
    if data.lstrip().startswith(b"{"):
        return "jsonlines"
    lines = [line for line in data.split(b"\n", 20)[:20] if line.strip()]
    if lines and _SVMLIGHT.match(lines[0]):
        return "svmlight"
    return "delimited"
