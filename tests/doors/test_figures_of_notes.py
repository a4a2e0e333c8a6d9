"""docs/notes.md draws every figure of the lecture notes; scripts/pictures runs its lines (.ci/run does all of them)."""

from __future__ import annotations

import json
import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest

from lineal.cli import run
from lineal.plots.kinds import every_kind, kind

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "pictures"))
LINES = [shlex.split(line) for line in SCRIPT["commands"]()]
PLOTS = [words for words in LINES if words[:2] == ["lineal", "plot"]]


def test_every_figure_has_a_command():
    drawn = {int(re.match(r"fig(\d+)", words[-1])[1]) for words in PLOTS}
    assert drawn == set(range(1, 45))
    assert {number for one in every_kind() for number in one.notes} == set(range(1, 45))


@pytest.mark.parametrize("words", PLOTS, ids=lambda words: words[-1])
def test_every_command_draws_the_figure_it_says(words):
    """A kind draws the figures that it names, and its options are those of the kind."""
    one = kind(words[2])
    assert int(re.match(r"fig(\d+)", words[-1])[1]) in one.notes
    typed = {
        word.lstrip("-").split("=")[0].replace("-", "_") for word in words if word.startswith("--") and word != "--set"
    }
    typed |= {words[k + 1].split("=")[0] for k, word in enumerate(words) if word == "--set"}
    assert typed <= set(one.options)


def test_the_first_figures_are_drawn(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for words in LINES:
        if words[0] == "printf":
            SCRIPT["write"](words)
    for words in [one for one in LINES if one[0] == "lineal" and {"points.csv", "points.lineal"} & set(one)][:3]:
        assert run(words[1:]) == 0, capsys.readouterr().err


def test_the_wide_table_descends_twice(tmp_path, monkeypatch):
    """Least squares of least length, one row left out in turn: the error peaks where columns come near rows, then falls."""
    monkeypatch.chdir(tmp_path)
    for words in LINES:
        if words[0] == "printf" and words[-1] == "wide.csv":
            SCRIPT["write"](words)
    cells = np.loadtxt("wide.csv", delimiter=",", skiprows=1)
    X, y = cells[:, :-1], cells[:, -1]
    rows, columns = X.shape
    losses = {}
    for width in range(1, columns + 1):
        errors = []
        for left in range(rows):
            rest = np.arange(rows) != left
            center, mean = X[rest, :width].mean(axis=0), y[rest].mean()
            w = np.linalg.lstsq(X[rest, :width] - center, y[rest] - mean, rcond=None)[0]
            errors.append((y[left] - mean - (X[left, :width] - center) @ w) ** 2)
        losses[width] = np.mean(errors)
    peak = max(losses, key=losses.get)
    assert columns > rows > peak >= rows - 4
    assert losses[peak] > 5.0 * max(losses[2], losses[columns])
    line = next(words for words in PLOTS if "wide.csv" in words)
    assert run([*line[1:-1], "one.json"]) == 0
    table = json.loads(Path("one.json").read_text())["table"]
    drawn = dict(zip(table["columns"], table["validation"], strict=True))
    assert max(drawn.values()) > 5.0 * max(drawn[3], drawn[columns])
