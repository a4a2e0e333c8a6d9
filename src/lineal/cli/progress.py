"""A sign of life on stderr: on a terminal after a second, in a log now and then for work that takes half a minute."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from lineal.model.trace import Record

if TYPE_CHECKING:
    from rich.progress import Progress

SILENT_SECONDS: Final = 1.0
"""Seconds of silence before anything is drawn."""

LOG_SILENT_SECONDS: Final = 30.0
"""Seconds of silence before the first line in a log; every silence after it is twice as long as the one before."""

LOG_MIN_SECONDS: Final = 1.0
"""The least silence between two lines in a log."""


def patience() -> float:
    """Return the seconds of silence, of which the environment may ask for another number (LINEAL_PATIENCE)."""
    try:
        return max(0.0, float(os.environ["LINEAL_PATIENCE"]))
    except (KeyError, ValueError):
        return SILENT_SECONDS if sys.stderr.isatty() else LOG_SILENT_SECONDS


class Watch:
    """Shows what is going on while the body of a ``with`` runs.

    It leaves no trace on the screen of a terminal; elsewhere, as in a log, a line is written after 30, 90, 210, ... seconds.
    """

    def __init__(self, words: str) -> None:
        self._words = words
        self._bar: Progress | None = None
        self._timer: threading.Timer | None = None
        self._ended = threading.Event()
        self._stream = sys.stderr

    def say(self, words: str) -> None:
        """Replace the words beside the spinner."""
        self._words = words
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], description=words)

    def share(self, words: str, done: float) -> None:
        """Say what is going on and which share of it is done."""
        self.say(f"{words}: {min(max(done, 0.0), 1.0):.0%}")

    def step(self, record: Record) -> None:
        """Show one step of a fit."""
        passes = "1 pass" if record.passes == 1 else f"{record.passes} passes"
        self.say(
            f"fitting: step {record.step}, objective {record.objective:.6g}, {passes} over the data (Ctrl-C keeps it)"
        )

    def __enter__(self) -> Self:
        self._later(patience(), self._draw if sys.stderr.isatty() else self._log)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._bar is not None:
            self._bar.stop()

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        self._timer = threading.Timer(seconds, action)
        self._timer.daemon = True
        self._timer.start()

    def _log(self) -> None:
        """Write lines, each after twice the silence of the one before, until the work has ended."""
        silence = waited = max(patience(), LOG_MIN_SECONDS)
        while not self._ended.is_set():
            print(f"lineal: {waited:.0f} s, {self._words}", file=self._stream, flush=True)
            silence *= 2.0
            waited += silence
            self._ended.wait(silence)

    def _draw(self) -> None:
        from rich.console import Console  # here: few commands are watched for so long
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.add_task(self._words)
        self._bar = bar
        bar.start()
