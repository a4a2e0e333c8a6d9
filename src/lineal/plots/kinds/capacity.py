"""The picture `capacity`: training and validation loss along a sweep of degree, columns or strength."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.api.sweeping import Sweep, sweep
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.wording import number

LOG_RATIO: Final = 100.0
"""Losses that differ by more than this are drawn on a logarithmic axis: those of a double descent do."""
BELOW: Final = 1e-3
ABOVE: Final = 1e5
"""The axis goes from this share of the least validation loss to so many times it: a fit that interpolates has a training loss
of rounding alone, and a polynomial beyond its rows any."""


def capacity(data: Any, *, target: str | None = None, sweep: str = "degree=0:10", folds: int = 5) -> Figure:
    """Return the mean loss of the rows fitted and of those held out, at every point of a sweep, over some folds.

    ``data`` is a table with the column ``target``, or an answer of ``lineal.sweep``.
    Bars of length two standard errors (over the folds) stand on the validation loss. Left of its least value models are too
    simple, right of it they fit noise; from the interpolation threshold on, as many columns as rows, it may fall again.

    >>> x = [k / 20 for k in range(60)]
    >>> table = {"x": x, "y": [value**2 + 0.05 * ((k * 7) % 5) for k, value in enumerate(x)]}
    >>> figure = capacity(table, target="y", sweep="degree=0:4")
    >>> figure.data["degree"], [mark.label for mark in figure.panels[0].marks][:2]
    ([0, 1, 2, 3, 4], ['training', 'validation'])
    """
    swept = data if isinstance(data, Sweep) else _swept(data, target, sweep, folds)
    training, validation = (
        np.array([np.mean(getattr(point, side)) for point in swept.points]) for side in ("training", "validation")
    )
    errors = np.array([point.error for point in swept.points])
    x = np.array([point.value for point in swept.points], np.float64)
    across = Axis.around(swept.over, x, scale="log" if swept.over == "strength" else "linear")
    up = _losses(swept.loss, training, validation, errors)
    marks = [
        Mark("line", x, np.maximum(training, up.low), group=0, label="training"),
        Mark("line", x, validation, group=1, role="strong", label="validation"),
        Mark("points", x, np.maximum(training, up.low), group=0),
        Mark("points", x, validation, group=1),
        *_bars(x, validation, errors, up),
        *_chosen(swept, x, validation),
    ]
    best = swept.points[swept.best]
    words = [
        f"The validation loss is least at {swept.over} {number(best.value)}: {number(float(np.mean(best.validation)))}."
    ]
    if swept.one_se is not None and swept.one_se != swept.best:
        words.append(f"Within one standard error of that is the simpler {number(swept.points[swept.one_se].value)}.")
    if swept.threshold is not None:
        words.append(
            f"From {number(swept.points[swept.threshold].value)} on there are as many columns as rows: the fit interpolates."
        )
    if max(training.max(), validation.max()) > up.high:
        words.append("Losses above the axis are in the table.")
    words.append(f"{swept.words.rstrip('.').capitalize()}.")
    return Figure(
        kind="capacity", title=f"{swept.target} against {swept.over}", caption=" ".join([*words, *swept.notes]),
        panels=(Panel(across, up, tuple(marks)),), source={"data": None, "model": None},
        verdict=Word(best.verdict.kind, best.verdict.sentence, best.verdict.proven),
        table={swept.over: [point.value for point in swept.points], "columns": [point.columns for point in swept.points],
               "rows": [point.rows for point in swept.points], "training": training, "validation": validation,
               "standard error": errors, "verdict": [point.verdict.kind for point in swept.points]},
    )  # fmt: skip


_sweep = sweep


def _swept(data: Any, target: str | None, over: str, folds: int) -> Sweep:
    if target is None:
        raise InputError("a sweep needs a target: say which column is to be predicted (--target COL).")
    return _sweep(data, target, over=over, folds=folds)


def _losses(name: str, *values: Array) -> Axis:
    training, validation, errors = values
    shown = np.concatenate([training, validation, validation + np.nan_to_num(errors)])
    shown = shown[np.isfinite(shown)]
    positive, least = shown[shown > 0.0], float(np.nanmin(validation))
    if least > 0.0 and positive.max() > LOG_RATIO * positive.min():
        return Axis.around(name, np.clip(positive, BELOW * least, ABOVE * least), scale="log")
    return Axis.around(name, shown, [0.0])


def _bars(x: Array, validation: Array, errors: Array, up: Axis) -> list[Mark]:
    """Return one standard error to either side."""
    if not np.isfinite(errors).any():
        return []
    low = np.maximum(validation - errors, up.low)
    return [Mark("segments", x, low, x, validation + errors, group=1, label="one standard error to either side")]


def _chosen(swept: Sweep, x: Array, validation: Array) -> list[Mark]:
    marks = [Mark("points", [x[swept.best]], [validation[swept.best]], hollow=[True], role="strong", label="least")]
    if swept.threshold is not None:
        marks.append(Mark("rule", x=[x[swept.threshold]], role="guide", label="as many columns as rows"))
    return marks


KIND = Kind(
    name="capacity",
    question="How do training and validation loss change as the model can do more?",
    inputs=("DATA",),
    notes=(8, 32, 33),
    draw=capacity,
)
