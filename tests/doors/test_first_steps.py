"""What one types first: help of a command, completion in a shell, tables to play with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lineal.cli.examples import COMMANDS, TABLES

Lineal = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("command", ["fit", "predict", "help"])
def test_help_of_a_command_is_its_own(command: str, lineal: Lineal) -> None:
    assert lineal("help", command)[:2] == lineal(command, "--help")[:2]


def test_help_alone_is_that_of_the_program(lineal: Lineal) -> None:
    assert lineal("help")[1] == lineal("--help")[1]
    code, _, err = lineal("help", "fitt")
    assert (code, "Did you mean 'fit'?" in err) == (2, True)


def completed(words: str, at: int) -> list[str]:
    asked = {**os.environ, "COMP_WORDS": words, "COMP_CWORD": str(at), "_LINEAL_COMPLETE": "bash_complete"}
    code = "from lineal.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=asked, capture_output=True, text=True, check=True)
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "at", "offered"),
    [
        ("lineal pred", 1, ["predict"]),
        ("lineal fit --test-f", 2, ["--test-file"]),
        ("lineal fit t.csv --missing me", 4, ["mean", "median"]),
        ("lineal completion ", 2, ["bash", "zsh", "fish"]),
    ],
)
def test_shells_are_offered_what_can_be_typed(words: str, at: int, offered: list[str]) -> None:
    assert completed(words, at) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_of_shells_are_read_by_them(shell: str, lineal: Lineal) -> None:
    code, out, err = lineal("completion", shell)
    assert code == 0, err
    assert "_LINEAL_COMPLETE" in out
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=out, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_what_the_examples_say_can_be_typed(folder: Path, lineal: Lineal, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = lineal("examples", "play")
    assert code == 0, err
    before = {name: (folder / "play" / name).read_bytes() for name in TABLES}
    monkeypatch.chdir(folder / "play")
    for command in COMMANDS:
        assert f"  {command}\n" in out
        code, _, err = lineal(*command.split()[1:])
        assert code == 0, (command, err)
    monkeypatch.chdir(folder)
    assert lineal("examples", "play")[0] == 2
    answer = json.loads(lineal("examples", "again", "--json")[1])
    assert {Path(name).name: Path(name).read_bytes() for name in answer["files"]} == before
