"""The picture `loss`: what a residual, or a score on the wrong side, costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from lineal.errors import InputError, near
from lineal.ground.arrays import Array
from lineal.losses import ALL, CURVES
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import Subject, subject_of

NUMBERS: Final = ("squared", "absolute", "huber")
CLASSES: Final = ("zero-one", "hinge", "squared-hinge", "logistic", "exponential")
REACH: Final = 3.0
ALONG: Final = ("squared-sigmoid", "logistic")
SCORES: Final = 8.0
"""How far scores go, in standard deviations of the column, where one coefficient moves."""
POINTS: Final = 241
"""Points of a curve; odd, so that 0 is one of them."""


def loss(model: Any = None, data: Any = None, *, names: Sequence[str] = (), along: str | None = None) -> Figure:
    """Return losses as curves: of numbers over the residual ``y - eta``, of two classes over ``s = -y eta``, y = -1 or 1.

    ``names`` are losses by name; without, those of the model's kind, its own drawn thick, and its rows as ticks below.

    With ``along``, the mean loss of the rows is drawn instead as this coefficient moves and all others stay: squared error of
    a sigmoid bends both ways, logistic loss does not.

    >>> figure = loss(names=["squared", "absolute"])
    >>> [mark.label for mark in figure.panels[0].marks]
    ['squared', 'absolute']
    """
    subject = None if model is None else subject_of(model, data)
    chosen = tuple(names) or (ALONG if along is not None else _family(subject))
    curves = [_curve(name, subject) for name in chosen]
    if along is not None:
        return _along(subject, along, dict(zip(chosen, curves, strict=True)))
    of_classes = {_of_classes(curve) for curve in curves}
    if len(of_classes) > 1:
        raise InputError(
            f"{', '.join(chosen)}: some are losses of numbers, some of classes; draw them in two pictures."
        )
    binary = of_classes.pop()
    places = np.empty(0) if subject is None else _places(subject, binary)
    reach = REACH if not len(places) else max(REACH, float(np.quantile(np.abs(places), 0.95)))
    at = np.linspace(-reach, reach, POINTS)
    marks, table = [], {"s" if binary else "residual": at}
    for k, (name, curve) in enumerate(zip(chosen, curves, strict=True)):
        values = _values(curve, at, binary)
        own = subject is not None and subject.model.loss.name == name
        marks.append(Mark("line", at, values, group=k, role="strong" if own else "plain", label=name))
        table[name] = values
    top = float(np.nanquantile(np.concatenate([mark.y for mark in marks]), 0.9))
    if len(places):
        ticks = places[np.abs(places) <= reach]
        marks.append(
            Mark(
                "segments",
                ticks,
                np.full(len(ticks), -0.06 * top),
                ticks,
                np.full(len(ticks), -0.015 * top),
                label="rows",
            )
        )
    name = "s = -y score: right of 0 is wrong" if binary else "residual y - prediction"
    side = "s = -y score, y = -1 or 1: a row right of 0 is on the wrong side." if binary else "its residual."
    words = f"The loss of one row over {side}"
    more = () if subject is None else (subject.sampled,)
    return Figure(
        kind="loss", title="What a row costs", caption=" ".join([words, *more]).strip(),
        panels=(Panel(Axis(name, -reach, reach), Axis("loss", -0.08 * top if len(places) else 0.0, 1.02 * top), tuple(marks)),),
        classes=(), verdict=None if subject is None else subject.verdict, table=table,
        source={} if subject is None else subject.source,
    )  # fmt: skip


def _along(subject: Subject | None, name: str, curves: Mapping[str, Any]) -> Figure:
    """Return ``mean loss(y, eta + (t - b_j) x_j)`` over t, which takes the place of one coefficient of the model."""
    if subject is None or subject.scores.shape[1] != 1 or subject.model.feature_map is not None:
        raise InputError(
            "losses along a coefficient are those of the rows of a model with one score: give MODEL and DATA."
        )
    columns = subject.model.columns
    if name not in columns:
        raise InputError(f"the model has no coefficient {name!r}.{near(name, list(columns))}")
    j = columns.index(name)
    pick = np.zeros((len(columns), 1))
    pick[j] = 1.0
    cells, now = subject.design.times(pick)[:, 0], float(subject.model.coef[j, 0])
    spread = float(subject.spread[j]) or float(np.abs(cells).max()) or 1.0
    at = np.linspace(now - SCORES / spread, now + SCORES / spread, POINTS)
    weight = np.ones(len(cells)) if subject.weight is None else subject.weight
    y, eta = subject.y[:, :1], subject.scores[:, 0]
    table: dict[str, Any] = {f"coefficient of {name}": at}
    for label, curve in curves.items():
        table[label] = [weight @ curve.value(y, (eta + (t - now) * cells)[:, None]) / weight.sum() for t in at]
    across = Axis(f"coefficient of {name}", at[0], at[-1])
    panels = []
    for k, label in enumerate(curves):
        up = Axis.around("mean loss of the rows", table[label], [0.0])
        line = Mark("line", at, table[label], group=k, role="strong", label=label)
        rule = Mark("rule", x=[now], role="guide", label="coefficient of the model")
        panels.append(Panel(across, up, (line, rule), label))
    return Figure(
        kind="loss",
        title=f"Mean loss as one coefficient moves: {name}",
        caption=f"All other coefficients are those of the model. {subject.sampled}".strip(),
        panels=tuple(panels),
        across=2,
        verdict=subject.verdict,
        table=table,
        source=subject.source,
    )


def _family(subject: Subject | None) -> tuple[str, ...]:
    """Return the losses of the model's kind, its own among them."""
    if subject is None:
        return CLASSES
    own = subject.model.loss
    if own.of_classes() and own.targets != "two classes":
        raise InputError("a loss of several classes is no curve; name losses of two classes, such as logistic.")
    family = CLASSES if own.of_classes() else NUMBERS
    return family if own.name in family else (*family, own.name)


def _curve(name: str, subject: Subject | None) -> Any:
    if subject is not None and subject.model.loss.name == name:
        return subject.model.loss
    known = {one.name: one for one in ALL if one.targets in ("numbers", "two classes")} | dict(CURVES)
    if name not in known:
        raise InputError(
            f"there is no loss {name!r} to draw.{near(name, list(known))} The losses are {', '.join(known)}."
        )
    found = known[name]
    return found.examples()[0] if hasattr(found, "examples") else found()


def _of_classes(curve: Any) -> bool:
    return getattr(curve, "targets", "two classes") == "two classes"


def _values(curve: Any, at: Array, binary: bool) -> Array:
    """Return the loss at every residual of target ``at`` and score 0, or at every ``s`` of class 1 and score ``-s``."""
    zero = np.zeros(len(at))
    y, eta = (zero + 1.0, -at) if binary else (at, zero)
    return np.asarray(curve.value(y[:, None], eta[:, None]))


def _places(subject: Subject, binary: bool) -> Array:
    y, eta = subject.y[:, 0], subject.scores[:, 0]
    return np.asarray((1.0 - 2.0 * y) * eta if binary else y - eta)


KIND = Kind(
    name="loss",
    question="What does a residual, or a score on the wrong side, cost?",
    inputs=("NAMES", "MODEL DATA", "MODEL DATA NAMES"),
    notes=(9, 34, 35),
    draw=loss,
)
