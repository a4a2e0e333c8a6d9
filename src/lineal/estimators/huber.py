"""Huber regression with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from lineal.estimators.intake import features_and_target, numbers, weights
from lineal.estimators.parameters import count, flag, number, until
from lineal.estimators.penalty_maker import penalty_maker
from lineal.estimators.regression import Regressor, target_of
from lineal.fitting import fitting
from lineal.fitting.scale import scaled_huber
from lineal.ground.arrays import Array, Mask
from lineal.losses import Huber
from lineal.model.verdict import TOLERANCE
from lineal.problem.problem import Problem


@dataclass(eq=False, kw_only=True, repr=False)
class HuberRegressor(Regressor):
    """Huber regression: minimise ``sum_i s_i (sigma + sigma H(r_i / sigma)) + alpha |b|^2`` over coefficients and scale.

    ``H(z) = z^2`` for ``|z| <= epsilon``, ``2 epsilon |z| - epsilon^2`` beyond; r are the residuals, sigma is ``scale_``; the
    intercept is not penalized. scikit-learn's HuberRegressor with its parameters; ``docs/differences.md`` lists what
    differs. ``objective_`` is the above over 2 S, S the sum of weights; ``model_`` is the fit with the scale as given.
    A given ``scale`` is kept: then ``objective_`` is ``(1/S) sum_i s_i sigma^2 H(r_i / sigma) / 2 + alpha sigma / (2 S) |b|^2``.

    Parameters
    ----------
    epsilon : from how many scales on a residual counts as an outlier, at least 1.
    max_iter : at most this many Newton steps, at all scales together; None for no limit.
    alpha : the strength of the penalty on squared coefficients, at least 0.
    warm_start : start from the coefficients of the fit before.
    fit_intercept : whether to add an intercept.
    tol : the relative gap to prove, see ``verdict_``.
    scale : sigma if it is known, in the units of y; None fits it beside the coefficients.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> X, y = np.arange(8.0)[:, None], np.array([0.1, 0.9, 2.1, 2.9, 4.1, 4.9, 6.1, 99.0])
    >>> model = HuberRegressor().fit(X, y)
    >>> model.verdict_.kind, bool(model.outliers_[7]), bool(0.9 < model.coef_[0] < 1.1)
    ('optimal', True, True)
    """

    _keeps_single: ClassVar[bool] = False

    epsilon: float = 1.35
    max_iter: int | None = None
    alpha: float = 0.0001
    warm_start: bool = False
    fit_intercept: bool = True
    tol: float = TOLERANCE
    scale: float | None = None
    time_limit: float | None = None
    scale_: float = field(init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and one target y.

        ``offset`` is added to every score without a coefficient.
        """
        epsilon, alpha = number("epsilon", self.epsilon, least=1.0), number("alpha", self.alpha)
        fixed = None if self.scale is None else number("scale", self.scale, above=0.0)
        intercept, tol = flag("fit_intercept", self.fit_intercept), number("tol", self.tol)
        deadline = until("time_limit", self.time_limit)
        most, warm = count("max_iter", self.max_iter), flag("warm_start", self.warm_start)
        X, y = features_and_target(self, X, y, numeric=True, several=False)
        values, weight = numbers(y), weights(sample_weight, X)
        source, penalty_factors = self._source(X, values, weight, offset, outputs=1, intercept=intercept)
        total = float(len(values) if weight is None else weight.sum())
        start = self._before(1, intercept=intercept) if warm else None
        self._look(source, Huber(1.0), deadline)
        if fixed is None:
            scale = np.inf if start is None else float(self.scale_)
            both = scaled_huber(
                source,
                epsilon,
                alpha / total,
                penalty_factors,
                tol=tol,
                max_iter=most,
                time_limit=deadline,
                start=start,
                scale=scale,
                keep=True,
            )
            result = both.fit
        else:
            penalty = penalty_maker(lambda total: alpha * fixed / total)(total, penalty_factors)
            result = fitting.fit(
                source,
                Huber(epsilon * fixed),
                penalty,
                start=start,
                tol=tol,
                max_iter=most,
                time_limit=deadline,
                keep=True,
            )
        self._note(result, target_of(None), tol)
        self._spread(result.plain, intercept=intercept)
        if fixed is None:
            self.verdict_, self.objective_, self.scale_, self.n_iter_ = (
                both.verdict,
                both.objective,
                both.scale,
                both.steps,
            )
        else:
            self.scale_, self.n_iter_ = fixed, self._steps
        self.outliers_ = _far(result.problem, result.coef, epsilon * self.scale_)
        return self


def _far(problem: Problem, coef: Array, threshold: float) -> Mask:
    """Return which rows' residuals exceed the threshold."""
    block = problem.source.whole
    assert block is not None
    eta = block.design.times(coef)
    return np.asarray(np.abs((eta if block.offset is None else eta + block.offset) - block.y)[:, 0] > threshold)
