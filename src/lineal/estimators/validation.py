"""Folds and scores in scikit-learn's words."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import config_context, get_config
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from lineal.errors import InputError
from lineal.estimators.bases import BaseEstimator, ClassifierMixin
from lineal.ground.arrays import Array, Index
from lineal.paths.folds import Rule


def split(
    cv: Any, X: Any, y: Any, weight: Array | None, *, classifier: bool, routing: Routing
) -> tuple[list[Index], list[Index]]:
    """Return the rows each fold is fitted to, and those it is judged on, some of which must have weight.

    ``cv`` is None for five folds, or what scikit-learn takes.
    """
    folds = list(map(_numbered, check_cv(cv, y, classifier=classifier).split(X, y, **routing.split)))
    if weight is not None:
        folds = [(seen, held) for seen, held in folds if weight[held].sum() > 0.0]
    return [seen for seen, _ in folds], [held for _, held in folds]


def rule_named(rule: object) -> Rule:
    """Return the rule that picks a strength: "best", or "one-se" for the strongest within one standard error of it."""
    if rule != "best" and rule != "one-se":  # noqa: PLR1714  (mypy narrows this form)
        raise InputError(f"rule is {rule!r}; accepted are 'best' and 'one-se'.")
    return rule


@dataclass(frozen=True)
class Scorer:
    """A scorer of scikit-learn's with what it is given beside predictions and truth."""

    scorer: Callable[..., Any]
    spelled: str
    params: Mapping[str, Any]
    weighs: bool

    def __call__(self, estimator: Any, X: Any, y: Any, weight: Array | None) -> float:
        """Return the score of an estimator on rows."""
        given = dict(self.params)
        if weight is not None and self.weighs:
            if not _weighs(self.scorer):
                raise InputError(f"scoring={self.spelled} takes no sample_weight, so it would leave the weights out.")
            given["sample_weight"] = weight
        if "labels" not in given:
            return float(self.scorer(estimator, X, y, **given))
        with config_context(enable_metadata_routing=True):  # scorers take other keywords only then
            return float(self.scorer(estimator, X, y, **given))

    def of(self, rows: Index) -> Scorer:
        """Return the scorer of some rows: of what it is given, each array of one entry a row is cut to these."""
        of_all = ("labels", "pos_label")
        cut = {name: value if name in of_all else _cut(value, rows) for name, value in self.params.items()}
        return replace(self, params=cut)

    def knowing(self, classes: npt.NDArray[Any]) -> Scorer:
        """Return the scorer that is given all classes, if it asks for them: the rows that it sees may lack some."""
        rows = np.zeros((len(classes), 1))
        more = [{"labels": classes, "pos_label": classes[-1]}] if len(classes) == 2 else []
        for known in (*more, {"labels": classes}):
            with suppress(TypeError, ValueError):
                able = replace(self, params={**self.params, **known})
                able(_Uniform(classes), rows, classes, None)
                return able
        return self


class _Uniform(ClassifierMixin, BaseEstimator):
    """Finds every class as likely as any other: shows which keywords a scorer takes."""

    def __init__(self, classes: npt.NDArray[Any]) -> None:
        self.classes_ = classes

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the classes, one a row."""
        return self.classes_

    def predict_proba(self, X: Any) -> Array:
        """Return equal shares."""
        return np.full((len(self.classes_), len(self.classes_)), 1.0 / len(self.classes_))

    def decision_function(self, X: Any) -> Array:
        """Return scores of the classes' places."""
        return np.eye(len(self.classes_)) if len(self.classes_) > 2 else np.array([-1.0, 1.0])

    def __sklearn_is_fitted__(self) -> bool:
        return True


def scorer_named(scoring: Any, routing: Routing) -> Scorer:
    """Return a scorer; ``scoring`` is a name of scikit-learn's or a callable."""
    try:
        scorer = get_scorer(scoring)
    except (ValueError, TypeError) as error:
        raise InputError(f"scoring is {scoring!r}; {error}") from None
    return Scorer(scorer, repr(scoring), routing.score, routing.weighs)


class Routing(NamedTuple):
    """What scikit-learn's metadata routing hands to ``cv`` and to the scorer, and whether the latter gets weights."""

    split: Mapping[str, Any]
    score: Mapping[str, Any]
    weighs: bool = True


class Routed:
    """An estimator with folds: what ``fit`` is given beside X, y and weights goes to ``cv`` and to ``scoring``."""

    cv: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which method needs which metadata (scikit-learn's metadata routing)."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split"))
        scoring = getattr(self, "scoring", None)
        if scoring is not None:
            mapping = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
            router.add(scorer=get_scorer(scoring), method_mapping=mapping)
        return router

    def _routed(self, params: Mapping[str, Any], sample_weight: Any, method: str = "fit") -> Routing:
        """Return where metadata goes; there is none unless scikit-learn's ``enable_metadata_routing`` is set."""
        if not get_config()["enable_metadata_routing"]:
            if params:
                raise InputError(
                    f"{method} got {', '.join(params)}, which is only supported if enable_metadata_routing=True: call "
                    "sklearn.set_config(enable_metadata_routing=True) first."
                )
            return Routing({}, {})
        given = {**params, **({} if sample_weight is None else {"sample_weight": sample_weight})}
        routed = process_routing(self, method, **given)
        default = getattr(self, "scoring", None) is None
        score = {} if default else dict(getattr(routed.scorer, "score", {}))
        return Routing(
            dict(getattr(routed.splitter, "split", {})), score, default or score.pop("sample_weight", None) is not None
        )


def _weighs(scorer: Callable[..., Any]) -> bool:
    parameters = inspect.signature(scorer).parameters.values()
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


def _cut(value: Any, rows: Index) -> Any:
    """Return the entries of some rows; what is no array is for all rows."""
    return np.asarray(value)[rows] if np.ndim(value) else value


def _numbered(fold: tuple[Any, Any]) -> tuple[Index, Index]:
    """Return masks as row numbers."""
    seen, held = (np.asarray(part) for part in fold)
    numbers = (np.flatnonzero(part) if part.dtype == bool else part for part in (seen, held))
    return tuple(part.astype(np.intp) for part in numbers)  # type: ignore[return-value]
