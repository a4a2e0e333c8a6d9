"""What the generative classifiers share: rows by class, streams, Bayes' theorem, and the verdict of what was counted."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from lineal.certify.wording import exact
from lineal.designs import as_design
from lineal.designs.sound import is_sparse
from lineal.errors import InputError
from lineal.estimators.bases import ClassifierMixin
from lineal.estimators.classification import target_of
from lineal.estimators.fitted import Fitted
from lineal.estimators.intake import blame, features, features_and_target, weights
from lineal.estimators.labels import Codes, encode, places, stream_classes
from lineal.generative.class_densities import ClassDensities
from lineal.generative.class_sums import ClassSums
from lineal.generative.posterior import Joint
from lineal.ground.arrays import Array
from lineal.ground.inputs import class_labels
from lineal.losses import Logistic, Softmax
from lineal.losses.loss import Loss
from lineal.model.model import Model
from lineal.model.verdict import Verdict
from lineal.penalties import NoPenalty
from lineal.sources.memory import Memory


class Generative(ClassifierMixin, Fitted):
    """A classifier that models how the rows of every class are distributed, and decides by Bayes' theorem.

    After ``fit``: ``verdict_`` (exact: nothing is optimized) and ``classes_``.
    """

    classes_: npt.NDArray[Any]

    @abstractmethod
    def _joint(self, X: Any) -> Joint:
        """Return ``log p(k, x)`` of checked rows."""

    def _checked_joint(self, X: Any) -> Joint:
        if "classes_" not in self.__dict__:
            check_is_fitted(self)
        X = features(self, self._stored(X))
        blame(X)
        return self._joint(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most probable class of every row, of equal ones the first."""
        best = self._checked_joint(X).best()
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class, in the order of ``classes_``."""
        return self._checked_joint(X).probabilities()

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of every class."""
        return self._checked_joint(X).log_probabilities()

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows whose class is predicted."""
        with np.errstate(invalid="ignore"):  # scikit-learn asks whether labels are whole numbers by making them so
            return float(super().score(X, y if y is None else class_labels(y), sample_weight))

    def _stored(self, X: Any) -> Any:
        """Return X if this classifier takes such a matrix."""
        if is_sparse(X) and not self.__sklearn_tags__().input_tags.sparse:
            raise InputError(
                f"X is a sparse matrix, and sparse data is not supported by {type(self).__name__}: its densities need every "
                "cell. Give a dense array: X.toarray()."
            )
        return X

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, npt.NDArray[Any], Codes, Array | None]:
        """Return X, the classes that have a row of weight above zero, the class of every row, and the weights."""
        X, y = features_and_target(self, self._stored(X), y, numeric=False)
        blame(X)
        labels, codes = encode(y)
        weight = weights(sample_weight, X)
        if weight is not None:
            kept = np.bincount(codes, weights=weight, minlength=len(labels)) > 0.0
            labels, codes = labels[kept], np.maximum(np.cumsum(kept) - 1, 0)[codes]
        return X, labels, codes, weight

    def _more(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Any, Codes, Array | None, bool]:
        """Return X, the class of every row, the weights, and whether these are the first rows of a stream."""
        first = "classes_" not in self.__dict__
        X = self._stored(X)
        if first:
            labels = stream_classes(classes, None, least=1)
            X, y = features_and_target(self, X, y, numeric=False)
        else:
            labels = stream_classes(classes, self.classes_, least=1)
            X, y = features(self, X), class_labels(y)
            if y.shape != (X.shape[0],):
                raise InputError(f"y has shape {y.shape}; X has {X.shape[0]} rows, so give one label for each.")
        blame(X)
        codes, weight = places(labels, y), weights(sample_weight, X)
        self.classes_ = labels
        return X, codes, weight, first

    def _source(self, X: Any, codes: Codes, weight: Array | None) -> Memory:  # type: ignore[override]
        """Return the rows as a source whose targets are the numbers of the classes."""
        return Memory(as_design(X, intercept=False), codes.astype(np.float64), weight)

    @abstractmethod
    def _stated(self) -> dict[str, object]:
        """Return the method and its options, from which ``lineal verify`` makes the same of the rows."""

    def _counted(self, sums: ClassSums, more: str = "", **evidence: object) -> Verdict:
        """Return the verdict on what was counted."""
        own = {**self._stated(), **evidence}
        return counted(int(sums.rows.sum()), len(self.classes_), sums.weight.values(), more, **own)

    def _linear_model(self, coef: Array, intercept: Array, names: tuple[str, ...], sums: ClassSums) -> Model:
        """Return scores ``X coef' + intercept`` (K outputs, or one of two classes) as a Model."""
        if len(self.classes_) == 1:
            raise InputError(
                "there is one class, so a Model would have nothing to decide; fit to rows of two classes or more."
            )
        if not sums.rows.all():
            label = self.classes_.tolist()[int(np.argmin(sums.rows))]
            raise InputError(f"class {label!r} has no row yet, so nothing is known of it; go on with partial_fit.")
        stacked = np.vstack([intercept[None, :], coef.T])
        if not np.isfinite(stacked).all():
            raise InputError(
                "a probability is zero, so its logarithm is no number that a model file can hold; fit with alpha above 0, and "
                "priors above 0."
            )
        loss: Loss = Logistic() if stacked.shape[1] == 1 and len(self.classes_) == 2 else Softmax(len(self.classes_))
        return Model.of_rows(
            int(sums.rows.sum()), float(sums.weight.values().sum()),
            coef=np.ascontiguousarray(stacked), columns=("(intercept)", *names), loss=loss,
            penalty=NoPenalty(len(stacked)), target=target_of(self.classes_), verdict=self.verdict_,
            solver="counting", reason="one pass over the rows",
        )  # fmt: skip

    def _density_model(self, densities: ClassDensities, prior: Array, sums: ClassSums) -> Model:
        """Return ``log p(k) + log p(x | k)`` as a Model whose columns are the densities."""
        with np.errstate(divide="ignore"):
            level = np.log(prior)
        each = np.eye(len(prior))
        if len(prior) == 2:
            level, each = level[1:] - level[:1], each[1:] - each[:1]
        return replace(self._linear_model(each, level, densities.columns, sums), feature_map=densities)

    def _names(self) -> tuple[str, ...]:
        """Return the names of the features."""
        named = getattr(self, "feature_names_in_", None)
        return tuple(f"x{j}" for j in range(self.n_features_in_)) if named is None else tuple(named.tolist())


class Stream(Generative):
    """A generative classifier whose counts can be added to, by ``partial_fit``."""

    _sums: ClassSums

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows; ``classes`` lists every class and is needed in the first call.

        What is counted in parts, in any order, is to the last bit what ``fit`` counts at once.
        """
        self._check_parameters()
        X, codes, weight, first = self._more(X, y, classes, sample_weight)
        sums = self._count(X, codes, weight)
        self._sums = sums if first else self._added(sums)
        self._conclude()
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count rows X of classes y: strings, whole numbers or Booleans."""
        self._check_parameters()
        X, labels, codes, weight = self._rows(X, y, sample_weight)
        self.classes_ = labels
        self._sums = self._count(X, codes, weight)
        self._conclude()
        return self

    def _added(self, sums: ClassSums) -> ClassSums:
        """Return what was counted before and now."""
        return self._sums + sums

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return ``log p(k, x)`` of every class."""
        return self._checked_joint(X).log_joint()

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that mean nothing."""

    @abstractmethod
    def _count(self, X: Any, codes: Codes, weight: Array | None) -> ClassSums:
        """Return what is to be known of rows."""

    @abstractmethod
    def _conclude(self) -> None:
        """Note on the estimator what follows from the sums."""


def counted(rows: int, classes: int, weight: Array, more: str = "", **evidence: object) -> Verdict:
    """Return the verdict on what was counted from rows of some classes; ``more`` continues its sentence.

    >>> counted(277, 3, np.array([100.0, 100.0, 77.0])).sentence
    'Exact: counted from 277 rows of 3 classes; nothing was optimized.'
    """
    words = (
        f"counted from {rows:,} row{'' if rows == 1 else 's'} of {classes} class{'' if classes == 1 else 'es'}{more}"
    )
    return exact(words, {"class_weight": weight.tolist(), **evidence})


def refuse_edited(edited: bool, what: str) -> None:
    """Refuse a Model of an estimator whose attributes are no longer what was counted."""
    if edited:
        raise InputError(f"{what} was changed after the fit, so a Model of it is not what was counted; fit again.")


def given_prior(name: str, prior: Any, classes: int, *, scaled: bool = False) -> Array:
    """Return probabilities of the classes that a person gives; ``scaled`` ones need not sum to 1.

    >>> given_prior("priors", [0.25, 0.75], 2)
    array([0.25, 0.75])
    """
    try:
        values = np.array(prior, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.shape != (classes,):
        raise InputError(f"{name} is {prior!r}; Number of priors must match number of classes: give {classes} numbers.")
    if not (np.isfinite(values).all() and values.min() >= 0.0 and values.max() > 0.0):
        word = name if scaled else "Priors"
        raise InputError(f"{name} is {prior!r}; {word} must be non-negative numbers, and one of them above zero.")
    if not scaled and abs(float(values.sum()) - 1.0) > 1e-8:
        raise InputError(f"{name} is {prior!r}; The sum of the priors should be 1, and it is {values.sum():.6g}.")
    return values
