"""The picture `residuals`: whether what is left over looks like noise."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array, Index
from lineal.plots.catalogue import Kind
from lineal.plots.diagnosed import Diagnosed, diagnosed, refused
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import model_of

NAMED: Final = 3
"""Rows that are named in each panel."""
BINS: Final = 12
"""Parts of the rows whose mean is drawn as a line."""
MIN_BIN: Final = 5
STEPS: Final = {"right": (0.045, 0.0), "left": (-0.045, 0.0), "above": (0.0, 0.045), "below": (0.0, -0.045)}
"""Where the number of a row stands, seen from its point, in shares of a panel."""


def residuals(model: Any, data: Any) -> Figure:
    """Return four panels of what is left over: against the prediction, beside a normal, its spread, and against leverage.

    Of least squares residuals are ``r / (s sqrt(1 - h))``, of other likelihoods randomized quantile residuals
    ``Phi^-1(P(Y < y) + u P(Y = y))``: both are standard normal where the model holds. Drawn are the rows of the fit.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.0, 9.0], "effect": [0.1, 1.1, 1.9, 3.2, 5.0]}
    >>> model = lineal.fit(table, "effect", model="linear", penalty="none", test_size=0)
    >>> figure = residuals(model, table)
    >>> [round(one, 2) for one in figure.data["residual"]]
    [-1.15, -0.23, 0.25, 1.52, -1.7]
    """
    fitted = model_of(model)
    KIND.require(fitted)
    rows = diagnosed(fitted, data)
    values, score = rows.residual, rows.known["score"]
    if not np.isfinite(values).any():
        raise InputError(
            f"no row of {fitted.target.name} has a quantile residual: counts have one where they are whole numbers; the picture "
            "influence shows deviance residuals."
        )
    x = rows.known["mean"] if rows.normal else score
    across = "prediction" if rows.normal else "score"
    what = "standardized residual" if rows.normal else "quantile residual"
    panels = (
        _panel("Is a bend left?", rows, x, values, across, what),
        _normal(rows, values, what),
        _panel(
            "Is the spread even?", rows, x, np.sqrt(np.abs(values)), across, f"root of |{what.split(maxsplit=1)[0]}|"
        ),
        _leverage(rows),
    )
    kind = (
        "Residuals are divided by their standard deviation."
        if rows.normal
        else "Quantile residuals are normal where the model holds; of targets that jump, one is drawn of those it jumps over."
    )
    lines = f"Lines are means of {BINS} parts of the rows; rows farthest out are named."
    said = [kind, lines, *rows.notes, rows.sampled]
    return Figure(
        kind="residuals",
        title=f"What the model of {fitted.target.name} leaves over",
        caption=" ".join(said).strip(),
        panels=panels,
        verdict=rows.verdict,
        table={
            "row": rows.rows + 1, "target": rows.known["target"], "mean": rows.known["mean"], "score": score,
            "residual": values, "deviance": rows.known["deviance"], "leverage": rows.known["leverage"],
        },
        source=rows.source,
        across=2,
    )  # fmt: skip


def _panel(title: str, rows: Diagnosed, x: Array, y: Array, across: str, up: str) -> Panel:
    """Return points with the running mean and the names of the farthest."""
    marks = [Mark("points", x, y, rows=rows.rows, group=0, role=rows.role)]
    if np.nanmin(y) < 0.0:
        marks.insert(0, Mark("rule", y=[0.0], role="guide"))
    px, py = running(x, y)
    marks.append(Mark("line", px, py, group=1, role="strong"))
    marks += named(rows, x, y, rows.farthest(y, NAMED))
    return Panel(Axis.around(across, x, pad=0.08), Axis.around(up, y, pad=0.08), tuple(marks), title)


def _normal(rows: Diagnosed, values: Array, what: str) -> Panel:
    """Return residuals in order against those that as many normal numbers have in the middle."""
    from scipy import special

    known = np.flatnonzero(np.isfinite(values))
    order = known[np.argsort(values[known], kind="stable")]
    n = len(order)
    expected = special.ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    x = np.full(len(values), np.nan)
    x[order] = expected
    ends = np.array([min(expected[0], values[order[0]]), max(expected[-1], values[order[-1]])])
    marks = [
        Mark("line", ends, ends, role="guide"),
        Mark("points", x, values, rows=rows.rows, group=0, role=rows.role),
        *named(rows, x, values, rows.farthest(values, NAMED)),
    ]
    axes = Axis.around("expected of a normal", expected, pad=0.08), Axis.around(what, values, pad=0.08)
    return Panel(*axes, tuple(marks), "Is it normal?")


def _leverage(rows: Diagnosed) -> Panel:
    """Return leverage beside the residual: rows on the right and far from zero move the fit."""
    h = rows.known["leverage"]
    y = rows.known["standardized" if rows.normal else "standardized_deviance"]
    marks = [Mark("rule", y=[0.0], role="guide"), Mark("points", h, y, rows=rows.rows, group=0, role=rows.role)]
    marks += named(rows, h, y, rows.farthest(rows.known["cooks_distance"], NAMED))
    up = "standardized residual" if rows.normal else "standardized deviance residual"
    return Panel(
        Axis.around("leverage", h, [0.0], pad=0.08), Axis.around(up, y, pad=0.08), tuple(marks), "Do few rows hold it?"
    )


def named(rows: Diagnosed, x: Array, y: Array, at: Index) -> list[Mark]:
    """Return the numbers of some rows beside their points, each on the side that has most room."""
    known = np.isfinite(x) & np.isfinite(y)
    u, v = ((one - np.nanmin(one[known])) / (np.ptp(one[known]) or 1.0) for one in (x, y))
    busy = np.column_stack([u[known], v[known]])
    marks = []
    for k in at[known[at]].tolist():
        ends = {side: np.array([u[k] + du, v[k] + dv]) for side, (du, dv) in STEPS.items()}
        rooms = {side: float(np.hypot(*(busy - end).T).min()) for side, end in ends.items()}
        side = max(rooms, key=lambda one: rooms[one])
        busy = np.vstack([busy, ends[side]])
        marks.append(Mark("text", [x[k]], [y[k]], text=(str(rows.rows[k] + 1),), side=side, role="guide"))
    return marks


def running(x: Array, y: Array) -> tuple[Array, Array]:
    """Return means of parts of the rows in the order of x."""
    order = np.argsort(x, kind="stable")
    order = order[np.isfinite(x[order]) & np.isfinite(y[order])]
    parts = np.array_split(order, max(1, min(BINS, len(order) // MIN_BIN)))
    return np.array([x[part].mean() for part in parts]), np.array([y[part].mean() for part in parts])


KIND = Kind(
    name="residuals",
    question="Does what is left over look like noise?",
    inputs=("MODEL DATA",),
    notes=(),
    draw=residuals,
    refuses=refused,
)
