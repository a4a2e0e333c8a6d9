"""Stochastic gradient descent with scikit-learn's interface: whole fits with a verdict, and streams with a progressive one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from lineal.errors import InputError
from lineal.estimators.classification import Classifier
from lineal.estimators.classification import target_of as classes_of
from lineal.estimators.descent import Descent, Plan, begin, one_of
from lineal.estimators.intake import blame, features_and_target, numbers, weights
from lineal.estimators.labels import Codes, places, stream_classes, weigh
from lineal.estimators.parameters import flag, hints, number
from lineal.estimators.regression import Regressor
from lineal.estimators.regression import target_of as number_of
from lineal.ground.arrays import Array
from lineal.losses import EpsilonInsensitive, Hinge, Huber, Logistic, Squared, SquaredEpsilonInsensitive, SquaredHinge
from lineal.losses.logistic import sigmoid
from lineal.losses.loss import Loss
from lineal.model.target import Target

CLASSIFICATION: Final[Mapping[str, Loss]] = {
    "hinge": Hinge(),
    "log_loss": Logistic(),
    "squared_hinge": SquaredHinge(),
}
REGRESSION: Final[Mapping[str, Callable[[float], Loss]]] = {
    "squared_error": lambda _epsilon: Squared(1),
    "huber": Huber,
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
}


@dataclass(eq=False, repr=False)
class SGDClassifier(Descent, Classifier):
    """Linear classification by stochastic gradient descent: minimise ``(1/S) sum_i s_i loss_i + alpha penalty(b)``.

    The penalty is ``|b|^2 / 2``, ``|b|_1`` or a mixture, and the intercept is not penalized. Several classes: each against
    the rest. scikit-learn's SGDClassifier with its parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    loss : "hinge", "log_loss" or "squared_hinge".
    penalty : "l2", "l1", "elasticnet" or None.
    alpha : the strength of the penalty, and of the learning rate "optimal".
    l1_ratio : the share of ``|b|_1`` in "elasticnet".
    fit_intercept : whether to add an intercept.
    max_iter : at most this many epochs; None for no limit.
    tol : the relative gap to prove (``verdict_`` is "optimal" then); a fit also ends when ``n_iter_no_change`` epochs
        in a row lowered the objective by no more than this share of its fall so far. None: only ``max_iter`` ends it.
    shuffle : whether rows are presented in an order drawn anew in every epoch of ``fit``.
    epsilon, early_stopping, validation_fraction : only their defaults.
    verbose, n_jobs : accepted for compatibility, without effect.
    random_state : the seed of the order; None is 0.
    learning_rate : "optimal", "constant", "invscaling" or "adaptive".
    eta0 : the first step of all but "optimal".
    power_t : the exponent of "invscaling".
    class_weight : None, "balanced" (not for streams) or a dict from class to weight; multiplies the sample weights.
    warm_start : start from the coefficients of the fit before.
    average : True to average the iterates, or the number of rows after which to begin.

    ``verdicts_`` and ``models_`` hold one member for each class against the rest; ``verdict_`` is the worst of them.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "yes", "no", "yes"])
    >>> SGDClassifier(alpha=0.1).fit(X, y).predict([[9.0]]).tolist()
    ['yes']
    >>> stream = SGDClassifier().partial_fit(X, y, classes=["no", "yes"])
    >>> stream.verdict_.kind, stream.partial_fit(X, y).verdict_.evidence["rows"]
    ('progressive', 8)
    """

    loss: str = "hinge"

    def fit(
        self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None,
        *, offset: Any = None,
    ) -> Self:  # fmt: skip
        """Fit to rows X and labels y in epochs, until the gap is proven to be small or epochs bring nothing more.

        ``coef_init`` and ``intercept_init`` say where to begin; ``offset`` is added to every score without a coefficient.
        """
        plan = self._checked()
        X, labels, codes, weight = self._labelled(X, y, sample_weight, self.class_weight)
        members = _against_the_rest(codes, len(labels))
        init = begin(coef_init, intercept_init, (len(members), X.shape[1]), intercept=plan.intercept)
        if (
            flag("warm_start", self.warm_start)
            and "classes_" in self.__dict__
            and not np.array_equal(labels, self.classes_)
        ):
            raise InputError(
                f"warm_start continues a fit with the classes {self.classes_.tolist()}; y has {labels.tolist()}."
            )
        coef = self._whole(plan, X, members, weight, offset, init, _target(labels))
        self.classes_ = labels
        self._spread(coef, intercept=plan.intercept)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn rows once, in the order they come, continuing from what was learned before.

        ``classes`` lists every class of the stream and is needed in the first call. ``verdict_`` is "progressive": it
        sums the loss of each row before it was learned.
        """
        plan = self._checked()
        if isinstance(self.class_weight, str):
            raise InputError(
                f"class_weight is {self.class_weight!r}; a stream is not known whole, so give a dict of weights."
            )
        if "coef_" in self.__dict__:
            X, y = self._more(X, y)
            labels = stream_classes(classes, self.classes_)
        else:
            if classes is not None:
                X, y = features_and_target(self, X, y, numeric=False)
                blame(X)
            labels = stream_classes(classes, None)
        codes = places(labels, y)
        weight = weigh(self.class_weight, labels, codes, weights(sample_weight, X))
        self.classes_ = labels
        coef = self._stream(plan, X, _against_the_rest(codes, len(labels)), weight, _target(labels))
        self._spread(coef, intercept=plan.intercept)
        return self

    def _checked(self) -> Plan:
        hints(n_jobs=self.n_jobs)
        name = str(one_of("loss", self.loss, tuple(CLASSIFICATION)))
        return self._plan(CLASSIFICATION[name], uses_epsilon=False)

    def _probable(self) -> bool:
        if self.loss != "log_loss":
            raise AttributeError(f"probabilities need loss='log_loss', not {self.loss!r}")
        return True

    @available_if(_probable)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, offset: Any = None) -> Array:
        """Return the probability of every class; several classes: what each has against the rest, divided by the sum."""
        eta = self._scores(X, offset)
        if eta.shape[1] == 1:
            return np.hstack([sigmoid(-eta), sigmoid(eta)])
        means = sigmoid(eta)
        total = means.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, means, 1.0) / np.where(total > 0.0, total, float(eta.shape[1]))

    @available_if(_probable)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any, *, offset: Any = None) -> Array:
        """Return the logarithm of the probability of every class."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, offset=offset)))


@dataclass(eq=False, repr=False)
class SGDRegressor(Descent, Regressor):
    """Linear regression by stochastic gradient descent: minimise ``(1/S) sum_i s_i loss_i + alpha penalty(b)``.

    The penalty is ``|b|^2 / 2``, ``|b|_1`` or a mixture, and the intercept is not penalized. scikit-learn's SGDRegressor
    with its parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    loss : "squared_error", "huber", "epsilon_insensitive" or "squared_epsilon_insensitive".
    epsilon : the threshold of all but "squared_error".
    penalty, alpha, l1_ratio, fit_intercept, max_iter, tol, shuffle, random_state, learning_rate, eta0, power_t,
    n_iter_no_change, warm_start, average : as in SGDClassifier.
    early_stopping, validation_fraction : only their defaults.
    verbose : accepted for compatibility, without effect.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 3.0, 5.0])
    >>> model = SGDRegressor(eta0=0.3, learning_rate="constant").fit(X, y)
    >>> model.verdict_.kind, round(float(model.coef_[0]), 1)
    ('optimal', 2.0)
    """

    loss: str = "squared_error"
    _: KW_ONLY
    learning_rate: str = "invscaling"
    power_t: float = 0.25
    # no parameters here: numbers have no classes, and there is one problem to solve
    class_weight: Any = field(init=False)
    n_jobs: int | None = field(init=False)

    def fit(
        self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None,
        *, offset: Any = None,
    ) -> Self:  # fmt: skip
        """Fit to rows X and one target y in epochs, until the gap is proven to be small or epochs bring nothing more.

        ``coef_init`` and ``intercept_init`` say where to begin; ``offset`` is added to every score without a coefficient.
        """
        plan = self._checked()
        X, y = features_and_target(self, X, y, numeric=True, several=False)
        init = begin(coef_init, intercept_init, (1, X.shape[1]), intercept=plan.intercept)
        coef = self._whole(plan, X, [numbers(y)], weights(sample_weight, X), offset, init, number_of(None))
        self._settle(coef, plan)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rows once, in the order they come, continuing from what was learned before.

        ``verdict_`` is "progressive": it sums the loss of each row before it was learned.
        """
        plan = self._checked()
        if "coef_" not in self.__dict__:
            X, y = features_and_target(self, X, y, numeric=True, several=False)
            blame(X)
        else:
            X, y = self._more(X, y)
        self._settle(self._stream(plan, X, [numbers(y)], weights(sample_weight, X), number_of(None)), plan)
        return self

    def _settle(self, coef: Array, plan: Plan) -> None:
        """Note coefficients, (features,), and the intercept, (1,), as scikit-learn shapes them."""
        self.coef_ = coef[int(plan.intercept) :, 0].copy()
        self.intercept_ = coef[0].copy() if plan.intercept else np.zeros(1)

    def _checked(self) -> Plan:
        name = str(one_of("loss", self.loss, tuple(REGRESSION)))
        epsilon = number("epsilon", self.epsilon, above=0.0 if name == "huber" else None)
        return self._plan(REGRESSION[name](epsilon), uses_epsilon=name != "squared_error")


def _against_the_rest(codes: Codes, classes: int) -> list[Array]:
    """Return the targets of each member: the second of two classes, or each of several against the rest."""
    wanted = [1] if classes == 2 else range(classes)
    return [(codes == k).astype(np.float64)[:, None] for k in wanted]


def _target(labels: npt.NDArray[Any]) -> Target:
    """Return the target of every member: the two classes, or whether a row is of the class."""
    return classes_of(labels if len(labels) == 2 else np.array([False, True]))
