"""The picture `sigmoid`: how a score becomes a probability, with the rows at their scores."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.model.model import Model
from lineal.plots.catalogue import Kind, classes_only
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import model_of, subject_of

REACH: Final = 8.0
"""Scores that are drawn lie between -8 and 8: beyond, a probability is 0 or 1 to three digits."""
POINTS: Final = 241


def sigmoid(model: Any, data: Any) -> Figure:
    """Return ``p = 1 / (1 + exp(-eta))`` over the score eta, each row at ``(eta, y)``, and its mirror ``1 - p = p(-eta)``.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "k": ["no", "yes", "no", "yes"]}
    >>> figure = sigmoid(lineal.fit(table, "k", penalty=0.1), table)
    >>> figure.panels[0].marks[0].y[120], figure.data["k"]
    (np.float64(0.5), ['no', 'yes', 'no', 'yes'])
    """
    fitted = model_of(model)
    KIND.require(fitted)
    subject = subject_of(fitted, data)
    eta = subject.scores[:, 0]
    p = fitted.loss.mean(subject.scores)[:, 0]
    first, second = subject.classes
    at = np.linspace(-REACH, REACH, POINTS)
    curve = fitted.loss.mean(at[:, None])[:, 0]
    inside = np.flatnonzero(np.abs(eta) <= REACH)
    size = () if subject.weight is None else subject.weight[inside]
    marks = (
        Mark("line", at, curve, group=1, role="strong", label=f"probability of {second}"),
        Mark("line", at, curve[::-1], group=0, role="guide", label=f"of {first}: the same, mirrored"),
        Mark("rule", x=[0.0], role="faint"),
        Mark("points", eta[inside], subject.y[inside, 0], group=subject.group[inside], rows=subject.rows[inside], size=size),
    )  # fmt: skip
    words = ["A row stands at its score, below if it is of the first class, above if of the second."]
    if beyond := len(eta) - len(inside):
        words.append(f"{beyond:,} of the rows have scores beyond {REACH:g} and are not drawn.")
    score = f"score of {second}"
    return Figure(
        kind="sigmoid", title=f"From the score to the probability of {second}",
        caption=" ".join([*words, subject.sampled]).strip(),
        panels=(Panel(Axis(score, -REACH, REACH), Axis(f"probability of {second}", -0.06, 1.06), marks),),
        classes=subject.classes, verdict=subject.verdict, source=subject.source,
        table={"row": subject.rows + 1, score: eta, f"probability of {second}": p,
               fitted.target.name: [subject.classes[k] for k in subject.group.tolist()]},
    )  # fmt: skip


def _refuses(model: Model) -> str:
    if reason := classes_only(model):
        return reason
    if model.coef.shape[1] > 1:
        return "it has a score for each class; ask for scores."
    return "its loss gives no probabilities; fit model logistic." if model.loss.decides else ""


KIND = Kind(
    name="sigmoid",
    question="How does a score become a probability, and where do the rows stand?",
    inputs=("MODEL DATA",),
    notes=(27,),
    draw=sigmoid,
    refuses=_refuses,
)
