"""Tests between models: the likelihood ratio of nested ones."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, replace
from typing import Any

from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.model.model import Model
from lineal.model.summary import Likelihood


@dataclass(frozen=True)
class Ratio:
    """A likelihood-ratio test between nested models: ``statistic = 2 (log L_large - log L_small)``, chi-squared.

    For least squares ``f`` is the exact test for normal noise, with ``more`` and ``left`` degrees of freedom.
    """

    statistic: float
    more: int
    p: float
    f: float | None = None
    left: float | None = None
    f_p: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    def __str__(self) -> str:
        words = f"likelihood ratio {self.statistic:.5g} on {self.more} degrees of freedom, p = {self.p:.4g}"
        exact = "" if self.f is None else f"; F = {self.f:.5g} on {self.more} and {self.left:g}, p = {self.f_p:.4g}"
        return words + exact


def likelihood_ratio(small: Model, large: Model) -> Ratio:
    """Test whether the columns that ``large`` has and ``small`` lacks are worth having.

    Both are fits without a penalty to the same rows; the columns of ``small`` are among those of ``large``.

    >>> import lineal
    >>> table = {"a": [0.0, 1.0, 2.0, 3.5], "b": [1.0, 0.5, 1.0, 0.0], "y": [0.1, 1.1, 1.9, 3.6]}
    >>> large = lineal.fit(table, target="y", model="linear")
    >>> likelihood_ratio(lineal.fit(table, target="y", model="linear", drop=["b"]), large).more
    1
    """
    from scipy import special  # slow to load: only for tests and likelihoods

    few, many = _likelihood(small), _likelihood(large)
    comparable(small, large, few, many)
    factor = large.loss.free_outputs
    more = factor * (many.columns - few.columns)
    if not many.loss.estimates_noise:
        statistic = 2.0 * many.observations * (few.objective - many.objective)
        return Ratio(statistic, more, float(special.chdtrc(more, max(statistic, 0.0))))
    if factor > 1:
        raise InputError("models of several targets cannot be compared by one test; fit the targets one by one.")
    ratio = few.objective / many.objective if many.objective > 0.0 else math.inf
    statistic, left = many.observations * math.log(ratio), many.observations - many.columns
    f = (ratio - 1.0) * left / more
    exact = float(special.fdtrc(more, left, max(f, 0.0))) if left > 0.0 else math.nan
    return Ratio(statistic, more, float(special.chdtrc(more, max(statistic, 0.0))), f, left, exact)


def keys(model: Model) -> list[str]:
    """Return what tells the columns of models of the same rows apart: their names, those of a polynomial without its degree.

    The first column of ``poly(x, 2)`` is that of ``poly(x, 3)``.
    """
    return [re.sub(r"(poly\(.+?), \d+\)\[", r"\1)[", name) for name in model.columns]


def _likelihood(model: Model) -> Likelihood:
    """Return the likelihood of a fit at its optimum, where that need not be unique."""
    if model.verdict.kind != "not_unique":
        model.refuse_summary()
        return model.likelihood()
    evidence: Any = model.verdict.evidence.get("dependencies")
    if model.penalty.penalized.any() or evidence is None:
        raise InputError("a model with a penalty has no likelihood-ratio test; fit without one.")
    likelihood = model.likelihood()
    return replace(likelihood, columns=likelihood.columns - len(evidence))


def comparable(small: Model, large: Model, few: Likelihood, many: Likelihood) -> None:
    """Refuse models that are not nested, or not of the same rows."""
    if small.loss != large.loss or small.target != large.target:
        raise InputError("the models have different losses or targets; a ratio test compares fits of the same target.")
    known = set(keys(large))
    strangers = [name for name, key in zip(small.columns, keys(small), strict=True) if key not in known]
    if strangers:
        raise InputError(f"the models are not nested: {strangers[0]!r} is a column of the first and not of the second.")
    if many.columns <= few.columns:
        raise InputError("the second model has no column that the first lacks; give the smaller model first.")
    same = small.training.get("rows") == large.training.get("rows") and few.observations == many.observations
    # The best constant depends on targets, weights and offsets: it differs where the rows do.
    near_enough = math.isclose(few.baseline_objective, many.baseline_objective, rel_tol=1e-9, abs_tol=1e-300)
    if not same or (small.has_intercept == large.has_intercept and not near_enough):
        raise InputError(
            "the models were not fitted on the same rows; fit both on the same table, without missing targets."
        )
