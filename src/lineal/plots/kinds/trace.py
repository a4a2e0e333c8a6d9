"""The picture `trace`: how far the objective is from its optimum, at most, pass by pass."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.model.verdict import KINDS
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.traces import Steps, steps_of
from lineal.plots.wording import number

MAX_TRACES: Final = 8


def trace(trace: Any) -> Figure:
    """Return ``F - (F_last - gap)`` over the passes through the rows, on a logarithmic scale.

    ``F_last - gap`` is proven to lie below the optimum, so that every point bounds how far its step was from it. The dashed
    line is the gap itself. Several traces are drawn over each other, their least bound taken where they are of one problem.
    A trace is a file of `lineal fit --trace` (Parquet holds the gap, CSV does not), or a model or estimator that was just
    fitted.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "b", "a", "b"]}
    >>> figure = trace(lineal.fit(table, "y", penalty=0.1, solver="gradient-descent"))
    >>> all(distance >= 0.0 for distance in figure.data["above the bound"])
    True
    """
    given = list(trace) if isinstance(trace, list | tuple) else [trace]
    if not 1 <= len(given) <= MAX_TRACES:
        raise InputError(f"a picture holds 1 to {MAX_TRACES} traces, not {len(given)}.")
    steps = [steps_of(one) for one in given]
    names = _names(steps)
    bounds = [_bound(one) for one in steps]
    marks, shown, low = [], [], []
    for k, (one, bound, name) in enumerate(zip(steps, bounds, names, strict=True)):
        above = one.objective - bound
        above = np.where(np.isfinite(above) & (above > 0.0), above, np.nan)
        marks.append(
            Mark("line", one.passes, above, group=k, role="strong" if len(steps) == 1 else "plain", label=name)
        )
        marks.append(Mark("points", one.passes, above, group=k))
        shown.append(above)
        if np.isfinite(one.gap) and one.gap > 0.0:
            marks.append(Mark("rule", y=[one.gap], role="guide", group=k))
            low.append(one.gap)
    passes = np.concatenate([one.passes for one in steps])
    up = Axis.around("objective above what is proven of the optimum", *shown, low, scale="log")
    words = [f"{name}: {_ended(one)}" for one, name in zip(steps, names, strict=True)]
    table = {
        "trace": [name for one, name in zip(steps, names, strict=True) for _ in one.step],
        "step": np.concatenate([one.step for one in steps]), "passes": passes,
        "objective": np.concatenate([one.objective for one in steps]), "above the bound": np.concatenate(shown),
    }  # fmt: skip
    return Figure(
        kind="trace", title="From the first step to the proof", caption=" ".join(words), verdict=_verdict(steps), table=table,
        panels=(Panel(Axis.around("passes through the rows", passes), up, tuple(marks)),),
        source={"model": [one.about.get("model") for one in steps]},
    )  # fmt: skip


def _bound(one: Steps) -> float:
    """Return what is proven to lie below the optimum; without a gap the least objective, so that its step is not drawn."""
    last = float(one.objective[np.flatnonzero(np.isfinite(one.objective))[-1]])
    return last - one.gap if np.isfinite(one.gap) else float(np.nanmin(one.objective))


def _ended(one: Steps) -> str:
    count = len(one.step)
    if np.isfinite(one.gap):
        return f"{count} steps, proven gap {number(one.gap)}."
    return f"{count} steps; its gap is not known, so that its least objective stands for the optimum."


def _names(steps: list[Steps]) -> list[str]:
    names: list[str] = []
    for one in steps:
        same = sum(other.split(" (")[0] == one.name for other in names)
        names.append(one.name if not same else f"{one.name} ({same + 1})")
    return names


def _verdict(steps: list[Steps]) -> Word | None:
    """Return the verdict of a single trace that says it."""
    said = steps[0].about
    if len(steps) > 1 or "kind" not in said:
        return None
    kind = str(said["kind"])
    return Word(kind, str(said.get("sentence", "")), kind in KINDS and KINDS[kind].solved)


KIND = Kind(
    name="trace",
    question="How fast did the fit come to its optimum?",
    inputs=("TRACE..",),
    notes=(),
    draw=trace,
)
