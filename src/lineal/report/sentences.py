"""Plain sentences about the strongest columns: what one more of it does to the answer."""

from __future__ import annotations

import math

import numpy as np

from lineal.features.encoder import Encoder
from lineal.model.model import Model
from lineal.plots.wording import clean, number


def about_columns(model: Model, most: int = 8) -> list[str]:
    """Return a sentence for each of the strongest columns of a model whose score has a meaning in words.

    >>> import lineal
    >>> table = {"age": [1.0, 2.0, 3.0, 5.0], "price": [2.0, 4.0, 6.0, 10.0]}
    >>> about_columns(lineal.fit(table, "price", model="linear", penalty="none"))
    ['One more unit of age adds 2 to price, other columns held.']
    """
    sd = model.report.get("sd", ())
    if model.feature_map is not None or model.coef.shape[1] > 1 or len(sd) != len(model.columns):
        return []
    effect = np.abs(model.coef[:, 0] * np.asarray(sd, float))
    effect[: int(model.has_intercept)] = 0.0
    order = [int(j) for j in np.argsort(-effect, kind="stable")[:most] if effect[j] > 0.0]
    told = [_one(model, j) for j in order]
    return [sentence for sentence in told if sentence]


def _one(model: Model, j: int) -> str:
    """Return the sentence of one design column; "" where it says nothing that can be said in one."""
    change = _change(model, float(model.coef[j, 0]))
    name = model.columns[j]
    if not change or not isinstance(model.encoder, Encoder):
        return f"One more unit of {clean(name)} {change}, other columns held." if change else ""
    first = int(model.has_intercept)
    for term in model.encoder.terms:
        place = j - first
        first += len(term.columns)
        if not 0 <= place < len(term.columns):
            continue
        column = clean(term.column)
        if name == term.column and term.is_number:
            return f"One more unit of {column} {change}, other columns held."
        if name == f"{term.column} is missing":
            return f"Where {column} is missing, this {change}."
        reference = getattr(term, "reference", None)
        if name.startswith(f"{term.column}="):
            against = f" against {clean(reference)}" if isinstance(reference, str) else ""
            return f"{column} {clean(name.removeprefix(f'{term.column}='))}{against} {change}, other columns held."
    return ""


def _change(model: Model, b: float) -> str:
    """Return what adding b to the score does to the answer."""
    target = clean(model.target.name)
    if model.loss.logit and model.target.kind == "classes":
        return f"multiplies the odds of {clean(model.outputs[0])} by {_factor(b)}"
    if model.target.kind == "number" and model.loss.targets == "counts":
        return f"multiplies the expected {target} by {_factor(b)}"
    if model.target.kind == "number":
        return f"{'adds' if b >= 0.0 else 'takes'} {number(abs(b))} {'to' if b >= 0.0 else 'from'} {target}"
    return ""


def _factor(b: float) -> str:
    return f"{math.exp(b):.4g}" if abs(b) < 100.0 else f"exp({b:.4g})"
