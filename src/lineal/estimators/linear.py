"""Least squares and ridge regression with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin

from lineal.api.dialects import solver_named, strength_of_alpha
from lineal.estimators.parameters import count, flag, hints, number
from lineal.estimators.penalty_maker import penalty_maker
from lineal.estimators.regression import Regressor
from lineal.model.verdict import TOLERANCE


@dataclass(eq=False, kw_only=True, repr=False)
class LinearRegression(MultiOutputMixin, Regressor):  # type: ignore[misc]
    """Least squares: minimise ``sum_i s_i (y_i - x_i b)^2``, and say what is proven about the result.

    scikit-learn's LinearRegression with its parameters; ``docs/differences.md`` lists what differs. Columns that depend
    on each other give the verdict ``not_unique`` and the coefficients of least norm.

    Parameters
    ----------
    fit_intercept : whether to add an intercept.
    copy_X : accepted for compatibility; X is neither copied nor changed, which is what both values promise.
    tol : the relative gap to prove, see ``verdict_``.
    n_jobs : accepted for compatibility; a fit uses the cores that it is given.
    positive : whether every coefficient but the intercept must be at least 0.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> model = LinearRegression().fit(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]))
    >>> model.verdict_.kind, model.coef_.round(6).tolist(), round(float(model.intercept_), 6)
    ('optimal', [2.0], 1.0)
    """

    fit_intercept: bool = True
    copy_X: bool = True
    tol: float = TOLERANCE
    n_jobs: int | None = None
    positive: bool = False
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and targets y, of shape (n,) or (n, targets).

        ``offset`` is added to every score without a coefficient.
        """
        hints(copy_X=self.copy_X, n_jobs=self.n_jobs)
        return self._regress(
            X,
            y,
            sample_weight,
            offset,
            penalty=penalty_maker(lambda _: 0.0, positive=flag("positive", self.positive)),
            intercept=flag("fit_intercept", self.fit_intercept),
            tol=number("tol", self.tol),
        )


@dataclass(eq=False, repr=False)
class Ridge(MultiOutputMixin, Regressor):  # type: ignore[misc]
    """Ridge regression: minimise ``sum_i s_i (y_i - x_i b)^2 + alpha |b|^2``, the intercept not penalized.

    scikit-learn's Ridge with its parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    alpha : the strength of the penalty on squared coefficients, one number >= 0 for all targets.
    fit_intercept : whether to add an intercept.
    copy_X : accepted for compatibility; X is neither copied nor changed, which is what both values promise.
    max_iter : at most this many steps of the solver; None for no limit.
    tol : the relative gap to prove, see ``verdict_``.
    solver : "auto" or any name of scikit-learn's, which asks for this optimum; to insist, "direct", "refined", "newton",
        "quasi-newton", "conjugate-gradient", "gradient-descent"; options follow a colon, as in ``LogisticRegression``.
    positive : whether every coefficient but the intercept must be at least 0.
    random_state : any seed; no solver draws random numbers, so all give the same fit.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> model = Ridge(alpha=1.0).fit(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]))
    >>> model.verdict_.kind, round(float(model.coef_[0]), 6)
    ('optimal', 1.333333)
    """

    _keeps_column: ClassVar[bool] = False

    alpha: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: bool = True
    max_iter: int | None = None
    tol: float = TOLERANCE
    solver: str = "auto"
    positive: bool = False
    random_state: Any = None
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and targets y, of shape (n,) or (n, targets).

        ``offset`` is added to every score without a coefficient.
        """
        hints(copy_X=self.copy_X, random_state=self.random_state)
        alpha = number("alpha", self.alpha)
        self._regress(
            X,
            y,
            sample_weight,
            offset,
            penalty=penalty_maker(
                lambda total: strength_of_alpha(alpha, total), positive=flag("positive", self.positive)
            ),
            intercept=flag("fit_intercept", self.fit_intercept),
            solver=solver_named(self.solver),
            tol=number("tol", self.tol),
            max_iter=count("max_iter", self.max_iter),
        )
        outputs = 1 if self.coef_.ndim == 1 else len(self.coef_)
        self.n_iter_ = np.array([self._steps] * outputs, dtype=np.int32)
        return self
