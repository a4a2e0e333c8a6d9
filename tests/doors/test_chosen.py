"""What a person may choose about a table: what missing cells count as, and which class is the positive one."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer

import lineal
from lineal.cli import run
from lineal.verify.terms import number

ROWS = 240


@pytest.fixture
def table():
    rng = np.random.default_rng(4)
    numbers = rng.exponential(size=(ROWS, 2))
    city = rng.choice(["Rome", "Rome", "Rome", "Bonn", "Ulm"], size=ROWS).tolist()
    y = numbers @ [1.0, -2.0] + np.array([len(name) for name in city]) + rng.normal(size=ROWS)
    numbers[rng.random((ROWS, 2)) < 0.15] = np.nan
    city = [None if k % 9 == 0 else name for k, name in enumerate(city)]
    return {"a": numbers[:, 0], "b": numbers[:, 1], "city": city, "y": y}


@pytest.mark.parametrize("how", ["mean", "median"])
def test_missing_cells_count_as_scikit_learn_imputes_them(table, how):
    model = lineal.fit(table, target="y", model="linear", missing=how, test_size=0.0, tol=1e-12)
    assert model.columns == ("(intercept)", "a", "b", "city=Bonn", "city=Ulm")
    numbers = SimpleImputer(strategy=how).fit_transform(np.column_stack([table["a"], table["b"]]))
    cells = np.array(table["city"], dtype=object)[:, None]
    city = SimpleImputer(strategy="most_frequent", missing_values=None).fit_transform(cells)[:, 0]
    design = np.column_stack([np.ones(ROWS), numbers, city == "Bonn", city == "Ulm"]).astype(float)
    best = np.linalg.lstsq(design, table["y"], rcond=None)[0]
    np.testing.assert_allclose(model.coef[:, 0], best, rtol=1e-9)
    np.testing.assert_allclose(model.predict(table), design @ best, rtol=1e-9)


def test_rows_with_a_gap_are_not_fitted(table):
    model = lineal.fit(table, target="y", model="linear", missing="drop", test_size=0.0, tol=1e-12)
    there = ~(np.isnan(table["a"]) | np.isnan(table["b"]) | np.array([name is None for name in table["city"]]))
    city = np.array(table["city"], dtype=object)
    design = np.column_stack([np.ones(ROWS), table["a"], table["b"], city == "Bonn", city == "Ulm"]).astype(float)
    best = np.linalg.lstsq(design[there], table["y"][there], rcond=None)[0]
    assert model.training["rows"] == int(there.sum()) < ROWS
    np.testing.assert_allclose(model.coef[:, 0], best, rtol=1e-9)
    assert len(model.predict(table)) == ROWS  # a gap is the mean there
    gappy = {**table, "unused": [None] * ROWS}  # a column that is left out drops no row
    assert lineal.fit(gappy, target="y", missing="drop", test_size=0.0).training["rows"] == int(there.sum())


@pytest.mark.parametrize("how", ["mark", "mean", "median", "drop"])
def test_every_choice_is_verified_and_said(how, table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written = [
        ["" if cell is None or str(cell) == "nan" else str(cell) for cell in column] for column in table.values()
    ]
    lines = [",".join(row) for row in zip(*written, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,city,y", *lines]) + "\n")
    for shape in (["--target", "y"], ["--formula", "y ~ poly(a, 2) + b:city + city"]):
        assert run(["fit", "t.csv", *shape, "--missing", how, "-o", "m", "--json"]) == 0
        marks = [name for name in json.loads(capsys.readouterr().out)["coefficients"] if "is missing" in str(name)]
        assert bool(marks) == (how == "mark")
        assert run(["verify", "m", "t.csv"]) == 0
        capsys.readouterr()
    for split in ("stratified", "group:city", "time:y"):
        words = ["--target", "a > 0.5", "--split", split, "--missing", how, "--penalty", "ridge:0.1", "-o", "m"]
        assert run(["fit", "t.csv", *words]) == (2 if split == "group:city" else 0)  # (a group needs a name)
        assert run(["verify", "m", "t.csv"]) == 0
    capsys.readouterr()
    assert run(["inspect", "t.csv", "--missing", how, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["columns"][0]["decision"]
    assert ("and marked" in said, "median" in said) == (how == "mark", how == "median")


def test_a_fill_that_is_neither_mean_nor_median_is_refused():
    for fill, wrong in ((2.0, False), (3.5, False), (2.5, True), (1.0, True)):
        learner = number.Learner({"column": "a", "fill": fill, "indicator": False})
        for cells in (["1", "2"], ["", "2", "9"]):
            learner.see(cells)
        assert (learner.wrong() is not None) == wrong


def test_a_column_of_gaps_alone_is_left_out_where_they_have_no_mark():
    table = {"x": [1.0, 2.0, 3.5, 4.0] * 5, "same": [3, None, 3, None] * 5, "y": [1.0, 2.0, 3.0, 4.5] * 5}
    assert "same is missing" in lineal.fit(table, target="y", test_size=0.0).columns
    assert lineal.fit(table, target="y", missing="mean", test_size=0.0).columns == ("(intercept)", "x")
    with pytest.raises(lineal.InputError, match=r"missing is .means.; .* Did you mean .mean."):
        lineal.fit(table, target="y", missing="means")


def test_the_positive_class_is_the_one_that_was_chosen(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(90, 2))
    y = np.where(x[:, 0] + rng.normal(size=90) > 0, "sick", "well")
    data = {"u": x[:, 0], "v": x[:, 1], "y": y.tolist()}
    usual, turned = (lineal.fit(data, target="y", penalty=0.1, test_size=0.0, positive=p) for p in (None, "sick"))
    assert (usual.target.classes, turned.target.classes) == (("sick", "well"), ("well", "sick"))
    np.testing.assert_allclose(turned.coef, -usual.coef, rtol=0, atol=1e-6)
    assert turned.predict(data).tolist() == usual.predict(data).tolist()
    for arrays in (x, sp.csr_array(x)):
        again = lineal.fit(arrays, target=y, penalty=0.1, test_size=0.0, positive="sick")
        np.testing.assert_allclose(again.coef, turned.coef, rtol=0, atol=1e-6)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("u,v,y\n" + "".join(f"{a},{b},{c}\n" for (a, b), c in zip(x, y, strict=True)))
    assert run(["fit", "t.csv", "--target", "y", "--positive", "sick", "-o", "m"]) == 0
    assert run(["verify", "m", "t.csv"]) == 0
    capsys.readouterr()
    for words, sentence in (
        (["--target", "y", "--positive", "Sick"], "the classes are 'sick' and 'well'. Did you mean 'sick'?"),
        (["--target", "u", "--positive", "1"], "'u' is a number"),
    ):
        assert run(["fit", "t.csv", *words, "-o", "n"]) == 2
        assert sentence in " ".join(capsys.readouterr().err.split())


def test_an_unknown_word_of_a_boolean_column_counts_as_missing():
    rng = np.random.default_rng(9)
    words = ["yes", "no", None] * 40
    y = [
        {"yes": 2.0, "no": 0.0, None: 5.0}[word] + float(e) for word, e in zip(words, rng.normal(size=120), strict=True)
    ]
    model = lineal.fit({"smoker": words, "y": y}, target="y", model="linear", test_size=0.0)
    assert model.columns == ("(intercept)", "smoker", "smoker is missing")
    maybe, missing, yes = model.predict({"smoker": ["maybe", None, "YES"]})
    assert maybe == missing
    assert abs(missing - 5.0) < 0.6
    assert abs(yes - 2.0) < 0.6
