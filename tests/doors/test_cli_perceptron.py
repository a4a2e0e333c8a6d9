"""`lineal trace` and `lineal fit --model perceptron`, as typed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import lineal
from lineal.cli import run

POINTS = "x1,x2,class\n1,1,-\n3,2,+\n2,4,+\n3,4,+\n2,3,-\n"
GATES = "a,b,and,xor\n0,0,no,no\n0,1,no,yes\n1,0,no,yes\n1,1,yes,no\n"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.csv").write_text(POINTS)
    (tmp_path / "gates.csv").write_text(GATES)
    (tmp_path / "one.csv").write_text("a,b,c,y\n-2,3,1,2\n")


def test_the_binary_example_of_the_notes(capsys):
    """CS: scores -1, -1, 14, 17, 12; updates at steps 2 and 5; final weights [-1, 1, -1]."""
    words = ["trace", "points.csv", "--target", "class", "--start=-1,0,0", "--epochs", "1"]
    assert run(words) == 0
    said = capsys.readouterr().out.splitlines()
    table = [line.split() for line in said if line.strip()[:1].isdigit()]
    assert [row[5] for row in table] == ["-1", "-1", "14", "17", "12"]
    assert [row[6] for row in table] == ["yes", "no", "yes", "yes", "no"]
    assert said[-1].startswith("Weights  [-1, 1, -1] after 2 mistakes")
    assert run([*words, "--json", "-o", "steps.csv"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["steps"]["score"] == [-1, -1, 14, 17, 12]
    assert told["steps"]["update"] == ["none", "+ [1, 3, 2]", "none", "none", "- [1, 2, 3]"]
    assert told["weights"] == [-1, 1, -1]
    with Path("steps.csv").open(newline="") as stream:
        steps = list(csv.DictReader(stream))
    assert [float(step["weight:x1"]) for step in steps] == [0, 0, 3, 3, 3]
    assert [float(step["score"]) for step in steps] == [-1, -1, 14, 17, 12]


def test_the_multi_class_example_of_the_notes(capsys):
    """CS: scores 11, 13, 8, taken for class 1; w1 = [2, 0, 3], w2 = [-1, 7, -1], w0 unchanged."""
    start = "--start=-2,2,1;0,3,4;1,4,-2"
    words = ["trace", "one.csv", "--target", "y", "--classes", "0,1,2", "--no-intercept", "--epochs", "1", start]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "11, 13, 8" in said
    assert "[2, 0, 3] (class 1)" in said
    assert "[-1, 7, -1] (class 2)" in said
    assert "[-2, 2, 1] (class 0)" in said
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["weights"] == [[-2, 2, 1], [2, 0, 3], [-1, 7, -1]]


def test_what_becomes_of_gates(capsys):
    assert run(["trace", "gates.csv", "--target", "and", "--drop", "xor", "--bound"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Separated: no training mistake, after ")
    assert "R^2/gamma^2 = (RB)^2" in " ".join(said.split())
    assert run(["trace", "gates.csv", "--target", "xor", "--drop", "and"]) == 0
    assert "again" in capsys.readouterr().out
    assert (
        run(["trace", "gates.csv", "--target", "xor", "--drop", "and", "--oracle", "--order", "drawn", "--seed", "3"])
        == 0
    )
    assert capsys.readouterr().out.startswith("Not separable: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["points.csv"], "no target"),
        (["points.csv", "--target", "klass"], "Did you mean 'class'"),
        (["points.csv", "--target", "class", "--start", "1,2"], "give 3 numbers"),
        (["points.csv", "--target", "class", "--start", "a,b,c"], "give 3 numbers"),
        (["points.csv", "--target", "class", "--classes", "+,x"], "'-' is none of them"),
        (["points.csv", "--target", "class", "--seed", "1"], "--seed has no effect"),
        (["points.csv", "--target", "class", "-o", "steps.txt"], "must end in .csv or .parquet"),
        (["points.csv", "--target", "x1"], "needs a finite number"),
        (["one.csv", "--target", "y"], "--classes"),
        (["points.csv", "--target", "class", "--epochs", "0"], "is not in the range"),
    ],
)
def test_mistakes_get_a_sentence(words, said, capsys):
    assert run(["trace", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "model", ["perceptron", "perceptron:averaged", "perceptron:pocket,tie=positive,epochs=20,bound=yes"]
)
@pytest.mark.parametrize("kind", ["separated", "not_separable"])
def test_fit_save_verify_predict(model, kind, tmp_path, capsys):
    rng = np.random.default_rng(1)
    x, colour = rng.normal(size=(80, 2)), rng.choice(["red", "green", "blue"], size=80)
    score = x @ [1.0, -2.0] + (colour == "red") * 3.0 - 0.5
    label = np.where(score + (3.0 * rng.normal(size=80) if kind == "not_separable" else 0.0) > 0, "yes", "no")
    weight = rng.integers(0, 3, size=80)
    lines = [f"{a!r},{b!r},{c},{w},{y}" for (a, b), c, w, y in zip(x.tolist(), colour, weight, label, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,colour,times,label", *lines]) + "\n")
    words = ["fit", "rows.csv", "--target", "label", "--weight", "times", "--model", model, "--json", "--seed", "5"]
    assert run([*words, "-o", "m.lineal"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"]["kind"] == kind
    assert told["model"]["solver"]["name"] == "perceptron"
    if "bound" in model and kind == "separated":
        assert told["verdict"]["evidence"]["maximum_margin"]["bound"] > 0
    assert run(["verify", "m.lineal", "rows.csv"]) == 0
    assert "Confirmed" in capsys.readouterr().out
    assert run(["predict", "m.lineal", "rows.csv"]) == 0
    found = capsys.readouterr().out.split()[1:]
    assert found == lineal.load("m.lineal").predict({"a": x[:, 0], "b": x[:, 1], "colour": colour.tolist()}).tolist()
    assert run(["show", "m.lineal"]) == 0
    assert "a mistaken row is added to the weights of its class" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("model", "more", "said"),
    [
        ("perceptron:voted", [], "perceptron:averaged"),
        ("perceptron:averagd", [], "Did you mean 'averaged'"),
        ("perceptron:tie=zero", [], "its tie is"),
        ("perceptron:epochs=0", [], "at least 1"),
        ("perceptron:plain,plain", [], "each once"),
        ("perceptron", ["--penalty", "ridge:1"], "no penalty"),
        ("perceptron", ["--solver", "newton"], "method of its own"),
        ("perceptron", ["--bounds", "x1:0:"], "bounds cannot"),
        ("perceptron", ["--offset", "x2"], "no offset"),
        ("perceptron", ["--weight", "x2"], ""),
        ("perceptron:order=given", ["--seed", "1", "--test-size", "0"], "--seed has no effect"),
    ],
)
def test_fit_refuses_in_words(model, more, said, capsys):
    whole = "--weight" in more
    code = run(
        ["fit", "points.csv", "--target", "class", "--model", model, "--test-size", "0", *more, "-o", "m.lineal"]
    )
    assert code == (0 if whole else 2)
    assert said in capsys.readouterr().err
