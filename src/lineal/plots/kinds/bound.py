"""The picture `bound`: the perceptron's mistakes against R^2 / gamma^2, with both halves of the proof."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lineal.errors import InputError
from lineal.perceptron.margins import maximum_margin
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.runs import walk_of
from lineal.plots.wording import number


def bound(
    data: Any = None,
    trace: Any = None,
    *,
    target: str | None = None,
    formula: str | None = None,
    drop: Sequence[str] = (),
    tie: str = "mistake",
    epochs: int = 1000,
    order: str = "given",
    seed: int = 0,
) -> Figure:
    """Return ``k gamma <= u'w_k <= |w_k| <= sqrt(k) R`` over the mistakes k, which ends at ``R^2 / gamma^2 = (R B)^2``.

    ``u`` is the separator of largest margin gamma, of length 1, ``R`` the longest row, the intercept's 1 among its columns. The
    run begins with weights 0. Rows that cannot be separated have no bound, and are refused with the rows that prove it.

    >>> points = {"x": [-2.0, -1.0, 1.0, 3.0], "side": ["left", "left", "right", "right"]}
    >>> figure = bound(points, target="side")
    >>> all(a <= b + 1e-12 for a, b in zip(figure.data["u'w"], figure.data["|w|"], strict=True))
    True
    """
    walk = walk_of(
        data,
        trace,
        target=target,
        classes=None,
        formula=formula,
        drop=drop,
        intercept=True,
        start=None,
        tie=tie,
        epochs=epochs,
        order=order,
        seed=seed,
    )
    if len(walk.classes) != 2 or not walk.zero:
        raise InputError("the bound is drawn for two classes and weights that begin with 0.")
    inner = walk.X[:, walk.features]
    constant = len(walk.features) < len(walk.columns)
    margin = maximum_margin(inner, walk.own, intercept=constant, augmented=True)
    u = margin.coef[:, 0] / np.linalg.norm(margin.coef[:, 0])
    lines = [walk.log.lines[k] for k in walk.updates]
    after = np.array([line.weights[:, 0] + line.signs[0] * line.x for line in lines]).reshape(len(lines), -1)
    k = np.arange(len(lines) + 1.0)
    w = np.vstack([np.zeros(len(walk.columns)), after])
    along, lengths = w @ u, np.linalg.norm(w, axis=1)
    end = margin.bound
    x = np.linspace(0.0, 1.04 * end, 200)
    marks = (
        Mark("line", x, x * margin.gamma, group=0, label="k gamma"),
        Mark("line", k, along, group=0, role="strong", label="u'w"),
        Mark("line", k, lengths, group=1, role="strong", label="|w|"),
        Mark("line", x, np.sqrt(x) * margin.radius, group=1, label="sqrt(k) R"),
        Mark("rule", x=[end], role="guide", label="R^2 / gamma^2 = (R B)^2"),
        Mark("points", k[-1:], lengths[-1:], role="strong", label=f"the run: {len(lines)} mistakes"),
    )
    words = (
        f"{len(lines):,} mistakes of at most R^2 / gamma^2 = (R B)^2 = {number(end)}: gamma = {number(margin.gamma)}, "
        f"R = {number(margin.radius)}, B = 1 / gamma = {number(1.0 / margin.gamma)}. Each mistake raises u'w by gamma at least "
        "and |w|^2 by R^2 at most; the line and the root meet at the bound."
    )
    panel = Panel(Axis("mistakes k", 0.0, 1.04 * end), Axis.around("length", [0.0, end * margin.gamma], lengths), marks)
    return Figure(
        kind="bound",
        title="Mistakes of a perceptron and their bound",
        caption=f"{words} {walk.ended}",
        verdict=Word("separated", margin.sentence, True),
        panels=(panel,),
        table={
            "mistakes": k,
            "k gamma": k * margin.gamma,
            "u'w": along,
            "|w|": lengths,
            "sqrt(k) R": np.sqrt(k) * margin.radius,
        },
    )


KIND = Kind(
    name="bound",
    question="How many mistakes may a perceptron make, and how many did it make?",
    inputs=("DATA", "TRACE"),
    notes=(15,),
    draw=bound,
)
