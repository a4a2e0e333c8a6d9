"""The minimised function in full, with its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.model import Model
from lineal.penalties import Bounds
from lineal.penalty import Penalty

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
    "crammer-singer": "(max_k (score_k + [k is not y]) - score_y)",
    "sparsemax": "(max_p (p.score - |p|^2/2) + 1/2 - score_y)",
}

WHERE: Final[Mapping[str, str]] = {
    "quantile": "r = y - score",
    "huber": "c = the smaller of |residual| and {threshold!r}",
    "hinge": "z = score for {one}, -score for {other}",
    "squared-hinge": "z = score for {one}, -score for {other}",
    "sparsemax": "p over the probabilities of all classes",
}
"""What the letters of a loss are."""

BOUNDED: Final = 6
"""So many bounds are spelled out."""


def objective(model: Model) -> str:
    """Return the minimised function in full, with its numbers."""
    weighted = model.roles.get("weight")
    mean = "mean" if weighted is None else f"mean weighted by {weighted!r},"
    numbers: dict[str, Any] = dict(model.loss.parameters())
    numbers["low"] = numbers.get("q", 1.0) - 1.0
    classes = model.target.classes or ("0", "1")
    numbers |= {"one": classes[-1], "other": classes[0]}
    name = model.loss.name
    text = f"F(b) = {mean} {LOSSES.get(name, name).format(**numbers)}{_penalty(model)}"
    text += f"; {WHERE[name].format(**numbers)}" if name in WHERE else ""
    if model.roles.get("offset") is not None:
        text += f"; score = X b + {model.roles['offset']!r}"
    return text


def is_firth(model: Model) -> bool:
    """Whether a model was charged with Firth's penalty, which is a function of the data too."""
    return model.solver == "firth"


def bounds(model: Model) -> dict[str, list[float | None]]:
    """Return the bounds by column, None for an open end; nothing for columns without bounds."""
    penalty = model.penalty
    if not isinstance(penalty, Bounds):
        return {}
    ends = np.stack([penalty.lower, penalty.upper], axis=1)
    return {
        name: [float(end) if np.isfinite(end) else None for end in pair]
        for name, pair in zip(model.columns, ends, strict=True)
        if np.isfinite(pair).any()
    }


def _penalty(model: Model) -> str:
    """Return what is added to the mean loss."""
    if is_firth(model):
        return " - (1/(2n)) log det(X'WX), W = p (1 - p) in every row, n the number of rows (their weight)"
    inner: Penalty = model.penalty.inner if isinstance(model.penalty, Bounds) else model.penalty
    plain: Mapping[str, Any] = inner.to_dict()
    text = ", no penalty" if plain["name"] == "none" else f" + {_charged(model, plain)}"
    limits = bounds(model)
    shown = [_between(name, *ends) for name, ends in list(limits.items())[:BOUNDED]]
    if len(limits) > BOUNDED:
        shown.append(f"{len(limits) - BOUNDED} more bounds")
    return text + (f", subject to {', '.join(shown)}" if shown else "")


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
