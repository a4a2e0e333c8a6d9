"""Poisson regression with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from lineal.api.dialects import solver_named
from lineal.errors import InputError
from lineal.estimators.intake import features_and_target, numbers, weights
from lineal.estimators.parameters import count, flag, hints, number
from lineal.estimators.penalty_maker import penalty_maker
from lineal.estimators.regression import Regressor
from lineal.ground.arrays import Array
from lineal.losses import Poisson
from lineal.model.verdict import TOLERANCE


@dataclass(eq=False, kw_only=True, repr=False)
class PoissonRegressor(Regressor):
    """Poisson regression: minimise ``(1/S) sum_i s_i (e^eta_i - y_i eta_i) + alpha / 2 |b|^2``, the intercept not penalized.

    S is the sum of weights; predictions are ``e^eta``. scikit-learn's PoissonRegressor with its parameters (it writes
    the same loss as half the deviance); ``docs/differences.md`` lists what differs. Without a penalty, rows of zero
    counts may have no finite optimum: then the verdict is ``at_infinity``.

    Parameters
    ----------
    alpha : the strength of the penalty on squared coefficients, at least 0.
    fit_intercept : whether to add an intercept.
    solver : "auto" or any name of scikit-learn's, which asks for this optimum; to insist, "newton", "quasi-newton",
        "conjugate-gradient", "gradient-descent" or an object of ``lineal.solvers``; options follow a colon:
        "gradient-descent:step=0.1" with ``max_iter=75`` takes 75 steps from zero (``trace_``).
    max_iter : at most this many steps of the solver; None for no limit.
    tol : the relative gap to prove, see ``verdict_``.
    warm_start : start from the coefficients of the fit before.
    verbose : accepted for compatibility, without effect.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> model = PoissonRegressor(alpha=0.0).fit(np.array([[0.0], [0.0], [1.0]]), np.array([1.0, 3.0, 6.0]))
    >>> model.verdict_.kind, model.predict([[0.0], [1.0]]).round(4).tolist()
    ('optimal', [2.0, 6.0])
    """

    alpha: float = 1.0
    fit_intercept: bool = True
    solver: str = "auto"
    max_iter: int | None = None
    tol: float = TOLERANCE
    warm_start: bool = False
    verbose: int = 0
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and counts (or rates) y >= 0.

        ``offset`` is added to every score without a coefficient: the logarithm of the exposure.
        """
        hints(verbose=self.verbose)
        alpha = number("alpha", self.alpha)
        self._regress(
            X,
            y,
            sample_weight,
            offset,
            loss=Poisson(),
            penalty=penalty_maker(lambda _: alpha),
            intercept=flag("fit_intercept", self.fit_intercept),
            solver=solver_named(self.solver),
            tol=number("tol", self.tol),
            max_iter=count("max_iter", self.max_iter),
            warm_start=flag("warm_start", self.warm_start),
        )
        self.n_iter_ = self._steps
        return self

    def predict(self, X: Any, *, offset: Any = None) -> Array:
        """Return the mean of every row, ``e^(X coef_ + intercept_ (+ offset))``."""
        return Poisson().mean(self._scores(X, offset))[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return D^2, the share of the deviance that is explained: ``1 - deviance / deviance of the mean of y``."""
        self._ready()
        mean = self.predict(X)[:, None]
        X, y = features_and_target(self.__class__(), X, y, numeric=True, several=False)
        values, weight = numbers(y), weights(sample_weight, X)
        if not (values >= 0.0).all():
            raise InputError("y holds a negative number; counts are at least 0.")
        s = np.ones(len(values)) if weight is None else weight
        level = np.full_like(values, float(s @ values[:, 0]) / float(s.sum()))
        whole = float(s @ _deviance(values, level))
        return 1.0 - float(s @ _deviance(values, mean)) / whole if whole > 0.0 else float("nan")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


def _deviance(y: Array, mean: Array) -> Array:
    """Return ``2 (y log(y / mean) - y + mean)`` of every row.

    >>> _deviance(np.array([[0.0]]), np.array([[1.5]]))
    array([3.])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(y > 0.0, y * (np.log(y) - np.log(mean)), 0.0)
        return np.asarray(2.0 * (part - y + mean)[:, 0])
