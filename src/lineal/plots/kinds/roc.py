"""The picture `roc`: what share of a class is found, against the share of others taken for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.metrics.curves import Thresholds, at_thresholds
from lineal.plots.catalogue import Kind, classes_only
from lineal.plots.measured import Measured, measured, thinned
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import model_of
from lineal.plots.wording import clean, number

SHARE = (-0.02, 1.02)


def roc(model: Any, data: Any, *, threshold: float | None = None) -> Figure:
    """Return the true positive rate against the false positive rate at every threshold.

    Of two classes the second is looked for, with a 95 % bootstrap band; of several each in turn against all others. The point
    is the decision: the most probable class, or the probability ``threshold``.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "y": ["no", "yes", "no", "yes"]}
    >>> figure = roc(lineal.fit(table, "y", penalty=1.0), table)
    >>> figure.data["recall"], figure.data["false positive rate"]
    ([0.0, 0.5, 0.5, 1.0, 1.0], [0.0, 0.0, 0.5, 0.5, 1.0])
    """
    fitted = model_of(model)
    KIND.require(fitted)
    rows = measured(fitted, data)
    curves = found_at(rows)
    marks = [Mark("line", [0.0, 1.0], [0.0, 1.0], role="guide", label="by chance")]
    words = []
    for k, points in curves.items():
        at = thinned(len(points.recall))
        label = f"{rows.classes[k]}: area {points.area:.3f}"
        if len(rows.classes) == 2:
            grid = np.linspace(0.0, 1.0, 101)
            low, high = rows.band(lambda weight, k=k, grid=grid: _found(rows, k, grid, weight))  # type: ignore[misc]
            marks.append(Mark("area", grid, low, y2=high, group=0, label="95 %"))
            ends = rows.band(lambda weight, k=k: _area(rows, k, weight))  # type: ignore[misc]
            words.append(
                f"The area is {number(points.area)} ({number(ends[0][0])} to {number(ends[1][0])} in 95 % of samples)."
            )
        marks.append(
            Mark("line", points.fallout[at], points.recall[at], group=0 if len(rows.classes) == 2 else k, label=label)
        )
        marks += decision(rows, k, threshold, points)
    if len(rows.classes) > 2:
        words.append("Each class in turn is told from all others, by its probability.")
    axes = Axis("share of the others taken for it", *SHARE), Axis("share of the class found", *SHARE)
    return Figure(
        kind="roc",
        title=f"What is found of {fitted.target.name}, and at what price",
        caption=" ".join([*words, rows.caption]),
        panels=(Panel(*axes, tuple(marks)),),
        classes=rows.classes if len(rows.classes) > 2 else (),
        verdict=rows.verdict,
        table=table_of(rows, curves, "false positive rate"),
        source=rows.source,
    )


def found_at(rows: Measured) -> dict[int, Thresholds]:
    """Return what every threshold finds of each class that is looked for: of two the second, of several each that occurs."""
    if len(rows.classes) == 2:
        return {1: at_thresholds(rows.truth == 1, rows.eta[:, 0], rows.weight)}
    occurs = [k for k in range(len(rows.classes)) if 0.0 < rows.weight[rows.truth == k].sum() < rows.weight.sum()]
    if not occurs:
        raise InputError("the rows to measure are all of one class, so there is nothing to tell apart.")
    return {k: at_thresholds(rows.truth == k, score_of(rows, k), rows.weight) for k in occurs}


def score_of(rows: Measured, k: int) -> Array:
    """Return by what rows are put in order for a class: its score of two classes, its probability of several."""
    if len(rows.classes) == 2:
        return rows.eta[:, 0]
    known = rows.eta if rows.model.loss.decides else rows.proba
    if known.shape[1] != len(rows.classes):
        raise InputError(
            "this committee has scores of code words, not of classes, so no class has a curve; ask for confusion."
        )
    return known[:, k]


def decision(rows: Measured, k: int, threshold: float | None, points: Thresholds, *, price: bool = True) -> list[Mark]:
    """Return the point of the decision on a curve."""
    rule = None if threshold is None else rows.model.rule(threshold)
    taken = rows.decided(rule) == k
    hits = float(rows.weight[taken & (rows.truth == k)].sum())
    false = float(rows.weight[taken & (rows.truth != k)].sum())
    recall = hits / points.positive
    x, y = (false / points.negative, recall) if price else (recall, hits / (hits + false) if hits + false else 1.0)
    label = "decided here" if threshold is None else f"threshold {number(threshold)}"
    group = 0 if len(rows.classes) == 2 else k
    return [Mark("points", [x], [y], group=group, role="strong", label=label)]


def table_of(rows: Measured, curves: dict[int, Thresholds], price: str) -> dict[str, Any]:
    """Return the points of curves as a table."""
    places = {k: thinned(len(one.recall)) for k, one in curves.items()}
    known = {k: (one.fallout if price != "precision" else one.precision) for k, one in curves.items()}
    answer: dict[str, Any] = {
        "threshold of the score": np.concatenate([curves[k].thresholds[at] for k, at in places.items()]),
        price: np.concatenate([known[k][at] for k, at in places.items()]),
        "recall": np.concatenate([curves[k].recall[at] for k, at in places.items()]),
    }
    if len(curves) > 1:
        answer = {"class": [clean(rows.classes[k]) for k, at in places.items() for _ in at]} | answer
    return answer


def _found(rows: Measured, k: int, grid: Array, weight: Array) -> Array:
    """Return the share found at given shares of others; NaN for rows all of one class."""
    if not _both(rows, k, weight):
        return np.full(len(grid), np.nan)
    points = at_thresholds(rows.truth == k, score_of(rows, k), weight)
    return np.interp(grid, points.fallout, points.recall)


def _area(rows: Measured, k: int, weight: Array) -> Array:
    if not _both(rows, k, weight):
        return np.array([np.nan])
    return np.array([at_thresholds(rows.truth == k, score_of(rows, k), weight).area])


def _both(rows: Measured, k: int, weight: Array) -> bool:
    of_class = rows.truth == k
    return bool(weight[of_class].sum() > 0.0 and weight[~of_class].sum() > 0.0)


KIND = Kind(
    name="roc",
    question="What share of a class is found, for what share of the others taken for it?",
    inputs=("MODEL DATA",),
    notes=(),
    draw=roc,
    refuses=classes_only,
)
