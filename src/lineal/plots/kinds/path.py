"""The picture `path`: how coefficients come in as the penalty weakens."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.api.path_of_table import TablePath, table_path
from lineal.errors import InputError
from lineal.paths.strengths import Path
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.walked import Walked, is_path, of_arrays, of_file, of_table
from lineal.plots.wording import clean
from lineal.tables.table import as_table

MAX_NAMED: Final = 12
"""Lines that are named at their end, those that reach farthest."""


def path(data: Any, *, target: str | None = None, penalty: str = "l1", model: str = "auto", seed: int = 0) -> Figure:
    """Return every coefficient against the strength of the penalty, and what rows held out lose at each strength.

    ``data`` is a table with the column ``target``, or a path that ``lineal.path`` returned or `lineal path -o` wrote, drawn as
    it is. Of a table coefficients are per standard deviation of their column, and a fifth of the rows is held out. ``penalty``
    is l1, ridge, or elastic:RATIO.

    >>> table = {"a": [float(k % 7) for k in range(60)], "b": [float(k % 5) for k in range(60)]}
    >>> table["y"] = [3.0 * a - b for a, b in zip(table["a"], table["b"])]
    >>> figure = path(table, target="y")
    >>> figure.panels[0].marks[0].label, figure.panels[1].y.name
    ('a', 'rmse of rows held out')
    """
    if isinstance(data, TablePath):
        return path_of(of_table(data))
    if isinstance(data, Path):
        return path_of(of_arrays(data))
    table = as_table(data)
    if target is None and is_path(table):
        return path_of(of_file(table))
    if target is None:
        raise InputError("a path needs a target: say which column is to be predicted (--target COL).")
    return path_of(of_table(table_path(table, target, penalty=penalty, model=model, test_size=0.2, seed=seed)))


def path_of(walked: Walked) -> Figure:
    """Return the picture of a path that was walked, now or in a file."""
    strength, coef = walked.strength, walked.coef
    reach = np.abs(coef).max(axis=0, initial=0.0)
    shown = [j for j in np.argsort(-reach, kind="stable").tolist() if reach[j] > 0.0]
    if not shown or len(strength) < 2:
        raise InputError("no column enters this path, so there is nothing to draw.")
    names = {j: _name(*walked.names[j]) for j in shown}
    order = np.argsort(strength, kind="stable")
    marks = [
        Mark("line", strength[order], coef[order, j], group=place % 8, label=names[j], role="plain")
        if place < MAX_NAMED else Mark("line", strength[order], coef[order, j], role="faint")
        for place, j in enumerate(shown)
    ]  # fmt: skip
    across = Axis.around("strength of the penalty", strength, scale="log")
    up = "coefficient per standard deviation" if walked.scaled else "coefficient"
    panels = [Panel(across, Axis.around(up, [0.0], coef[:, shown]), tuple(marks))]
    table: dict[str, Any] = {"strength": strength} | {names[j]: coef[:, j] for j in shown}
    words = [f"{len(shown):,} columns enter; the {min(MAX_NAMED, len(shown))} that reach farthest are named."]
    if not walked.scaled:
        words.append("Coefficients are those of the columns as they are, which may be in different units.")
    if walked.losses is not None and walked.best is not None:
        lost, best = walked.losses, walked.best
        table[walked.metric] = lost
        label = f"least: {strength[best]:.4g}"
        low = (Mark("line", strength[order], lost[order], group=0),
               Mark("points", [strength[best]], [lost[best]], group=1, role="strong", label=label))  # fmt: skip
        panels.append(Panel(across, Axis.around(f"{walked.metric} of rows held out", lost), low))
        words.append(f"Rows held out lose least at {strength[best]:.4g}.")
    return Figure(
        kind="path", title="How coefficients come in", caption=" ".join(words), panels=tuple(panels),
        verdict=walked.verdict, table=table, across=1,
    )  # fmt: skip


def _name(column: str, answer: str) -> str:
    return f"{clean(column, 30)} for {clean(answer, 16)}" if answer else clean(column, 30)


KIND = Kind(
    name="path",
    question="Which coefficients come in as the penalty weakens?",
    inputs=("DATA",),
    notes=(),
    draw=path,
)
