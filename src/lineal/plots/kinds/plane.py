"""The picture `plane`: the score as a plane over two columns, with and without the intercept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.ground.arrays import Array
from lineal.model.model import Model
from lineal.plots.catalogue import Kind, classes_only
from lineal.plots.planes import sliced
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import Subject, model_of, subject_of

WIRES: Final = 9
"""Wires of the surface in each direction."""


def plane(
    model: Any,
    data: Any,
    *,
    x: str | None = None,
    y: str | None = None,
    at: Mapping[str, Any] | None = None,
    turn: float = 30.0,
) -> Figure:
    """Return the score over two columns in space, seen from ``turn`` degrees, beside it the same with intercept 0.

    The surface meets height 0, where the rows lie, in the boundary. Without the intercept it goes through the origin of the
    design's columns, so that the boundary cannot move away from it.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "z": [0.0, 1.0, 0.0, 2.0], "k": ["no", "no", "yes", "yes"]}
    >>> figure = lineal.plots.plane(lineal.fit(table, "k", penalty=0.1), table)
    >>> figure.panels[0].z.name, len(figure.panels)
    ('score of yes', 2)
    """
    fitted = model_of(model)
    KIND.require(fitted)
    subject = subject_of(fitted, data)
    seen = sliced(subject, x, y, at)
    gx, gy = np.linspace(seen.x.low, seen.x.high, WIRES), np.linspace(seen.y.low, seen.y.high, WIRES)
    first, second = seen.columns
    held = _numbers(subject, at or {})
    design, offset = subject.at({first: np.tile(gx, WIRES), second: np.repeat(gy, WIRES)}, held)
    z = fitted.scores(design, offset)[:, 0].reshape(WIRES, WIRES)
    constant = float(np.asarray(fitted.intercept)) if fitted.has_intercept else 0.0
    heights = [("with the intercept", z)] + ([("with intercept 0", z - constant)] if constant else [])
    axis = Axis.around(f"score of {fitted.outputs[0]}", *(one for _, one in heights), [0.0])
    panels = tuple(
        Panel(
            seen.x, seen.y, (*_surface(gx, gy, one), _rows(subject, seen.px, seen.py)), title, z=axis, turn=float(turn)
        )
        for title, one in heights
    )
    grid_x, grid_y = np.meshgrid(gx, gy)
    words = "Rows lie at height 0, where the surface meets them is the boundary (thick)."
    return Figure(
        kind="plane", title=f"The score of {fitted.outputs[0]} as a surface", classes=subject.classes, across=2,
        caption=" ".join(filter(None, [words, subject.held((first, second), held), subject.sampled])),
        panels=panels, verdict=subject.verdict, source=subject.source,
        table={first: grid_x.reshape(-1), second: grid_y.reshape(-1), "score": z.reshape(-1),
               "score without the intercept": (z - constant).reshape(-1)},
    )  # fmt: skip


def _numbers(subject: Subject, held: Mapping[str, Any]) -> dict[str, Any]:
    return {name: float(value) if subject.numeric(name) else value for name, value in held.items()}


def _surface(gx: Array, gy: Array, z: Array) -> list[Mark]:
    """Return the wires of a surface and the line in which it meets height 0."""
    gap = [np.nan]
    lines = [(gx, np.full(len(gx), gy[k]), z[k]) for k in range(len(gy))]
    lines += [(np.full(len(gy), gx[k]), gy, z[:, k]) for k in range(len(gx))]
    x, y, h = (np.concatenate([np.concatenate([line[k], gap]) for line in lines]) for k in range(3))
    zero = _crossing(gx, gy, z)
    marks = [Mark("line", x, y, z=h, group=0, role="faint", label="score")]
    if len(zero):
        marks.append(Mark("line", zero[:, 0], zero[:, 1], z=np.zeros(len(zero)), role="strong", label="boundary"))
    return marks


def _crossing(gx: Array, gy: Array, z: Array) -> Array:
    """Return where wires cross height 0, in order along the line, (points, 2)."""
    found = []
    for k, height in enumerate(z):
        for j in np.flatnonzero(height[:-1] * height[1:] < 0.0).tolist():
            share = height[j] / (height[j] - height[j + 1])
            found.append((gx[j] + share * (gx[j + 1] - gx[j]), gy[k]))
    for k, height in enumerate(z.T):
        for j in np.flatnonzero(height[:-1] * height[1:] < 0.0).tolist():
            share = height[j] / (height[j] - height[j + 1])
            found.append((gx[k], gy[j] + share * (gy[j + 1] - gy[j])))
    if len(found) < 2:
        return np.empty((0, 2))
    points = np.array(found)
    scaled = (points - points.mean(axis=0)) / np.where((sd := points.std(axis=0)) > 0.0, sd, 1.0)
    direction = np.linalg.svd(scaled, full_matrices=False)[2][0]
    return np.asarray(points[np.argsort(scaled @ direction, kind="stable")])


def _rows(subject: Subject, px: Array, py: Array) -> Mark:
    return Mark("points", px, py, z=np.zeros(len(px)), group=subject.group, rows=subject.rows)


def _refuses(model: Model) -> str:
    if reason := classes_only(model):
        return reason
    return "" if model.coef.shape[1] == 1 else "it has a score for each class; the picture is for two classes."


KIND = Kind(
    name="plane",
    question="How high is the score over two columns, and what does the intercept do?",
    inputs=("MODEL DATA",),
    notes=(22,),
    draw=plane,
    refuses=_refuses,
)
