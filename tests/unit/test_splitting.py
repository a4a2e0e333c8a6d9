"""Splits: every row in one part, the parts as asked for, and the checker draws the same ones."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lineal
from lineal.cli import run
from lineal.errors import InputError
from lineal.features.splitting import TEST, TRAIN, VALIDATION, Split, parted
from lineal.tables.table import as_table
from lineal.verify.reading import split as twin

N = 400


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    return {
        "x": x,
        "house": rng.integers(0, 60, N).astype(str),
        "when": [f"20{k // 12 + 10}-{k % 12 + 1:02d}-03" for k in rng.integers(0, 80, N).tolist()],
        "year": rng.integers(1990, 2020, N),
        "part": rng.choice(["train", "Train", "validation", "test"], N),
        "kind": np.where(rng.random(N) < 0.1, "rare", np.where(x + rng.normal(size=N) > 0, "a", "b")),
        "y": 2 * x + rng.normal(size=N),
    }


def drawn(table, split):
    return parted(as_table(table), split, "kind")(np.arange(len(table["x"]), dtype=np.int64))


SPLITS = [
    Split(3, 0.25),
    Split(3, 0.25, 0.2),
    Split(3, 0.25, 0.2, "stratified"),
    Split(3, 0.25, 0.2, "group", "house"),
    Split(3, 0.25, 0.2, "time", "when"),
    Split(3, 0.25, 0.0, "time", "year"),
    Split(3, 0.0, 0.0, "column", "part"),
]


@pytest.mark.parametrize("split", SPLITS)
def test_the_checker_fits_the_same_rows(table, split):
    column = None if split.by == "row" else table["kind" if split.by == "stratified" else split.column]
    cells = None if column is None else list(np.asarray(column).tolist())
    np.testing.assert_array_equal(twin.fitted(split.to_dict(), N, cells), drawn(table, split) == TRAIN)


@pytest.mark.parametrize("split", SPLITS[:6])
def test_parts_have_about_their_share(table, split):
    counts = Counter(drawn(table, split).tolist())
    # chance: 4 standard deviations of a binomial share; groups and equal dates come in lumps of about 7
    slack = 4 * np.sqrt(0.25 * N) * (2.7 if split.by in ("group", "time") else 1)
    assert abs(counts[TEST] - split.test_size * N) <= slack
    assert abs(counts[VALIDATION] - split.validation_size * N) <= slack


def test_groups_stay_together(table):
    part = drawn(table, SPLITS[3])
    for house in set(table["house"]):
        assert len(set(part[table["house"] == house])) == 1


def test_time_goes_forward_and_equal_times_stay_together(table):
    part, when = drawn(table, SPLITS[4]), np.array(table["when"])
    assert max(when[part == TRAIN]) < min(when[part == VALIDATION])
    assert max(when[part == VALIDATION]) < min(when[part == TEST])


def test_every_class_gives_its_share(table):
    part = drawn(table, SPLITS[2])
    for label in ("rare", "a", "b"):
        members = part[np.asarray(table["kind"]) == label]
        assert (members == TEST).sum() == int(len(members) * 0.25 + 0.5)
        assert (members == VALIDATION).sum() == int(len(members) * 0.2 + 0.5)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["u", "v", "w"]), min_size=4, max_size=40), st.integers(0, 2**40))
def test_groups_do_not_depend_on_the_other_rows(cells, seed):
    split = Split(seed, 0.5, 0.0, "group", "g")
    part = parted(as_table({"g": cells}), split, None)(np.arange(len(cells), dtype=np.int64))
    alone = {g: parted(as_table({"g": [g]}), split, None)(np.zeros(1, np.int64))[0] for g in set(cells)}
    assert part.tolist() == [alone[g] for g in cells]


@pytest.mark.parametrize("how", ["stratified", "group:house", "time:when", "time:year", "column:part", None])
def test_a_fit_by_each_split_is_confirmed(table, how, tmp_path, capsys):
    path, model = tmp_path / "t.csv", tmp_path / "m.lineal"
    names = list(table)
    rows = zip(*(np.asarray(table[name]).tolist() for name in names), strict=True)
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]))
    words = ["fit", str(path), "--target", "kind", "--drop", "y", "-o", str(model), "--json"]
    words += [] if how is None else ["--split", how]
    words += [] if how in ("column:part", "time:year") else ["--validation-size", "0.2"]
    assert run(words) == 0
    told = json.loads(capsys.readouterr().out)
    if how != "time:year":
        assert "accuracy" in told["metrics"]["validation"]
        assert "validation rows" in told["model"]["selection"]["reason"]
    if how in ("group:house", "column:part"):
        assert how.split(":")[1] in {entry["column"] for entry in told["data"]["dropped"]}
    assert run(["verify", str(model), str(path)]) == 0, capsys.readouterr().out


def test_the_strength_is_the_best_on_the_validation_rows(table):
    data = {"x": table["x"], "noise": np.sin(np.arange(N) * 7.0), "part": table["part"], "y": table["y"]}
    model = lineal.fit(data, target="y", split="column:part", model="ridge")
    part = np.array([str(word).lower() for word in data["part"]])
    scores = {}
    for trial in model.report["selection"]["trials"]:
        fitted = lineal.fit(
            {name: np.asarray(data[name])[part == "train"] for name in ("x", "noise", "y")},
            target="y",
            model="ridge",
            penalty=trial["strength"],
        )
        held = {name: np.asarray(data[name])[part == "validation"] for name in ("x", "noise", "y")}
        scores[trial["strength"]] = lineal.evaluate(fitted, held)["metrics"]["test"]["rmse"]
        # trials stop at a relative gap of 1e-4
        assert trial["rmse"] == pytest.approx(scores[trial["strength"]], rel=1e-3)
    assert model.report["selection"]["strength"] == min(scores, key=scores.__getitem__)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"split": "group:hose", "test_size": 0.2}, "house"),
        ({"split": "sideways", "test_size": 0.2}, "it is stratified, group:COL"),
        ({"split": "stratified"}, "needs a share of the rows"),
        ({"split": "column:part", "test_size": 0.2}, "has no effect"),
        ({"split": "column:house"}, "it may hold train"),
        ({"split": "time:house2", "test_size": 0.2}, "needs numbers, or dates"),
        ({"split": "group:gaps", "test_size": 0.2}, "row 1"),
        ({"test_size": 0.6, "validation_size": 0.5}, "together they are below 1"),
    ],
)
def test_what_cannot_be_split_is_refused(table, options, said):
    data = {**table, "house2": [f"h{h}" for h in table["house"]], "gaps": [None, *table["house"][1:]]}
    with pytest.raises(InputError, match=said):
        lineal.fit(data, target="y", **options)


def test_robust_errors_are_those_of_the_rows_that_were_fitted(table):
    data = {"x": table["x"], "year": table["year"], "y": table["y"]}
    model = lineal.fit(data, target="y", model="linear", split="time:year", test_size=0.3)
    kept = drawn(table, Split(0, 0.3, 0.0, "time", "year")) == TRAIN
    alone = lineal.fit({name: np.asarray(column)[kept] for name, column in data.items()}, target="y", model="linear")
    ours = lineal.summarise(model, data, errors="HC3").rows
    theirs = lineal.summarise(
        alone, {name: np.asarray(column)[kept] for name, column in data.items()}, errors="HC3"
    ).rows
    for one, other in zip(ours, theirs, strict=True):
        assert one.error == pytest.approx(other.error, rel=1e-9)
