"""The picture `scores`: the scores of one row, and the probabilities that softmax and sparsemax make of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.losses.softmax import Softmax
from lineal.losses.sparsemax import project
from lineal.model.model import Model
from lineal.multiclass.committee import Members
from lineal.plots.catalogue import Kind, classes_only
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import model_of, subject_of
from lineal.plots.wording import number


def scores(model: Any, data: Any, *, row: int = 1) -> Figure:
    """Return bars of the scores eta of row ``row`` (from 1), and of ``softmax(eta)`` and ``sparsemax(eta)``.

    ``softmax_k = exp(eta_k) / sum_j exp(eta_j)`` is never zero; sparsemax is the point of the simplex nearest to eta, which is
    zero for classes far behind. Of a model with one score the other class has the score 0.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "k": ["no", "yes", "no", "yes"]}
    >>> figure = scores(lineal.fit(table, "k", penalty=0.1), table, row=4)
    >>> [panel.title for panel in figure.panels], sum(figure.data["sparsemax"])
    (['scores', 'softmax', 'sparsemax'], 1.0)
    """
    fitted = model_of(model)
    KIND.require(fitted)
    subject = subject_of(fitted, data, also=(row - 1,))
    place = np.flatnonzero(subject.rows == row - 1)
    if not len(place):
        raise InputError(f"row {row:,} is not among the {subject.total:,} rows that have a target.")
    at = int(place[0])
    eta = subject.scores[at : at + 1]
    eta = np.column_stack([np.zeros(1), eta]) if eta.shape[1] == 1 else eta
    softmax, sparsemax = Softmax(eta.shape[1]).mean(eta)[0], project(eta)[0][0]
    true = subject.classes[int(subject.group[at])]
    own = {"softmax": "softmax", "logistic": "softmax", "sparsemax": "sparsemax"}.get(fitted.loss.name, "")
    panels = (
        _bars("scores", "score", eta[0], subject.classes),
        *(_bars(name, "probability", p, subject.classes) for name, p in (("softmax", softmax), ("sparsemax", sparsemax))),
    )  # fmt: skip
    words = f"Row {row:,}, which is {true}, is predicted {subject.classes[int(eta[0].argmax())]}."
    if own:
        words += f" The model's own probabilities are those of {own}."
    return Figure(
        kind="scores", title=f"Scores of row {row:,} and what becomes of them", caption=words, panels=panels,
        classes=subject.classes, verdict=subject.verdict, source=subject.source,
        table={"class": subject.classes, "score": eta[0], "softmax": softmax, "sparsemax": sparsemax},
    )  # fmt: skip


def _bars(title: str, name: str, values: Array, classes: tuple[str, ...]) -> Panel:
    """Return lying bars, the first class on top, with their numbers."""
    at = np.arange(len(values))[::-1].astype(float)
    zero = np.zeros(len(values))
    bars = Mark("bars", zero, at - 0.35, values, at + 0.35, group=np.arange(len(values)))
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    reach = (high - low) or 1.0
    numbers = Mark("text", np.maximum(values, 0.0), at, text=tuple(number(float(value)) for value in values))
    levels = Axis.of_levels("class", classes[::-1])
    axis = Axis(name, low - 0.05 * reach * (low < 0.0), high + 0.25 * reach)
    return Panel(axis, levels, (bars, numbers), title)


def _refuses(model: Model) -> str:
    if isinstance(model, Members):
        return "its members answer different questions, whose scores are not those of classes."
    return classes_only(model)


KIND = Kind(
    name="scores",
    question="How do the scores of a row become probabilities of the classes?",
    inputs=("MODEL DATA",),
    notes=(26,),
    draw=scores,
    refuses=_refuses,
)
