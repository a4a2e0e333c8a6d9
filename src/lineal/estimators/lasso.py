"""Lasso and elastic net with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse

from lineal.estimators.bases import MultiOutputMixin
from lineal.estimators.parameters import count, flag, hints, number
from lineal.estimators.penalty_maker import penalty_maker
from lineal.estimators.regression import Regressor
from lineal.model.verdict import TOLERANCE


@dataclass(eq=False, repr=False)
class ElasticNet(MultiOutputMixin, Regressor):
    """Elastic net: minimise ``sum_i s_i (y_i - x_i b)^2 / (2 S) + alpha (l1_ratio |b|_1 + (1 - l1_ratio) / 2 |b|^2)``.

    S is the sum of weights; the intercept is not penalized. scikit-learn's ElasticNet with its parameters;
    ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    alpha : the strength of the penalty on coefficients, at least 0.
    l1_ratio : the share of l1 in it: 0 ridge, 1 lasso.
    fit_intercept : whether to add an intercept.
    precompute, selection : accepted for compatibility, without effect: solvers decide for themselves.
    max_iter : at most this many steps of the solver; None for no limit.
    copy_X : accepted for compatibility; X is neither copied nor changed, which is what both values promise.
    tol : the relative gap to prove, see ``verdict_``.
    warm_start : start from the coefficients of the fit before.
    positive : whether every coefficient but the intercept must be at least 0.
    random_state : any seed; no solver draws random numbers, so all give the same fit.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> model = ElasticNet(alpha=0.1).fit(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]))
    >>> model.verdict_.kind, round(float(model.coef_[0]), 4)
    ('optimal', 1.7907)
    """

    _keeps_column: ClassVar[bool] = False

    alpha: float = 1.0
    _: KW_ONLY
    l1_ratio: float = 0.5
    fit_intercept: bool = True
    precompute: bool = False
    max_iter: int | None = None
    copy_X: bool = True
    tol: float = TOLERANCE
    warm_start: bool = False
    positive: bool = False
    random_state: Any = None
    selection: str = "cyclic"
    time_limit: float | None = None

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True, *, offset: Any = None
    ) -> Self:  # fmt: skip
        """Fit to rows X and targets y, of shape (n,) or (n, targets).

        ``check_input`` has no effect: what is fitted is checked. ``offset`` is added to every score without a coefficient.
        """
        flag("check_input", check_input)
        hints(precompute=self.precompute, copy_X=self.copy_X, random_state=self.random_state, selection=self.selection)
        alpha, ratio = number("alpha", self.alpha), number("l1_ratio", self.l1_ratio, most=1.0)
        self._regress(
            X,
            y,
            sample_weight,
            offset,
            penalty=penalty_maker(lambda _: alpha, ratio, positive=flag("positive", self.positive)),
            intercept=flag("fit_intercept", self.fit_intercept),
            tol=number("tol", self.tol),
            max_iter=count("max_iter", self.max_iter),
            warm_start=flag("warm_start", self.warm_start),
        )
        self.n_iter_ = self._steps if self.coef_.ndim == 1 else [self._steps] * len(self.coef_)
        # several targets are proven together: the gap of all bounds that of each
        self.dual_gap_ = self.verdict_.gap if self.coef_.ndim == 1 else np.full(len(self.coef_), self.verdict_.gap)
        return self

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix of one row a target."""
        return scipy.sparse.csr_matrix(np.reshape(self.coef_, (-1, self.n_features_in_)))


class Lasso(ElasticNet):
    """Lasso: minimise ``sum_i s_i (y_i - x_i b)^2 / (2 S) + alpha |b|_1``, the intercept not penalized.

    S is the sum of weights. scikit-learn's Lasso with its parameters, which mean what they mean in ``ElasticNet``;
    ``docs/differences.md`` lists what differs.

    >>> import numpy as np
    >>> model = Lasso(alpha=0.1).fit(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]))
    >>> model.verdict_.kind, round(float(model.coef_[0]), 4)
    ('optimal', 1.85)
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: bool = False,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = TOLERANCE,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        time_limit: float | None = None,
    ) -> None:
        super().__init__(
            alpha,
            l1_ratio=1.0,
            fit_intercept=fit_intercept,
            precompute=precompute,
            max_iter=max_iter,
            copy_X=copy_X,
            tol=tol,
            warm_start=warm_start,
            positive=positive,
            random_state=random_state,
            selection=selection,
            time_limit=time_limit,
        )
