"""`lineal kernel`: Gram matrices of tables, texts and trees, and Mercer's test, as typed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from lineal import kernels
from lineal.cli import run


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    rows = ["1.5,10,u", "2.5,30,v", "4.0,20,u", "0.5,25,v", "3.5,40,u"]
    path.write_text("a,b,c\n" + "\n".join(rows) + "\n")
    return str(path)


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("label\tword\ttree\nx\tbanana\t(S (N a) (V b))\ny\tananas\t(S (N a) (V c))\n")
    return str(path)


def said(capsys, *arguments, code=0):
    assert run(["kernel", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_columns_are_encoded_and_standardized(table, tmp_path, capsys):
    file = tmp_path / "K.npy"
    answer = said(capsys, table, "--kernel", "rbf:gamma=0.25", "-o", str(file), "--check")
    numbers = np.array([[1.5, 10, 0], [2.5, 30, 1], [4.0, 20, 0], [0.5, 25, 1], [3.5, 40, 0]])
    expected = rbf_kernel(StandardScaler().fit_transform(numbers), gamma=0.25)
    np.testing.assert_allclose(np.load(file), expected, rtol=1e-12)
    assert answer["columns"] == ["a", "b", "c=v"]
    assert answer["check"]["answer"] == "positive semi-definite"
    assert answer["least"] == pytest.approx(expected.min(), rel=1e-12)
    said(capsys, table, "--kernel", "linear", "--raw", "--drop", "c", "-o", str(file))
    np.testing.assert_allclose(np.load(file), numbers[:, :2] @ numbers[:, :2].T, rtol=1e-14)


def test_texts_and_trees_are_columns_by_name(words, tmp_path, capsys):
    file = tmp_path / "K.npy"
    said(capsys, words, "--kernel", "spectrum:2", "--column", "word", "-o", str(file))
    assert np.load(file).tolist() == [[9.0, 8.0], [8.0, 9.0]]
    said(capsys, words, "--kernel", "tree:1", "--column", "tree", "-o", str(file))
    assert np.load(file).tolist() == [[6.0, 3.0], [3.0, 6.0]]


def test_a_matrix_is_tested_and_its_witness_printed(tmp_path, capsys):
    K = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    path = tmp_path / "K.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in K) + "\n")
    check = said(capsys, str(path), "--kernel", "precomputed", "--check")["check"]
    v = np.zeros(3)
    v[check["rows"]] = check["vector"]
    assert v @ K @ v == check["value"] < 0
    assert run(["kernel", str(path), "--kernel", "precomputed", "--check"]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert page.startswith("The precomputed kernel is no Mercer kernel: v'Kv = -2 for whole numbers v at 2 points")
    assert "-1 x row 1, 1 x row 2" in page
    np.save(tmp_path / "own.npy", kernels.Gaussian(1.0).gram(np.arange(6.0)[:, None]))
    assert said(capsys, str(tmp_path / "own.npy"), "--kernel", "precomputed", "--check")["check"]["rows"] == []


def test_a_sum_with_a_part_that_is_not_mercers_is_printed_without_a_bound(table, tmp_path, capsys):
    file = tmp_path / "K.npy"
    columns = [table, "--drop", "c", "--raw"]
    answer = said(capsys, *columns, "--kernel", "sigmoid:0.01,-1 + linear", "-o", str(file))
    x = np.array([[1.5, 10], [2.5, 30], [4.0, 20], [0.5, 25], [3.5, 40]])
    np.testing.assert_allclose(np.load(file), np.tanh(0.01 * x @ x.T - 1.0) + x @ x.T, rtol=1e-12)
    assert answer["rounding"] is None
    assert run(["kernel", *columns, "--kernel", "sigmoid:1,-1 * linear"]) == 0
    assert "not bounded, since a part is not known to be Mercer's" in " ".join(capsys.readouterr().out.split())
    assert run(["kernel", *columns, "--kernel", "sigmoid:1,-1 * linear", "--check"]) == 2
    assert "use it alone" in " ".join(capsys.readouterr().err.split())


def test_a_matrix_beyond_memory_is_refused_with_what_there_is(table, monkeypatch, capsys):
    monkeypatch.setattr("lineal.cli.kernel.free_memory", lambda: 8)
    assert run(["kernel", table, "--kernel", "linear"]) == 2
    assert "lineal.Nystroem in Python" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("arguments", "words_of_error"),
    [
        (["--kernel", "rbg:2"], "Did you mean 'rbf'"),
        (["--kernel", "spectrum:2"], "say which of 'a', 'b', 'c'"),
        (["--kernel", "spectrum:2", "--column", "d"], "'d'"),
        (["--kernel", "rbf:2", "--column", "c"], "has no effect"),
        (["--kernel", "tree:0.5", "--column", "c"], r"c[0] is no tree"),
        (["--kernel", "precomputed"], "no numbers"),
        (["--kernel", "precomputed", "--drop", "c"], "square matrix"),
        (["--kernel", "rbf:2", "-o", "K.txt"], "must end in .npy"),
        (["--kernel", "rbf:2", "--missing", "drop"], "every row is a point"),
        (["--kernel", "rbf:2", "--drop", "a", "--drop", "b", "--drop", "c"], "no column"),
    ],
)
def test_what_cannot_be_done_is_said(table, capsys, arguments, words_of_error):
    assert run(["kernel", table, *arguments]) == 2
    assert words_of_error in capsys.readouterr().err


def test_an_empty_cell_is_an_empty_text_as_in_a_fit(tmp_path, capsys):
    (tmp_path / "d.csv").write_text('text,y\n,1\nab,2\n"",3\nba,4\n')
    kernel = ["kernel", str(tmp_path / "d.csv"), "--kernel", "spectrum:1", "--column", "text"]
    assert run([*kernel, "-o", str(tmp_path / "K.npy")]) == 0
    expected = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 2.0]])
    np.testing.assert_array_equal(np.load(tmp_path / "K.npy"), expected)
    (tmp_path / "d.csv").write_text("tree,y\n(S a),1\n,2\n")
    assert run(["kernel", str(tmp_path / "d.csv"), "--kernel", "tree:0.5", "--column", "tree"]) == 2
    assert "tree[1] is no tree" in capsys.readouterr().err
