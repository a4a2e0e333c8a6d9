"""What a terminal sees that a pipe does not: colours, and a sign of life for long work."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lineal.cli import progress, run
from lineal.model.trace import Record

PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"


def on_terminal(words: list[str], **environment: str) -> str:
    """Run a command with stdout and stderr on a pseudo-terminal and return what it shows."""
    ours, theirs = pty.openpty()
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    known |= {"TERM": "xterm-256color", "COLUMNS": "80", "LINEAL_PATIENCE": "86400", **environment}
    with subprocess.Popen([sys.executable, "-m", "lineal", *words], stdout=theirs, stderr=theirs, env=known) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        os.close(ours)
        assert process.wait() == 0
    return shown.decode()


@pytest.mark.slow
def test_colours_on_a_terminal_unless_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    coloured = on_terminal(["fit", str(PENGUINS), "--target", "species", "--penalty", "ridge:0.01"])
    assert coloured.startswith("\x1b[1;32mOptimal")
    plain = on_terminal(["show", "penguins.lineal"], NO_COLOR="1")
    assert "\x1b[1;32m" not in plain
    assert "Optimal" in plain
    assert "\x1b[" not in on_terminal(["show", "penguins.lineal"], TERM="dumb", NO_COLOR="1")
    assert "\x1b[" not in on_terminal(["show", "penguins.lineal", "--json"])


RECORD = Record(step=7, objective=0.25, estimate=0.1, passes=9, seconds=1.0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_shows_a_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.Watch("reading [b]x[/b].csv") as watch:
        while "reading [b]x[/b].csv" not in stream.getvalue():
            time.sleep(0.01)
        watch.step(RECORD)
        while "step 7, objective 0.25, 9 passes" not in stream.getvalue():
            time.sleep(0.01)


def test_a_log_gets_a_line_now_and_then_and_short_work_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LOG_SILENT_SECONDS", 3600.0)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.Watch("reading x.csv") as watch:
        watch.step(RECORD)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
    stream = io.StringIO()
    monkeypatch.setattr(progress, "LOG_SILENT_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LOG_MIN_SECONDS", 0.01)
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.Watch("reading [b]x[/b].csv") as watch:
        while "reading" not in stream.getvalue():
            time.sleep(0.01)
        watch.step(RECORD)
        while "step 7" not in stream.getvalue():
            time.sleep(0.01)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "lineal: 0 s, reading [b]x[/b].csv"
    assert lines[-1].endswith("s, fitting: step 7, objective 0.25, 9 passes over the data (Ctrl-C keeps it)")


def test_the_silences_of_a_log_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 30, 90, 210, 450 seconds: an hour has seven lines."""
    stream, waits = io.StringIO(), []
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.delenv("LINEAL_PATIENCE", raising=False)
    watch = progress.Watch("fitting")

    class Clock:
        def is_set(self) -> bool:
            return len(waits) == 3

        def wait(self, seconds: float) -> None:
            waits.append(seconds)

    watch._ended = Clock()  # type: ignore[assignment]
    watch._log()
    assert waits == [60.0, 120.0, 240.0]
    assert stream.getvalue().splitlines() == [f"lineal: {at} s, fitting" for at in (30, 90, 210)]


def test_short_work_shows_nothing_even_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = Terminal()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "SILENT_SECONDS", 3600.0)
    monkeypatch.setattr(sys, "stderr", stream)
    assert run(["fit", str(PENGUINS), "--target", "species", "--penalty", "ridge:0.01"]) == 0
    assert stream.getvalue() == ""
    assert capsys.readouterr().out.startswith("Optimal")


@pytest.mark.parametrize(
    ("told", "seconds"), [(None, 1.0), ("0", 0.0), ("2.5", 2.5), ("-3", 0.0), ("soon", 1.0), ("", 1.0)]
)
def test_the_environment_may_ask_for_another_patience(told, seconds, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.delenv("LINEAL_PATIENCE", raising=False)
    if told is not None:
        monkeypatch.setenv("LINEAL_PATIENCE", told)
    assert progress.patience() == seconds
