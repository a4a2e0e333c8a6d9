"""Bayesian ridge regression with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from lineal.designs import as_design
from lineal.designs.center import scores
from lineal.errors import InputError
from lineal.estimators.intake import features, features_and_target, numbers, weights
from lineal.estimators.parameters import count, flag, hints, number, until
from lineal.estimators.regression import Regressor, target_of
from lineal.fitting.evidence import evidence
from lineal.model.verdict import TOLERANCE


@dataclass(eq=False, kw_only=True, repr=False)
class BayesianRidge(Regressor):
    """Ridge regression whose noise and prior variance maximise the evidence.

    ``y = X b + noise, noise ~ N(0, 1/alpha_), b_j ~ N(0, 1/lambda_)``, the intercept with a flat prior; alpha and lambda
    have gamma priors. scikit-learn's BayesianRidge with its parameters; ``docs/differences.md`` lists what differs.
    The evidence need not be concave, so the verdict is ``stationary``.

    Parameters
    ----------
    max_iter : at most this many steps of the search for alpha and lambda.
    tol : how far from zero the slope of the log-evidence by log alpha and log lambda may be.
    alpha_1, alpha_2 : shape and rate of the gamma prior of alpha, the precision of the noise.
    lambda_1, lambda_2 : shape and rate of the gamma prior of lambda, the precision of the coefficients.
    alpha_init, lambda_init : where the search begins; None for 1 / variance of y, and 1.
    compute_score : whether to note the log-evidence of every step in ``scores_``.
    fit_intercept : whether to add an intercept.
    copy_X : accepted for compatibility; X is neither copied nor changed, which is what both values promise.
    verbose : accepted for compatibility, without effect.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``, no posterior
        (``sigma_`` is NaN), and where the search had not ended the variances that it begins with.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = BayesianRidge().fit(X, np.array([1.0, 2.9, 5.2, 6.9]))
    >>> model.verdict_.kind, bool(1.8 < model.coef_[0] < 2.0)
    ('stationary', True)
    """

    max_iter: int = 300
    tol: float = TOLERANCE
    alpha_1: float = 1e-6
    alpha_2: float = 1e-6
    lambda_1: float = 1e-6
    lambda_2: float = 1e-6
    alpha_init: float | None = None
    lambda_init: float | None = None
    compute_score: bool = False
    fit_intercept: bool = True
    copy_X: bool = True
    verbose: bool = False
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and one target y.

        ``offset`` is added to every score without a coefficient.
        """
        hints(copy_X=self.copy_X, verbose=self.verbose)
        intercept, tol = flag("fit_intercept", self.fit_intercept), number("tol", self.tol)
        most, deadline = count("max_iter", self.max_iter), until("time_limit", self.time_limit)
        if most is None:
            raise InputError("max_iter is None; the search for the variances needs a limit, a whole number.")
        scored = flag("compute_score", self.compute_score)
        X, y = features_and_target(self, X, y, numeric=True, several=False)
        values, weight = numbers(y), weights(sample_weight, X)
        source, penalty_factors = self._source(X, values, weight, offset, outputs=1, intercept=intercept)
        posterior = evidence(
            source,
            penalty_factors=penalty_factors,
            tol=tol,
            max_iter=most,
            time_limit=deadline,
            alpha_init=_above("alpha_init", self.alpha_init),
            lambda_init=_above("lambda_init", self.lambda_init),
            alpha_1=number("alpha_1", self.alpha_1),
            alpha_2=number("alpha_2", self.alpha_2),
            lambda_1=number("lambda_1", self.lambda_1),
            lambda_2=number("lambda_2", self.lambda_2),
            keep=True,
        )
        self._note(posterior.fit, target_of(None), TOLERANCE)
        self.verdict_, self.trace_ = posterior.verdict, posterior.trace
        self._spread(posterior.fit.plain, intercept=intercept)
        self.alpha_, self.lambda_ = np.float64(1.0 / posterior.noise), np.float64(1.0 / posterior.prior)
        self._covariance, self._center = posterior.covariance, posterior.center
        self.sigma_ = posterior.covariance[int(intercept) :, int(intercept) :]
        self.n_iter_ = max(len(posterior.trace) - 1, 1)
        if scored:
            self.scores_ = -np.array(posterior.trace.column("objective"), dtype=np.float64)
        return self

    def predict(self, X: Any, return_std: bool = False, *, offset: Any = None) -> Any:
        """Return the mean of the prediction for every row; with ``return_std`` also its standard deviation.

        The variance is ``1/alpha_ + x' covariance x``, that of the intercept included.
        """
        mean = self._scores(X, offset)[:, 0]
        if not flag("return_std", return_std):
            return mean
        if np.isnan(self._covariance).all():
            raise InputError("there is no posterior: the time limit ended the fit before; fit again with more time.")
        X = features(self, X)
        design = as_design(X, intercept=len(self._covariance) > X.shape[1])
        values, vectors = np.linalg.eigh(self._covariance)
        root = np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))
        return mean, np.sqrt(1.0 / self.alpha_ + np.sum(scores(design, root, self._center) ** 2, axis=1))


def _above(name: str, value: Any) -> float | None:
    """Return a parameter that must be None or a number above 0."""
    return None if value is None else number(name, value, above=0.0)
