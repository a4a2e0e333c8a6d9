"""The picture `posterior`: what is believed of two coefficients, before and after the rows were seen."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from lineal.errors import InputError, near
from lineal.ground.arrays import Array, Index
from lineal.model.model import Model
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import Subject, model_of, subject_of
from lineal.plots.wording import number

LEVELS: Final = (0.5, 0.95)
POINTS: Final = 181


def posterior(model: Any, data: Any, *, x: str | None = None, y: str | None = None) -> Figure:
    """Return the ellipses that hold two coefficients with probability 50 and 95 %: ``(b - m)' C^-1 (b - m) <= -2 log(1 - p)``.

    ``C`` is the posterior covariance of model bayes, whose prior is drawn beside it, ``b ~ N(0, tau^2)`` for standardized
    columns; of a fit without a penalty the covariance of the estimate, whose prior is flat. ``x``, ``y`` name design columns,
    those of largest effect unless given. ``m`` is the maximum a posteriori.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "z": [1.0, 0.0, 2.0, 0.0], "y": [0.1, 1.2, 1.9, 3.2]}
    >>> figure = lineal.plots.posterior(lineal.fit(table, "y", model="bayes:noise=0.01,prior=4"), table)
    >>> figure.data["coefficient"]
    ['x', 'z']
    """
    fitted = model_of(model)
    KIND.require(fitted)
    subject = subject_of(fitted, data)
    pair = _pair(subject, x, y)
    center, spread = fitted.coef[pair, 0], fitted.covariance()[np.ix_(pair, pair)]
    prior = _prior(subject, pair)
    marks: list[Mark] = []
    for level in LEVELS:
        px, py = center[:, None] + _ring(spread, level)
        marks.append(Mark("polygon", px, py, group=0, label=f"{number(100 * level)} % after the rows"))
    axes = [np.concatenate([mark.x for mark in marks]), np.concatenate([mark.y for mark in marks])]
    words = ["The prior is flat: a fit without a penalty."]
    if prior is not None:
        rings = [_ring(np.diag(prior), level) for level in LEVELS]
        marks += [
            Mark("line", ring[0], ring[1], role="guide", group=1, label="50 and 95 % of the prior") for ring in rings
        ]
        axes = [np.concatenate([axis, np.clip(rings[-1][k], *_reach(axis, center[k]))]) for k, axis in enumerate(axes)]
        words = [
            f"The prior has standard deviations {number(math.sqrt(prior[0]))} and {number(math.sqrt(prior[1]))}, dashed."
        ]
    marks.append(Mark("points", center[:1], center[1:], role="strong", label="maximum a posteriori"))
    names = [fitted.columns[k] for k in pair]
    sd = np.sqrt(np.diag(spread))
    correlation = float(spread[0, 1] / (sd[0] * sd[1])) if sd.all() else math.nan
    words.append(f"The two coefficients correlate by {number(correlation)}; all others are as the posterior has them.")
    across, up = (Axis.around(f"coefficient of {name}", axis) for name, axis in zip(names, axes, strict=True))
    panel = Panel(across, up, tuple(marks))
    table: dict[str, Any] = {"coefficient": names, "mean": center, "sd": sd, "correlation": [correlation] * 2}
    if prior is not None:
        table["prior sd"] = np.sqrt(prior)
    return Figure(
        kind="posterior", title="Two coefficients, before and after the rows", caption=" ".join(words), panels=(panel,),
        verdict=subject.verdict, source=subject.source, table=table,
    )  # fmt: skip


def _pair(subject: Subject, x: str | None, y: str | None) -> Index:
    """Return the places of two design columns."""
    model = subject.model
    names = list(model.columns)
    for name in (x, y):
        if name is not None and name not in names:
            raise InputError(f"the model has no coefficient {name!r}.{near(name, names)}")
    size = np.abs(model.coef[:, 0]) * subject.spread
    size[: int(model.has_intercept)] = -1.0
    order = [names[k] for k in np.argsort(-size, kind="stable")]
    chosen = [name for name in (x, y) if name is not None]
    chosen += [name for name in order if name not in chosen][: 2 - len(chosen)]
    if len(chosen) < 2:
        raise InputError("the model has a single coefficient, and the picture needs two.")
    return np.array([names.index(name) for name in chosen], np.intp)


def _prior(subject: Subject, pair: Index) -> Array | None:
    """Return the prior variances of the coefficients; None where there is no prior, or none of the intercept."""
    model = subject.model
    if model.variances is None or (model.has_intercept and 0 in pair):
        return None
    sd = np.ones(len(model.columns))
    if model.report.get("charges") != "raw":
        sd = np.asarray(model.report.get("sd", subject.spread), float)
    tau2 = model.variances[1]
    return np.asarray(tau2 / sd[pair] ** 2)


def _ring(covariance: Array, level: float) -> Array:
    """Return the ellipse around 0 that holds a normal pair with a probability, (2, points)."""
    turn = np.linspace(0.0, 2.0 * np.pi, POINTS)
    root = np.linalg.cholesky(covariance + 1e-300 * np.eye(2))
    return np.asarray(math.sqrt(-2.0 * math.log1p(-level)) * root @ np.vstack([np.cos(turn), np.sin(turn)]))


def _reach(axis: Array, center: float) -> tuple[float, float]:
    """Return how far the prior is shown: three times as far as the posterior goes, and 0."""
    width = 3.0 * max(float(np.ptp(axis)), abs(center))
    return center - width, center + width


def _refuses(model: Model) -> str:
    if model.feature_map is not None or model.coef.shape[1] != 1:
        return "it has several scores, or coefficients of training rows."
    try:
        model.covariance()
    except InputError as error:
        return str(error)
    return (
        ""
        if len(model.columns) > int(model.has_intercept) + 1
        else "it has a single coefficient, and the picture needs two."
    )


KIND = Kind(
    name="posterior",
    question="What is believed of two coefficients before and after the rows?",
    inputs=("MODEL DATA",),
    notes=(10,),
    draw=posterior,
    refuses=_refuses,
)
