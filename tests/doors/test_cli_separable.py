"""`lineal separable`: answers, proofs and exit codes, as typed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from lineal.cli import run

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

GATES = "a,b,and,xor\n0,0,no,no\n0,1,no,yes\n1,0,no,yes\n1,1,yes,no\n"


@pytest.fixture
def gates(tmp_path):
    path = tmp_path / "gates.csv"
    path.write_text(GATES)
    return str(path)


def test_and_and_xor(gates, capsys):
    assert run(["separable", gates, "--target", "and", "--drop", "xor"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Completely separable: a, b separate all 4 rows without a mistake.")
    assert "Direction" in said
    assert run(["separable", gates, "--target", "xor", "--drop", "and", "--bound"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Overlap:")
    assert "1 x row" in said
    assert "none: the classes are not separable" in said


def test_a_perceptron_keeps_within_the_bound(gates, capsys):
    assert run(["separable", gates, "--target", "and", "--drop", "xor", "--bound"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "R^2/gamma^2 = (RB)^2 = 51" in said
    assert "mistakes in" in said
    assert "<= 51" in said
    assert run(["separable", gates, "--target", "and", "--drop", "xor", "--bound", "--json"]) == 0
    tried = json.loads(capsys.readouterr().out)["perceptron"]
    assert tried["clean"]
    assert tried["within_bound"]
    assert 0 < tried["mistakes"] <= 51  # R^2 = 3 and gamma^2 = 1/17


def test_json_holds_a_proof(gates, capsys):
    assert run(["separable", gates, "--target", "and", "--drop", "xor", "--json", "--bound"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "complete"
    b, u, v = (Fraction(entry[0]) for entry in told["witness"]["direction"])
    assert all((b + u * x + v * z > 0) == (x == z == 1) for x in (0, 1) for z in (0, 1))
    # AND in augmented space: w = (-3, 2, 2) has margin 1 on (0,1), (1,0) and (1,1), so B^2 = 17 and R^2 = 3.
    assert told["margin"]["bound"] == pytest.approx(3 * 17, rel=1e-8)
    assert told["margin"]["gamma_upper"] >= told["margin"]["gamma"] > 0
    assert told["hard_margin"]["gamma"] == pytest.approx(8**-0.5), "half the way from (1, 1) to the line a + b = 1"
    assert told["hard_margin"]["bound_per_row"] == pytest.approx(2 * 8 / 4)


def test_without_an_intercept(gates, capsys):
    assert run(["separable", gates, "--target", "and", "--drop", "xor", "--no-intercept", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["columns"] == ["a", "b"]
    assert told["kind"] == "overlap"


def test_no_time_is_no_answer(tmp_path, capsys):
    rows = [f"{(7 * i) % 11},{(i * i) % 13},{'xy'[i % 2]}" for i in range(60)]
    path = tmp_path / "table.csv"
    path.write_text("a,b,c\n" + "\n".join(rows) + "\n")
    assert run(["separable", str(path), "--target", "c", "--time-limit", "1e-9"]) == 3
    assert capsys.readouterr().out.startswith("Not decided")


def test_an_unknown_column(tmp_path, capsys):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "\n".join(f"{i},{i / 7}" for i in range(30)) + "\n")
    assert run(["separable", str(path), "--target", "no"]) == 2
    assert "no" in capsys.readouterr().err


@pytest.mark.skipif(
    not (DATA / "endometrial.csv").exists(),
    reason="endometrial (GPL, from the R package brglm2: tests/references/data/README.md) is absent",
)
def test_endometrial(capsys):
    assert run(["separable", str(DATA / "endometrial.csv"), "--target", "HG"]) == 0
    assert "`NV = 1` occurs only with HG = 1 (13 rows)" in capsys.readouterr().out
