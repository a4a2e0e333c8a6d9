"""The minimised function in full, with its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from lineal.features.encoder import Encoder
from lineal.losses.loss import Loss
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.penalties.penalty import Penalty

MAX_BOUNDS_LISTED: Final = 6
"""More bounds, or columns penalized in a way of their own, than this are counted, not listed."""


def objective(model: Model) -> str:
    """Return the minimised function in full, with its numbers."""
    if model.feature_map is not None:
        return model.feature_map.objective
    if model.verdict.kind == "exact":
        return "none: nothing is minimized"
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
    scale, words = scales(model.report.get("charges"), model.columns, texts_of(model))
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


def scales(stated: object, columns: Sequence[str], texts: Sequence[str] = ()) -> tuple[str | None, str]:
    """Return what a coefficient is multiplied with before the penalty sees it, and what its letter is.

    ``stated`` is what a model file says of its penalty factors; None for the scale where it says nothing. ``texts`` are
    the columns of text, whose words are named together.

    >>> scales("variance", ["(intercept)", "age"]), scales("raw", ["age"])
    (('sd_j ', ''), ('', ''))
    >>> scales(["none", "variance", "raw"], ["(intercept)", "age", "dose"])[1]
    ', c_j is 1 for dose and sd_j for age'
    >>> scales(["variance", "raw", "raw", 100.0], ["age", "t: a", "t: b", "u: a"], ["t", "u"])[1]
    ', c_j is 1 for words of t, 10 for words of u and sd_j for age'
    >>> scales(["variance", "raw", "variance"], ["t: a", "t: every", "t: z"], ["t"])[1]
    ', c_j is 1 for t: every and sd_j for the others'
    """
    if isinstance(stated, str):
        return {"variance": "sd_j ", "sd": "sd_j ", "raw": ""}.get(stated), ""
    if not isinstance(stated, list) or len(stated) != len(columns):
        return None, ""
    pairs = list(zip(columns, map(str, stated), strict=True))
    texts = [text for text in texts if len({unit for name, unit in pairs if name.startswith(f"{text}: ")}) == 1]
    root = "sd" not in stated  # factors of a ridge multiply squares
    whose: dict[str, list[str]] = {}
    for name, unit in zip(columns, stated, strict=True):
        if unit != "none" and name != "(intercept)":
            names = whose.setdefault(_scale(unit, root=root), [])
            text = next(
                (text for text in texts if unit not in ("variance", "sd") and name.startswith(f"{text}: ")), None
            )
            shown = name if text is None else f"words of {text}"
            if not (names and names[-1] == shown):
                names.append(shown)
    if len(whose) < 2:
        only = next(iter(whose), "")
        return ("" if only == "1" else f"{only} "), ""
    most = max(whose, key=lambda unit: (len(whose[unit]), unit == "sd_j"))
    words = [f"{unit} for {_listed(names)}" for unit, names in whose.items() if unit != most]
    last = f"{most} for {whose[most][0] if len(whose[most]) == 1 else 'the others'}"
    return "c_j ", f", c_j is {', '.join(words)} and {last}"


def _scale(unit: object, *, root: bool) -> str:
    """Return what a coefficient is multiplied with, in letters or as a number."""
    if unit in ("variance", "sd"):
        return "sd_j"
    number = 1.0 if unit == "raw" else float(unit)  # type: ignore[arg-type]
    return f"{number**0.5 if root else number:g}"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:MAX_BOUNDS_LISTED])}{', ...' if len(names) > MAX_BOUNDS_LISTED else ''}"


def texts_of(model: Model) -> list[str]:
    """Return the columns of text that a model reads."""
    return [term.column for term in model.encoder.texts] if isinstance(model.encoder, Encoder) else []


def _between(name: str, low: float | None, high: float | None) -> str:
    if low is not None and low == high:
        return f"b[{name}] = {low:g}"
    return f"{'' if low is None else f'{low:g} <= '}b[{name}]{'' if high is None else f' <= {high:g}'}"
