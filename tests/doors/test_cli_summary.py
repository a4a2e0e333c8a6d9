"""`lineal summary` and `lineal dialect`, end to end."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import lineal
from lineal.cli import run


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    a, town = rng.normal(size=200), rng.integers(0, 15, size=200)
    y = np.where(a + rng.normal(size=15)[town] + rng.logistic(size=200) > 0, "yes", "no")
    with open("rows.csv", "w", newline="") as stream:  # noqa: PTH123
        writer = csv.writer(stream)
        writer.writerow(["a", "town", "y"])
        writer.writerows(zip(a.tolist(), [f"t{t}" for t in town], y, strict=True))
    return tmp_path / "rows.csv"


def call(capsys, *words):
    code = run([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_summary_of_a_model_file(table, capsys):
    words = ("--target", "y", "--penalty", "none", "--drop", "town", "-o", "m.lineal")
    assert call(capsys, "fit", table, *words)[0] == 0
    stored = lineal.load("m.lineal").summary()
    code, out, err = call(capsys, "summary", "m.lineal")
    assert (code, err) == (0, "")
    for row in stored.rows:
        assert f"{row.error:.5g}" in out
    assert "odds of yes against no" in out
    again = json.loads(call(capsys, "summary", "m.lineal", table, "--json")[1])
    assert again["rows"][1]["error"] == pytest.approx(stored.rows[1].error, rel=1e-9)
    assert again["figures"]["observations"] == stored.figures["observations"] < 200  # the held-out rows are left out
    robust = json.loads(call(capsys, "summary", "m.lineal", table, "--errors", "HC3", "--json")[1])
    assert robust["errors"] == "HC3"
    assert robust["rows"][1]["error"] != again["rows"][1]["error"]
    code, out, _ = call(capsys, "summary", "m.lineal", table, "--cluster", "town", "--level", "0.9")
    assert code == 0
    assert "clustered by town (15 clusters)" in out
    assert "90 % intervals" in " ".join(out.split())  # the line may be wrapped


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["m.lineal", "--errors", "HC1"], "needs another look at the rows"),
        (["m.lineal", "--cluster", "town"], "needs another look at the rows"),
        (["m.lineal", "rows.csv", "--cluster", "twon"], "town"),
        (["m.lineal", "rows.csv", "--cluster", "town", "--errors", "HC1"], "exclude each other"),
        (["m.lineal", "other.csv"], "not the rows"),
        (["m.lineal", "--delimiter", ";"], "no DATA is given"),
        (["m.lineal", "--against", "no"], "one score"),
        (["m.lineal", "--level", "95"], "not in the range"),
        (["ridge.lineal"], "pulls coefficients towards zero"),
    ],
)
def test_what_summary_refuses(table, capsys, words, said):
    (table.parent / "other.csv").write_text("\n".join(table.read_text().splitlines()[:100]) + "\n")
    for name, penalty in (("m", "none"), ("ridge", "ridge:0.1")):
        assert (
            call(capsys, "fit", table, "--target", "y", "--penalty", penalty, "--drop", "town", "-o", f"{name}.lineal")[
                0
            ]
            == 0
        )
    code, out, err = call(capsys, "summary", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_dialect(capsys):
    code, out, err = call(capsys, "dialect", "0.5", "--from", "sklearn-C", "--n", "100")
    assert (code, err) == (0, "")
    assert "sklearn-alpha-ridge" in out
    assert "--spread" in out
    found = json.loads(call(capsys, "dialect", "0.5", "--from", "sklearn-C", "--n", "100", "--json")[1])
    assert found["dialects"]["strength"] == pytest.approx(0.02)  # 1 / (C n)
    assert found["dialects"]["LC"] == pytest.approx(1.0)  # strength n / 2
    weighted = call(capsys, "dialect", "2", "--n", "100", "--weight-sum", "50", "--json")[1]
    assert json.loads(weighted)["dialects"]["sigma2-tau2"] == pytest.approx(100.0)
    code, out, err = call(capsys, "dialect", "1", "--from", "sklearn-c", "--n", "10")
    assert (code, out) == (2, "")
    assert "sklearn-C" in err
    assert call(capsys, "dialect", "1", "--from", "sklearn-C")[0] == 2
