"""The picture `row`: one row as people wrote it, beside the columns of the design that it becomes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.model.model import Model
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import Subject, model_of, subject_of
from lineal.plots.wording import clean, number

MAX_SHOWN: Final = 28
"""Cells and design columns that are drawn; the table has all that are not zero."""


def row(model: Any, data: Any, *, row: int = 1) -> Figure:
    """Return a row (counted from 1) as cells on the left and as design columns, phi(x), on the right.

    A cell is joined with every column that it makes. Columns of levels that the row does not have, and words that its text
    does not have, are 0; of many, those of the cells that are drawn stand first.

    >>> import lineal
    >>> table = {"x": [1.0, 2.0, 3.0], "k": ["a", "b", "a"], "y": [1.0, 2.0, 4.0]}
    >>> figure = lineal.plots.row(lineal.fit(table, "y", model="ridge"), table, row=2)
    >>> figure.data
    {'cell': ['x', 'k'], 'written': ['2', 'b'], 'design column': ['x', 'k=b'], 'value': [2.0, 1.0]}
    """
    KIND.require(model_of(model))
    subject = subject_of(model, data, also=(int(row) - 1,))
    at = subject.place(int(row))
    joins = _joins(subject, at)
    drawn = joins[:MAX_SHOWN]
    names = list(dict.fromkeys(name for name, _, _ in drawn))
    left = {name: 1.0 - (k + 0.5) / len(names) for k, name in enumerate(names)}
    right = [1.0 - (k + 0.5) / len(drawn) for k in range(len(drawn))]
    written = [f"{clean(name, 26)}  {_written(subject, name, at)}" for name in names]
    shown = [f"{clean(column, 26)}  {number(value)}" for _, column, value in drawn]
    n = len(drawn)
    marks = (
        Mark("segments", np.zeros(n), [left[name] for name, _, _ in drawn], np.ones(n), right, role="faint"),
        Mark("points", np.zeros(len(names)), list(left.values()), group=0),
        Mark("points", np.ones(n), right, group=[1 if value else 0 for *_, value in drawn],
             hollow=[value == 0.0 for *_, value in drawn]),
        Mark("text", np.zeros(len(names)), list(left.values()), text=tuple(written), side="left"),
        Mark("text", np.ones(n), right, text=tuple(shown), side="right"),
        Mark("text", [0.0, 1.0], [1.06, 1.06], text=("cells", "design columns"), side="above", role="strong"),
    )  # fmt: skip
    fewer = f"Drawn are {n} of {len(joins)} design columns." if n < len(joins) else ""
    constant = "The intercept is a column of ones beside them." if subject.model.has_intercept else ""
    panel = Panel(Axis("", -1.15, 2.15), Axis("", -0.05, 1.15), marks, bare=True)
    return Figure(
        kind="row", title=f"Row {row} as the model sees it", panels=(panel,), verdict=subject.verdict, source=subject.source,
        caption=" ".join(filter(None, [f"Row {row}: cells on the left, the numbers they become on the right.", constant, fewer])),
        table={"cell": [name for name, _, _ in joins], "written": [_written(subject, name, at) for name, _, _ in joins],
               "design column": [column for _, column, _ in joins], "value": [value for *_, value in joins]},
    )  # fmt: skip


def _joins(subject: Subject, at: int) -> list[tuple[str, str, float]]:
    """Return cell, design column and value; zeros of wide cells (levels, words) are left out but where all are zero."""
    values = subject.design.slice(at, at + 1).dense()[0]
    model = subject.model
    columns = model.columns if model.feature_map is None else tuple(f"x{k}" for k in range(len(values)))
    joins = []
    for name, places in subject.columns_of.items():
        own = [(name, columns[k], float(values[k])) for k in places.tolist()]
        kept = own if len(own) <= 6 else [one for one in own if one[2]][:MAX_SHOWN] or own[:1]
        joins += kept
    if not joins:
        raise InputError("the model reads no column, so a row says nothing to it.")
    return joins


def _written(subject: Subject, name: str, at: int) -> str:
    value = subject.cells[name][at]
    if value is None or value != value:  # noqa: PLR0124  (NaN)
        return "(missing)"
    return number(float(value)) if subject.numeric(name) else clean(value, 24)


def _refuses(model: Model) -> str:
    return "" if model.feature_map is None else "its columns are made of training rows; ask for neighbours or gram."


KIND = Kind(
    name="row",
    question="Which numbers does one row become?",
    inputs=("MODEL DATA",),
    notes=(2, 3, 5),
    draw=row,
    refuses=_refuses,
)
