"""The picture `layer`: the model as the last layer of a network, columns on the left, scores on the right."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.ground.arrays import Array, Index
from lineal.model.model import Model
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.subject import Subject, model_of, subject_of
from lineal.plots.wording import clean, number

MAX_COLUMNS: Final = 20
MAX_OUTPUTS: Final = 12
TIERS: Final = (("strong", 0.5), ("plain", 0.15), ("faint", 0.0))
"""How an edge is drawn from which share of the largest on."""


def layer(model: Any, data: Any = None, *, row: int | None = None) -> Figure:
    """Return the columns of largest effect joined with the scores they add to: ``eta_k = sum_j x_j b_jk``.

    An edge is drawn as thick as ``|b| sd`` is large, in the first color where it lowers the score, in the second where it
    raises it. With a ``row`` (counted from 1) of ``data`` edges are its products ``x_j b_jk``, and scores its own.

    >>> import lineal
    >>> table = {"x": [1.0, 2.0, 3.0], "z": [1.0, 0.0, 2.0], "y": [1.0, 2.0, 4.0]}
    >>> figure = lineal.plots.layer(lineal.fit(table, "y", model="linear", penalty="none"), table, row=1)
    >>> [round(value, 9) for value in figure.data["product with y"]], figure.data["design column"]
    ([-0.666666667, 1.333333333, 0.333333333], ['(intercept)', 'x', 'z'])
    """
    fitted = model_of(model)
    KIND.require(fitted)
    subject = None if data is None else subject_of(fitted, data, also=() if row is None else (int(row) - 1,))
    size, named, values = _sizes(fitted, subject, row)
    chosen = np.sort(np.argsort(-np.abs(size).max(axis=1), kind="stable")[:MAX_COLUMNS])
    outputs = fitted.outputs[:MAX_OUTPUTS]
    marks = _marks(fitted, size[chosen][:, : len(outputs)], chosen, outputs, values)
    what = f"the products of row {row}" if values is not None else named
    words = [f"Edges are {what}: blue lowers a score, orange raises it."]
    if len(chosen) < len(size):
        words.append(f"Drawn are the {len(chosen)} columns of largest effect of {len(size):,}.")
    if values is not None and fitted.target.kind == "classes":
        scores = values @ fitted.coef
        decided = (fitted.target.classes or ())[int(fitted.loss.decide(scores[None, :])[0])]
        words.append(f"Row {row} is decided {clean(decided)}.")
    head = "value" if values is not None else "effect"
    table: dict[str, Any] = {"design column": fitted.columns}
    if values is not None:
        table["value"] = values
    for k, name in enumerate(fitted.outputs):
        table[f"coefficient of {name}"] = fitted.coef[:, k]
        table[f"{'product with' if head == 'value' else 'effect on'} {name}"] = size[:, k]
    verdict = Word(fitted.verdict.kind, fitted.verdict.sentence, fitted.verdict.proven)
    return Figure(
        kind="layer", title=f"The linear layer of {fitted.target.name}", caption=" ".join(words), verdict=verdict, table=table,
        panels=(Panel(Axis("", -0.95, 1.95), Axis("", -0.06, 1.12), marks, bare=True),),
        source={} if subject is None else subject.source,
    )  # fmt: skip


def _sizes(model: Model, subject: Subject | None, row: int | None) -> tuple[Array, str, Array | None]:
    """Return the size of every edge, what it is, and the columns of a row."""
    if subject is not None and row is not None:
        at = subject.place(int(row))
        values = subject.design.slice(at, at + 1).dense()[0]
        values = values if model.center is None else values - model.center.reshape(-1)
        return values[:, None] * model.coef, "", values
    sd = (
        subject.spread
        if subject is not None
        else np.asarray(model.report.get("sd", np.ones(len(model.columns))), float)
    )
    known = subject is not None or "sd" in model.report
    return sd[:, None] * model.coef, "|b| sd of each column" if known else "|b| of each column", None


def _marks(model: Model, size: Array, chosen: Index, outputs: list[str], values: Array | None) -> tuple[Mark, ...]:
    left = 1.0 - (np.arange(len(chosen)) + 0.5) / len(chosen)
    right = 1.0 - (np.arange(len(outputs)) + 0.5) / len(outputs)
    top = float(np.abs(size).max()) or 1.0
    share = np.abs(size) / top
    marks, above = [], np.inf
    for role, least in TIERS:
        j, k = np.nonzero((share >= least) & (share < above) & (size != 0.0))
        above = least
        if len(j):
            signs = (size[j, k] > 0.0).astype(int)
            marks.append(Mark("segments", np.zeros(len(j)), left[j], np.ones(len(j)), right[k], group=signs, role=role))
    shown = [clean(model.columns[j], 30) for j in chosen.tolist()]
    ends = [clean(name, 30) for name in outputs]
    if values is not None:
        scores = values @ model.coef
        shown = [f"{name}  {number(float(values[j]))}" for name, j in zip(shown, chosen.tolist(), strict=True)]
        ends = [f"{name}  {number(float(score))}" for name, score in zip(ends, scores.tolist(), strict=False)]
    n, m = len(left), len(right)
    marks += [
        Mark("points", np.zeros(n), left), Mark("points", np.ones(m), right, role="strong"),
        Mark("text", np.zeros(n), left, text=tuple(shown), side="left"),
        Mark("text", np.ones(m), right, text=tuple(ends), side="right"),
        Mark("text", [0.0, 1.0], [1.06, 1.06], text=("columns", "scores"), side="center", role="strong"),
    ]  # fmt: skip
    return tuple(marks)


def _refuses(model: Model) -> str:
    return "" if model.feature_map is None else "its columns are made of training rows; ask for gram."


KIND = Kind(
    name="layer",
    question="Which columns add to which score, and how much?",
    inputs=("MODEL", "MODEL DATA"),
    notes=(1, 17),
    draw=layer,
    refuses=_refuses,
)
