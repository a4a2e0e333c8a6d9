"""Huber regression with scikit-learn's interface."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lineal.estimators.charging import charging
from lineal.estimators.intake import features_and_target, numbers, offsets, weights
from lineal.estimators.parameters import count, flag, number
from lineal.estimators.regression import Regressor, target_of
from lineal.losses import Huber
from lineal.scale import scaled_huber
from lineal.verdict import TOLERANCE

Array = npt.NDArray[np.float64]


class HuberRegressor(Regressor):
    """Huber regression: minimise ``sum_i s_i (sigma + sigma H(r_i / sigma)) + alpha |b|^2`` over coefficients and scale.

    ``H(z) = z^2`` for ``|z| <= epsilon``, ``2 epsilon |z| - epsilon^2`` beyond; r are the residuals, sigma is ``scale_``; the
    intercept is not charged. scikit-learn's HuberRegressor with its parameters; ``docs/differences.md`` lists what
    differs. ``objective_`` is the above over 2 S, S the sum of weights; ``model_`` is the fit with the scale as given.
    A given ``scale`` is kept: then ``objective_`` is ``(1/S) sum_i s_i sigma^2 H(r_i / sigma) / 2 + alpha sigma / (2 S) |b|^2``.

    Parameters
    ----------
    epsilon : from how many scales on a residual counts as an outlier, at least 1.
    max_iter : at most this many Newton steps, at all scales together; None for no limit.
    alpha : the charge on squared coefficients, at least 0.
    warm_start : start from the coefficients of the fit before.
    fit_intercept : whether to add an intercept.
    tol : the relative gap to prove, see ``verdict_``.
    scale : sigma if it is known, in the units of y; None fits it beside the coefficients.

    >>> import numpy as np
    >>> X, y = np.arange(8.0)[:, None], np.array([0.1, 0.9, 2.1, 2.9, 4.1, 4.9, 6.1, 99.0])
    >>> model = HuberRegressor().fit(X, y)
    >>> model.verdict_.kind, bool(model.outliers_[7]), bool(0.9 < model.coef_[0] < 1.1)
    ('optimal', True, True)
    """

    scale_: float
    outliers_: npt.NDArray[np.bool_]
    n_iter_: int

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int | None = None,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = TOLERANCE,
        scale: float | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.scale = scale

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and one target y.

        ``offset`` is added to every score without a coefficient.
        """
        if self.scale is None:
            return self._with_scale(X, y, sample_weight, offset)
        epsilon, alpha = number("epsilon", self.epsilon, least=1.0), number("alpha", self.alpha)
        scale = number("scale", self.scale, above=0.0)
        self._regress(
            X,
            y,
            sample_weight,
            offset,
            loss=Huber(epsilon * scale),
            penalty=charging(lambda total: alpha * scale / total),
            intercept=flag("fit_intercept", self.fit_intercept),
            tol=number("tol", self.tol),
            max_iter=count("max_iter", self.max_iter),
            warm_start=flag("warm_start", self.warm_start),
        )
        self.scale_, self.n_iter_ = scale, self._steps
        self.outliers_ = np.abs(numbers(y)[:, 0] - self.predict(X, offset=offset)) > epsilon * scale
        return self

    def _with_scale(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> Self:
        """Fit coefficients and scale together."""
        epsilon, alpha = number("epsilon", self.epsilon, least=1.0), number("alpha", self.alpha)
        intercept, tol = flag("fit_intercept", self.fit_intercept), number("tol", self.tol)
        most, warm = count("max_iter", self.max_iter), flag("warm_start", self.warm_start)
        X, y = features_and_target(self, X, y, numeric=True, several=False)
        values, weight = numbers(y), weights(sample_weight, X)
        source, charges = self._source(X, values, weight, offset, outputs=1, intercept=intercept)
        total = float(len(values) if weight is None else weight.sum())
        start = self._before(1, intercept=intercept) if warm else None
        scale = np.inf if start is None else float(self.scale_)
        found = scaled_huber(source, epsilon, alpha / total, charges, tol=tol, max_iter=most, start=start, scale=scale)
        self._note(found.fit, target_of(None), tol)
        self.verdict_, self.objective_ = found.verdict, found.objective
        self._spread(found.coef, intercept=intercept)
        self.scale_, self.n_iter_ = found.scale, found.steps
        shift = offsets(offset, len(values), 1)
        eta = source.block.design.times(found.coef)
        self.outliers_ = np.abs(values - (eta if shift is None else eta + shift))[:, 0] > found.scale * epsilon
        return self
