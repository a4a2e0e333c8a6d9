"""Quantile regression with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from lineal.api.dialects import solver_named
from lineal.errors import InputError
from lineal.estimators.parameters import flag, hints, number
from lineal.estimators.penalty_maker import penalty_maker
from lineal.estimators.regression import Regressor
from lineal.losses import Quantile
from lineal.model.verdict import TOLERANCE


@dataclass(eq=False, kw_only=True, repr=False)
class QuantileRegressor(Regressor):
    """Quantile regression: minimise ``(1/S) sum_i s_i loss_i + alpha |b|_1``, the intercept not penalized.

    The loss of a row is ``q (y - eta)`` below the target and ``(1 - q) (eta - y)`` above it; S is the sum of weights.
    scikit-learn's QuantileRegressor with its parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    quantile : the quantile q to predict, between 0 and 1, both excluded.
    alpha : the strength of the penalty on absolute coefficients, at least 0.
    fit_intercept : whether to add an intercept.
    solver : "auto" or any name of scikit-learn's, which asks for this optimum.
    solver_options : accepted for compatibility, without effect.
    tol : the relative gap to prove, see ``verdict_``.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> X, y = np.arange(8.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 99.0])
    >>> model = QuantileRegressor(alpha=0.0).fit(X, y)
    >>> model.verdict_.kind, round(float(model.coef_[0]), 5)
    ('optimal', 1.0)
    """

    _keeps_single: ClassVar[bool] = False

    quantile: float = 0.5
    alpha: float = 1.0
    fit_intercept: bool = True
    solver: str = "auto"
    solver_options: Any = None
    tol: float = TOLERANCE
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and one target y.

        ``offset`` is added to every score without a coefficient.
        """
        q = number("quantile", self.quantile, above=0.0)
        if not q < 1.0:
            raise InputError(f"quantile is {q:g}; it must lie between 0 and 1, both excluded.")
        hints(solver_options=self.solver_options)
        alpha = number("alpha", self.alpha)
        self._regress(
            X,
            y,
            sample_weight,
            offset,
            loss=Quantile(q),
            penalty=penalty_maker(lambda _: alpha, 1.0),
            intercept=flag("fit_intercept", self.fit_intercept),
            solver=solver_named(self.solver),
            tol=number("tol", self.tol),
        )
        self.n_iter_ = self._steps
        return self
