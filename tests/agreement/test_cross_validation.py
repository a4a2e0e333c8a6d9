"""Cross-validation of a way of fitting: scikit-learn on the same folds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import PredefinedSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lineal
from lineal.cli import run
from lineal.tables.tabular import uniform


def folds_of(rows: int, count: int, seed: int) -> PredefinedSplit:
    """Return the folds by the rule that docs/choosing.md states."""
    return PredefinedSplit(np.floor(count * uniform(seed + 1, np.arange(rows))).astype(int))


def written(path, X, y, **more) -> list[str]:
    names = [f"x{j}" for j in range(X.shape[1])]
    columns = {**{name: X[:, j] for j, name in enumerate(names)}, **more, "y": y}
    lines = [",".join(map(str, row)) for row in zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True)]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n")
    return names


@pytest.mark.parametrize("seed", [0, 7])
def test_least_squares_on_the_same_folds(seed, tmp_path, capsys):
    X, y = load_diabetes(return_X_y=True)
    written(tmp_path / "t.csv", X, y)
    words = ["evaluate", "--folds", "8", str(tmp_path / "t.csv"), "--target", "y", "--model", "linear", "--json"]
    assert run([*words, *(["--seed", str(seed)] if seed else [])]) == 0
    ours = json.loads(capsys.readouterr().out)
    scoring = {"rmse": "neg_root_mean_squared_error", "mae": "neg_mean_absolute_error", "r2": "r2"}
    theirs = cross_validate(linear_model.LinearRegression(), X, y, cv=folds_of(len(y), 8, seed), scoring=scoring)
    for name, sign in (("rmse", -1), ("mae", -1), ("r2", 1)):
        values = sign * theirs[f"test_{name}"]
        np.testing.assert_allclose(ours["metrics"][name]["folds"], values, rtol=1e-8)
        assert ours["metrics"][name]["mean"] == pytest.approx(values.mean(), rel=1e-8)
        assert ours["metrics"][name]["sd"] == pytest.approx(values.std(ddof=1), rel=1e-8)
        assert ours["metrics"][name]["error"] == pytest.approx(values.std(ddof=1) / np.sqrt(8), rel=1e-8)
    assert ours["verdicts"] == ["optimal"] * 8


def test_standard_deviations_are_those_of_the_rows_that_are_fitted():
    """A ridge on standardized columns: the scaler is fitted within the fold."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :5]
    found = lineal.cross_validate(X, y, folds=5, model="logistic", penalty="ridge:0.01", tol=1e-10)
    folds = folds_of(len(y), 5, 0)
    losses = []
    for seen, held in folds.split():
        rival = make_pipeline(StandardScaler(), linear_model.LogisticRegression(C=1 / (0.01 * len(seen)), tol=1e-10))
        chance = rival.fit(X[seen], y[seen]).predict_proba(X[held])
        losses.append(-np.mean(np.log(chance[np.arange(len(held)), y[held]])))
    np.testing.assert_allclose(found.metrics["log_loss"].folds, losses, rtol=1e-6)  # theirs stops at a slope of 1e-10


def test_a_column_of_folds():
    X, y = load_diabetes(return_X_y=True)
    part = np.arange(len(y)) % 3
    table = {**{f"x{j}": X[:, j] for j in range(4)}, "part": [f"p{k}" for k in part], "y": y}
    found = lineal.cross_validate(table, "y", folds="part", model="linear")
    losses = []
    for k in range(3):
        rival = linear_model.LinearRegression().fit(X[part != k, :4], y[part != k])
        losses.append(np.sqrt(np.mean((rival.predict(X[part == k, :4]) - y[part == k]) ** 2)))
    np.testing.assert_allclose(sorted(found.metrics["rmse"].folds), sorted(losses), rtol=1e-8)


def test_stratified_folds_have_equal_shares_and_groups_stay_together():
    rng = np.random.default_rng(0)
    rare = np.array(["a"] * 90 + ["b"] * 10)
    table = {"x": rng.normal(size=100), "group": [f"g{k // 5}" for k in range(100)], "y": rare}
    found = lineal.cross_validate(table, "y", folds=5, split="stratified", drop=["group"], penalty=0.1)
    assert found.rows == (20, 20, 20, 20, 20)
    assert [round(value, 9) for value in found.baseline["accuracy"].folds] == [0.9] * 5
    numbers = {"x": table["x"], "group": table["group"], "y": rng.normal(size=100)}
    grouped = lineal.cross_validate(numbers, "y", folds=4, split="group:group", model="linear")
    assert all(count % 5 == 0 for count in grouped.rows)
    assert sum(grouped.rows) == 100


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"folds": 1}, "1 folds"),
        ({"folds": "no"}, "no column to split by"),
        ({"folds": 3, "split": "time:x"}, "dealt by row, stratified, or by group"),
        ({"folds": 3, "modl": "linear"}, "Did you mean 'model'"),
        ({"folds": 3, "test_size": 0.2}, "not in a fold"),
    ],
)
def test_refusals(options, words):
    table = {"x": np.arange(20.0), "y": np.arange(20.0) ** 2}
    with pytest.raises(lineal.InputError, match=words):
        lineal.cross_validate(table, "y", **options)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["m.lineal", "t.csv", "--folds", "3"], "takes one file"),
        (["m.lineal"], "give a MODEL and the DATA"),
        (["t.csv", "--folds", "3", "--threshold", "0.3"], "for a fitted MODEL"),
        (["m.lineal", "t.csv", "--model", "linear"], "says how to fit"),
    ],
)
def test_what_has_no_effect_is_refused(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "t.csv", np.arange(20.0)[:, None], np.arange(20.0) ** 2)
    assert run(["evaluate", *words]) == 2
    assert said in capsys.readouterr().err
