"""docs/notes.md draws every figure of the lecture notes; scripts/pictures runs its lines (.ci/run does all of them)."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest

from lineal.cli import run
from lineal.plots.kinds import every_kind, kind

ROOT = Path(__file__).resolve().parents[2]
LINES = [shlex.split(line) for line in runpy.run_path(str(ROOT / "scripts" / "pictures"))["commands"]()]
PLOTS = [words for words in LINES if words[:2] == ["lineal", "plot"]]
IN_WORDS = {4, 33}
"""Figures whose command needs a recipe, or a table wider than long."""


def test_every_figure_has_a_command():
    drawn = {int(re.match(r"fig(\d+)", words[-1])[1]) for words in PLOTS}
    assert drawn | IN_WORDS == set(range(1, 45))
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
            Path(words[-1]).write_text(words[1].replace("\\n", "\n"), encoding="utf-8")
    for words in [one for one in LINES if one[0] == "lineal" and {"points.csv", "points.lineal"} & set(one)][:3]:
        assert run(words[1:]) == 0, capsys.readouterr().err
