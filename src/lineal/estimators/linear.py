"""Least squares and ridge regression with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from lineal.api.dialects import solver_named, strength_of_alpha
from lineal.errors import InputError
from lineal.estimators.bases import MultiOutputMixin
from lineal.estimators.intake import features_and_target, numbers, weights
from lineal.estimators.parameters import count, flag, hints, number, numerals, until
from lineal.estimators.penalty_maker import PenaltyMaker, penalty_maker
from lineal.estimators.regression import Regressor, per_target, target_of
from lineal.losses import Squared
from lineal.model.verdict import TOLERANCE


@dataclass(eq=False, kw_only=True, repr=False)
class LinearRegression(MultiOutputMixin, Regressor):
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
class Ridge(MultiOutputMixin, Regressor):
    """Ridge regression: minimise ``sum_i s_i (y_i - x_i b)^2 + alpha |b|^2``, the intercept not penalized.

    scikit-learn's Ridge with its parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    alpha : the strength of the penalty on squared coefficients, a number >= 0 for all targets, or one for each; then
        ``verdicts_`` and ``models_`` hold one fit a target, and ``verdict_`` is the worst.
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

    alpha: Any = 1.0
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
        alphas = numerals("alpha", self.alpha)
        if len(alphas) > 1:
            return self._each(X, y, sample_weight, offset, alphas)
        self._regress(
            X,
            y,
            sample_weight,
            offset,
            penalty=self._penalty_maker(alphas[0]),
            intercept=flag("fit_intercept", self.fit_intercept),
            solver=solver_named(self.solver),
            tol=number("tol", self.tol),
            max_iter=count("max_iter", self.max_iter),
        )
        outputs = 1 if self.coef_.ndim == 1 else len(self.coef_)
        self.n_iter_ = np.array([self._steps] * outputs, dtype=np.int32)
        return self

    def _each(self, X: Any, y: Any, sample_weight: Any, offset: Any, alphas: list[float]) -> Self:
        """Fit every target with an alpha of its own."""
        intercept, tol = flag("fit_intercept", self.fit_intercept), number("tol", self.tol)
        deadline, most = until("time_limit", self.time_limit), count("max_iter", self.max_iter)
        X, y = features_and_target(self, X, y, numeric=True)
        values, weight = numbers(y), weights(sample_weight, X)
        targets = values.shape[1]
        if targets != len(alphas):
            raise InputError(
                f"alpha: Number of targets and number of penalties do not correspond: {len(alphas)} != {targets}; give one "
                "number, or one for every target."
            )
        source, penalty_factors = self._source(X, values, weight, offset, outputs=targets, intercept=intercept)
        self._look(source, Squared(1), deadline)
        total = float(len(values) if weight is None else weight.sum())
        penalties = [self._penalty_maker(alpha)(total, penalty_factors) for alpha in alphas]
        solver = solver_named(self.solver)
        fits = per_target(source, penalties, solver=solver, tol=tol, max_iter=most, deadline=deadline)
        self._gather(fits, target_of(None), target_of(None), tol)
        self._spread(np.hstack([result.plain for result in fits]), intercept=intercept, several=True, column=True)
        self.n_iter_ = np.array([result.trace.steps_of(result.solver) for result in fits], dtype=np.int32)
        return self

    def _penalty_maker(self, alpha: float) -> PenaltyMaker:
        positive = flag("positive", self.positive)
        return penalty_maker(lambda total: strength_of_alpha(alpha, total), positive=positive)
