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


PIPELINE = """
target = "y"
folds = 3
[base.tagger]
target = "tag"
drop = ["house"]
[final]
drop = ["house"]
"""


def test_a_stack_is_a_model_and_its_members_may_have_targets_of_their_own(table, tmp_path, monkeypatch, capsys):
    """LM1: tag first, then classify; no model sees a target as a feature, and new rows need none of them."""
    monkeypatch.chdir(tmp_path)
    tagged = {
        **table,
        "tag": np.where(table["a"] + table["b"] > 0.5, "noun", np.where(table["c"] > 0, "verb", "other")),
    }
    rows = zip(*(np.asarray(tagged[name]).tolist() for name in tagged), strict=True)
    (tmp_path / "t.csv").write_text("\n".join([",".join(tagged), *(",".join(map(str, row)) for row in rows)]))
    (tmp_path / "r.toml").write_text(PIPELINE)
    assert run(["stack", "r.toml", "t.csv", "-o", "s"]) == 0
    found = lineal.Stack.load("s")
    assert set(found.bases["tagger"].columns) == {"(intercept)", "a", "b", "c"}
    assert found.bases["tagger"].target.classes == ("noun", "other", "verb")
    assert set(found.final.columns) == {"(intercept)", "a", "b", "c", "tagger: noun", "tagger: other", "tagger: verb"}
    assert found.verdict.kind in {model.verdict.kind for model in found.models.values()}
    fresh = {name: tagged[name] for name in ("a", "b", "c", "house")}
    by_hand = {
        **fresh,
        **{
            f"tagger: {k}": found.bases["tagger"].scores(fresh)[:, j]
            for j, k in enumerate(found.bases["tagger"].target.classes)
        },
    }
    assert found.predict(fresh).tolist() == found.final.predict(by_hand).tolist()
    capsys.readouterr()

    assert run(["evaluate", "s", "t.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["metrics"]["test"]["accuracy"] == np.mean(found.predict("t.csv") == tagged["y"])
    assert told["training_rows"] == N
    assert "none held out" in told["notes"][-1]
    assert run(["evaluate", "s", "t.csv", "--threshold", "0.7"]) == 0
    assert run(["evaluate", "s", "t.csv", "--rows", "all"]) == 2
    assert "this is a stack; leave them out" in capsys.readouterr().err

    assert run(["show", "s"]) == 0
    said = capsys.readouterr().out
    assert "scores of tagger are columns of final" in said
    assert run(["show", "s", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["models"]) == {"tagger", "final"}

    assert run(["verify", "s", "t.csv"]) == 0
    said = capsys.readouterr().out
    assert said.count("Confirmed: all") == 2
    assert run(["verify", "s", "t.csv", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["models"]) == {"tagger", "final"}
    (tmp_path / "u.csv").write_text((tmp_path / "t.csv").read_text().replace("noun", "verb", 1))
    assert run(["verify", "s", "u.csv"]) == 1
    (tmp_path / "empty").mkdir()
    for command in (["verify", "empty", "t.csv"], ["show", "empty"], ["evaluate", "empty", "t.csv"]):
        assert run(command) == 2
        assert "is no stack" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("bases", "final", "said"),
    [
        ({"m": {"target": "tags"}}, {}, "target column of 'm'"),
        ({"m": {"target": 3}}, {}, "name one column"),
        ({"m": {}}, {"target": "a"}, "target of the stack"),
    ],
)
def test_targets_that_are_none_are_refused(bases, final, said, table):
    with pytest.raises(InputError, match=said):
        lineal.stack(table, "y", bases, final=final)


def test_a_target_may_be_said_twice(table):
    options = {"drop": ["house"]}
    plain = lineal.stack(table, "y", {"m": options}, final=options)
    same = "".join(["y"])  # another object than the name of the column
    again = lineal.stack(table, "y", {"m": {**options, "target": same}}, final=options)
    assert set(again.final.columns) == set(plain.final.columns)
    np.testing.assert_array_equal(again.final.coef, plain.final.coef)
