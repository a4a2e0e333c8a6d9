"""SVMlight files: rows, names, labels, and lines that are none."""

from __future__ import annotations

import gzip
import hashlib
import struct
from pathlib import Path

import numpy as np
import pytest

from lineal.errors import InputError
from lineal.features.encoded import Encoded, fingerprint
from lineal.features.learning import learn
from lineal.tables.table import as_table

TEXT = b"# made by hand\n+1 2:0.5 7:2 # first\n\n-1 qid:3 2:1.5\r\n+1\n-1 7:-3e0 9:1\n"


def written(folder: Path, data: bytes, name: str = "t.svm") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", ["t.svm", "t.libsvm.gz", "t.svmlight"])
def test_rows_and_names(tmp_path, name):
    table = as_table(written(tmp_path, gzip.compress(TEXT) if name.endswith("gz") else TEXT, name))
    assert table.names == ("y", "2", "7", "9")
    found = learn(table)
    assert found.target.classes == (-1, 1)
    assert found.encoder.columns == ("(intercept)", "2", "7", "9")
    (block,) = Encoded(table, found).blocks()
    assert block.y[:, 0].tolist() == [1.0, 0.0, 1.0, 0.0]
    assert block.design.dense().tolist() == [[1, 0.5, 2, 0], [1, 1.5, 0, 0], [1, 0, 0, 0], [1, 0, -3, 1]]


def test_content_is_recognised_without_an_extension(tmp_path):
    assert as_table(written(tmp_path, b"1 1:2 3:4\n-1 2:1\n", "data")).sparse


def test_the_fingerprint_is_that_of_the_cells_written_out(tmp_path):
    """By hand from docs/model-file.md: the label is text as it is written, absent features are zeros."""
    table = as_table(written(tmp_path, TEXT))
    columns = {"2": [0.5, 1.5, 0.0, 0.0], "7": [2.0, 0.0, 0.0, -3.0], "9": [0.0, 0.0, 0.0, 1.0]}
    whole = hashlib.sha256()
    for name, cells in columns.items():
        digest = hashlib.sha256(b"".join(struct.pack("<d", cell) for cell in cells)).digest()
        whole.update(name.encode() + b"\0n" + digest)
    labels = b"".join(struct.pack("<I", 2) + label for label in (b"+1", b"-1", b"+1", b"-1"))
    whole.update(b"y\0t" + hashlib.sha256(labels).digest())
    assert fingerprint(table, learn(table)) == "sha256:" + whole.hexdigest()


def test_constant_features_are_left_out(tmp_path):
    table = as_table(written(tmp_path, b"1 1:2 2:1\n2 1:2\n1 1:2 3:0\n"))
    found = learn(table)
    assert found.encoder.columns == ("(intercept)", "2")
    assert [entry["column"] for entry in found.report["dropped"]] == ["1", "3"]
    assert learn(as_table(written(tmp_path, b"1 1:2 2:1\n2 1:1\n")), drop=["1"]).encoder.columns == ("(intercept)", "2")


def test_labels_may_be_numbers(tmp_path):
    path = written(tmp_path, b"1.5 1:2\n2.5 2:1\n")
    assert learn(as_table(path)).target.kind == "number"
    with pytest.raises(InputError, match="cannot be classes"):
        learn(as_table(path), model="classes")
    assert learn(as_table(written(tmp_path, b"1 1:2\n2 2:1\n")), model="number").target.kind == "number"


@pytest.mark.parametrize(
    "line",
    [
        b"1 2:3 1:4",
        b"1 1:1 1:2",
        b"1 1:x",
        b"x 1:1",
        b"1 1",
        b"1 1:1:1",
        b"1 -1:2",
        b"1 1.5:2",
        b"1 1:inf",
        b"nan 1:1",
        b"1 99999999999:1",
        b"1 : 2",
    ],
)
def test_bad_lines_are_named(tmp_path, line):
    path = written(tmp_path, b"1 1:1\n-1 2:1\n\n" + line + b"\n1 1:1\n")
    with pytest.raises(InputError, match=r"row 3 \(line 4\) of t\.svm is not 'label feature:value"):
        learn(as_table(path))


def test_what_such_a_file_cannot_have_is_refused(tmp_path):
    table = as_table(written(tmp_path, TEXT))
    for options in ({"target": "7"}, {"weight": "7"}, {"offset": "7"}, {"drop": ["3"]}):
        with pytest.raises(InputError):
            learn(table, **options)
    with pytest.raises(InputError, match="no rows"):
        learn(as_table(written(tmp_path, b"# nothing\n")))
    with pytest.raises(InputError, match="is 1 in every row"):
        learn(as_table(written(tmp_path, b"1 1:1\n1 2:1\n")))
    with pytest.raises(InputError, match=r"no feature .* varies"):
        learn(as_table(written(tmp_path, b"1\n2\n")))
    with pytest.raises(InputError, match="delimited text only"):
        as_table(tmp_path / "t.svm", header=True)


def test_a_model_of_names_refuses_features_by_number(tmp_path):
    encoder = learn(as_table({"y": [1.5, 2.5], "age": [1.0, 2.0]}), target="y").encoder
    with pytest.raises(InputError, match="needs a column 'age'"):
        encoder.encode(as_table(written(tmp_path, TEXT)))


def test_an_unknown_label_is_named(tmp_path):
    found = learn(as_table(written(tmp_path, TEXT)))
    other = as_table(written(tmp_path, b"1 2:1\n5 2:1\n", "other.svm"))
    with pytest.raises(InputError, match=r"row 2 \(line 2\) of other\.svm has the label 5"):
        list(Encoded(other, found).blocks())


def test_rows_too_large_for_memory_are_streamed(tmp_path):
    table = as_table(written(tmp_path, TEXT))
    source = Encoded(table, learn(table))
    assert source.in_memory(10) is source
    assert np.isfinite(next(iter(source.in_memory(10**6).blocks())).design.dense()).all()
