"""The picture `precision`: how much of what is taken for a class is of it, against how much of the class is found."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.ground.arrays import Array
from lineal.metrics.curves import at_thresholds
from lineal.plots.catalogue import Kind, classes_only
from lineal.plots.kinds.roc import SHARE, decision, found_at, score_of, table_of
from lineal.plots.measured import Measured, measured, thinned
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import model_of
from lineal.plots.wording import number


def precision(model: Any, data: Any, *, threshold: float | None = None) -> Figure:
    """Return precision against recall at every threshold; classes, band and point as in ``roc``.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "y": ["no", "yes", "no", "yes"]}
    >>> figure = precision(lineal.fit(table, "y", penalty=1.0), table)
    >>> [round(one, 3) for one in figure.data["precision"]]
    [1.0, 1.0, 0.5, 0.667, 0.5]
    """
    fitted = model_of(model)
    KIND.require(fitted)
    rows = measured(fitted, data)
    curves = found_at(rows)
    two = len(rows.classes) == 2
    marks, words = [], []
    for k, points in curves.items():
        at = thinned(len(points.recall))
        label = f"{rows.classes[k]}: mean precision {points.average_precision:.3f}"
        if two:
            grid = np.linspace(0.0, 1.0, 101)
            low, high = rows.band(lambda weight, k=k, grid=grid: _precise(rows, k, grid, weight))  # type: ignore[misc]
            marks.append(Mark("area", grid, low, y2=high, group=0, label="95 %"))
            share = points.positive / (points.positive + points.negative)
            marks.append(Mark("rule", y=[share], role="guide", label=f"all rows: {number(share)}"))
            words.append(f"The mean precision is {number(points.average_precision)}, that of all rows {number(share)}.")
        x, y = points.recall[at], points.precision[at]
        marks.append(Mark("line", *_steps(x, y), group=0 if two else k, label=label))
        marks += decision(rows, k, threshold, points, price=False)
    if not two:
        words.append("Each class in turn is told from all others, by its probability.")
    axes = (
        Axis("share of the class found (recall)", *SHARE),
        Axis("share of what is taken that is of it (precision)", *SHARE),
    )
    return Figure(
        kind="precision",
        title=f"How right it is to say {rows.classes[1]}" if two else f"How right classes of {fitted.target.name} are",
        caption=" ".join([*words, rows.caption]),
        panels=(Panel(*axes, tuple(marks)),),
        classes=() if two else rows.classes,
        verdict=rows.verdict,
        table=table_of(rows, curves, "precision"),
        source=rows.source,
    )


def _steps(recall: Array, precise: Array) -> tuple[Array, Array]:
    """Return the curve as steps: between two recalls it has the precision of the larger one."""
    return np.repeat(recall, 2)[1:], np.concatenate([precise[:1], np.repeat(precise[1:], 2)])[: 2 * len(recall) - 1]


def _precise(rows: Measured, k: int, grid: Array, weight: Array) -> Array:
    """Return the precision at given recalls; NaN for rows all of one class."""
    of_class = rows.truth == k
    if not (weight[of_class].sum() > 0.0 and weight[~of_class].sum() > 0.0):
        return np.full(len(grid), np.nan)
    points = at_thresholds(of_class, score_of(rows, k), weight)
    place = np.minimum(np.searchsorted(points.recall, grid - 1e-12), len(points.recall) - 1)
    return np.asarray(points.precision[np.maximum(place, 1)])


KIND = Kind(
    name="precision",
    question="How much of what is taken for a class is of it, and how much of the class is found?",
    inputs=("MODEL DATA",),
    notes=(),
    draw=precision,
    refuses=classes_only,
)
