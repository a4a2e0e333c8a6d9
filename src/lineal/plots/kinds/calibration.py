"""The picture `calibration`: whether what has probability 0.8 happens eight times of ten."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.ground.arrays import Array
from lineal.plots.catalogue import Kind, probabilities_only
from lineal.plots.measured import Measured, measured
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import model_of
from lineal.plots.wording import number

BINS: Final = 10


def calibration(model: Any, data: Any, *, threshold: float | None = None) -> Figure:
    """Return how often what has a predicted probability came true, for tenths of the probability.

    Of two classes the probability is that of the second, of several that of the class predicted. Bars hold the middle 95 % of
    bootstrap samples; below, how many rows have which probability. ``threshold`` is marked.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "y": ["no", "yes", "no", "yes"]}
    >>> figure = calibration(lineal.fit(table, "y", penalty=1.0), table)
    >>> figure.data["rows"]
    [2.0, 2.0]
    """
    fitted = model_of(model)
    KIND.require(fitted)
    rows = measured(fitted, data)
    p, happened = _chances(rows)
    place = np.clip((p * BINS).astype(np.intp), 0, BINS - 1)

    def shares(weight: Array) -> Array:
        total = np.bincount(place, weight, BINS)
        came = np.bincount(place, weight * happened, BINS)
        return np.asarray(np.divide(came, total, out=np.full(BINS, np.nan), where=total > 0.0))

    total = np.bincount(place, rows.weight, BINS)
    used = np.flatnonzero(total > 0.0)
    said, came = np.bincount(place, rows.weight * p, BINS)[used] / total[used], shares(rows.weight)[used]
    low, high = (end[used] for end in rows.band(shares))
    name = (
        f"predicted probability of {rows.classes[1]}"
        if len(rows.classes) == 2
        else "probability of the class predicted"
    )
    marks = [
        Mark("line", [0.0, 1.0], [0.0, 1.0], role="guide", label="as predicted"),
        Mark("segments", said, low, said, high, group=0, label="95 %"),
        Mark("line", said, came, group=0),
        Mark("points", said, came, group=0, label="rows of a tenth"),
    ]
    rules = (
        [] if threshold is None else [Mark("rule", [fitted.rule(threshold).threshold], role="guide", label="threshold")]
    )
    top = float(total.max())
    edges = used / BINS
    counts = [Mark("bars", edges, np.zeros(len(used)), edges + 1.0 / BINS, total[used], group=0, role="faint"), *rules]
    across = Axis(name, -0.02, 1.02)
    off = float(np.sum(total[used] * np.abs(said - came)) / np.sum(total[used]))
    words = f"On average what is predicted is {number(off)} away from what happens (mean over rows of the tenths' distance)."
    return Figure(
        kind="calibration",
        title=f"Do probabilities of {fitted.target.name} come true?",
        caption=" ".join([words, rows.caption]),
        panels=(
            Panel(across, Axis("how often it was so", -0.02, 1.02), (*marks, *rules)),
            Panel(across, Axis("rows", 0.0, 1.05 * top), tuple(counts)),
        ),
        verdict=rows.verdict,
        table={
            "from": edges, "to": edges + 1.0 / BINS, "rows": total[used], "predicted": said, "happened": came,
            "lower": low, "upper": high,
        },
        source=rows.source,
        across=2,
    )  # fmt: skip


def _chances(rows: Measured) -> tuple[Array, Array]:
    """Return a probability for every row and whether it came true."""
    if len(rows.classes) == 2:
        return rows.proba[:, 1], (rows.truth == 1).astype(np.float64)
    decided = rows.decided()
    return rows.proba[np.arange(len(decided)), decided], (rows.truth == decided).astype(np.float64)


KIND = Kind(
    name="calibration",
    question="Does what is predicted with probability 0.8 happen eight times of ten?",
    inputs=("MODEL DATA",),
    notes=(41,),
    draw=calibration,
    refuses=probabilities_only,
)
