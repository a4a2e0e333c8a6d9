"""The picture `cost`: what decisions cost at every threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.ground.arrays import Array
from lineal.metrics.curves import at_thresholds
from lineal.metrics.decision import Costs, of_costs
from lineal.model.model import Model
from lineal.plots.catalogue import Kind, probabilities_only
from lineal.plots.measured import measured
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import model_of
from lineal.plots.wording import number

GRID = 201


def cost(model: Any, data: Any, *, costs: Costs | None = None, threshold: float | None = None) -> Figure:
    """Return the mean cost of a row where the second class is decided above each probability, with a 95 % bootstrap band.

    ``costs[k, l]`` is what deciding class l costs where k is true; without them every mistake costs 1. Marked are the
    threshold that follows from the costs, tau = c_01 / (c_01 + c_10) (right answers free), or ``threshold``, and the
    cheapest one of these rows.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "y": ["no", "yes", "no", "yes"]}
    >>> figure = cost(lineal.fit(table, "y", penalty=1.0), table)
    >>> figure.data["mean cost"][0], figure.data["mean cost"][100]
    (0.5, 0.5)
    """
    fitted = model_of(model)
    KIND.require(fitted)
    rows = measured(fitted, data)
    rule = of_costs([[0.0, 1.0], [1.0, 0.0]] if costs is None else costs, fitted.target.classes or ())
    p, of_second = rows.proba[:, 1], rows.truth == 1
    grid = np.linspace(0.0, 1.0, GRID)

    def mean_cost(weight: Array) -> Array:
        if not (weight[of_second].sum() > 0.0 and weight[~of_second].sum() > 0.0):
            return np.full(GRID, np.nan)
        points = at_thresholds(of_second, p, weight)
        place = np.searchsorted(-points.thresholds, -grid, side="left") - 1  # the last threshold above that of the grid
        return np.asarray(points.costs(rule.costs)[place])

    at_thresholds(of_second, p, rows.weight)  # rows of both classes, or a sentence
    curve = mean_cost(rows.weight)
    low, high = rows.band(mean_cost)
    best = int(np.nanargmin(curve))
    chosen = threshold if threshold is not None else rule.threshold
    label = "" if chosen is None else f"{'given' if threshold is not None else 'by the costs'}: {number(chosen)}"
    marks = [
        Mark("area", grid, low, y2=high, group=0, label="95 %"),
        Mark("line", grid, curve, group=0, label="mean cost"),
        Mark(
            "points",
            [grid[best]],
            [curve[best]],
            group=1,
            role="strong",
            label=f"least on these rows: {number(grid[best])}",
        ),
        *([] if chosen is None else [Mark("rule", [chosen], role="guide", label=label)]),
    ]
    words = [f"{rows.classes[1]} is decided where its probability is above the threshold."]
    words += ["Every mistake costs 1."] if costs is None else [f"Costs: {_costs(rule.costs, rows.classes)}."]
    if chosen is not None:
        there = curve[int(np.argmin(np.abs(grid - chosen)))]
        words.append(
            f"A row costs {number(there)} at {number(chosen)}, and {number(curve[best])} at best, {number(grid[best])}."
        )
    return Figure(
        kind="cost",
        title=f"What decisions about {fitted.target.name} cost",
        caption=" ".join([*words, rows.caption]),
        panels=(
            Panel(
                Axis(f"threshold of the probability of {rows.classes[1]}", -0.02, 1.02),
                Axis.around("mean cost of a row", [0.0], curve, low, high),
                tuple(marks),
            ),
        ),
        verdict=rows.verdict,
        table={"threshold": grid, "mean cost": curve, "lower": low, "upper": high},
        source=rows.source,
    )


def _costs(table: Array, classes: tuple[str, ...]) -> str:
    return ", ".join(
        f"{classes[decided]} for {classes[true]} {number(float(table[true, decided]))}"
        for true in range(2)
        for decided in range(2)
        if true != decided or table[true, decided]
    )


def refuses(model: Model) -> str:
    """Say why a model has no threshold; "" if it has."""
    if reason := probabilities_only(model):
        return reason
    return (
        ""
        if len(model.target.classes or ()) == 2
        else "a threshold parts two classes, and it has more; ask for confusion."
    )


KIND = Kind(
    name="cost",
    question="What do decisions cost at every threshold?",
    inputs=("MODEL DATA",),
    notes=(),
    draw=cost,
    refuses=refuses,
)
