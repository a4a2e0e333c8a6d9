"""Help, version and mistyped words: instant, and one sentence each."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from lineal import penalties
from lineal.cli.commands import lineal

HEAVY = ("numpy", "scipy", "pyarrow", "rich", "narwhals", "sklearn", "pandas")
COMMANDS = ("fit", "path", "sweep", "predict", "evaluate", "show", "verify", "summary", "dialect", "separable", "trace")


@pytest.mark.parametrize("words", [["--help"], ["--version"], [], *([command, "--help"] for command in COMMANDS)])
def test_help_and_version_load_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys, json\nfrom lineal.cli import run\n"
        f"code = run({words!r})\n"
        f"print(json.dumps([code, [name for name in {HEAVY!r} if name in sys.modules]]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []]
    assert len(done.stdout.splitlines()) > 1  # something was printed before our line
    assert done.stderr == ""


def test_help_names_every_command_and_the_exit_codes() -> None:
    done = subprocess.run([sys.executable, "-m", "lineal", "--help"], capture_output=True, text=True, check=True)
    for command in COMMANDS:
        assert f"  {command} " in done.stdout
    assert "Exit codes" in done.stdout


def test_help_spells_every_penalty_as_the_catalogue_does() -> None:
    """The help is written out, since the catalogue would load numpy."""
    helps = {
        command: next(option.help for option in lineal.commands[command].params if option.name == "penalty")
        for command in ("fit", "path")
    }
    for kind in penalties.by_name().values():
        assert kind.spelling().replace("STRENGTH", "S").replace("RATIO", "R") in helps["fit"]
        assert (kind.spelling(given=("strength",)) in helps["path"]) == bool(kind.parameters)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ft", "a.csv"], "No such command 'ft'"),
        (["fit", "a.csv", "--tagret", "y"], "--target"),
        (["fit", "a.csv", "--model", "tree"], "known are auto, linear, ridge, logistic"),
        (["fit", "a.csv", "--test-size", "1.5"], "1.5 is not in the range"),
        (["fit", "a.csv", "--seed", "-1"], "-1 is not in the range"),
        (["fit"], "Missing argument 'DATA'"),
        (["predict", "a.lineal"], "Missing argument 'DATA'"),
    ],
)
def test_mistyped_words_get_one_sentence_and_exit_code_two(words: list[str], said: str) -> None:
    done = subprocess.run([sys.executable, "-m", "lineal", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("lineal: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
