"""A sign of life on stderr: only on a terminal, only for work that takes more than a second."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from lineal.trace import Record

PATIENCE: Final = 1.0
"""Seconds of silence before anything is drawn."""


class Watch:
    """Shows what is going on while the body of a ``with`` runs, and leaves no trace on the screen."""

    def __init__(self, words: str) -> None:
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(words)
        self._timer: threading.Timer | None = None

    def say(self, words: str) -> None:
        """Replace the words beside the spinner."""
        self._bar.update(self._task, description=words)

    def step(self, record: Record) -> None:
        """Show one step of a fit."""
        passes = "1 pass" if record.passes == 1 else f"{record.passes} passes"
        self.say(
            f"fitting: step {record.step}, objective {record.objective:.6g}, {passes} over the data (Ctrl-C keeps it)"
        )

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._timer = threading.Timer(PATIENCE, self._bar.start)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
            self._bar.stop()
