"""Labels from the command line to the checker: files of every format, what is printed, and changed files are refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import f1_score

import lineal
from lineal import container
from lineal.cli import run

NAMES = ("a", "b", "c")


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Write one table of labels as columns, as lists and as texts; some are not known, some rows have none."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    x = rng.normal(size=(150, 3)).round(4)
    y = (x @ rng.normal(size=(3, 3)) + rng.normal(size=(150, 3)) > 0.4).astype(int)
    names = ["u", "v", "w", "s", *NAMES]
    cells = [
        [*map(repr, row.tolist()), repr(1 + k % 2), str(marks[0]), ["no", "Yes"][marks[1]], ["f", "T"][marks[2]]]
        for k, (row, marks) in enumerate(zip(x, y, strict=True))
    ]
    for k in range(0, 150, 7):
        cells[k][5] = "NA"
    Path("columns.csv").write_text("\n".join(",".join(row) for row in [names, *cells]) + "\n")
    tags = [[name for name, one in zip(NAMES, marks, strict=True) if one] for marks in y.tolist()]
    texts = [";".join(row) for row in tags]
    texts[3] = "NA"
    lines = [",".join([*row[:4], text]) for row, text in zip(cells, texts, strict=True)]
    Path("text.csv").write_text("\n".join(["u,v,w,s,tags", *lines]) + "\n")
    numbers = {name: x[:, k] for k, name in enumerate("uvw")} | {"s": 1.0 + np.arange(150) % 2}
    listed = [None if k == 3 else row for k, row in enumerate(tags)]
    pq.write_table(pa.table(numbers | {"tags": listed}), "lists.parquet")
    records = [{**{name: float(numbers[name][k]) for name in numbers}, "tags": row} for k, row in enumerate(listed)]
    Path("lists.jsonl").write_text("\n".join(map(json.dumps, records)))
    return y


FILES = {
    "columns.csv": ["--target", "a,b,c"],
    "text.csv": ["--target", "tags", "--labels-by", ";"],
    "lists.parquet": ["--target", "tags"],
    "lists.jsonl": ["--target", "tags"],
}
WAYS = {
    "logistic": ["--penalty", "ridge:0.05"],
    "svm": ["--model", "svm", "--penalty", "ridge:0.05"],
    "sparsemax": ["--model", "sparsemax", "--penalty", "ridge:0.05"],
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("file", FILES)
def test_from_fit_to_verify(rows, capsys, file, way):
    asked = ["fit", file, *FILES[file], *WAYS[way], "--weight", "s", "-o", "m.lineal", "--json"]
    assert run(asked) == 0
    fitted = json.loads(capsys.readouterr().out)
    assert fitted["data"]["target"]["kind"] == "labels"
    assert fitted["data"]["training"]["without_target"] == (file != "columns.csv")
    if way != "sparsemax":
        members = fitted["model"]["labels"]["members"]
        assert [member["verdict"]["kind"] for member in members] == ["optimal"] * 3
    assert run(["verify", "m.lineal", file]) == 0
    said = capsys.readouterr().out
    assert "of every label each row says yes, no or nothing" in said
    assert said.count("a gap can be proven") == (1 if way == "sparsemax" else 3)
    assert run(["show", "m.lineal"]) == 0
    assert "3 labels, of which a row has any number" in capsys.readouterr().out
    assert run(["predict", "m.lineal", file, "-o", "p.csv"]) == 0
    with Path("p.csv").open() as stream:
        written = list(csv.DictReader(stream))
    lead = "" if file == "columns.csv" else "tags="
    guess = np.array([[int(row[f"prediction={lead}{name}"]) for name in NAMES] for row in written])
    assert run(["evaluate", "m.lineal", file, "--rows", "all", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    known = np.ones(150, dtype=bool)
    known[3 if file != "columns.csv" else slice(0, None, 7)] = False
    weight = 1.0 + np.arange(150) % 2
    for number, line in enumerate(measured["labels"][:3]):
        some = known if file != "columns.csv" or number == 1 else np.ones(150, dtype=bool)
        expected = f1_score(rows[some, number], guess[some, number], sample_weight=weight[some])
        assert line["f1"] == pytest.approx(expected)


@pytest.mark.slow
def test_pages_of_labels(rows, capsys):
    assert run(["fit", "columns.csv", "--target", "a,b,c", "--penalty", "ridge:0.05", "-o", "m.lineal"]) == 0
    page = capsys.readouterr().out
    for words in ("That is the worst of 3 labels", "Multi-label", "hamming loss", "'b' in", "logistic regression"):
        assert words in page
    assert run(["evaluate", "m.lineal", "columns.csv", "--threshold", "0.3"]) == 0
    page = capsys.readouterr().out
    assert "(micro average)" in page
    assert "yes where its probability is above 0.3, else no" in page
    assert run(["predict", "m.lineal", "columns.csv", "--proba", "--score", "--costs", "0,1;5,0"]) == 0
    head = capsys.readouterr().out.splitlines()[0].split(",")
    assert head == [
        *(f"prediction={name}" for name in NAMES),
        "expected_cost",
        *(f"probability={name}" for name in NAMES),
        *(f"score={name}" for name in NAMES),
    ]
    assert run(["evaluate", "--folds", "3", "text.csv", "--target", "tags", "--labels-by", ";"]) == 0
    assert "micro f1" in capsys.readouterr().out


def test_predictions_can_be_fitted_again(rows):
    """What predict writes are columns of labels."""
    assert run(["fit", "columns.csv", "--target", "a,b,c", "--penalty", "ridge:0.05", "-o", "m.lineal"]) == 0
    assert run(["predict", "m.lineal", "columns.csv", "-o", "p.csv"]) == 0
    named = ["--beside", "p.csv", "--drop", "a", "--drop", "b", "--drop", "c"]
    target = "prediction=a,prediction=b,prediction=c"
    assert run(["fit", "columns.csv", *named, "--target", target, "--penalty", "ridge:0.05", "-o", "n.lineal"]) == 0
    assert lineal.load("n.lineal").target.names == tuple(target.split(","))


def test_the_command_line_refuses_in_words(rows, capsys):
    labels = ["--target", "a,b,c"]
    for words, expected in (
        (["fit", "columns.csv", *labels, "--trace", "t.csv"], "every label has its own"),
        (["fit", "columns.csv", *labels, "--multiclass", "ovr"], "a model of its own already"),
        (["separable", "columns.csv", *labels], "ask of each label"),
        (["path", "columns.csv", *labels], "name one label"),
        (["compare", "columns.csv", *labels], "name one label"),
    ):
        assert run(words) == 2, words
        assert expected in capsys.readouterr().err
    assert run(["fit", "columns.csv", *labels, "--penalty", "ridge:0.05", "-o", "m.lineal"]) == 0
    assert run(["summary", "m.lineal"]) == 2
    assert "members" in capsys.readouterr().err
    assert run(["predict", "m.lineal", "columns.csv", "--interval", "0.9"]) == 2


def _coefficient(meta, arrays):
    arrays["1.coef"] = arrays["1.coef"] * 1.01


def _swapped(meta, arrays):
    arrays["0.coef"], arrays["1.coef"] = arrays["1.coef"], arrays["0.coef"]


def _renamed(meta, arrays):
    """Call the first two labels and their members by each other's names."""
    names = meta["target"]["names"]
    names[0], names[1] = names[1], names[0]
    for member, name in zip(meta["members"], names, strict=True):
        member["target"]["name"] = name
    meta["encoding"] = container.encoding(meta)


def _gap(meta, arrays):
    meta["members"][0]["verdict"]["gap"] /= 100.0


def _better(meta, arrays):
    meta["verdict"]["relative_gap"] = 0.0


def _worst(meta, arrays):
    meta["verdict"]["evidence"]["worst"] = (meta["verdict"]["evidence"]["worst"] + 1) % 3


def _sentence(meta, arrays):
    meta["verdict"]["sentence"] = meta["verdict"]["sentence"].replace("3 labels", "9 labels")


def _kinds(meta, arrays):
    meta["verdict"]["evidence"]["kinds"] = {"optimal": 4}


def _rows(meta, arrays):
    meta["members"][1]["training"]["rows"] -= 1


def _weight(meta, arrays):
    meta["members"][2]["training"]["weight_sum"] *= 1.001


def _all_rows(meta, arrays):
    meta["training"]["rows"] += 1


def _without(meta, arrays):
    meta["training"]["without_target"] += 1


def _dropped(meta, arrays):
    meta["members"] = meta["members"][:-1]


def _stranger(meta, arrays):
    meta["members"][0]["target"]["name"] = "d"


def _classes(meta, arrays):
    meta["members"][0]["target"]["classes"] = [True, False]


def _number(meta, arrays):
    meta["target"]["kind"] = "number"


def _listing(meta, arrays):
    meta["training"]["labels"] = {"column": "u", "by": ";"}


def _strength(meta, arrays):
    meta["members"][0]["penalty"]["strength"] *= 0.5


MUTATIONS = [
    _coefficient, _swapped, _renamed, _gap, _better, _worst, _sentence, _kinds, _rows, _weight, _all_rows, _without,
    _dropped, _stranger, _classes, _number, _listing, _strength,
]  # fmt: skip


@pytest.mark.slow
def test_changed_files_are_refused(rows, capsys):
    assert run(["fit", "columns.csv", "--target", "a,b,c", "--penalty", "ridge:0.05", "-o", "m.lineal"]) == 0
    for change in MUTATIONS:
        meta, arrays = container.read("m.lineal")
        change(meta, arrays)
        container.write("n.lineal", meta, arrays)
        assert run(["verify", "n.lineal", "columns.csv"]) in (1, 2), change.__name__


def _shares(meta, arrays):
    arrays["coef"] = arrays["coef"] * 1.001


def _well(meta, arrays):
    meta["verdict"]["sentence"] += " All is well."


def _order(meta, arrays):
    meta["target"]["names"] = meta["target"]["names"][::-1]
    meta["encoding"] = container.encoding(meta)


def _as_classes(meta, arrays):
    meta["target"] |= {"kind": "classes", "classes": meta["target"]["names"], "names": None}
    meta["encoding"] = container.encoding(meta)


def _by(meta, arrays):
    meta["training"]["labels"]["by"] = ","


def _column(meta, arrays):
    meta["training"]["labels"]["column"] = "u"


def test_changed_files_of_shared_labels_are_refused(rows, capsys):
    assert run(["fit", "text.csv", *FILES["text.csv"], *WAYS["sparsemax"], "-o", "m.lineal"]) == 0
    assert run(["verify", "m.lineal", "text.csv"]) == 0
    for change in (_shares, _order, _as_classes, _by, _column, _well, _all_rows, _without):
        meta, arrays = container.read("m.lineal")
        change(meta, arrays)
        container.write("n.lineal", meta, arrays)
        assert run(["verify", "n.lineal", "text.csv"]) in (1, 2), change.__name__


@pytest.mark.parametrize("way", WAYS)
def test_consistent_lies_are_refused(rows, capsys, way):
    """A fit to a table with five answers turned, every figure of it right, that claims the rows of the true table."""
    fit = [*FILES["columns.csv"], *WAYS[way], "--test-size", "0"]
    assert run(["fit", "columns.csv", *fit, "-o", "true.lineal"]) == 0
    lines = Path("columns.csv").read_text().splitlines()
    for k in range(20, 25):
        cells = lines[k].split(",")
        cells[4] = str(1 - int(cells[4]))
        lines[k] = ",".join(cells)
    Path("turned.csv").write_text("\n".join(lines) + "\n")
    assert run(["fit", "turned.csv", *fit, "-o", "false.lineal"]) == 0
    assert run(["verify", "false.lineal", "turned.csv"]) == 0
    meta, arrays = container.read("false.lineal")
    said = "the charge of every column" if way == "sparsemax" else "member 0, a: the objective at the coefficients"
    for fingerprint in (None, container.read("true.lineal")[0]["training"]["fingerprint"]):
        meta["training"]["fingerprint"] = fingerprint
        container.write("lie.lineal", meta, arrays)
        capsys.readouterr()
        assert run(["verify", "lie.lineal", "columns.csv"]) == 1
        assert "not confirmed: " + said in capsys.readouterr().err


def test_an_answer_that_is_none_is_refused_by_the_checker(rows, capsys):
    """The true table with one cell that says neither yes nor no, and no fingerprint to tell."""
    assert run(["fit", "columns.csv", "--target", "a,b,c", "--penalty", "ridge:0.05", "-o", "m.lineal"]) == 0
    meta, arrays = container.read("m.lineal")
    meta["training"]["fingerprint"] = None
    container.write("n.lineal", meta, arrays)
    assert run(["verify", "n.lineal", "columns.csv"]) == 0
    lines = Path("columns.csv").read_text().splitlines()
    changed = [",".join([*line.split(",")[:-1], "maybe"]) for line in lines[1:]]
    Path("columns.csv").write_text("\n".join([lines[0], *changed]) + "\n")
    capsys.readouterr()
    assert run(["verify", "n.lineal", "columns.csv"]) == 1
    assert "a cell is neither yes nor no" in " ".join(capsys.readouterr().out.split())
