"""The picture `path`: how coefficients come in as the penalty weakens."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.api.path_of_table import TablePath, table_path
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.wording import clean
from lineal.problem.moments import survey

MAX_NAMED: Final = 12
"""Lines that are named at their end, those that reach farthest."""


def path(data: Any, *, target: str | None = None, penalty: str = "l1", model: str = "auto", seed: int = 0) -> Figure:
    """Return every coefficient against the strength of the penalty, and what rows held out lose at each strength.

    ``data`` is a table with the column ``target``, or what `lineal path` found. Coefficients are in units of the standard
    deviation of their column; a fifth of the rows is held out. ``penalty`` is l1, ridge, or elastic:RATIO.

    >>> table = {"a": [float(k % 7) for k in range(60)], "b": [float(k % 5) for k in range(60)]}
    >>> table["y"] = [3.0 * a - b for a, b in zip(table["a"], table["b"])]
    >>> figure = path(table, target="y")
    >>> figure.panels[0].marks[0].label, figure.panels[1].y.name
    ('a', 'rmse of rows held out')
    """
    walked = data if isinstance(data, TablePath) else _walked(data, target, penalty, model, seed)
    points = walked.points[: walked.reached]
    strength = np.array([point.strength for point in points])
    coef = np.stack([point.coef for point in points]) * _spread(walked)[None, :, None]
    pairs = [(j, k) for j in range(coef.shape[1]) for k in range(coef.shape[2]) if walked.columns[j] != "(intercept)"]
    reach = {pair: float(np.abs(coef[:, pair[0], pair[1]]).max()) for pair in pairs}
    shown = [pair for pair in sorted(pairs, key=lambda pair: -reach[pair]) if reach[pair] > 0.0]
    if not shown or len(strength) < 2:
        raise InputError("no column enters this path, so there is nothing to draw.")
    names = {pair: _name(walked, pair) for pair in shown}
    order = np.argsort(strength, kind="stable")
    marks = [
        Mark("line", strength[order], coef[order, j, k], group=place % 8 if place < MAX_NAMED else -1, label=names[j, k],
             role="plain")
        if place < MAX_NAMED else Mark("line", strength[order], coef[order, j, k], role="faint")
        for place, (j, k) in enumerate(shown)
    ]  # fmt: skip
    across = Axis.around("strength of the penalty", strength, scale="log")
    panels = [Panel(across, Axis.around("coefficient per standard deviation", [0.0], coef[:, 1:]), tuple(marks))]
    table: dict[str, Any] = {"strength": strength} | {names[pair]: coef[:, pair[0], pair[1]] for pair in shown}
    words = [f"{len(shown):,} columns enter; the {min(MAX_NAMED, len(shown))} that reach farthest are named."]
    if walked.losses and walked.best is not None:
        lost = np.array(walked.losses)[: len(points)]
        table[walked.metric] = lost
        best = walked.best
        label = f"least: {strength[best]:.4g}"
        low = (Mark("line", strength[order], lost[order], group=0),
               Mark("points", [strength[best]], [lost[best]], group=1, role="strong", label=label))  # fmt: skip
        panels.append(Panel(across, Axis.around(f"{walked.metric.replace('_', ' ')} of rows held out", lost), low))
        words.append(f"Rows held out lose least at {strength[best]:.4g}.")
    worst = min((point.verdict for point in points), key=lambda verdict: verdict.proven)
    return Figure(
        kind="path",
        title="How coefficients come in",
        caption=" ".join(words),
        panels=tuple(panels),
        verdict=Word(worst.kind, f"The least sure of {len(points)} fits: {worst.sentence}", worst.proven),
        table=table,
        across=1,
    )


def _walked(data: Any, target: str | None, penalty: str, model: str, seed: int) -> TablePath:
    if target is None:
        raise InputError("a path needs a target: say which column is to be predicted (--target COL).")
    return table_path(data, target, penalty=penalty, model=model, test_size=0.2, seed=seed)


def _spread(walked: TablePath) -> Array:
    """Return the standard deviation of every column over the training rows."""
    moments = survey(walked.dataset.train, walked.loss)
    return np.asarray(np.sqrt(np.maximum(moments.scatter, 0.0) / moments.weight_sum))


def _name(walked: TablePath, pair: tuple[int, int]) -> str:
    name = clean(walked.columns[pair[0]], 30)
    outputs = walked.points[0].coef.shape[1]
    classes = walked.dataset.target.classes or ()
    return name if outputs == 1 else f"{name} for {clean(classes[pair[1]] if classes else pair[1], 16)}"


KIND = Kind(
    name="path",
    question="Which coefficients come in as the penalty weakens?",
    inputs=("DATA",),
    notes=(),
    draw=path,
)
