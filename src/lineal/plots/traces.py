"""Trace files: the steps of a solver or a perceptron as a table, which says whose steps they are."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lineal.tables.table import as_table

LEADING: Final = ("step", "epoch")
"""The first column of a trace: steps of a solver, or of a perceptron."""


def is_trace(path: Path) -> bool:
    """Whether a file is a trace: a table whose first column is the step, or the epoch."""
    return (
        path.suffix.lower() in (".csv", ".parquet")
        and as_table(path).names[:1] != ()
        and as_table(path).names[0] in LEADING
    )
