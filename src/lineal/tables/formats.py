"""The catalogue of file formats: endings, marks, readers and writers of each. Readers load when such a file arrives."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.tables.encoding import UTF8_MARK
from lineal.tables.file import File
from lineal.tables.packing import without_packing
from lineal.tables.tabular import Table
from lineal.tables.writing import Csv, JsonRows, Parquet, Sink

_SVMLIGHT_LINE = re.compile(rb"\s*[-+.0-9eE]+(\s+qid:\d+)?(\s+\d+:[-+.0-9eE]+)+\s*(#.*)?\r?$")


class Format(ABC):
    """One way to store a table in a file.

    ``title`` is what sentences call it, ``endings`` are those of its files' names, ``written`` those under which lineal
    writes it. ``compresses`` says that it packs its data itself, so that a ``.gz`` of it is refused; ``mark`` are the
    bytes that stand first in its files. ``needs`` are the modules of the extra that reads and writes it.
    """

    title: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]
    written: ClassVar[tuple[str, ...]] = ()
    compresses: ClassVar[bool] = False
    mark: ClassVar[bytes] = b""
    needs: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def begins(cls, data: bytes) -> bool:
        """Whether the first bytes of a file without a known ending are of this format."""
        return data.startswith(cls.mark)

    @classmethod
    @abstractmethod
    def open(cls, file: File) -> Table:
        """Return the table of a file."""

    @classmethod
    def example(cls) -> bytes:
        """Return a small file for the laws, two columns and two rows: as it is written here, unless it says otherwise."""
        stream = io.BytesIO()
        sink = cls.sink(stream)
        sink.write(_example_batch())
        sink.close()
        return stream.getvalue()

    @classmethod
    def sink(cls, stream: BinaryIO, ending: str = "") -> Sink:
        """Return what writes batches in this format; the ``ending`` of the name tells kinds of it apart."""
        raise NotImplementedError(f"{cls.title} is read, not written")


class DelimitedText(Format):
    """CSV, TSV and their kin; what no other format recognizes."""

    title = "delimited text"
    endings = (".csv", ".tsv", ".tab", ".txt")
    written = (".csv", ".tsv", ".tab")

    @classmethod
    def open(
        cls, file: File, *, delimiter: str | None = None, quote: str | None = None, header: bool | None = None
    ) -> Table:
        """Return the table of a file; delimiter, quotes and header are detected where they are not given."""
        from lineal.tables.delimited import Delimited

        return Delimited.open(file, delimiter=delimiter, quote=quote, header=header)

    @classmethod
    def example(cls) -> bytes:
        """Return comma-separated text."""
        return b"y,x\n1,0.5\n2,1.5\n"

    @classmethod
    def sink(cls, stream: BinaryIO, ending: str = "") -> Sink:
        """Return what writes comma-separated text, or text with tabs."""
        return Csv(stream, "\t" if ending in (".tsv", ".tab") else ",")


class ParquetFile(Format):
    """Parquet."""

    title = "Parquet"
    endings = (".parquet", ".pq")
    written = (".parquet", ".pq")
    compresses = True
    mark = b"PAR1"

    @classmethod
    def open(cls, file: File) -> Table:
        """Return the table of a file, vectors as columns side by side."""
        from lineal.tables.columnar import Parquet as Reader
        from lineal.tables.vectors import widened

        return widened(Reader(file))

    @classmethod
    def sink(cls, stream: BinaryIO, ending: str = "") -> Sink:
        """Return what writes row groups."""
        return Parquet(stream)


class ArrowFile(Format):
    """Feather (version 2), Arrow IPC files and streams."""

    title = "Feather or Arrow"
    endings = (".feather", ".arrow", ".ipc")
    compresses = True
    mark = b"ARROW1"

    @classmethod
    def open(cls, file: File) -> Table:
        """Return the table of a file, vectors as columns side by side."""
        from lineal.tables.columnar import Feather
        from lineal.tables.vectors import widened

        return widened(Feather(file))

    @classmethod
    def example(cls) -> bytes:
        """Return an Arrow IPC file."""
        from pyarrow import ipc

        stream, batch = io.BytesIO(), _example_batch()
        with ipc.new_file(stream, batch.schema) as writer:
            writer.write(batch)
        return stream.getvalue()


class NumpyFile(Format):
    """NumPy's arrays."""

    title = "NumPy arrays"
    endings = (".npy", ".npz")
    compresses = True
    mark = b"\x93NUMPY"

    @classmethod
    def open(cls, file: File) -> Table:
        """Return the table of a file: matrices are columns of vectors."""
        from lineal.tables.vectors import from_file

        return from_file(file.path)

    @classmethod
    def example(cls) -> bytes:
        """Return a matrix."""
        stream = io.BytesIO()
        np.save(stream, np.array([[1.0, 0.5], [2.0, 1.5]]))
        return stream.getvalue()


class IdxFile(Format):
    """MNIST's arrays."""

    title = "idx"
    endings = (".idx", ".idx1-ubyte", ".idx2-ubyte", ".idx3-ubyte", ".idx4-ubyte")

    @classmethod
    def begins(cls, data: bytes) -> bool:
        """Whether two zeros, a type and a number of dimensions stand first."""
        from lineal.tables.idx import begins

        return begins(data)

    @classmethod
    def open(cls, file: File) -> Table:
        """Return the table of a file: an array of several dimensions is a column of vectors."""
        from lineal.tables.idx import from_idx

        return from_idx(file)

    @classmethod
    def example(cls) -> bytes:
        """Return a matrix of bytes."""
        return bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 5, 2, 15])


class JsonText(Format):
    """One JSON object per line, or a list of objects."""

    title = "JSON"
    endings = (".jsonl", ".ndjson", ".json")
    written = (".jsonl", ".ndjson")

    @classmethod
    def begins(cls, data: bytes) -> bool:
        """Whether an object, or a list, stands first."""
        return data.removeprefix(UTF8_MARK).lstrip().startswith((b"{", b"["))

    @classmethod
    def open(cls, file: File) -> Table:
        """Return the table of a file."""
        from lineal.tables.jsonlines import JsonLines, from_list

        decoded = file.decoded()
        data, _ = decoded.sample()
        first = data.removeprefix(UTF8_MARK).lstrip()[:1]
        return from_list(decoded) if first == b"[" else JsonLines.open(decoded)

    @classmethod
    def example(cls) -> bytes:
        """Return two objects."""
        return b'{"y": 1, "x": 0.5}\n{"y": 2, "x": 1.5}\n'

    @classmethod
    def sink(cls, stream: BinaryIO, ending: str = "") -> Sink:
        """Return what writes a line for every row."""
        return JsonRows(stream)


class SpreadsheetFile(Format):
    """Excel's workbooks and OpenDocument's."""

    title = "a spreadsheet"
    endings = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
    written = (".xlsx",)
    compresses = True
    needs = ("python_calamine", "xlsxwriter")

    @classmethod
    def begins(cls, data: bytes) -> bool:
        """Whether an archive, or the compound file of old workbooks, begins like this."""
        return data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))

    @classmethod
    def open(cls, file: File, *, sheet: str | None = None, header: bool | None = None) -> Table:
        """Return a sheet of a file, the first that holds anything where none is named."""
        from lineal.tables.sheets import Sheet

        return Sheet.open(file, sheet=sheet, header=header)

    @classmethod
    def sink(cls, stream: BinaryIO, ending: str = "") -> Sink:
        """Return what writes a workbook of one sheet."""
        from lineal.tables.sheets import Xlsx

        return Xlsx(stream)


class SvmlightText(Format):
    """Labels with numbered features."""

    title = "SVMlight"
    endings = (".svmlight", ".svm", ".libsvm")

    @classmethod
    def begins(cls, data: bytes) -> bool:
        """Whether the first line is a label with features."""
        lines = [line for line in data.split(b"\n", 20)[:20] if line.strip()]
        return bool(lines and _SVMLIGHT_LINE.match(lines[0]))

    @classmethod
    def open(cls, file: File) -> Table:
        """Return the table of a file."""
        from lineal.tables.svmlight import Svmlight

        return Svmlight(file)

    @classmethod
    def example(cls) -> bytes:
        """Return two labels with a feature."""
        return b"1 7:0.5\n2 7:1.5\n"


def _example_batch() -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"y": [1, 2], "x": [0.5, 1.5]})


ALL: tuple[type[Format], ...] = (
    ParquetFile,
    ArrowFile,
    NumpyFile,
    SpreadsheetFile,
    IdxFile,
    JsonText,
    SvmlightText,
    DelimitedText,
)
"""Every format, in the order in which the first bytes of a file are held against them."""


def format_of(file: File) -> type[Format]:
    """Return the format of a file: by the ending of its name, else by its content."""
    ending = Path(without_packing(file.path.name)).suffix.lower()
    for one in ALL:
        if ending in one.endings:
            return one
    data, _ = file.sample()
    return next(one for one in ALL if one.begins(data))


def opened(file: File, chosen: type[Format]) -> Table:
    """Return the table of a file in a format; an InputError for a packed file of a format that packs itself."""
    if chosen.compresses and file.packing is not None:
        raise InputError(
            f"{file.name} is packed with {file.packing.title}; unpack it: this format compresses by itself."
        )
    return chosen.open(file)


def written_as(path: Path) -> type[Format] | None:
    """Return the format that the name of a file to be written asks for, or None if lineal writes no such file."""
    return next((one for one in ALL if path.suffix.lower() in one.written), None)
