"""The minimised function in full, with its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from lineal.losses import Perceptron
from lineal.losses.loss import Loss
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.penalties import Bounds
from lineal.penalties.penalty import Penalty

LOSSES: Final[Mapping[str, str]] = {
    "squared": "(residual^2) / 2",
    "absolute": "|residual|",
    "quantile": "max({q:g} r, {low:g} r)",
    "huber": "c (|residual| - c/2)",
    "epsilon-insensitive": "max(|residual| - {epsilon:g}, 0)",
    "squared-epsilon-insensitive": "max(|residual| - {epsilon:g}, 0)^2 / 2",
    "poisson": "(e^score - y score)",
    "logistic": "log-loss",
    "softmax": "log-loss",
    "hinge": "max(1 - z, 0)",
    "squared-hinge": "max(1 - z, 0)^2 / 2",
    "zero-one": "[z <= 0]",
    "crammer-singer": "(max_k (score_k + [k is not y]) - score_y)",
    "sparsemax": "(max_p (p.score - |p|^2/2) + 1/2 - score_y)",
}

WHERE: Final[Mapping[str, str]] = {
    "quantile": "r = y - score",
    "huber": "c = the smaller of |residual| and {threshold!r}",
    "hinge": "z = score for {one}, -score for {other}",
    "squared-hinge": "z = score for {one}, -score for {other}",
    "zero-one": "z = score for {one}, -score for {other}",
    "sparsemax": "p over the probabilities of all classes",
}
"""What the letters of a loss are."""

BOUNDED: Final = 6
"""So many bounds are spelled out."""


def objective(model: Model) -> str:
    """Return the minimised function in full, with its numbers."""
    if isinstance(model.loss, Perceptron):
        tie = {1.0: "the later class", -1.0: "the earlier class", 0.0: "a mistake"}[model.loss.tie]
        return f"none: a mistaken row is added to the weights of its class; a score of 0 is {tie}"
    return spelled(model.loss, model.target, model.roles, _penalty(model))


def spelled(loss: Loss, target: Target, roles: Mapping[str, str | None], penalty: str) -> str:
    """Return the mean loss and a penalty, with what their letters are."""
    weighted = roles.get("weight")
    mean = "mean" if weighted is None else f"mean weighted by {weighted!r},"
    numbers: dict[str, Any] = dict(loss.parameters())
    numbers["low"] = numbers.get("q", 1.0) - 1.0
    classes = target.classes or ("0", "1")
    numbers |= {"one": classes[-1], "other": classes[0]}
    text = f"F(b) = {mean} {LOSSES.get(loss.name, loss.name).format(**numbers)}{penalty}"
    text += f"; {WHERE[loss.name].format(**numbers)}" if loss.name in WHERE else ""
    if roles.get("offset") is not None:
        text += f"; score = X b + {roles['offset']!r}"
    return text


def is_firth(model: Model) -> bool:
    """Whether a model was charged with Firth's penalty, which is a function of the data too."""
    return model.solver == "firth"


def bounds(model: Model) -> dict[str, list[float | None]]:
    """Return the bounds by column, None for an open end; nothing for columns without bounds."""
    return limits(model.penalty, model.columns)


def limits(penalty: Penalty, columns: Sequence[str]) -> dict[str, list[float | None]]:
    """Return the bounds of a penalty by column."""
    if not isinstance(penalty, Bounds):
        return {}
    ends = np.stack([penalty.lower, penalty.upper], axis=1)
    return {
        name: [float(end) if np.isfinite(end) else None for end in pair]
        for name, pair in zip(columns, ends, strict=True)
        if np.isfinite(pair).any()
    }


def subject(ends: Mapping[str, Sequence[float | None]]) -> str:
    """Return bounds in words, at most BOUNDED of them."""
    shown = [_between(name, *pair) for name, pair in list(ends.items())[:BOUNDED]]
    if len(ends) > BOUNDED:
        shown.append(f"{len(ends) - BOUNDED} more bounds")
    return f", subject to {', '.join(shown)}" if shown else ""


def _penalty(model: Model) -> str:
    """Return what is added to the mean loss."""
    if is_firth(model):
        return " - (1/(2n)) log det(X'WX), W = p (1 - p) in every row, n the number of rows (their weight)"
    inner: Penalty = model.penalty.inner if isinstance(model.penalty, Bounds) else model.penalty
    plain: Mapping[str, Any] = inner.to_dict()
    text = ", no penalty" if plain["name"] == "none" else f" + {_charged(model, plain)}"
    return text + subject(bounds(model))


def _charged(model: Model, plain: Mapping[str, Any]) -> str:
    """Return a penalty with its strength: charges are ``sd_j`` where they were taken from the data."""
    name, strength, unit = plain["name"], plain["strength"], "jk" if model.coef.shape[1] > 1 else "j"
    charges = np.asarray(plain["charges"])
    even = bool(np.all(charges[model.intercept :] == 1))
    known = model.report.get("charges") in ("variance", "sd")
    scale = "sd_j " if known else "" if even else "sqrt(charge_j) " if name == "ridge" else "charge_j "
    square = f"({scale}b_{unit})^2" if scale else f"b_{unit}^2"
    text = f"{strength!r}/2 * sum {square}"
    if name == "l1":
        text = f"{strength!r} * sum {scale}|b_{unit}|"
    elif name == "elastic":
        ratio = plain["l1_ratio"]
        text = f"{strength!r} * sum ({ratio:g} {scale}|b_{unit}| + {1 - ratio:g}/2 {square})"
    elif name == "group":
        norm = "the root of the sum of b_jk^2 over k" if model.coef.shape[1] > 1 else "its absolute value"
        text = f"{strength!r} * sum {scale}|b_j|, |b_j| {norm}"
    return text + (", intercept not charged" if model.intercept else "")


def _between(name: str, low: float | None, high: float | None) -> str:
    if low is not None and low == high:
        return f"b[{name}] = {low:g}"
    return f"{'' if low is None else f'{low:g} <= '}b[{name}]{'' if high is None else f' <= {high:g}'}"
