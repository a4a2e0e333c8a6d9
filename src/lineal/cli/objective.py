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
"""More bounds, or columns penalized in a way of their own, than this are counted, not listed."""


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
    scale, words = scales(model.report.get("charges"), model.columns)
    if scale is None:
        plain = bool(np.all(penalty.penalty_factors[model.has_intercept :] == 1))
        scale = "" if plain else "sqrt(charge_j) " if penalty.factor_unit == "variance" else "charge_j "
    text = penalty.formula(repr(penalty.strength), scale, model.coef.shape[1])
    charged = model.has_intercept and penalty.penalty_factors[0] > 0.0
    return text + words + intercept_words(model.columns, charged=bool(charged))


def intercept_words(columns: Sequence[str], *, charged: bool) -> str:
    """Return whether the intercept, where there is one, is penalized."""
    if tuple(columns[:1]) != ("(intercept)",):
        return ""
    return ", the intercept charged, too" if charged else ", intercept not charged"


def scales(stated: object, columns: Sequence[str]) -> tuple[str | None, str]:
    """Return what a coefficient is multiplied with before the penalty sees it, and what its letter is.

    ``stated`` is what a model file says of its penalty factors; None for the scale where it says nothing.

    >>> scales("variance", ["(intercept)", "age"]), scales("raw", ["age"])
    (('sd_j ', ''), ('', ''))
    >>> scales(["none", "variance", "raw"], ["(intercept)", "age", "dose"])[1]
    ', c_j is 1 for dose and sd_j for age'
    """
    if isinstance(stated, str):
        return {"variance": "sd_j ", "sd": "sd_j ", "raw": ""}.get(stated), ""
    if not isinstance(stated, list) or len(stated) != len(columns):
        return None, ""
    raw = [name for name, unit in zip(columns, stated, strict=True) if unit == "raw" and name != "(intercept)"]
    others = [name for name, unit in zip(columns, stated, strict=True) if unit in ("variance", "sd")]
    if not others or not raw:
        return ("sd_j " if others else ""), ""
    few, many, first = (raw, others, "1") if len(raw) <= len(others) else (others, raw, "sd_j")
    second = "sd_j" if first == "1" else "1"
    shown = f"{', '.join(few[:MAX_BOUNDS_LISTED])}{', ...' if len(few) > MAX_BOUNDS_LISTED else ''}"
    return "c_j ", f", c_j is {first} for {shown} and {second} for {many[0] if len(many) == 1 else 'the others'}"


def _between(name: str, low: float | None, high: float | None) -> str:
    if low is not None and low == high:
        return f"b[{name}] = {low:g}"
    return f"{'' if low is None else f'{low:g} <= '}b[{name}]{'' if high is None else f' <= {high:g}'}"
