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
    assert [row[:2] for row in table] == [[str(k), str(k)] for k in range(1, 6)], "rows count from 1 for people"
    sums = ["-1*1 + 0*1 + 0*1 = -1", "-1*1 + 0*3 + 0*2 = -1", "0*1 + 3*2 + 2*4 = 14", "0*1 + 3*3 + 2*4 = 17",
            "0*1 + 3*2 + 2*3 = 12"]  # fmt: skip
    for row, written in zip(table, sums, strict=True):
        assert written in " ".join(row)
    assert [row[13] for row in table] == ["yes", "no", "yes", "yes", "no"]
    # cos = w.x / (|w| |x|), by hand: -1 / sqrt(3), -1 / sqrt(14), 14 / sqrt(13 * 21), 17 / sqrt(13 * 26), 12 / sqrt(13 * 14)
    assert [row[12] for row in table] == ["125.3", "105.5", "32.1", "22.4", "27.2"]
    assert [row[-1] for row in table] == ["none", "13", "none", "none", "-2"], "HS: y w.x grows by |x|^2, here 14"
    assert said[-1].startswith("Weights  [-1, 1, -1] after 2 mistakes")
    assert max(map(len, said)) <= 80
    assert run([*words, "--json", "-o", "steps.csv"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["steps"]["score"] == [-1, -1, 14, 17, 12]
    assert told["steps"]["row_index"] == [0, 1, 2, 3, 4]
    assert told["steps"]["score_after"] == [-1, 13, 14, 17, -2]
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
    assert [said.count(f"= {score} ") for score in (11, 13, 8)] == [1, 1, 1]
    assert "-2*-2 + 2*3 + 1*1 = 11" in said
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
        (["points.csv", "--target", "class", "--start", "1,2"], "or 3 numbers"),
        (["points.csv", "--target", "class", "--start", "a,b,c"], "or 3 numbers"),
        (["points.csv", "--target", "class", "--classes", "+,x"], "'-' is none of them"),
        (["points.csv", "--target", "class", "--seed", "1"], "--seed has no effect"),
        (["points.csv", "--target", "class", "-o", "steps.txt"], "must end in one of .csv, "),
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


def test_a_trace_takes_what_a_fit_takes(tmp_path, capsys):
    """Categories, gaps, texts, products and weights become the columns of a fit; rows keep their places in the file."""
    (tmp_path / "mixed.csv").write_text(
        "age,job,note,times,y\n"
        + "".join(
            f"{'' if k % 9 == 0 else 20 + k},{'abc'[k % 3]},{'good news' if k % 4 else 'bad news'},{1 + k % 2},"
            f"{'' if k == 3 else ('yes' if k % 4 and k > 8 else 'no')}\n"
            for k in range(40)
        )
    )
    words = ["trace", "mixed.csv", "--target", "y", "--types", "note=text", "--epochs", "2"]
    assert run([*words, "--weight", "times", "--poly", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    fitted = lineal.fit("mixed.csv", "y", weight="times", poly=2, types={"note": "text"}, model="perceptron")
    assert told["columns"] == list(fitted.columns)
    assert told["without_target"] == 1
    rows = told["steps"]["row_index"]
    assert 3 not in rows
    assert rows[:6] == [0, 1, 1, 2, 4, 5], "odd rows count twice, and row 3 has no class"
    assert run([*words, "--columns", "standardized", "--oracle", "--drop", "times"]) == 0
    said = capsys.readouterr().out
    assert "in standard deviations" in " ".join(said.split())


def test_a_trace_holds_no_more_steps_than_it_shows(tmp_path, capsys, monkeypatch):
    """Words of a text are thousands of columns: every step recorded would be more than memory holds."""
    rng = np.random.default_rng(8)
    said = [" ".join(f"w{k}" for k in rng.integers(0, 40, 6)) for _ in range(70)]
    x = np.array([[1.0, *(float(f"w{k}" in text.split()) for k in range(40))] for text in said])
    side = np.where(rng.normal(size=41) @ x.T > 0, 1.0, -1.0)
    rows = [f"{text},{'yes' if s > 0 else 'no'}\n" for text, s in zip(said, side, strict=True)]
    (tmp_path / "said.csv").write_text("text,y\n" + "".join(rows))
    w, mistakes = np.zeros(41), 0
    for _ in range(2):
        for row, s in zip(x, side, strict=True):
            w, mistakes = (w + s * row, mistakes + 1) if s * (row @ w) <= 0 else (w, mistakes)
    words = ["trace", "said.csv", "--target", "y", "--text", "text:binary,min=1", "--epochs", "2"]
    monkeypatch.setattr("lineal.perceptron.perceptron.LOG_MAX_NUMBERS", 120 * 41)
    assert run(words) == 0
    told = capsys.readouterr().out
    assert f"Mistakes  {mistakes};" in told
    assert "140, of which 100 are shown" in told
    assert run([*words, "-o", "steps.csv"]) == 2
    assert "too large (121 steps of 41 weights)" in " ".join(capsys.readouterr().err.split())
    assert not Path("steps.csv").exists()


def test_standardized_columns_are_the_default_of_a_fit(tmp_path, capsys):
    """A column in large units drowns the others; the same steps follow by hand on (x - mean) / sd."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(60, 2)) * [1.0, 1e4] + [0.0, 1e5]
    y = np.where(x[:, 0] + (x[:, 1] - 1e5) / 1e4 + 0.2 * rng.normal(size=60) > 0, "yes", "no")
    rows = "".join(f"{a!r},{b!r},{c}\n" for a, b, c in zip(x[:, 0].tolist(), x[:, 1].tolist(), y, strict=True))
    (tmp_path / "units.csv").write_text("a,b,y\n" + rows)
    words = ["fit", "units.csv", "--target", "y", "--test-size", "0", "--accept"]
    assert run([*words, "--model", "perceptron:order=given,epochs=3", "-o", "u.lineal"]) == 0
    assert "standardized columns" in capsys.readouterr().out
    z = np.column_stack([np.ones(60), (x - x.mean(axis=0)) / x.std(axis=0)])
    w, side = np.zeros(3), np.where(y == "yes", 1.0, -1.0)
    for _ in range(3):
        for row, s in zip(z, side, strict=True):
            w += s * row if s * (row @ w) <= 0 else 0.0
    model = lineal.load("u.lineal")
    slopes = w[1:] / x.std(axis=0)
    assert model.verdict.evidence["standardized"] is True
    if model.verdict.evidence.get("by") != "oracle":
        np.testing.assert_allclose(model.coef[:, 0], [w[0] - slopes @ x.mean(axis=0), *slopes], rtol=1e-9)
    assert run(["verify", "u.lineal", "units.csv"]) == 0
    capsys.readouterr()
    assert run([*words, "--model", "perceptron:order=given,columns=raw", "-o", "r.lineal"]) == 0
    assert "columns as they are" in capsys.readouterr().out
    assert "standardized" not in lineal.load("r.lineal").verdict.evidence
    assert run(["verify", "r.lineal", "units.csv"]) == 0


def test_a_fit_begins_where_it_is_asked_to(tmp_path, capsys):
    """CS: one pass from [-1, 0, 0] makes 2 mistakes; from zero the first score is 0, a mistake more."""
    (tmp_path / "numbered.csv").write_text(POINTS.replace("-\n", "0\n").replace("+\n", "1\n"))
    model = "perceptron:order=given,epochs=1,columns=raw"
    words = [
        "fit",
        "numbered.csv",
        "--target",
        "class",
        "--test-size",
        "0",
        "--accept",
        "-o",
        "p.lineal",
        "--model",
        model,
    ]
    assert run([*words, "--start=-1,0,0"]) == 0
    evidence = lineal.load("p.lineal").verdict.evidence
    assert (evidence["mistakes"], evidence["start"]) == (2, "given")
    assert run(["verify", "p.lineal", "numbered.csv"]) == 0
    assert run(words) == 0
    evidence = lineal.load("p.lineal").verdict.evidence
    assert (evidence["mistakes"], evidence["start"]) == (3, "zero")
    capsys.readouterr()
    assert run(["predict", "p.lineal", "numbered.csv", "--score"]) == 0
    scores = [float(line.split(",")[1]) for line in capsys.readouterr().out.splitlines()[1:]]
    x = np.array([[1, 1, 1], [1, 3, 2], [1, 2, 4], [1, 3, 4], [1, 2, 3]])
    np.testing.assert_allclose(scores, x @ lineal.load("p.lineal").coef[:, 0], rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "target", "raw", "scaled"), [("credit_approval", "approved", 0.75, 0.8), ("penguins", "sex", 0.85, 0.9)]
)
def test_real_columns_are_learned_when_standardized(name, target, raw, scaled):
    """Columns in large units drown the others of a raw perceptron; logistic regression has 0.86 and 0.9 here."""
    path = Path(__file__).resolve().parents[3] / "shared" / "data" / f"{name}.csv"
    if not path.exists():
        pytest.skip("the shared data is not beside the project")
    right = [
        lineal.fit(path, target, model=model, test_size=0.3).report["metrics"]["test"]["accuracy"]
        for model in ("perceptron:columns=raw", "perceptron")
    ]
    assert right[0] < raw
    assert right[1] > scaled
