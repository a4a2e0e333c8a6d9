"""What tests of the command line share: an empty folder to be in, and a command run in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lineal.cli import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def lineal(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Return what runs a command, given in words, and returns its exit code, stdout and stderr."""

    def call(*words: object) -> tuple[int, str, str]:
        code = run([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call
