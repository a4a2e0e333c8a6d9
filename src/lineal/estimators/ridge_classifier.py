"""Ridge regression on classes, each against the rest, with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from lineal.api.dialects import solver_named, strength_of_alpha
from lineal.designs.sound import is_sparse
from lineal.estimators.bases import BaseEstimator, ClassifierMixin
from lineal.estimators.classification import Classifier
from lineal.estimators.intake import features_and_target, weights
from lineal.estimators.labels import encode, present, weigh
from lineal.estimators.parameters import count, flag, hints, number
from lineal.estimators.penalty_maker import penalty_maker
from lineal.estimators.regression import target_of
from lineal.estimators.ridge_cv import RidgeSearch
from lineal.estimators.validation import Scorer
from lineal.ground.arrays import Array
from lineal.ground.inputs import class_labels
from lineal.losses import Squared
from lineal.model.verdict import TOLERANCE


class _Signed(Classifier):
    """A classifier whose scores are ridge regressions on +1 for a class, or a label, and -1 against it."""

    _labels: bool
    """Whether a row has any number of labels, not one class."""

    def _signs(
        self, X: Any, y: Any, sample_weight: Any, class_weight: object
    ) -> tuple[Any, Array, npt.NDArray[Any], Array | None]:
        """Return X, what is fitted, what it means, and weights; note the classes."""
        y = y.toarray() if is_sparse(y) else None if y is None else class_labels(y)
        self._labels = np.ndim(y) == 2 and y.shape[1] > 1 and type_of_target(y) == "multilabel-indicator"
        if self._labels:
            X, y = features_and_target(self, X, y, numeric=True)
            own = None if class_weight is None else compute_sample_weight(class_weight, y)
            weight = weights(sample_weight, X)
            self.classes_ = np.arange(y.shape[1])
            return X, np.where(y > 0, 1.0, -1.0), y.astype(np.intp), own if weight is None else _times(weight, own)
        X, y = features_and_target(self, X, y, numeric=False)
        labels, codes = encode(y)
        weight = weigh(class_weight, labels, codes, weights(sample_weight, X))
        labels, codes = present(labels, codes, weight)
        self.classes_ = labels
        wanted = [1] if len(labels) == 2 else range(len(labels))
        return X, np.column_stack([np.where(codes == k, 1.0, -1.0) for k in wanted]), labels[codes], weight

    def _spread(self, coef: Array, *, intercept: bool) -> None:
        """Note coefficients, of two classes as ``(features,)``; without an intercept it is the number 0: as there."""
        super()._spread(coef, intercept=intercept)
        self.coef_ = self.coef_[0] if len(self.coef_) == 1 else self.coef_
        self.intercept_ = self.intercept_ if intercept else 0.0

    def predict(self, X: Any, *, offset: Any = None) -> npt.NDArray[Any]:
        """Return the class of the best score of every row; of several labels a 1 for each whose score is above 0."""
        if "_labels" in self.__dict__ and self._labels:
            return np.asarray(self._scores(X, offset) > 0.0).astype(np.intp)
        return super().predict(X, offset=offset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


@dataclass(eq=False, repr=False)
class RidgeClassifier(_Signed):
    """Classification by ridge regression: minimise ``sum_i s_i (z_i - x_i b)^2 + alpha |b|^2``, z +1 for the class, -1 against.

    Two classes have one score, several one each; the best wins. y may also be labels, ``(n, labels)`` of 0 and 1.
    scikit-learn's RidgeClassifier with its parameters; ``docs/differences.md`` lists what differs. ``model_`` is the
    regression on z.

    Parameters
    ----------
    alpha : the strength of the penalty on squared coefficients, at least 0.
    fit_intercept : whether to add an intercept.
    copy_X : accepted for compatibility; X is neither copied nor changed, which is what both values promise.
    max_iter : at most this many steps of the solver; None for no limit.
    tol : the relative gap to prove, see ``verdict_``.
    class_weight : None, "balanced" or a dict from class to weight; multiplies the sample weights.
    solver : "auto" or any name of scikit-learn's, as in ``Ridge``.
    positive : whether every coefficient but the intercept must be at least 0.
    random_state : any seed; no solver draws random numbers, so all give the same fit.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "no", "yes", "yes"])
    >>> model = RidgeClassifier().fit(X, y)
    >>> model.verdict_.kind, model.predict([[9.0]]).tolist()
    ('optimal', ['yes'])
    """

    alpha: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: bool = True
    max_iter: int | None = None
    tol: float = TOLERANCE
    class_weight: Any = None
    solver: str = "auto"
    positive: bool = False
    random_state: Any = None
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and classes, or labels, y.

        ``offset`` is added to every score without a coefficient; shape (n,) for one score, (n, scores) for several.
        """
        hints(copy_X=self.copy_X, random_state=self.random_state)
        alpha, positive = number("alpha", self.alpha), flag("positive", self.positive)
        intercept, solver = flag("fit_intercept", self.fit_intercept), solver_named(self.solver)
        tol, most = number("tol", self.tol), count("max_iter", self.max_iter)
        X, signs, _, weight = self._signs(X, y, sample_weight, self.class_weight)
        outputs = signs.shape[1]
        coef = self._solve(
            X,
            signs,
            weight,
            offset,
            loss=Squared(outputs),
            penalty=penalty_maker(lambda total: strength_of_alpha(alpha, total), positive=positive),
            target=target_of(outputs if outputs > 1 else None),
            intercept=intercept,
            solver=solver,
            tol=tol,
            max_iter=most,
        )
        self._spread(coef, intercept=intercept)
        self.n_iter_ = np.array([self._steps] * outputs, dtype=np.int32)
        return self


@dataclass(eq=False, repr=False)
class RidgeClassifierCV(RidgeSearch, _Signed):
    """``RidgeClassifier`` with the alpha that predicts best rows that were left out.

    Without ``cv`` every row is left out once, exactly, as in ``RidgeCV``. The final fit is ``RidgeClassifier`` on all rows
    with ``alpha_``: ``verdict_`` is about it. scikit-learn's RidgeClassifierCV with its parameters;
    ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    alphas, fit_intercept, cv, store_cv_results, tol, rule, time_limit : as in ``RidgeCV``.
    scoring : None for the mean squared error of the scores (accuracy with ``cv``), a name of scikit-learn's, or a scorer.
    class_weight : None, "balanced" or a dict from class to weight; multiplies the sample weights.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 3))
    >>> model = RidgeClassifierCV().fit(X, X[:, 0] + rng.normal(size=40) > 0)
    >>> model.verdict_.kind, model.alpha_
    ('optimal', 10.0)
    """

    _scoring_of_folds: ClassVar[str] = "accuracy"

    alphas: Any = (0.1, 1.0, 10.0)
    _: KW_ONLY
    fit_intercept: bool = True
    scoring: Any = None
    cv: Any = None
    class_weight: Any = None
    store_cv_results: bool = False
    tol: float = TOLERANCE
    rule: str = "best"
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose alpha on rows left out of X and the classes, or labels, y, then fit all rows.

        ``params`` go to the scorer and to ``cv``, with scikit-learn's metadata routing.
        """
        routing = self._routed(params, sample_weight)
        X, signs, y, weight = self._signs(X, y, sample_weight, self.class_weight)
        outputs = signs.shape[1]
        target = target_of(outputs if outputs > 1 else None)
        coef = self._search(X, signs, y, weight, target, routing, classifier=True)
        self._spread(coef, intercept=bool(self.fit_intercept))
        return self

    def _score(self, scorer: Scorer, guess: Array, truth: npt.NDArray[Any], weight: Array | None) -> float:
        return scorer(_GivenScores(self.classes_, self._labels), guess, truth, weight)


class _GivenScores(ClassifierMixin, BaseEstimator):
    """Predicts by given scores, for scorers that ask an estimator."""

    def __init__(self, classes: npt.NDArray[Any], labels: bool) -> None:
        self.classes_, self.labels = classes, labels

    def decision_function(self, scores: Array) -> Array:
        """Return the scores as a classifier gives them."""
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, scores: Array) -> npt.NDArray[Any]:
        """Return the class of the best score, or the labels."""
        if self.labels:
            return (scores > 0.0).astype(np.intp)
        place = (scores[:, 0] > 0.0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[place])

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _times(weight: Array, own: Array | None) -> Array:
    return weight if own is None else weight * own
