"""Folds and scores in scikit-learn's words."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv

from lineal.errors import InputError
from lineal.ground.arrays import Array, Index
from lineal.paths.folds import Rule

Scorer = Callable[[Any, Any, Any, Array | None], float]


def split(cv: Any, X: Any, y: Any, weight: Array | None, *, classifier: bool) -> tuple[list[Index], list[Index]]:
    """Return the rows each fold is fitted to, and those it is judged on, some of which must have weight.

    ``cv`` is None for five folds, or what scikit-learn takes.
    """
    folds = list(map(_numbered, check_cv(cv, y, classifier=classifier).split(X, y)))
    if weight is not None:
        folds = [(seen, held) for seen, held in folds if weight[held].sum() > 0.0]
    return [seen for seen, _ in folds], [held for _, held in folds]


def rule_named(rule: object) -> Rule:
    """Return the rule that picks a strength: "best", or "one-se" for the strongest within one standard error of it."""
    if rule != "best" and rule != "one-se":  # noqa: PLR1714  (mypy narrows this form)
        raise InputError(f"rule is {rule!r}; accepted are 'best' and 'one-se'.")
    return rule


def scorer_named(scoring: Any) -> Scorer:
    """Return a function of estimator, X, y and weights; ``scoring`` is a name of scikit-learn's or a callable."""
    try:
        scorer = get_scorer(scoring)
    except (ValueError, TypeError) as error:
        raise InputError(f"scoring is {scoring!r}; {error}") from None

    def score(estimator: Any, X: Any, y: Any, weight: Array | None) -> float:
        if weight is None:
            return float(scorer(estimator, X, y))
        if not _weighs(scorer):
            raise InputError(f"scoring={scoring!r} takes no sample_weight, so it would leave the weights out.")
        return float(scorer(estimator, X, y, sample_weight=weight))

    return score


def _weighs(scorer: Callable[..., Any]) -> bool:
    parameters = inspect.signature(scorer).parameters.values()
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


def _numbered(fold: tuple[Any, Any]) -> tuple[Index, Index]:
    """Return masks as row numbers."""
    seen, held = (np.asarray(part) for part in fold)
    numbers = (np.flatnonzero(part) if part.dtype == bool else part for part in (seen, held))
    return tuple(part.astype(np.intp) for part in numbers)  # type: ignore[return-value]
