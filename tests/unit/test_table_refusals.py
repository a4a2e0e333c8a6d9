"""Tables that are damaged, change or are no tables: refused in a sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from lineal.errors import InputError
from lineal.tables.table import as_table
from tests.unit.table_cases import written

BAD = {
    "empty": (b"", "is empty"),
    "blank": (b"\n\n \n", "is empty"),
    "header only": (b"a,b\n", "has a header but no rows"),
    "empty rows only": (b"a,b\n,\n, \n", "has a header but no rows"),
    "short row": (b"a,b\n1,2\n\n3\n", r"row 2 \(line 4\) of t.csv has 1 cell where 2 cells are expected"),
    "long row": (b'a,b\n1,"2\n2"\n3,4,5\n', r"row 2 \(line 4\) of t.csv has 3 cells where 2 cells"),
    "NUL": (b"a,b\n1,2\n3,\x004\n", "NUL byte in line 3"),
    "binary": (bytes(range(256)) * 8, "NUL byte in line 1"),
    "damaged": ("a,b\n1,é\n2,".encode() + b"\xe9\n", "line 3 of t.csv is not UTF-8"),
    "cut utf-16": ("a,b\n1,2\n".encode("utf-16")[:-1], "damaged utf-16-le text"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_text_files_are_refused_in_a_sentence(tmp_path, case):
    data, sentence = BAD[case]
    with pytest.raises(InputError, match=sentence) as error:
        list(as_table(written(tmp_path / "t.csv", data)).batches())
    assert str(error.value).endswith(".")


def late(data: bytes) -> bytes:
    """Put two megabytes of good rows before the data, so that only the pass itself can find what is wrong."""
    return b"a,b\n" + b"1,good\n" * 300_000 + data


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"1\n", r"row 300001 \(line 300002\) of t.csv has 1 cell"),
        ("1,é\n2,".encode() + b"\xe9\n", r"row 300002 \(line 300003\) of t.csv holds a cell in column 'b' that is not"),
        (b"1,\x00\n", r"row 300001 \(line 300002\) of t.csv holds a NUL byte"),
        (
            b'1,"a, b"\n1,"open\n2,x\n',
            r"quote that opens in line 300003 of t.csv is never closed.* line 300002 would have 3",
        ),
    ],
)
def test_bad_rows_far_down_are_named(tmp_path, data, sentence):
    with pytest.raises(InputError, match=sentence):
        list(as_table(written(tmp_path / "t.csv", late(data))).batches())


def test_files_that_are_not_there(tmp_path):
    written(tmp_path / "penguins.csv", "a,b\n1,2\n")
    with pytest.raises(InputError, match=r"Did you mean 'penguins\.csv'"):
        as_table(tmp_path / "pengiuns.csv")
    with pytest.raises(InputError, match=r"folder .* does not exist"):
        as_table(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(InputError, match="is a folder"):
        as_table(tmp_path)
    with pytest.raises(InputError, match="not a regular file"):
        as_table(os.devnull)
    for given in ("https://example.org/a.csv", Path("https://example.org/a.csv")):  # (a path has one stroke less)
        with pytest.raises(InputError, match=r"'https://example.org/a.csv' is an address.*curl -O"):
            as_table(given)


@pytest.mark.parametrize(
    "data", [3, [1, 2], np.ones((2, 2)), None, {}, {"a": [1, 2], "b": [1]}, {"a": [1, "x"]}, {"a": np.ones((2, 2, 2))}]
)
def test_what_is_no_table_is_refused(data):
    with pytest.raises(InputError):
        as_table(data)


def zstandard(data: bytes) -> bytes:
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, "zstd") as packer:
        packer.write(data)
    return stream.getvalue().to_pybytes()


def test_damaged_files_are_refused(tmp_path):
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 10000)
    with pytest.raises(InputError, match="damaged or truncated gzip"):
        list(as_table(written(tmp_path / "t.csv.gz", packed[:-20])).batches())
    for title, pack in (("bzip2", bz2.compress), ("xz", lzma.compress), ("Zstandard", zstandard)):
        whole = pack(b"a,b\n" + b"".join(b"%d,2\n" % (k * 7919) for k in range(100_000)))
        with pytest.raises(InputError, match=f"damaged or truncated {title}"):
            list(as_table(written(tmp_path / "t.csv", whole[:-20])).batches())
    for name, kind in (("t.parquet", "Parquet"), ("t.feather", "Feather")):
        with pytest.raises(InputError, match=f"cannot be read as a {kind}"):
            as_table(written(tmp_path / name, b"nonsense" * 10))
    with pytest.raises(InputError, match="unpack it"):
        as_table(written(tmp_path / "t.parquet.gz", gzip.compress(b"x")))
    for text, sentence in (
        ('{"a": 1}\n[2]\n', "line 2 .* not a JSON object"),
        ("{broken\n", "line 1 .* not JSON"),
        ('[{"a": 1}, 2]', "element 2 of the list in t.jsonl is 2, not an object"),
        ('[{"a": 1},', "t.jsonl is not JSON"),
        ("[]", "empty list"),
        ("\n", "no rows"),
    ):
        with pytest.raises(InputError, match=sentence):
            as_table(written(tmp_path / "t.jsonl", text))


def test_frames_with_bad_names_are_refused():
    twice = pd.DataFrame(np.ones((2, 2)), columns=["a", "a"])
    with pytest.raises(InputError, match="two columns called 'a'"):
        as_table(twice)
    with pytest.raises(InputError, match="two columns called 'a'"):
        as_table(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))
    assert as_table(pd.DataFrame({0: [1], 1: [2]})).names == ("0", "1")


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet", "t.svm"])
def test_a_file_that_changes_between_passes_is_refused(tmp_path, name):
    def write(rows: int) -> Path:
        if name.endswith("csv"):
            return written(tmp_path / name, "a,b\n" + "1,2\n" * rows)
        if name.endswith("jsonl"):
            return written(tmp_path / name, '{"a": 1}\n' * rows)
        if name.endswith("svm"):
            return written(tmp_path / name, "1 1:2\n" * rows)
        buffer = io.BytesIO()
        pyarrow.parquet.write_table(pa.table({"a": np.arange(float(rows))}), buffer)
        return written(tmp_path / name, buffer.getvalue())

    table = as_table(write(3))
    list(table.batches())
    write(4)
    with pytest.raises(InputError, match="changed while it was being read"):
        list(table.batches())


def test_a_file_that_changes_during_a_pass_is_refused(tmp_path):
    table = as_table(written(tmp_path / "t.csv", "a,b\n1,2\n"))
    passing = table.batches()
    next(passing)
    written(tmp_path / "t.csv", "a,b\n1,2\n3,4\n")
    with pytest.raises(InputError, match="changed"):
        list(passing)
