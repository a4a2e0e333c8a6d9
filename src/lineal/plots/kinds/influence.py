"""The picture `influence`: which rows the fit hangs on."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.plots.catalogue import Kind
from lineal.plots.diagnosed import diagnosed, refused
from lineal.plots.kinds.residuals import named
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import model_of
from lineal.plots.wording import number

LEVELS: Final = (0.5, 1.0)
"""Cook's distances that are drawn as lines."""
POINTS: Final = 200


def influence(model: Any, data: Any) -> Figure:
    """Return leverage h against the standardized residual t of every row.

    ``D = t^2 h / (p (1 - h))``; dashed are the lines D = 0.5 and D = 1, and the five rows of largest D are named. The second
    panel has the largest distances in order.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.0, 9.0], "effect": [0.1, 1.1, 1.9, 3.2, 5.0]}
    >>> model = lineal.fit(table, "effect", model="linear", penalty="none", test_size=0)
    >>> figure = influence(model, table)
    >>> figure.data["row"][0], round(figure.data["Cook's distance"][0], 1)
    (5, 16.7)
    """
    fitted = model_of(model)
    KIND.require(fitted)
    rows = diagnosed(fitted, data)
    h, t, distance = rows.known["leverage"], rows.known["standardized"], rows.known["cooks_distance"]
    far = rows.farthest(distance)
    top = max(float(np.nanmax(np.abs(t))) * 1.08, 1.0)
    right = min(1.0, float(np.nanmax(h)) * 1.1)
    at = np.linspace(right / POINTS, right, POINTS)
    marks = [Mark("rule", y=[0.0], role="faint")]
    for level in LEVELS:
        reach = np.sqrt(level * rows.parameters * (1.0 - at) / at)
        reach = np.where(reach <= top, reach, np.nan)
        for sign in (1.0, -1.0):
            label = (
                f"Cook's distance {number(LEVELS[0])} and {number(LEVELS[1])}"
                if sign > 0.0 and level == LEVELS[0]
                else ""
            )
            if np.isfinite(reach).sum() > POINTS // 20:
                marks.append(Mark("line", at, sign * reach, role="guide", label=label))
    marks += [Mark("points", h, t, rows=rows.rows, group=0, role=rows.role)]
    marks += named(rows, h, t, far)
    first = Panel(Axis("leverage", 0.0, right), Axis("standardized residual", -top, top), tuple(marks))
    order = rows.farthest(distance, min(len(h), 15))
    order = order[np.isfinite(distance[order])]
    place = np.arange(len(order), dtype=float)[::-1]
    bars = Mark("bars", np.zeros(len(order)), place - 0.35, distance[order], place + 0.35, group=0)
    names = [f"{row + 1}" for row in rows.rows[order[::-1]]]
    second = Panel(Axis.around("Cook's distance", [0.0], distance[order]), Axis.of_levels("row", names), (bars,))
    worst = int(order[0]) if len(order) else 0
    words = f"Row {rows.rows[worst] + 1} has the largest Cook's distance, {number(float(distance[worst]))}."
    every = rows.farthest(distance, len(h))
    return Figure(
        kind="influence",
        title=f"Which rows the model of {fitted.target.name} hangs on",
        caption=" ".join([words, *rows.notes, rows.sampled]).strip(),
        panels=(first, second),
        verdict=rows.verdict,
        table={
            "row": rows.rows[every] + 1, "leverage": h[every], "standardized residual": t[every],
            "Cook's distance": distance[every],
        },
        source=rows.source,
        across=2,
    )  # fmt: skip


KIND = Kind(
    name="influence",
    question="Which rows does the fit hang on?",
    inputs=("MODEL DATA",),
    notes=(),
    draw=influence,
    refuses=refused,
)
