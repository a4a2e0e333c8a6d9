"""Stacking: scores that have not seen their row, from Python and from a recipe, every model confirmed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import lineal
from lineal.cli import run
from lineal.errors import InputError
from lineal.tables.tabular import uniform

N = 150


@pytest.fixture
def table():
    rng = np.random.default_rng(9)
    x = rng.normal(size=(N, 3))
    house = rng.integers(0, 25, N)
    y = np.where(x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * rng.normal(size=N) > 0, "yes", "no")
    return {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "house": [f"h{h}" for h in house], "y": y}


def test_a_score_is_that_of_a_fit_to_the_other_folds(table):
    scores, whole = lineal.out_of_fold(table, "y", name="s", folds=4, seed=3, drop=["house"], penalty=0.1)
    fold = np.floor(uniform(3, np.arange(N)) * 4)
    for k in range(4):
        seen = {name: np.asarray(column)[fold != k] for name, column in table.items()}
        held = {name: np.asarray(column)[fold == k] for name, column in table.items()}
        model = lineal.fit(seen, "y", drop=["house"], penalty=0.1)
        np.testing.assert_allclose(np.array(scores["s"])[fold == k], model.scores(held)[:, 0], rtol=1e-9)
    assert whole.training["rows"] == N


def test_no_label_leaks_into_its_own_score(table):
    """With labels that mean nothing, scores in the fit know them and out-of-fold scores do not."""
    rng = np.random.default_rng(0)
    noise = {f"x{j}": rng.normal(size=N) for j in range(40)} | {"y": rng.permutation(np.repeat(["no", "yes"], N // 2))}
    scores, whole = lineal.out_of_fold(noise, "y", penalty=1e-4)
    right = noise["y"] == "yes"
    inside = np.mean((whole.scores(noise)[:, 0] > 0) == right)
    outside = np.mean((np.array(scores["base"]) > 0) == right)
    assert inside > 0.75
    assert abs(outside - 0.5) < 4 * 0.5 / np.sqrt(N)  # 4 standard deviations of a coin


def test_groups_stay_in_one_fold(table):
    by_house, _ = lineal.out_of_fold(table, "y", by="house", drop=["house"], penalty=0.1)
    changed = {
        **table,
        "y": np.where(np.array(table["house"]) == "h3", np.where(table["y"] == "yes", "no", "yes"), table["y"]),
    }
    again, _ = lineal.out_of_fold(changed, "y", by="house", drop=["house"], penalty=0.1)
    same = np.array(table["house"]) == "h3"
    np.testing.assert_array_equal(np.array(by_house["base"])[same], np.array(again["base"])[same])


def test_a_stack_predicts_with_its_base_models_and_survives_a_file(table, tmp_path):
    found = lineal.stack(
        table,
        "y",
        {"squares": {"poly": 2, "drop": ["house", "c"]}, "plain": {"drop": ["house"]}},
        final={"drop": ["house"]},
    )
    assert set(found.final.columns) == {"(intercept)", "a", "b", "c", "squares", "plain"}
    by_hand = {**table, **{name: model.scores(table)[:, 0] for name, model in found.bases.items()}}
    np.testing.assert_array_equal(found.predict(table), found.final.predict(by_hand))
    found.save(tmp_path / "s")
    again = lineal.Stack.load(tmp_path / "s")
    np.testing.assert_array_equal(again.predict_proba(table), found.predict_proba(table))
    with pytest.raises(InputError, match="exists already"):
        found.save(tmp_path / "s")


RECIPE = """
target = "y"
folds = 3
[base.squares]
poly = 2
drop = ["house"]
[base.margin]
model = "svm"
drop = ["house"]
[final]
drop = ["house"]
"""


def test_a_recipe_is_fitted_written_verified_and_predicted_with(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = list(table)
    rows = zip(*(np.asarray(table[name]).tolist() for name in names), strict=True)
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]))
    (tmp_path / "r.toml").write_text(RECIPE)
    assert run(["stack", "r.toml", "t.csv", "-o", "s", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told["verdicts"]) == {"squares", "margin", "final"}
    for command in told["verify"]:
        assert run(command.split()[1:]) == 0, capsys.readouterr().out
    assert run(["predict", "s", "t.csv", "-o", "out.csv"]) == 0
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert [line.strip('"') for line in lines] == lineal.Stack.load("s").predict("t.csv").tolist()


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ('target = "y"', "at least one"),
        ('target = "y"\n[base.m]\nseed = 3', "cannot have of its own"),
        ('target = "y"\nfold = 3\n[base.m]', "folds"),
        ("target = ", "not TOML"),
        ('target = "y"\n[base."a/b"]\n', "use letters"),
    ],
)
def test_bad_recipes_are_refused_and_nothing_is_written(recipe, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x,y\n" + "\n".join(f"{k},{k % 2}" for k in range(30)))
    (tmp_path / "r.toml").write_text(recipe)
    assert run(["stack", "r.toml", "t.csv", "-o", "s"]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "s").exists()
