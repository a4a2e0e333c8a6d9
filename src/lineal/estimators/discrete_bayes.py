"""Naive Bayes of counts and of what is there or not, with scikit-learn's interface."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lineal.designs import as_design
from lineal.designs.sound import is_sparse
from lineal.errors import InputError
from lineal.estimators.generative import Stream, given_prior, refuse_edited
from lineal.estimators.labels import Codes
from lineal.estimators.parameters import flag, number
from lineal.generative.class_sums import ClassSums, class_sums
from lineal.generative.discrete import LogProbabilities, bernoulli, complement, log_prior, multinomial
from lineal.generative.posterior import Joint
from lineal.ground.arrays import Array
from lineal.ground.inputs import real
from lineal.model.model import Model

LEAST_ALPHA: Final = 1e-10
"""What a smaller alpha becomes without ``force_alpha`` (scikit-learn's)."""


class Discrete(Stream):
    """Naive Bayes of counts: ``log p(k | x) = x' coef_k + intercept_k``, up to what all classes share."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    def _check_parameters(self) -> None:
        self._alpha(None)
        flag("fit_prior", self.fit_prior)

    def _alpha(self, columns: int | None) -> float | Array:
        """Return the smoothing, a number or one for every column; ``columns`` None asks nothing of their number."""
        forced = flag("force_alpha", self.force_alpha)
        if np.ndim(self.alpha) == 0:
            alpha: float | Array = number("alpha", self.alpha)
        else:
            alpha = real(self.alpha, "alpha").astype(np.float64)
            if alpha.ndim != 1 or (columns is not None and len(alpha) != columns):
                raise InputError(
                    f"alpha has shape {alpha.shape}; When alpha is an array, it should contains `n_features`, one number for "
                    f"each{'' if columns is None else f' of {columns} columns'}."
                )
            if not (np.isfinite(alpha).all() and alpha.min(initial=0.0) >= 0.0):
                raise InputError(
                    "alpha holds a negative number, NaN or infinity; All values in alpha must be greater than 0, or 0."
                )
        if not forced and float(np.min(alpha)) < LEAST_ALPHA:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}; force_alpha=True keeps it.",
                stacklevel=4,
            )
            return np.maximum(alpha, LEAST_ALPHA) if np.ndim(alpha) else LEAST_ALPHA
        return alpha

    def _count(self, X: Any, codes: Codes, weight: Array | None) -> ClassSums:
        X = self._events(X)
        return class_sums(self._source(X, codes, weight), len(self.classes_))

    def _events(self, X: Any) -> Any:
        """Return what is counted of X: counts as they are."""
        least = X.data.min(initial=0.0) if is_sparse(X) else X.min()
        if least < 0.0:
            raise InputError(
                f"Negative values in data passed to {type(self).__name__} (input X): it counts, and the least cell is {least:g}."
            )
        return X

    def _conclude(self) -> None:
        self.class_count_ = self._sums.weight.values()
        if self.class_prior is not None:
            with np.errstate(divide="ignore"):
                self.class_log_prior_ = np.log(
                    given_prior("class_prior", self.class_prior, len(self.classes_), scaled=True)
                )
        elif self.fit_prior:
            self.class_log_prior_ = log_prior(self.class_count_)
        else:
            self.class_log_prior_ = np.full(len(self.classes_), -np.log(len(self.classes_)))
        self._conclude_columns()
        self.verdict_ = self._counted(self._sums)

    @abstractmethod
    def _conclude_columns(self) -> None:
        """Note counts and log-probabilities of the columns."""

    @abstractmethod
    def _linear(self) -> tuple[Array, Array]:
        """Return coefficients (K, p) and intercepts (K,) of the scores of the classes."""

    @property
    def coef_(self) -> Array:  # type: ignore[override]
        """The coefficients of the scores, one row for every class; of two classes the difference, one row."""
        coef = self._linear()[0]
        return _difference(coef)

    @property
    def intercept_(self) -> Array:
        """The intercepts of the scores, one for every class; of two classes the difference."""
        return _difference(self._linear()[1])

    @property
    def model_(self) -> Model:  # type: ignore[override]
        """The same classifier as a lineal Model, to save, to show and to predict with."""
        self._check_unedited()
        return self._linear_model(self.coef_, self.intercept_, self._columns(), self._sums)

    def _columns(self) -> tuple[str, ...]:
        return self._names()

    def _check_unedited(self) -> None:
        """Refuse log-probabilities that somebody has changed."""

    def _stated(self) -> dict[str, object]:
        alpha = self._alpha(None)
        smoothing = alpha if isinstance(alpha, float) else alpha.tolist()
        return {"method": type(self).__name__.removesuffix("NB").lower(), "alpha": smoothing, **self._given_prior()}

    def _given_prior(self) -> dict[str, object]:
        """Return the probabilities of the classes that were not counted."""
        classes = len(self.classes_)
        if self.class_prior is not None:
            return {"prior": given_prior("class_prior", self.class_prior, classes, scaled=True).tolist()}
        return {} if self.fit_prior else {"prior": [1.0 / classes] * classes}


def _difference(values: Array) -> Array:
    """Return what belongs to classes; of two of them the second less the first, still with a first axis."""
    if len(values) != 2:
        return values
    with np.errstate(invalid="ignore"):
        return np.asarray(values[1:] - values[:1])


class _Words(Discrete):
    """Events that come one by one, counted by column."""

    def _conclude_columns(self) -> None:
        self.feature_count_ = self._sums.sums.values()
        self._probability = self._probabilities(self.feature_count_, self._alpha(self.feature_count_.shape[1]))
        self.feature_log_prob_ = self._probability.log

    @abstractmethod
    def _probabilities(self, count: Array, alpha: float | Array) -> LogProbabilities:
        """Return log-probabilities from counts."""

    def _prior(self) -> Array:
        return self.class_log_prior_

    def _check_unedited(self) -> None:
        refuse_edited(self.feature_log_prob_ is not self._probability.log, "feature_log_prob_")

    def _linear(self) -> tuple[Array, Array]:
        return self.feature_log_prob_, self._prior()

    def _joint(self, X: Any) -> Joint:
        design, shares = as_design(X, intercept=False), self._probability
        edited = self.feature_log_prob_ is not shares.log
        if edited or shares.zero is None:
            return Joint(design.times(np.ascontiguousarray(self.feature_log_prob_.T)) + self._prior())
        score = design.times(np.ascontiguousarray(shares.limit.T)) + self._prior()
        return Joint(score, design.times(np.ascontiguousarray(shares.zero.T)))


@dataclass(eq=False, kw_only=True, repr=False)
class MultinomialNB(_Words):
    """Naive Bayes of word counts: ``log p(k | x) = log p(k) + sum_j x_j log p(j | k)``, up to what all classes share.

    ``p(j | k) = (N_kj + alpha) / (N_k + alpha p)`` from the counts ``N_kj`` of column j in class k. scikit-learn's
    MultinomialNB with its parameters and attributes; ``docs/generative.md`` says what differs: counts are exact sums,
    and ``alpha = 0`` is the limit of alpha to 0.

    Parameters
    ----------
    alpha : what every count gets in advance, one number or one for every column; 1 is Laplace's smoothing.
    force_alpha : False makes an alpha below 1e-10 that.
    fit_prior, class_prior : whether ``p(k)`` is counted (else uniform), or the probabilities of the classes.

    >>> import numpy as np
    >>> X, y = np.array([[2, 1, 0], [1, 0, 0], [0, 1, 2]]), np.array(["spam", "spam", "ham"])
    >>> model = MultinomialNB().fit(X, y)
    >>> model.verdict_.sentence
    'Exact: counted from 3 rows of 2 classes; nothing was optimized.'
    >>> model.predict_proba([[1, 0, 0]]).round(4).tolist()
    [[0.1273, 0.8727]]
    """

    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None

    def _probabilities(self, count: Array, alpha: float | Array) -> LogProbabilities:
        return multinomial(count, alpha)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags


@dataclass(eq=False, kw_only=True, repr=False)
class ComplementNB(_Words):
    """Complement naive Bayes (Rennie et al. 2003): a class is scored by how improbable its words are in all others.

    ``score_k = - sum_j x_j log [(N_j - N_kj + alpha) / (N - N_k + alpha p)]``; with ``norm``, weights are divided by their
    sum. Priors play a part only where there is one class. scikit-learn's ComplementNB with its parameters and attributes.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior : as in MultinomialNB.
    norm : whether weights are divided by their sum.

    >>> import numpy as np
    >>> X, y = np.array([[2, 1, 0], [1, 0, 0], [0, 1, 2]]), np.array(["spam", "spam", "ham"])
    >>> ComplementNB().fit(X, y).predict([[1, 0, 0]]).tolist()
    ['spam']
    """

    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    norm: bool = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        flag("norm", self.norm)

    def _probabilities(self, count: Array, alpha: float | Array) -> LogProbabilities:
        self.feature_all_ = np.sum(count, axis=0)
        return complement(count, alpha, norm=self.norm)

    def _stated(self) -> dict[str, object]:
        return {**super()._stated(), "norm": self.norm}

    def _given_prior(self) -> dict[str, object]:
        return super()._given_prior() if len(self.classes_) == 1 else {}

    def _prior(self) -> Array:
        return self.class_log_prior_ if len(self.classes_) == 1 else np.zeros(len(self.classes_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags


@dataclass(eq=False, kw_only=True, repr=False)
class BernoulliNB(Discrete):
    """Naive Bayes of what is there or not: ``log p(k) + sum_j [x_j log p_kj + (1 - x_j) log (1 - p_kj)]``.

    ``p_kj = (N_kj + alpha) / (N_k + 2 alpha)``, the share of the rows of class k in which column j is above ``binarize``
    (None: X holds zeros and ones already). scikit-learn's BernoulliNB with its parameters and attributes.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior : as in MultinomialNB.
    binarize : the threshold above which something is there; None if X holds zeros and ones.

    >>> import numpy as np
    >>> X, y = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]]), np.array(["spam", "spam", "ham"])
    >>> BernoulliNB().fit(X, y).predict_proba([[1, 0, 0]]).round(4).tolist()
    [[0.0618, 0.9382]]
    """

    alpha: Any = 1.0
    force_alpha: bool = True
    binarize: float | None = 0.0
    fit_prior: bool = True
    class_prior: Any = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.binarize is not None:
            number("binarize", self.binarize)

    def _events(self, X: Any) -> Any:
        """Return a one for every cell above the threshold."""
        if self.binarize is not None:
            if not is_sparse(X):
                return (self.binarize < X).astype(np.float64)
            events = X.copy()
            events.data = (X.data > self.binarize).astype(np.float64)
            return events
        cells = X.data if is_sparse(X) else X
        if not ((cells == 0.0) | (cells == 1.0)).all():
            raise InputError(
                "binarize is None, but X holds cells other than 0 and 1; give a threshold, such as binarize=0.0."
            )
        return X

    def _count(self, X: Any, codes: Codes, weight: Array | None) -> ClassSums:
        events = self._events(X)
        cells, made = (X.data, events.data) if is_sparse(X) else (X, events)
        self._marks_now = bool((cells == made).all())
        return class_sums(self._source(events, codes, weight), len(self.classes_))

    def _added(self, sums: ClassSums) -> ClassSums:
        self._marks_now = self._marks and self._marks_now
        return super()._added(sums)

    def _columns(self) -> tuple[str, ...]:
        """Return what the Model's columns are called: where X held other numbers than 0 and 1, they are what is above."""
        return self._names() if self._marks else tuple(f"{name} > {self.binarize:g}" for name in self._names())

    def _conclude_columns(self) -> None:
        self._marks = self._marks_now
        self.feature_count_ = self._sums.sums.values()
        self._pair = bernoulli(self.feature_count_, self.class_count_, self._alpha(self.feature_count_.shape[1]))
        self.feature_log_prob_ = self._pair[0].log

    def _linear(self) -> tuple[Array, Array]:
        there, absent = self._pair
        with np.errstate(invalid="ignore"):
            return there.log - absent.log, self.class_log_prior_ + np.sum(absent.log, axis=1)

    def _joint(self, X: Any) -> Joint:
        there, absent = self._pair
        design = as_design(self._events(X), intercept=False)
        score = design.times(np.ascontiguousarray((there.limit - absent.limit).T))
        score += self.class_log_prior_ + np.sum(absent.limit, axis=1)
        if there.zero is None and absent.zero is None:
            return Joint(score)
        nowhere = np.zeros_like(there.log)
        impossible = nowhere if there.zero is None else there.zero
        certain = nowhere if absent.zero is None else absent.zero
        return Joint(score, design.times(np.ascontiguousarray((impossible - certain).T)) + np.sum(certain, axis=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
