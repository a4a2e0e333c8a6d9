"""The picture `angle`: weights and a row as arrows in their own plane; the score is the sign of the cosine between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.model.model import Model
from lineal.plots.catalogue import Kind, classes_only
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import Subject, model_of, subject_of
from lineal.plots.wording import clean, number


def angle(model: Any, data: Any, *, row: int | None = None) -> Figure:
    """Return weights w and rows x in the plane that both lie in: ``w'x = |w| |x| cos(angle)``.

    The dotted boundary is orthogonal to w. Two panels: a row that is classified as positive, and one as negative; the first
    of each, unless ``row`` (counted from 1) names one of them. The intercept is a column of ones, as in the lecture notes.

    >>> import lineal
    >>> table = {"x": [-2.0, -1.0, 1.0, 2.0], "z": [0.0, 1.0, 0.0, 2.0], "k": ["no", "no", "yes", "yes"]}
    >>> figure = lineal.plots.angle(lineal.fit(table, "k", penalty=0.1), table)
    >>> [angle < 90.0 for angle in figure.data["angle"]]
    [True, False]
    """
    fitted = model_of(model)
    KIND.require(fitted)
    subject = subject_of(fitted, data, also=() if row is None else (int(row) - 1,))
    w = fitted.coef[:, 0]
    rows = _rows(subject, row)
    design = np.vstack([subject.design.slice(at, at + 1).dense() for at in rows])
    design = design if fitted.center is None else design - fitted.center.reshape(-1)
    along = design @ w / np.linalg.norm(w)
    lengths = np.linalg.norm(design, axis=1)
    across = np.sqrt(np.maximum(lengths**2 - along**2, 0.0))
    degrees = np.degrees(np.arctan2(across, along))
    reach = 1.15 * float(lengths.max())
    panels = tuple(_panel(subject, at, along[k], across[k], degrees[k], reach) for k, at in enumerate(rows))
    numbers = subject.rows[rows] + 1
    return Figure(
        kind="angle",
        title="The angle between weights and a row",
        caption="The plane is that of w and the row, both with the intercept's 1; w is drawn as long as the picture allows. The "
        "score w'x = |w| |x| cos(angle) is positive on the side of the dashed boundary to which w points.",
        panels=panels, classes=subject.classes, verdict=subject.verdict, source=subject.source, across=2,
        table={"row": numbers, "score": design @ w, "length of w": np.full(len(rows), np.linalg.norm(w)),
               "length of x": lengths, "angle": degrees, "class": [subject.classes[k] for k in subject.group[rows]]},
    )  # fmt: skip


def _rows(subject: Subject, row: int | None) -> list[int]:
    """Return a row of each side of the boundary, the named one among them, the positive side first."""
    positive = subject.scores[:, 0] > 0.0
    sides = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    chosen = [int(side[0]) if len(side) else None for side in sides]
    if row is not None:
        at = subject.place(int(row))
        chosen[0 if positive[at] else 1] = at
    return [at for at in chosen if at is not None]


def _panel(subject: Subject, at: int, along: float, across: float, degrees: float, reach: float) -> Panel:
    score = float(subject.scores[at, 0])
    group = int(subject.group[at])
    side = subject.classes[int(score > 0.0)]
    arc = np.radians(np.linspace(0.0, degrees, 40))
    r = 0.25 * reach
    marks = (
        Mark("rule", x=[0.0], role="guide", label="boundary"),
        Mark("line", r * np.cos(arc), r * np.sin(arc), role="guide"),
        Mark("arrow", [0.0], [0.0], [0.85 * reach], [0.0], role="strong", label="weights w"),
        Mark("arrow", [0.0], [0.0], [along], [across], group=group, role="strong"),
        Mark("text", [0.85 * reach], [0.0], text=("w",), side="below", role="strong"),
        Mark("text", [along], [across], text=("x",), side="above", role="strong", group=group),
        Mark("text", [r * np.cos(arc[20])], [r * np.sin(arc[20])], text=(f"{number(round(degrees, 1))}°",),
             side="right" if degrees < 90 else "above"),
    )  # fmt: skip
    words = f"row {int(subject.rows[at]) + 1}: score {number(score)}, classified as {clean(side, 20)}"
    return Panel(Axis("along w", -reach, reach), Axis("across w", -0.2 * reach, reach), marks, words, square=True)


def _refuses(model: Model) -> str:
    if reason := classes_only(model):
        return reason
    if model.feature_map is not None:
        return "its weights multiply columns made of training rows."
    return (
        "" if model.coef.shape[1] == 1 else "it has a vector of weights for each class; the picture is for two classes."
    )


KIND = Kind(
    name="angle",
    question="How do the weights and a row lie to each other?",
    inputs=("MODEL DATA",),
    notes=(19,),
    draw=angle,
    refuses=_refuses,
)
