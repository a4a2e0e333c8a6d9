"""The picture `margin`: how far rows are from the boundary, those that were fitted beside those held out."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array, Mask
from lineal.model.model import Model
from lineal.plots.catalogue import Kind, classes_only
from lineal.plots.parts import held_out
from lineal.plots.planes import plane
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import Subject, model_of, subject_of
from lineal.plots.wording import number

MACHINES: Final = ("hinge", "squared-hinge")
"""Losses whose optimum is that of the rows with ``y eta <= 1`` alone."""
TOUCH: Final = 1e-6
"""How far above the margin a row still counts as on it: coefficients are optimal up to the gap."""
BLOCK_CELLS: Final = 10**7
"""Cells of a design that are made dense at a time."""


def margin(model: Any, data: Any) -> Figure:
    """Return the rows at their distances ``eta / |w|`` from the boundary, in one panel those fitted, in one those held out.

    Columns count as standardized ones, with mean 0 and standard deviation 1 over the rows: ``w_j`` is the coefficient times the
    deviation, without the intercept. gamma is the least ``y eta / |w|`` of the fitted rows (y = -1, 1), negative
    where they are not separated; R the largest length
    of a row. Support rows are ringed: for support vector machines those
    with ``y eta <= 1``, else those nearest to the boundary.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 3.0, 4.0], "k": ["no", "no", "yes", "yes"]}
    >>> figure = margin(lineal.fit(table, "k", model="svm", penalty=0.01), table)
    >>> figure.data["support"]
    ['no', 'yes', 'yes', 'no']
    """
    fitted = model_of(model)
    KIND.require(fitted)
    subject = subject_of(fitted, data)
    length = float(np.linalg.norm(fitted.coef[:, 0] * subject.spread))
    if not length > 0.0:
        raise InputError(
            "no column that differs from row to row has a coefficient: there is no boundary to be far from."
        )
    distance = subject.scores[:, 0] / length
    away = np.where(subject.y[:, 0] > 0.5, 1.0, -1.0) * distance
    held = held_out(fitted, data)
    fit = np.ones(len(away), np.bool_) if held is None else ~np.isin(subject.rows, held)
    fit = np.ones(len(away), np.bool_) if not fit.any() else fit
    gamma, radius = float(away[fit].min()), _radius(subject, fit)
    support = fit & _support(fitted, away, gamma, length)
    seen = plane(subject, "score")
    across = Axis.around(
        "distance from the boundary, columns standardized", distance, [0.0, 1.0 / length, -1.0 / length]
    )
    lines = _lines(fitted, gamma, length)
    parts = [("fitted rows", fit)] if fit.all() else [("fitted rows", fit), ("held out", ~fit)]
    panels = tuple(
        Panel(across, seen.y, (*lines, *_rows(subject, distance, seen.py, part, support)), title)
        for title, part in parts
    )
    words = [
        f"gamma, the least distance of a fitted row on its own side, is {number(gamma)}; R, the longest row, {number(radius)}."
    ]
    if gamma > 0.0:
        bound = (radius / gamma) ** 2
        words.append(
            f"R^2 / gamma^2 is {number(bound)}, divided by the {int(fit.sum()):,} rows {number(bound / fit.sum())}."
        )
    else:
        words.append("It is not above zero: the boundary does not separate the fitted rows.")
    words.append(f"{int(support.sum()):,} support rows are ringed.")
    return Figure(
        kind="margin", title="How far rows are from the boundary", caption=" ".join([*words, subject.sampled]).strip(),
        panels=panels, classes=subject.classes, verdict=subject.verdict, across=2,
        source={**subject.source, "gamma": gamma, "radius": radius},
        table={"row": subject.rows + 1, "part": np.where(fit, "fitted", "held out"), "distance": distance,
               "distance on its own side": away, "support": np.where(support, "yes", "no"),
               fitted.target.name: [subject.classes[k] for k in subject.group.tolist()]},
    )  # fmt: skip


def _support(model: Model, away: Array, gamma: float, length: float) -> Mask:
    if model.loss.name in MACHINES:
        return np.asarray(away * length <= 1.0 + TOUCH)
    return np.asarray(away <= gamma + TOUCH * abs(gamma))


def _radius(subject: Subject, fit: Mask) -> float:
    """Return the largest length of a fitted row, its columns standardized."""
    (n, columns), largest = subject.design.shape, 0.0
    _, mean, _, _ = subject.design.moments(None)
    moved = subject.spread > 0.0
    step = max(1, BLOCK_CELLS // max(columns, 1))
    for start in range(0, n, step):
        rows = subject.design.slice(start, min(start + step, n)).dense()[fit[start : start + step]]
        z = (rows[:, moved] - mean[moved]) / subject.spread[moved]
        largest = max(largest, float(np.max(np.einsum("ij,ij->i", z, z), initial=0.0)))
    return math.sqrt(largest)


def _lines(model: Model, gamma: float, length: float) -> list[Mark]:
    lines = [Mark("rule", x=[0.0], role="strong", label="boundary")]
    if model.loss.name in MACHINES:
        lines.append(Mark("rule", x=[-1.0 / length, 1.0 / length], role="guide", label="y score = 1"))
    elif gamma > 0.0:
        lines.append(Mark("rule", x=[-gamma, gamma], role="guide", label="gamma"))
    return lines


def _rows(subject: Subject, distance: Array, up: Array, part: Mask, support: Mask) -> list[Mark]:
    at, ringed = np.flatnonzero(part), np.flatnonzero(part & support)
    marks = [Mark("points", distance[at], up[at], group=subject.group[at], rows=subject.rows[at])]
    if len(ringed):
        rings = np.ones(len(ringed), np.bool_)
        marks.append(Mark("points", distance[ringed], up[ringed], rows=subject.rows[ringed], hollow=rings, role="strong",
                          label="support"))  # fmt: skip
    return marks


def _refuses(model: Model) -> str:
    if reason := classes_only(model):
        return reason
    if model.coef.shape[1] > 1:
        return "it has a score for each class; the picture is for two classes."
    if model.feature_map is not None:
        return "its columns are made of training rows, among which distances are others; ask for boundary."
    return (
        "" if np.any(model.coef[int(model.has_intercept) :]) else "all its coefficients are zero: there is no boundary."
    )


KIND = Kind(
    name="margin",
    question="How far are rows from the boundary, and is it as far for rows that were not fitted?",
    inputs=("MODEL DATA",),
    notes=(31,),
    draw=margin,
    refuses=_refuses,
)
