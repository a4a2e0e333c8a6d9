"""The picture `confusion`: which class is taken for which."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.metrics.decision import Costs
from lineal.plots.catalogue import Kind, classes_only
from lineal.plots.measured import measured
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import model_of
from lineal.plots.wording import number

MAX_SHOWN: Final = 20
"""Classes that are drawn, the most frequent ones."""


def confusion(model: Any, data: Any, *, threshold: float | None = None, costs: Costs | None = None) -> Figure:
    """Return how often each class was taken for each: rows are what is true, columns what is decided.

    The color is the share of the true class. Measured are the rows held out of the model's own table, else all; ``threshold``
    and ``costs`` decide as in ``lineal predict``.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "y": ["no", "no", "yes", "yes"]}
    >>> figure = confusion(lineal.fit(table, "y", penalty=0.1), table)
    >>> figure.data["rows"]
    [2.0, 0.0, 0.0, 2.0]
    """
    fitted = model_of(model)
    KIND.require(fitted)
    rule = None if threshold is None and costs is None else fitted.rule(threshold, costs)
    rows = measured(fitted, data)
    decided = rows.decided(rule)
    counts = np.zeros((len(rows.classes),) * 2)
    np.add.at(counts, (rows.truth, decided), rows.weight)
    order = np.sort(np.argsort(-(counts.sum(axis=0) + counts.sum(axis=1)), kind="stable")[:MAX_SHOWN])
    shown = counts[np.ix_(order, order)]
    happened = counts[order].sum(axis=1, keepdims=True)
    share = np.divide(shown, happened, out=np.zeros_like(shown), where=happened > 0.0)
    names = [rows.classes[k] for k in order.tolist()]
    k = len(names)
    at = np.arange(k, dtype=float)
    words = tuple(number(count) for count in shown[::-1].reshape(-1).tolist())
    marks = (
        Mark("heat", at, at, z=share[::-1], role="amount", label="share of the true class"),
        Mark("text", np.tile(at, k), np.repeat(at, k), text=words, side="center", role="strong"),
    )
    right = float(np.trace(counts)) / float(counts.sum())
    said = [f"{100.0 * right:.4g} % are decided right; rows are what is true, columns what is decided."]
    said += [] if rule is None else [rule.sentence]
    said += [] if k == len(counts) else [f"Drawn are the {k} most frequent of {len(counts):,} classes."]
    table = {
        "true": [name for name in rows.classes for _ in rows.classes], "decided": list(rows.classes) * len(rows.classes),
        "rows": counts.reshape(-1),
    }  # fmt: skip
    return Figure(
        kind="confusion",
        title=f"What is taken for what: {fitted.target.name}",
        caption=" ".join([*said, rows.caption]),
        panels=(Panel(Axis.of_levels("decided", names), Axis.of_levels("true", names[::-1]), marks),),
        verdict=rows.verdict,
        table=table,
        source=rows.source,
    )


KIND = Kind(
    name="confusion",
    question="Which class is taken for which?",
    inputs=("MODEL DATA",),
    notes=(),
    draw=confusion,
    refuses=classes_only,
)
