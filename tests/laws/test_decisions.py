"""Decisions: thresholds and costs against sums written out by hand, and what has no meaning is refused."""

from __future__ import annotations

import csv
import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lineal
from lineal.cli import run
from lineal.errors import InputError
from lineal.metrics.decision import of_costs, of_threshold, read_costs, rule

SHARES = st.lists(st.floats(0.01, 1.0), min_size=2, max_size=4)
PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(SHARES, st.data())
def test_costs_decide_what_is_cheapest_on_average(shares, data):
    kinds = len(shares)
    p = np.array(shares) / sum(shares)
    cost = st.lists(st.integers(-3, 9), min_size=kinds, max_size=kinds)
    costs = data.draw(st.lists(cost, min_size=kinds, max_size=kinds))
    if all(len(set(row)) == 1 for row in costs):
        with pytest.raises(InputError, match="no effect"):
            of_costs(costs, range(kinds))
        return
    decided = int(of_costs(costs, tuple(range(kinds))).decide(p[None, :])[0])
    expected = [sum(p[k] * costs[k][c] for k in range(kinds)) for c in range(kinds)]
    assert expected[decided] <= min(expected) + 1e-9


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.floats(1e-6, 1 - 1e-6), st.floats(-20, 20))
def test_a_threshold_is_a_boundary_in_scores(tau, eta):
    found = of_threshold(tau, ("no", "yes"))
    assert found.boundary == pytest.approx(math.log(tau / (1 - tau)), rel=1e-9, abs=1e-12)
    p = 1 / (1 + math.exp(-eta))
    if abs(eta - found.boundary) > 1e-6:
        by_chance = found.decide(np.array([[1 - p, p]]))
        by_score = found.decide(np.array([[1 - p, p]]), np.array([eta]))
        assert by_chance == by_score == (p > tau)


@pytest.mark.parametrize(("false", "missed"), list(itertools.product([0.5, 1, 7], repeat=2)))
def test_costs_of_two_classes_are_a_threshold(false, missed):
    found = of_costs([[0, false], [missed, 0]], ("no", "yes"))
    assert found.threshold == pytest.approx(false / (false + missed))
    # the same wherever the zero of each row's costs lies
    shifted = of_costs([[3, 3 + false], [missed - 2, -2]], ("no", "yes"))
    assert shifted.threshold == pytest.approx(found.threshold)


def test_far_out_scores_are_not_rounded_to_certainty():
    found = of_threshold(1 - 1e-12, ("no", "yes"))
    assert found.decide(np.array([[0.0, 1.0]] * 2), np.array([40.0, 20.0])).tolist() == [1, 0]


def test_one_class_can_be_better_always():
    found = of_costs([[1, 0], [5, 0]], ("no", "yes"))
    assert found.threshold is None
    assert found.decide(np.array([[0.99, 0.01]])).tolist() == [1]
    assert "whatever its probability" in found.sentence


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    ill = np.where(x + rng.logistic(size=200) > 0, "yes", "no")
    return {"x": x, "ill": ill, "three": np.array(["a", "b", "c"])[np.digitize(x + rng.normal(size=200), [-0.5, 0.5])]}


def test_a_model_decides(table):
    model = lineal.fit({"x": table["x"], "ill": table["ill"]}, target="ill", penalty=0.01)
    p = model.predict_proba({"x": table["x"]})
    half = model.decide({"x": table["x"]}, threshold=0.5)
    assert half.labels.tolist() == model.predict({"x": table["x"]}).tolist()
    found = model.decide({"x": table["x"]}, threshold=0.8)
    assert found.labels.tolist() == np.where(p[:, 1] > 0.8, "yes", "no").tolist()
    assert found.boundary == pytest.approx(math.log(4))
    assert "w'x = log(tau/(1-tau)) = 1.38629" in found.sentence
    # on the boundary of the data: x with w'x = log 4 has probability 0.8
    at = (math.log(4) - model.coef[0, 0]) / model.coef[1, 0]
    assert model.predict_proba({"x": [at]})[0, 1] == pytest.approx(0.8)


def test_several_classes_are_decided_by_costs(table):
    data = {"x": table["x"], "three": table["three"]}
    model = lineal.fit(data, target="three", penalty=0.01)
    costs = np.array([[0, 1, 9], [2, 0, 1], [9, 1, 0.0]])
    found = model.decide(data, costs=costs)
    p = model.predict_proba(data)
    assert found.labels.tolist() == [model.target.classes[k] for k in np.argmin(p @ costs, axis=1)]
    np.testing.assert_allclose(found.expected, np.min(p @ costs, axis=1))
    named = {k: {c: costs[i, j] for j, c in enumerate("abc")} for i, k in enumerate("abc")}
    assert model.decide(data, costs=named).labels.tolist() == found.labels.tolist()
    assert model.decide(data, costs=1 - np.eye(3)).labels.tolist() == model.predict(data).tolist()
    with pytest.raises(InputError, match="two classes, and there are 3"):
        model.decide(data, threshold=0.5)


def test_what_has_no_meaning_is_refused(table):
    data = {"x": table["x"], "ill": table["ill"]}
    logistic = lineal.fit(data, target="ill", penalty=0.01)
    for wrong in ({}, {"threshold": 0.5, "costs": [[0, 1], [1, 0]]}, {"threshold": 0.0}, {"threshold": float("nan")}):
        with pytest.raises(InputError, match="threshold"):
            logistic.decide(data, **wrong)
    for costs in ([[0, 1]], [[0, np.nan], [1, 0]], "abc", {"no": {"yes": 1}}, {"no": {"maybe": 1}}, [[1, 1], [2, 2]]):
        with pytest.raises(InputError, match="cost"):
            logistic.decide(data, costs=costs)
    assert logistic.decide({"x": [0.5]}, threshold=np.float32(0.5)).labels.shape == (1,)
    with pytest.raises(InputError, match="no rows"):
        logistic.decide({"x": []}, threshold=0.5)
    with pytest.raises(InputError, match="threshold"):
        logistic.decide(data, threshold="0.5")
    with pytest.raises(InputError, match="no probabilities"):
        lineal.fit(data, target="ill", model="svm", penalty=0.01).decide(data, threshold=0.3)
    with pytest.raises(InputError, match="predicts a number"):
        lineal.fit({"x": table["x"], "y": table["x"] * 2 + 1}, target="y", model="linear").decide(data, threshold=0.3)


def test_costs_are_read_from_text():
    assert read_costs("0, 1\n5, 0\n", ("no", "yes")).tolist() == [[0, 1], [5, 0]]
    assert read_costs("\ufeff,1,0\n0,4,0\n1,0,3", (0, 1)).tolist() == [[0, 4], [3, 0]]
    assert read_costs('t,"a, b",c\n"a, b",0,2\nc,3,0', ("a, b", "c")).tolist() == [[0, 2], [3, 0]]
    assert read_costs("t;no;yes\nno;0;1\nyes;5;0", ("no", "yes")).tolist() == [[0, 1], [5, 0]]
    assert read_costs("0,1,2;3,0,4;5,6,0", "abc").tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    for text in ("", "0,1", "0,1;2", "0,a;1,0", ",no,no\nno,0,1\nyes,1,0", ",no,yes\nno,0,1\nmaybe,1,0"):
        with pytest.raises(InputError, match="cost"):
            read_costs(text, ("no", "yes"))
    with pytest.raises(InputError, match="exclude each other"):
        rule(0.5, [[0, 1], [1, 0]], ("no", "yes"))


def test_the_command_line_decides(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["fit", str(PENGUINS), "--target", "sex", "-o", "m.lineal"]) == 0
    capsys.readouterr()
    assert run(["predict", "m.lineal", str(PENGUINS), "--threshold", "0.9", "--proba"]) == 0
    said = capsys.readouterr()
    for row in csv.DictReader(said.out.splitlines()):
        assert row["prediction"] == ("male" if float(row["probability=male"]) > 0.9 else "female")
    assert "w'x = log(tau/(1-tau)) = 2.19722" in said.err
    Path("costs.csv").write_text("truth,male,female\nfemale,1,0\nmale,0,4\n")
    answers = []
    for costs in ("costs.csv", "0,1;4,0"):
        assert run(["predict", "m.lineal", str(PENGUINS), "--costs", costs, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0]["predictions"] == answers[1]["predictions"]
    assert answers[0]["decision"]["threshold"] == pytest.approx(0.2)
    assert run(["evaluate", "m.lineal", str(PENGUINS), "--costs", "0,1;4,0", "--rows", "all", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    with PENGUINS.open() as stream:
        truth = [row["sex"] for row in csv.DictReader(stream)]
    pairs = [
        (t, p["prediction"]) for t, p in zip(truth, answers[0]["predictions"], strict=True) if t in ("male", "female")
    ]
    price = {("female", "male"): 1, ("male", "female"): 4}
    expected = sum(price.get(pair, 0) for pair in pairs) / len(pairs)
    assert measured["metrics"]["test"]["mean_cost"] == pytest.approx(expected)
    assert measured["metrics"]["test"]["accuracy"] == pytest.approx(np.mean([t == p for t, p in pairs]))
    assert run(["evaluate", "m.lineal", str(PENGUINS), "--threshold", "0.3"]) == 0
    assert "mean cost" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--threshold", "1.5"], "between 0 and 1"),
        (["--threshold", "0.5", "--costs", "0,1;1,0"], "exclude each other"),
        (["--costs", "0,1"], "2 x 2"),
        (["--costs", "missing.csv"], "does not exist"),
    ],
)
def test_the_command_line_refuses_in_a_sentence(tmp_path, monkeypatch, capsys, words, expected):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b\n5,b\n6,a\n")
    assert run(["fit", "t.csv", "--target", "y", "--test-size", "0", "--penalty", "ridge:0.1"]) == 0
    for command in ("predict", "evaluate"):
        capsys.readouterr()
        assert run([command, "t.lineal", "t.csv", *words]) == 2
        assert expected in capsys.readouterr().err
