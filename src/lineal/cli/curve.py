"""Small text pictures: how the loss on rows not seen depends on the strength of the penalty."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from lineal.metrics.metric import titled

CURVE_WIDTH: Final = 32
"""Characters between the least and the largest value."""


def selection(choice: Mapping[str, Any], width: int) -> Table | None:
    """Return the trials of a strength, one a line, with the loss drawn beside it; None where there were none."""
    trials: Sequence[Mapping[str, Any]] = choice["trials"]
    if not trials:
        return None
    metric = next(key for key in trials[0] if key not in ("strength", "error"))
    values = [trial[metric] for trial in trials]
    wide = width >= 72
    places = positions(logs(values), CURVE_WIDTH if wide else max(width - 34, 5))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(Text("Strength"), no_wrap=True)
    table.add_column(Text(titled(metric).capitalize()), justify="right", no_wrap=True)
    if any("error" in trial for trial in trials):
        table.add_column(Text("Error"), justify="right", no_wrap=True)
    table.add_column(Text(""), no_wrap=True)
    for trial, value, place in zip(trials, values, places, strict=True):
        chosen = trial["strength"] == choice["strength"]
        mark = "o"
        if chosen:
            mark = "* chosen" if wide else "*"
        drawn = "" if place is None else " " * place + mark
        cells = [f"{trial['strength']:.3g}", "-" if value is None else f"{value:.5g}"]
        if len(table.columns) == 4:
            error = trial.get("error")
            cells.append("-" if error is None else f"{error:.2g}")
        table.add_row(*map(Text, cells), Text(drawn, style="bold" if chosen else ""))
    return table


def logs(values: Sequence[float | None]) -> list[float | None]:
    """Return the logarithms of values that are all above zero and far apart; others as they are.

    >>> logs([1.0, None, math.e**3]), logs([-1.0, 5.0])
    ([0.0, None, 3.0], [-1.0, 5.0])
    """
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if not finite or min(finite) <= 0.0 or max(finite) < 4.0 * min(finite):
        return list(values)
    return [None if value is None else math.log(value) for value in values]


def positions(values: Sequence[float | None], width: int = CURVE_WIDTH) -> list[int | None]:
    """Return where each value lies between the least (0) and the largest (``width - 1``).

    >>> positions([1.0, None, 3.0, 2.0], 11)
    [0, None, 10, 5]
    """
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if not finite:
        return [None] * len(values)
    low, high = min(finite), max(finite)
    span = (high - low) or 1.0
    return [
        None if value is None or not math.isfinite(value) else round((value - low) / span * (width - 1))
        for value in values
    ]
