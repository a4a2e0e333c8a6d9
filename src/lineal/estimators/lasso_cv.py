"""Lasso and elastic net whose alpha is chosen by cross-validation, with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from lineal.designs.center import scores
from lineal.errors import InputError
from lineal.estimators.intake import features_and_target, numbers, weights
from lineal.estimators.parameters import count, flag, hints, number, numerals, until
from lineal.estimators.penalty_maker import penalty_maker
from lineal.estimators.regression import Regressor, target_of
from lineal.estimators.validation import Routed, rule_named, split
from lineal.fitting import fitting
from lineal.ground.arrays import Array, Index
from lineal.ground.deadline import on_trial
from lineal.losses import Squared
from lineal.losses.loss import Loss
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.paths.folds import Trials, pick_of, trials
from lineal.paths.strengths import critical_strength
from lineal.penalties.penalty import Penalty
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory


@dataclass(eq=False, kw_only=True, repr=False)
class ElasticNetCV(Routed, Regressor):
    """Elastic net with alpha (and l1_ratio) that predict best the rows a fold does not see.

    Every fold walks from the strongest alpha to the weakest, each fit started from the one before; ``mse_path_`` holds the
    mean squared errors, weights respected. The final fit is ``ElasticNet`` on all rows with ``alpha_`` and ``l1_ratio_``:
    ``verdict_`` is about it, ``verdicts_`` about the trials, ``[l1_ratio][fold][alpha]`` (without the first where one
    l1_ratio is given). scikit-learn's ElasticNetCV with its parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    l1_ratio : the share of l1, above 0 unless alphas are given, or a list to choose from.
    eps : the weakest alpha over the strongest, where alphas is a number.
    alphas : how many to try, from the one that makes all coefficients zero downwards, or a list of them.
    fit_intercept, max_iter, tol, copy_X, positive, random_state, selection : as in ``ElasticNet``.
    precompute, verbose, n_jobs : accepted for compatibility, without effect: solvers decide for themselves.
    cv : None for five folds, their number, a splitter of scikit-learn's, or a list of (seen rows, held rows).
    rule : "best", or "one-se" for the strongest alpha within one standard error of the best.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> model = ElasticNetCV(alphas=5).fit(X, X[:, 0] + 0.1 * rng.normal(size=60))
    >>> model.verdict_.kind, model.mse_path_.shape
    ('optimal', (5, 5))
    """

    l1_ratio: Any = 0.5
    eps: float = 1e-3
    alphas: Any = 100
    fit_intercept: bool = True
    precompute: bool | str = "auto"
    max_iter: int | None = None
    tol: float = TOLERANCE
    cv: Any = None
    copy_X: bool = True
    verbose: int = 0
    n_jobs: int | None = None
    positive: bool = False
    random_state: Any = None
    selection: str = "cyclic"
    rule: str = "best"
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose alpha and l1_ratio on folds of the rows X and the target y, then fit all rows.

        ``params`` go to ``cv``, with scikit-learn's metadata routing.
        """
        self._refuse()
        routing = self._routed(params, sample_weight)
        deadline = until("time_limit", self.time_limit)
        intercept, tol, most = flag("fit_intercept", self.fit_intercept), number("tol", self.tol), self.max_iter
        rule, ratios = rule_named(self.rule), self._ratios()
        X, y = features_and_target(self, X, y, numeric=True, several=False)
        values, weight = numbers(y), weights(sample_weight, X)
        source, penalty_factors = self._source(X, values, weight, None, outputs=1, intercept=intercept)
        self._look(source, Squared(1), deadline)
        seen, held = split(self.cv, X, y, weight, classifier=False, routing=routing)
        families = [
            penalty_maker(_given(1.0), ratio, positive=bool(self.positive))(0.0, penalty_factors) for ratio in ratios
        ]
        grids = [alphas_of(self.alphas, self.eps, source, Squared(1), family) for family in families]
        strengths = [_given(alphas.tolist()) for alphas in grids]
        tried = trials(
            source, Squared(1), list(zip(families, strengths, strict=True)), seen,
            tol=tol, max_iter=most, deadline=on_trial(deadline), keep=True,
        )  # fmt: skip
        errors = [errors_of_folds(source, outcomes, held) for outcomes in tried]
        best, place = pick_of(errors, rule)
        self.alpha_, self.l1_ratio_ = float(grids[best][place]), ratios[best]
        self._report(grids, errors, [outcomes.verdicts for outcomes in tried])
        final = penalty_maker(_given(self.alpha_), self.l1_ratio_, positive=bool(self.positive))
        result = fitting.fit(
            source, Squared(1), final(0.0, penalty_factors), tol=tol, max_iter=most, time_limit=deadline, keep=True
        )
        self._note(result, target_of(None), tol)
        self._spread(result.plain, intercept=intercept)
        self.n_iter_, self.dual_gap_ = self._steps, result.verdict.gap
        return self

    def _report(self, grids: list[Array], errors: list[Array], verdicts: list[list[list[Verdict]]]) -> None:
        """Note what was tried, without the axis of ratios where there is one."""
        several = np.ndim(self.l1_ratio) > 0
        self.verdicts_ = verdicts if several else verdicts[0]
        self.mse_path_ = np.stack(errors) if several else errors[0]
        self.alphas_ = np.stack(grids) if several else grids[0]

    def _ratios(self) -> list[float]:
        """Return the shares of l1 to try."""
        ratios = numerals("l1_ratio", self.l1_ratio, most=1.0)
        if _whole(self.alphas) and min(ratios) == 0.0:
            raise InputError("l1_ratio is 0, for which no alpha makes all coefficients zero; give alphas as a list.")
        return ratios

    def _refuse(self) -> None:
        """Refuse what we do not honour."""
        flag("positive", self.positive)
        count("max_iter", self.max_iter)
        hints(
            precompute=self.precompute, copy_X=self.copy_X, verbose=self.verbose, n_jobs=self.n_jobs,
            random_state=self.random_state, selection=self.selection,
        )  # fmt: skip


class LassoCV(ElasticNetCV):
    """Lasso with the alpha that predicts best the rows a fold does not see.

    ``ElasticNetCV`` with an l1_ratio of 1, and its parameters; scikit-learn's LassoCV.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> model = LassoCV(alphas=5).fit(X, X[:, 0] + 0.1 * rng.normal(size=60))
    >>> model.verdict_.kind, bool(model.alpha_ == model.alphas_[-1])
    ('optimal', True)
    """

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: bool | str = "auto",
        max_iter: int | None = None,
        tol: float = TOLERANCE,
        copy_X: bool = True,
        cv: Any = None,
        verbose: bool = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        rule: str = "best",
        time_limit: float | None = None,
    ) -> None:
        super().__init__(
            l1_ratio=1.0,
            eps=eps,
            alphas=alphas,
            fit_intercept=fit_intercept,
            precompute=precompute,
            max_iter=max_iter,
            tol=tol,
            cv=cv,
            copy_X=copy_X,
            verbose=verbose,
            n_jobs=n_jobs,
            positive=positive,
            random_state=random_state,
            selection=selection,
            rule=rule,
            time_limit=time_limit,
        )


def _given(value: Any) -> Any:
    return lambda _total: value


def _whole(alphas: object) -> bool:
    return isinstance(alphas, int | np.integer) and not isinstance(alphas, bool)


def alphas_of(alphas: Any, eps: Any, source: Memory, loss: Loss, family: Penalty) -> Array:
    """Return the alphas to try, strongest first: those given, or as many as are asked for, from the critical one down."""
    if not _whole(alphas):
        return np.array(sorted(numerals("alphas", alphas), reverse=True))
    if int(alphas) < 1:
        raise InputError(f"alphas is {alphas}; give how many to try, at least 1, or a list of them.")
    largest = max(critical_strength(Problem.of(source, loss, family)), float(np.finfo(np.float64).resolution))
    return np.geomspace(largest, largest * number("eps", eps, above=0.0, most=1.0), int(alphas))


def errors_of_folds(source: Memory, outcomes: Trials, held: list[Index]) -> Array:
    """Return the mean squared error, over rows by weight and targets, of every point on the rows a fold holds out.

    The shape is ``(points, folds)``.
    """
    block = source.block
    errors = np.full((outcomes.coef.shape[1], len(held)), np.nan)
    for k, rows in enumerate(held if outcomes.reached else ()):
        weight = None if block.weight is None else block.weight[rows]
        targets = []
        for c in range(block.y.shape[1]):
            coef = np.ascontiguousarray(outcomes.coef[k, : outcomes.reached, :, c].T)
            missed = scores(block.design, coef, outcomes.centers[k])[rows] - block.y[rows, c : c + 1]
            targets.append(np.average(missed**2, axis=0, weights=weight))
        errors[: outcomes.reached, k] = np.mean(targets, axis=0)
    return errors
