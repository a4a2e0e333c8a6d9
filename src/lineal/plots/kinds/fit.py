"""The picture `fit`: how the predicted number runs through the rows along one column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.plots.catalogue import Kind, numbers_only
from lineal.plots.planes import held_at
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import GRID, Subject, model_of, subject_of

MAX_SEGMENTS: Final = 200
"""Rows from which on residuals are no longer drawn as segments."""
LEVEL: Final = 0.95


def fit(model: Any, data: Any, *, x: str | None = None, at: Mapping[str, Any] | None = None) -> Figure:
    """Return the predicted number along one column ``x``, the one of largest effect unless named, others held.

    A segment leads from each row to its own prediction; its length is the residual ``y - mean``. The band holds 95 % of
    targets, where the fit says how sure it is. ``at`` holds columns at other values than those of the typical row.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 4.0], "y": [1.0, 3.0, 5.0, 9.0]}
    >>> figure = fit(lineal.fit(table, "y", model="linear", penalty="none"), table)
    >>> figure.panels[0].x.name, figure.data["residual"]
    ('x', [0.0, 0.0, 0.0, 0.0])
    """
    KIND.require(model_of(model))
    subject = subject_of(model, data)
    (name,) = subject.axes((x,), 1)
    if not subject.numeric(name):
        raise InputError(f"the column {name!r} holds levels, not numbers; the picture effect draws those.")
    held = held_at(subject, at, (name,))
    across = np.where(np.isnan(subject.cells[name]), subject.typical[name], subject.cells[name])
    axis = Axis.around(name, across)
    ends = (across.min(), across.max()) if len(np.unique(across)) > 1 else (axis.low, axis.high)
    grid = np.linspace(ends[0], ends[1], 2 * GRID + 1)
    design, offset = subject.at({name: grid}, held)
    curve = subject.model.means(design, offset)[:, 0]
    y, own = subject.y[:, 0], subject.model.means(subject.design, subject.offset)[:, 0]
    hollow = _elsewhere(subject, name, across, held, own)
    marks, shown, words = _band(subject, design, grid), [curve, y], []
    if marks:
        low, high = min(curve.min(), y.min()), max(curve.max(), y.max())
        shown += [np.clip(edge, 1.5 * low - 0.5 * high, 1.5 * high - 0.5 * low) for edge in (marks[0].y, marks[0].y2)]
        words.append("The band holds 95 % of targets.")
    if len(y) <= MAX_SEGMENTS:
        marks.append(Mark("segments", across, y, across, own, role="faint", rows=subject.rows, label="residual"))
    marks.append(
        Mark("points", across, y, rows=subject.rows, hollow=hollow, size=_sizes(subject), group=0, label="row")
    )
    marks.append(Mark("line", grid, curve, group=1, role="strong", label="prediction"))
    target = subject.model.target.name
    if hollow.any():
        words.append("Hollow points are predicted otherwise by their own values of the other columns.")
    return Figure(
        kind="fit",
        title=f"{target} along {name}",
        caption=" ".join([subject.held((name,), held), *words, subject.sampled]).strip(),
        panels=(Panel(axis, Axis.around(target, *shown), tuple(marks)),),
        verdict=subject.verdict,
        table={"row": subject.rows + 1, name: across, target: y, "prediction": own, "residual": y - own},
        source=subject.source,
    )


def _elsewhere(subject: Subject, name: str, across: Array, held: Mapping[str, Any], own: Array) -> Any:
    """Return the rows whose own prediction is not on the curve."""
    design, offset = subject.at({name: across}, held)
    on = subject.model.means(design, offset)[:, 0]
    return np.abs(on - own) > 1e-6 * max(float(np.abs(own).max()), 1e-300)


def _sizes(subject: Subject) -> Any:
    return () if subject.weight is None else subject.weight


def _band(subject: Subject, design: Any, grid: Array) -> list[Mark]:
    """Return where 95 % of targets are expected; nothing where the fit does not say."""
    try:
        interval = subject.model.interval(design, LEVEL)
    except InputError:
        return []
    return [Mark("area", grid, interval.lower, y2=interval.upper, group=1, label="95 % of targets")]


KIND = Kind(
    name="fit",
    question="How does the prediction run through the rows along one column, and how far are they from it?",
    inputs=("MODEL DATA",),
    notes=(6, 7, 8),
    draw=fit,
    refuses=numbers_only,
)
