"""Descent from the command line: steps of a textbook, the trace, and the checker on how they ended."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from lineal import container
from lineal.errors import VerificationError
from lineal.verify import verify

Lineal = Callable[..., tuple[int, str, str]]
SIX = "x1,x2,class\n1,2,no\n2,1,yes\n3,4,no\n4,3,no\n5,7,yes\n7,5,yes\n"
X = np.column_stack([np.ones(6), [1, 2, 3, 4, 5, 7], [2, 1, 4, 3, 7, 5]])
Y = np.array([0, 1, 0, 0, 1, 1])


@pytest.fixture(autouse=True)
def _here(folder: Path) -> None:
    (folder / "six.csv").write_text(SIX)


def descend(lineal: Lineal, *words: str) -> tuple[int, dict]:
    plain = ("fit", "six.csv", "--target", "class", "--test-size", "0", "--json")
    code, out, err = lineal(*plain, *(() if "--penalty" in words else ("--penalty", "none")), *words)
    assert err == ""
    return code, json.loads(out)


def optimum(strength: float = 0.0) -> float:
    """The least mean log-loss of the six rows, plus a ridge on all but the intercept, by scipy."""

    def objective(w: np.ndarray) -> float:
        return float(np.mean(np.logaddexp(0.0, X @ w) - Y * (X @ w)) + strength / 2 * w[1:] @ w[1:])

    return float(minimize(objective, np.zeros(3)).fun)


def trace(folder: Path) -> list[dict[str, str]]:
    with (folder / "steps.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def weights(line: dict[str, str]) -> list[float]:
    return [float(line[f"weight:{name}"]) for name in ("(intercept)", "x1", "x2")]


def test_seventy_five_steps_of_a_tenth_are_those_of_the_notes(folder: Path, lineal: Lineal) -> None:
    """LC: eta = 0.1, 75 steps, from zero, on the columns as they are; the verdict is budget, exit code 3."""
    words = ("--solver", "gradient-descent:step=0.1", "--steps", "75", "--trace", "steps.csv")
    code, answer = descend(lineal, *words)
    assert (code, answer["verdict"]["kind"]) == (3, "budget")
    assert answer["verdict"]["gap"] >= answer["model"]["objective_value"] - optimum() > 0.0
    lines, w = trace(folder), np.zeros(3)
    assert [int(line["step"]) for line in lines] == list(range(76))
    for line in lines:
        z = X @ w
        gradient = X.T @ (1 / (1 + np.exp(-z)) - Y) / 6
        assert weights(line) == pytest.approx(w, rel=1e-13, abs=1e-15)
        assert float(line["objective"]) == pytest.approx(np.mean(np.log1p(np.exp(z)) - Y * z), rel=1e-14)
        assert float(line["gradient"]) == pytest.approx(np.linalg.norm(gradient), rel=1e-12)
        assert line["rows"] == ""
        w = w - 0.1 * gradient
    assert lineal("verify", "six.lineal", "six.csv")[0] == 0


def test_the_ridge_of_the_notes_is_descended_in_raw_columns(folder: Path, lineal: Lineal) -> None:
    """LM2's weight decay: w <- (1 - eta lambda) w - eta mean slope, with lambda/2 |w|^2 on the columns as they are."""
    words = ("--penalty", "ridge:0.5", "--penalize", "raw", "--solver", "gradient-descent:step=0.1", "--steps", "75")
    code, answer = descend(lineal, *words, "--trace", "steps.csv")
    w, shrink = np.zeros(3), np.array([1.0, 0.95, 0.95])
    for line in trace(folder):
        z = X @ w
        objective = np.mean(np.log1p(np.exp(z)) - Y * z) + 0.25 * w[1:] @ w[1:]
        assert weights(line) == pytest.approx(w, rel=1e-13, abs=1e-15)
        assert float(line["objective"]) == pytest.approx(objective, rel=1e-14)
        w = shrink * w - 0.1 * X.T @ (1 / (1 + np.exp(-z)) - Y) / 6
    assert (code, answer["verdict"]["kind"]) == (3, "budget")
    assert answer["model"]["objective_value"] == pytest.approx(objective, rel=1e-14)
    assert lineal("verify", "six.lineal", "six.csv")[0] == 0


def test_steps_too_long_diverge_and_a_variable_one_does_not(folder: Path, lineal: Lineal) -> None:
    code, answer = descend(lineal, "--solver", "gradient-descent:step=2", "--steps", "11")
    assert (code, answer["verdict"]["kind"]) == (3, "budget")
    assert "the steps diverged: the objective rose from 0.6931 to" in answer["verdict"]["sentence"]
    assert answer["verdict"]["gap"] >= answer["model"]["objective_value"] - optimum(), "proven, from as far as this"
    top = np.linalg.eigvalsh(X.T @ X / 24)[-1]
    assert f"(2/L with L = {top:.4g})" in answer["verdict"]["sentence"]
    assert lineal("verify", "six.lineal", "six.csv")[0] == 0
    _, just = descend(lineal, "--solver", "gradient-descent:step=0.2:0.15:0.1", "--steps", "10")
    assert "diverged" not in just["verdict"]["sentence"]


@pytest.mark.parametrize("penalty", ["none", "ridge:0.1"])
@pytest.mark.parametrize("step", ["50", "1e6"])
def test_a_gap_is_proven_from_where_nothing_bends_any_more(lineal: Lineal, step: str, penalty: str) -> None:
    """Scores of thousands leave probabilities of 0 and 1: the dual point is one found from the null fit."""
    words = ("--penalty", penalty, "--penalize", "raw") if penalty != "none" else ()
    code, answer = descend(lineal, *words, "--solver", f"gradient-descent:step={step}", "--steps", "12")
    assert (code, answer["verdict"]["kind"]) == (3, "budget")
    lost = answer["model"]["objective_value"] - optimum(0.1 if words else 0.0)
    assert lost <= answer["verdict"]["gap"] <= lost * (1 + 1e-3) + 1e-2, "nearly all of it is the way to the null fit"
    assert lineal("verify", "six.lineal", "six.csv")[0] == 0


def test_the_checker_refuses_a_longer_step_than_is_stable(folder: Path, lineal: Lineal) -> None:
    descend(lineal, "--solver", "gradient-descent:step=2", "--steps", "11")
    meta, arrays = container.read(folder / "six.lineal")
    said = meta["verdict"]["reason"]
    stable = said.split("every step below ")[1].split(" ")[0]
    for old, new in ((f"below {stable} ", "below 0.9 "), ("L = ", "L = 1")):
        text = json.loads(json.dumps(meta["verdict"]).replace(old, new))
        container.write(folder / "lie.lineal", {**meta, "verdict": text}, arrays)
        with pytest.raises(VerificationError, match="stable"):
            verify(folder / "lie.lineal", folder / "six.csv")


def test_picked_rows_are_in_the_trace(folder: Path, lineal: Lineal) -> None:
    descend(
        lineal,
        "--solver",
        "gradient-descent:step=0.1,batch=2",
        "--steps",
        "8",
        "--trace",
        "steps.csv",
        "--start",
        "1,0,-1",
    )
    w = np.array([1.0, 0.0, -1.0])
    for line in trace(folder):
        rows = [int(row) - 1 for row in line["rows"].split()]
        if rows:
            w = w - 0.1 * X[rows].T @ (1 / (1 + np.exp(-X[rows] @ w)) - Y[rows]) / 2
        assert weights(line) == pytest.approx(w, rel=1e-13, abs=1e-15)
    assert len(rows) == 2
    assert lineal("verify", "six.lineal", "six.csv")[0] == 0


@pytest.mark.parametrize("solver", ["conjugate-gradient", "newton", "quasi-newton"])
def test_other_solvers_write_their_weights_and_take_a_limit(folder: Path, lineal: Lineal, solver: str) -> None:
    code, answer = descend(lineal, "--solver", solver, "--steps", "1", "--trace", "steps.csv")
    assert (code, answer["verdict"]["kind"]) == (3, "budget")
    lines = trace(folder)
    assert len(lines) == 2
    values = {row["column"]: row["value"] for row in answer["coefficients"]}
    assert weights(lines[-1]) == pytest.approx([values[name] for name in ("(intercept)", "x1", "x2")], rel=1e-12)
    assert lineal("verify", "six.lineal", "six.csv")[0] == 0
