"""Vectors out of somebody's network: beside a table or alone, fitted, predicted with, and confirmed."""

from __future__ import annotations

import json

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
