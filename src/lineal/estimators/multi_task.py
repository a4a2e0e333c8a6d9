"""Lasso of several targets that keep or lose a column together, with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import scipy.sparse

from lineal.errors import InputError
from lineal.estimators.bases import MultiOutputMixin
from lineal.estimators.intake import features_and_target, numbers, weights
from lineal.estimators.lasso_cv import alphas_of, errors_of_folds
from lineal.estimators.parameters import count, flag, hints, number, until
from lineal.estimators.regression import Regressor, target_of
from lineal.estimators.validation import Routed, rule_named, split
from lineal.fitting import fitting
from lineal.ground.arrays import Array
from lineal.ground.deadline import on_trial
from lineal.losses import Squared
from lineal.model.verdict import TOLERANCE
from lineal.paths.folds import pick_of, trials
from lineal.penalties import Group, NoPenalty
from lineal.penalties.penalty import Penalty


class _Together(MultiOutputMixin, Regressor):
    """A regressor of targets ``(n, targets)`` whose coefficients are zero for all of them or for none."""

    def _targets(self, X: Any, y: Any) -> tuple[Any, Array]:
        """Return X and the targets, at least one column of them."""
        X, y = features_and_target(self, X, y, numeric=True)
        if y.ndim == 1:
            raise InputError(
                f"y has one dimension; for mono-task outputs use {type(self).__name__.removeprefix('MultiTask')}, or give "
                "y of shape (n, 1)."
            )
        return X, numbers(y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        return tags

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix of one row a target."""
        return scipy.sparse.csr_matrix(self.coef_)


@dataclass(eq=False, repr=False)
class MultiTaskLasso(_Together):
    """Lasso of several targets together: minimise ``sum_i s_i |y_i - x_i B|^2 / (2 S) + alpha sum_j |B_j|``.

    ``|B_j|`` is the Euclidean norm of a column's coefficients over the targets, so that a column is used for all of them or
    for none; S is the sum of weights, and the intercepts are not penalized. scikit-learn's MultiTaskLasso with its
    parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    alpha : the strength of the penalty, at least 0.
    fit_intercept : whether to add an intercept.
    copy_X : accepted for compatibility; X is neither copied nor changed, which is what both values promise.
    max_iter : at most this many steps of the solver; None for no limit.
    tol : the relative gap to prove, see ``verdict_``.
    warm_start : start from the coefficients of the fit before.
    random_state : any seed; no solver draws random numbers, so all give the same fit.
    selection : accepted for compatibility, without effect: solvers decide for themselves.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0, 0.0], [3.0, 1.0], [5.0, 2.0]])
    >>> model = MultiTaskLasso(alpha=0.1).fit(X, Y)
    >>> model.verdict_.kind, model.coef_.round(4).ravel().tolist()
    ('optimal', [1.8658, 0.9329])
    """

    alpha: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: bool = True
    max_iter: int | None = None
    tol: float = TOLERANCE
    warm_start: bool = False
    random_state: Any = None
    selection: str = "cyclic"
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and targets y, ``(n, targets)``; ``offset`` is added to every score without a coefficient."""
        hints(copy_X=self.copy_X, random_state=self.random_state, selection=self.selection)
        alpha, intercept = number("alpha", self.alpha), flag("fit_intercept", self.fit_intercept)
        tol, most, warm = number("tol", self.tol), count("max_iter", self.max_iter), flag("warm_start", self.warm_start)
        X, values = self._targets(X, y)
        coef = self._solve(
            X,
            values,
            weights(sample_weight, X),
            offset,
            loss=Squared(values.shape[1]),
            penalty=lambda _, penalty_factors: _group(alpha, penalty_factors),
            target=target_of(values.shape[1]),
            intercept=intercept,
            solver="auto",
            tol=tol,
            max_iter=most,
            start=self._before(values.shape[1], intercept=intercept) if warm else None,
        )
        self._spread(coef, intercept=intercept, several=True, column=True)
        self.n_iter_, self.dual_gap_ = self._steps, self.verdict_.gap
        return self


@dataclass(eq=False, kw_only=True, repr=False)
class MultiTaskLassoCV(Routed, _Together):
    """``MultiTaskLasso`` with the alpha that predicts best the rows a fold does not see.

    Every fold walks from the strongest alpha to the weakest; ``mse_path_`` holds the mean squared errors, weights respected.
    The final fit is on all rows with ``alpha_``: ``verdict_`` is about it, ``verdicts_`` about the trials, ``[fold][alpha]``.
    scikit-learn's MultiTaskLassoCV with its parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    eps, alphas, fit_intercept, max_iter, tol, copy_X, cv, verbose, n_jobs, random_state, selection, rule,
    time_limit : as in ``LassoCV``.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> model = MultiTaskLassoCV(alphas=5).fit(X, X[:, :2] + 0.1 * rng.normal(size=(60, 2)))
    >>> model.verdict_.kind, model.mse_path_.shape
    ('optimal', (5, 5))
    """

    eps: float = 1e-3
    alphas: Any = 100
    fit_intercept: bool = True
    max_iter: int | None = None
    tol: float = TOLERANCE
    copy_X: bool = True
    cv: Any = None
    verbose: int = 0
    n_jobs: int | None = None
    random_state: Any = None
    selection: str = "cyclic"
    rule: str = "best"
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose alpha on folds of the rows X and the targets y, ``(n, targets)``, then fit all rows.

        ``params`` go to ``cv``, with scikit-learn's metadata routing.
        """
        hints(
            copy_X=self.copy_X, verbose=self.verbose, n_jobs=self.n_jobs, random_state=self.random_state,
            selection=self.selection,
        )  # fmt: skip
        routing, rule = self._routed(params, sample_weight), rule_named(self.rule)
        deadline, most = until("time_limit", self.time_limit), count("max_iter", self.max_iter)
        intercept, tol = flag("fit_intercept", self.fit_intercept), number("tol", self.tol)
        X, values = self._targets(X, y)
        weight, loss = weights(sample_weight, X), Squared(values.shape[1])
        source, penalty_factors = self._source(X, values, weight, None, outputs=loss.outputs, intercept=intercept)
        self._look(source, loss, deadline)
        seen, held = split(self.cv, X, values, weight, classifier=False, routing=routing)
        family = Group(1.0, penalty_factors)
        self.alphas_ = alphas_of(self.alphas, self.eps, source, loss, family)
        tried = trials(
            source, loss, [(family, lambda _: self.alphas_.tolist())], seen,
            tol=tol, max_iter=most, deadline=on_trial(deadline), keep=True,
        )  # fmt: skip
        self.mse_path_ = errors_of_folds(source, tried[0], held)
        self.verdicts_ = tried[0].verdicts
        self.alpha_ = float(self.alphas_[pick_of([self.mse_path_], rule)[1]])
        result = fitting.fit(
            source, loss, _group(self.alpha_, penalty_factors), tol=tol, max_iter=most, time_limit=deadline, keep=True
        )
        self._note(result, target_of(loss.outputs), tol)
        self._spread(result.plain, intercept=intercept, several=True, column=True)
        self.n_iter_, self.dual_gap_ = self._steps, result.verdict.gap
        return self


def _group(alpha: float, penalty_factors: Array) -> Penalty:
    return Group(alpha, penalty_factors) if alpha else NoPenalty(len(penalty_factors))
