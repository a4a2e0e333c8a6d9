"""The minimised function in full, with its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from lineal.losses.loss import Loss
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.penalties.penalty import Penalty

MAX_BOUNDS_LISTED: Final = 6
"""More bounds than this are counted, not listed."""


def objective(model: Model) -> str:
    """Return the minimised function in full, with its numbers."""
    if procedure := model.loss.procedure():
        return f"none: {procedure}"
    return spelled(model.loss, model.target, model.roles, _penalty(model))


def spelled(loss: Loss, target: Target, roles: Mapping[str, str | None], penalty: str) -> str:
    """Return the mean loss and a penalty, with what their letters are."""
    weighted = roles.get("weight")
    mean = "mean" if weighted is None else f"mean weighted by {weighted!r},"
    letters = loss.letters(target.classes or ("0", "1"))
    text = f"F(b) = {mean} {loss.formula()}{penalty}"
    text += f"; {letters}" if letters else ""
    if roles.get("offset") is not None:
        text += f"; score = X b + {roles['offset']!r}"
    return text


def is_firth(model: Model) -> bool:
    """Whether a model was penalized with Firth's penalty, which is a function of the data too."""
    return model.solver == "firth"


def limits(penalty: Penalty, columns: Sequence[str]) -> dict[str, list[float | None]]:
    """Return the bounds of a penalty by column, None for an open end; nothing for columns without bounds."""
    if penalty.bounds is None:
        return {}
    ends = np.stack(penalty.bounds, axis=1)
    return {
        name: [float(end) if np.isfinite(end) else None for end in pair]
        for name, pair in zip(columns, ends, strict=True)
        if np.isfinite(pair).any()
    }


def subject(ends: Mapping[str, Sequence[float | None]]) -> str:
    """Return bounds in words, at most MAX_BOUNDS_LISTED of them."""
    shown = [_between(name, *pair) for name, pair in list(ends.items())[:MAX_BOUNDS_LISTED]]
    if len(ends) > MAX_BOUNDS_LISTED:
        shown.append(f"{len(ends) - MAX_BOUNDS_LISTED} more bounds")
    return f", subject to {', '.join(shown)}" if shown else ""


def _penalty(model: Model) -> str:
    """Return what is added to the mean loss."""
    if is_firth(model):
        return " - (1/(2n)) log det(X'WX), W = p (1 - p) in every row, n the number of rows (their weight)"
    penalty = model.penalty.without_bounds()
    text = f" + {_penalized(model, penalty)}" if penalty.parameters else ", no penalty"
    return text + subject(limits(model.penalty, model.columns))


def _penalized(model: Model, penalty: Penalty) -> str:
    """Return a penalty with its strength: penalty factors are ``sd_j`` where they were taken from the data."""
    scale = "sqrt(charge_j) " if penalty.factor_unit == "variance" else "charge_j "
    if model.report.get("charges") in ("variance", "sd"):
        scale = "sd_j "
    elif np.all(penalty.penalty_factors[model.has_intercept :] == 1):
        scale = ""
    text = penalty.formula(repr(penalty.strength), scale, model.coef.shape[1])
    return text + (", intercept not charged" if model.has_intercept else "")


def _between(name: str, low: float | None, high: float | None) -> str:
    if low is not None and low == high:
        return f"b[{name}] = {low:g}"
    return f"{'' if low is None else f'{low:g} <= '}b[{name}]{'' if high is None else f' <= {high:g}'}"
