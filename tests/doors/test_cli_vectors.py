"""Vectors out of a network: beside a table or alone, fitted, predicted with, and confirmed."""

from __future__ import annotations

import gzip
import json
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lineal
from lineal.cli import run
from lineal.errors import InputError
from lineal.tables.joined import beside
from lineal.tables.table import as_table

N, D = 120, 4


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(6)
    vectors = rng.normal(size=(N, D)).astype(np.float32)
    size = rng.normal(size=N)
    label = np.where(vectors[:, 0] - vectors[:, 2] + size + rng.normal(size=N) > 0, "yes", "no")
    keys = rng.permutation(N)
    lines = [f"{key},{float(s)!r},{y}" for key, s, y in zip(keys, size, label, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["key,size,label", *lines]))
    np.save(tmp_path / "v.npy", vectors)
    np.savez(tmp_path / "both.npz", v=vectors, label=label, size=size)
    lists = pa.array([[float(x) for x in vector] for vector in vectors])
    fixed = lists.cast(pa.list_(pa.float64(), D))
    pq.write_table(pa.table({"v": lists, "size": size, "label": label}), tmp_path / "lists.parquet")
    pq.write_table(pa.table({"v": fixed, "size": size, "label": label}), tmp_path / "fixed.parquet")
    order = rng.permutation(N)
    pq.write_table(pa.table({"key": keys[order], "v": lists.take(pa.array(order))}), tmp_path / "keyed.parquet")
    return tmp_path


WAYS = {
    "beside": ["t.csv", "--beside", "v.npy", "--drop", "key"],
    "by key": ["t.csv", "--beside", "keyed.parquet:key", "--drop", "key"],
    "arrays": ["both.npz"],
    "lists": ["lists.parquet"],
    "fixed": ["fixed.parquet"],
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_the_same_model_and_is_confirmed(way, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    data, *rest = WAYS[way]
    held = [word for word in rest if word not in ("--drop", "key")]
    words = [
        "fit",
        data,
        "--target",
        "label",
        "--penalty",
        "ridge:0.01",
        "-o",
        "m.lineal",
        "--test-size",
        "0",
        "--json",
    ]
    assert run([*words, *rest]) == 0, capsys.readouterr().err
    told = {entry["column"]: entry["value"] for entry in json.loads(capsys.readouterr().out)["coefficients"]}
    both = np.load("both.npz")
    x = np.column_stack([both["v"].astype(float), both["size"]])
    expected = lineal.fit(x, both["label"], penalty="ridge:0.01")
    names = ["(intercept)", *(f"v[{k}]" for k in range(D)), "size"]
    # both are proven within 1e-6 of what there is to gain
    np.testing.assert_allclose([told[name] for name in names], expected.coef[:, 0], rtol=1e-3)
    assert run(["verify", "m.lineal", data, *held]) == 0, capsys.readouterr().out
    assert run(["predict", "m.lineal", data, *held, "-o", "out.csv"]) == 0, capsys.readouterr().err
    assert run(["evaluate", "m.lineal", data, *held]) == 0


def test_an_altered_vector_is_noticed(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert run(["fit", "t.csv", "--target", "label", "--beside", "v.npy", "--test-size", "0", "-o", "m.lineal"]) == 0
    vectors = np.load("v.npy")
    vectors[vectors[:, 0].argmax(), 1] += 1e-3
    np.save("v.npy", vectors)
    assert run(["verify", "m.lineal", "t.csv", "--beside", "v.npy"]) == 1


@pytest.mark.parametrize(
    ("first", "other", "key", "said"),
    [
        ({"a": [1, 2]}, {"b": [1, 2, 3]}, None, "must be as many"),
        ({"a": [1, 2, 3]}, {"b": [1, 2]}, None, "must be as many"),
        ({"k": ["x", "y"]}, {"k": ["x", "x"], "b": [1, 2]}, "k", "twice"),
        ({"k": ["x", "z"]}, {"k": ["x", "y"], "b": [1, 2]}, "k", "row 2.*'z'"),
        ({"k": ["x", None]}, {"k": ["x", "y"], "b": [1, 2]}, "k", "row 2.*no key"),
        ({"a": [1]}, {"a": [2]}, None, "two columns called 'a'"),
        ({"a": [1]}, {"b": [2]}, "k", "no.*'k'"),
    ],
)
def test_rows_that_do_not_belong_together_are_refused(first, other, key, said):
    with pytest.raises(InputError, match=said):
        for _ in beside(as_table(first), as_table(other), key).numbered():
            pass


@pytest.mark.parametrize(
    ("cells", "said"),
    [([[1.0, 2.0], [3.0]], "row 2.*vector of 2 numbers"), ([[1.0, 2.0], None], "row 2.*vector of 2 numbers")],
)
def test_ragged_and_missing_vectors_are_refused(cells, said):
    with pytest.raises(InputError, match=said):
        lineal.fit({"v": cells, "y": [0.5, 1.5]}, target="y", model="linear")


def test_arrays_of_objects_are_never_loaded(tmp_path):
    path = tmp_path / "bad.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="cannot be read as NumPy arrays"):
        as_table(path)


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Training and test rows, each with a file of vectors of its own name."""
    rng = np.random.default_rng(8)
    for part, rows in (("train", 90), ("test", 40)):
        vectors = rng.normal(size=(rows, 3))
        label = np.where(vectors @ [1.0, -2.0, 0.5] + rng.normal(size=rows) > 0, "yes", "no")
        (tmp_path / f"{part}.csv").write_text("Größe,Label\n" + "".join(f"{k % 7},{y}\n" for k, y in enumerate(label)))
        np.save(tmp_path / f"{part}.npy", vectors)
        pq.write_table(pa.table({"id": np.arange(rows), "v": list(vectors)}), tmp_path / f"{part}.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_vectors_are_called_by_the_option_and_columns_renamed(parts, capsys):
    words = ["--target", "y", "--rename", "Label=y", "--rename", "Größe=size", "--penalty", "ridge:0.1", "--json"]
    own = ["--test-file", "test.csv", "--test-beside", "emb=test.npy"]
    assert run(["fit", "train.csv", "--beside", "emb=train.npy", "-o", "m", *words, *own]) == 0
    fitted = json.loads(capsys.readouterr().out)
    assert set(lineal.load("m").columns) == {"(intercept)", "size", "emb[0]", "emb[1]", "emb[2]"}
    check = ["verify", "m", "train.csv", "--beside", "emb=train.npy", "--rename", "Label=y", "--rename", "Größe=size"]
    assert shlex.split(fitted["verify"]) == ["lineal", *check]
    assert run(check) == 0
    renames = ["--rename", "Label=y", "--rename", "Größe=size", "--json"]
    capsys.readouterr()
    assert run(["evaluate", "m", "test.csv", "--beside", "emb=test.npy", *renames]) == 0
    measured = json.loads(capsys.readouterr().out)["metrics"]["test"]
    assert fitted["metrics"]["test"].items() <= measured.items()
    assert run(["predict", "m", "test.csv", "--beside", "emb=test.npy", "-o", "p.csv", *renames[2:4]]) == 0
    same = lineal.rename(lineal.beside("test.csv", "test.npy", name="emb"), {"Label": "y", "Größe": "size"})
    assert lineal.load("m").predict(same).tolist() == (parts / "p.csv").read_text().split()[1:]


def test_what_cannot_be_renamed_is_refused_with_the_name_that_was_meant(parts, capsys):
    for words, sentence in (
        (["fit", "train.csv", "--target", "label"], "Did you mean 'Label'?"),
        (
            ["fit", "train.csv", "--target", "Label", "--rename", "grosse=x"],
            "no column 'grosse' to rename. Did you mean 'Größe'?",
        ),
        (["fit", "train.csv", "--target", "Label", "--rename", "Label"], "as OLD=NEW"),
        (["fit", "train.csv", "--target", "Label", "--rename", "Größe=Label"], "'Label'"),
        (["fit", "train.csv", "--target", "Label", "--beside", "emb=train.parquet"], "has 2 columns"),
        (["fit", "train.csv", "--target", "Label", "--test-beside", "emb=test.npy"], "no effect without --test-file"),
    ):
        assert run([*words, "-o", "m"]) == 2
        assert sentence in " ".join(capsys.readouterr().err.split())
    assert run(["fit", "train.csv", "--target", "Label", "--beside", "v=train.npy", "-o", "m", "--test-size", "0"]) == 0
    (parts / "odd.csv").write_text((parts / "test.csv").read_text().replace("yes", "YES"))
    capsys.readouterr()
    assert run(["evaluate", "m", "odd.csv", "--beside", "v=test.npy", "--json"]) == 0
    assert "no class 'YES' of 'Label'. Did you mean 'yes'?" in json.loads(capsys.readouterr().out)["notes"][0]


def idx(array, code):
    """Write an array as Yann LeCun's page on MNIST says: two zeros, a type, the dimensions, all with the highest byte first."""
    head = bytes([0, 0, code, array.ndim]) + b"".join(int(size).to_bytes(4, "big") for size in array.shape)
    return head + array.tobytes()


@pytest.mark.parametrize("packed", [False, True])
def test_pictures_in_idx_files_are_vectors(packed, tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(2)
    pictures = rng.integers(256, size=(80, 3, 2)).astype(np.uint8)
    labels = (pictures.reshape(80, 6).astype(float) @ [1, -1, 1, 0, 0, 0] + rng.normal(size=80) * 40 > 128).astype(
        np.uint8
    )
    pack = gzip.compress if packed else bytes
    monkeypatch.chdir(tmp_path)
    (tmp_path / "images-idx3-ubyte").write_bytes(pack(idx(pictures, 8)))
    (tmp_path / "labels-idx1-ubyte").write_bytes(pack(idx(labels, 8)))
    files = ["labels-idx1-ubyte", "--beside", "images-idx3-ubyte"]
    assert run(["fit", *files, "--target", "label", "--penalty", "ridge:0.1", "-o", "m", "--test-size", "0"]) == 0
    table = {"pixel": pictures.reshape(80, 6).astype(float), "label": labels}
    same = lineal.fit(table, target="label", penalty="ridge:0.1", test_size=0.0)
    np.testing.assert_array_equal(lineal.load("m").coef, same.coef)
    assert run(["verify", "m", *files]) == 0


@pytest.mark.parametrize(("code", "kind"), [(8, "u1"), (9, "i1"), (11, ">i2"), (12, ">i4"), (13, ">f4"), (14, ">f8")])
def test_all_types_of_idx_files_are_read_and_damage_is_named(code, kind, tmp_path):
    values = np.array([[1, 100], [3, 7]]).astype(kind)
    (tmp_path / "a.idx").write_bytes(idx(values, code))
    (batch,) = as_table(tmp_path / "a.idx").batches()
    assert batch.to_pydict() == {"pixel[0]": [1, 3], "pixel[1]": [100, 7]}
    for damaged in (idx(values, code)[:-1], idx(values, code)[:9], b"\0\0\7\1"):
        (tmp_path / "a.idx").write_bytes(damaged)
        with pytest.raises(InputError, match="idx file"):
            as_table(tmp_path / "a.idx")
