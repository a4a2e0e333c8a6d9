"""A sign of life on stderr: only on a terminal, only for work that takes more than a second."""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from lineal.model.trace import Record

if TYPE_CHECKING:
    from rich.progress import Progress

SILENT_SECONDS: Final = 1.0
"""Seconds of silence before anything is drawn."""


def patience() -> float:
    """Return the seconds of silence, of which the environment may ask for another number (LINEAL_PATIENCE)."""
    try:
        return max(0.0, float(os.environ["LINEAL_PATIENCE"]))
    except (KeyError, ValueError):
        return SILENT_SECONDS


class Watch:
    """Shows what is going on while the body of a ``with`` runs, and leaves no trace on the screen."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._bar: Progress | None = None
        self._timer: threading.Timer | None = None

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
        if sys.stderr.isatty():
            self._timer = threading.Timer(patience(), self._draw)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._bar is not None:
            self._bar.stop()

    def _draw(self) -> None:
        from rich.console import Console  # here: few commands are watched for so long
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.add_task(self._words)
        self._bar = bar
        bar.start()
