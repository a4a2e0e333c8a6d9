"""Ridge regression whose alpha is chosen by leaving rows out, with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array

from lineal.api.dialects import strength_of_alpha
from lineal.errors import InputError
from lineal.estimators.intake import features_and_target, numbers, weights
from lineal.estimators.parameters import flag, hints, number, numerals, only, until
from lineal.estimators.penalty_maker import penalty_maker
from lineal.estimators.regression import Regressor, target_of
from lineal.estimators.validation import rule_named, scorer_named, split
from lineal.fitting import fitting
from lineal.ground.arrays import Array, Index
from lineal.ground.deadline import Deadline, beforehand, in_time, on_trial
from lineal.losses import Squared
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.paths.folds import leave_one_out, pick, trials
from lineal.penalties import Ridge
from lineal.problem.moments import survey
from lineal.sources.memory import Memory


@dataclass(eq=False, repr=False)
class RidgeCV(MultiOutputMixin, Regressor):  # type: ignore[misc]
    """Ridge regression with the alpha that predicts best rows that were left out.

    Without ``cv`` every row is left out once, exactly and without a second fit: its error is its residual over one minus
    its leverage. The final fit is ``Ridge`` on all rows with ``alpha_``: ``verdict_`` is about it, ``verdicts_`` about
    the fits of the folds, ``[fold][alpha]`` (empty for leave-one-out, which makes none). scikit-learn's RidgeCV with its
    parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    alphas : the alphas to try, above 0 without ``cv``.
    fit_intercept : whether to add an intercept.
    scoring : None for the mean squared error (R^2 with ``cv``), a name of scikit-learn's, or a scorer.
    cv : None for leave-one-out, the number of folds, a splitter of scikit-learn's, or a list of (seen, held rows).
    gcv_mode : any of scikit-learn's; leave-one-out is computed in one way, which is exact.
    store_cv_results : whether to keep the squared leave-one-out errors in ``cv_results_``.
    alpha_per_target : only False.
    tol : the relative gap to prove, see ``verdict_``.
    rule : "best", or "one-se" for the strongest alpha within one standard error of the best.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``. Where no alpha
        could be tried in six tenths of it, the first one is taken, and ``best_score_`` is NaN.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 3))
    >>> model = RidgeCV().fit(X, X[:, 0] + rng.normal(size=40))
    >>> model.verdict_.kind, model.alpha_
    ('optimal', 1.0)
    """

    _keeps_column: ClassVar[bool] = False

    alphas: Any = (0.1, 1.0, 10.0)
    _: KW_ONLY
    fit_intercept: bool = True
    scoring: Any = None
    cv: Any = None
    gcv_mode: str | None = None
    store_cv_results: bool = False
    alpha_per_target: bool = False
    tol: float = TOLERANCE
    rule: str = "best"
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose alpha on rows left out of X and y, of shape (n,) or (n, targets), then fit all rows."""
        intercept, tol, rule = flag("fit_intercept", self.fit_intercept), number("tol", self.tol), rule_named(self.rule)
        deadline = until("time_limit", self.time_limit)
        hints(gcv_mode=self.gcv_mode)
        only(False, "one alpha serves all targets", alpha_per_target=self.alpha_per_target)
        if flag("store_cv_results", self.store_cv_results) and self.cv is not None:
            raise InputError("store_cv_results keeps leave-one-out errors, and cv asks for folds; give one of them.")
        alphas = numerals("alphas", self.alphas, above=0.0 if self.cv is None else None)
        X, y = features_and_target(self, X, y, numeric=True)
        values, weight = numbers(y), weights(sample_weight, X)
        source, penalty_factors = self._source(X, values, weight, None, outputs=values.shape[1], intercept=intercept)
        moments = beforehand(deadline, lambda: survey(source, Squared(values.shape[1])))  # refuses what no fit can use
        # Strongest first for the path and the rule; of equal scores scikit-learn takes the first alpha given, as we do.
        order = np.argsort(-np.array(alphas), kind="stable")
        falling = [alphas[k] for k in order]
        losses, shares = (
            self._left_out(source, y, falling, order, on_trial(deadline))
            if self.cv is None
            else self._folded(source, X, y, falling, penalty_factors, tol, deadline)
        )
        if rule == "best":
            means = np.average(losses, axis=1, weights=shares)[np.argsort(order)]
            place = int(np.argsort(order)[int(np.argmin(np.where(np.isnan(means), np.inf, means)))])
        else:
            place = pick(losses, shares, rule)
        self.alpha_ = falling[place]
        self.best_score_ = -float(np.average(losses[place], weights=shares))
        final = penalty_maker(lambda total: strength_of_alpha(self.alpha_, total))
        penalty = final(moments.weight_sum, penalty_factors)
        result = fitting.fit(source, Squared(values.shape[1]), penalty, tol=tol, moments=moments, time_limit=deadline)
        several = y.ndim == 2 and y.shape[1] > 1
        self._note(result, target_of(values.shape[1] if several else None), tol)
        self._spread(result.coef, intercept=intercept, several=several, column=y.ndim == 2)
        return self

    def _left_out(
        self, source: Memory, y: npt.NDArray[Any], alphas: list[float], order: Index,
        deadline: Deadline | None,
    ) -> tuple[Array, Array | None]:  # fmt: skip
        """Return the losses of every alpha, NaN without time: one for each row, or one in all where a scorer is given."""
        nothing = partial(np.full, (*source.block.y.shape, len(alphas)), np.nan)
        errors = in_time(deadline, lambda: leave_one_out(source, alphas, deadline), nothing)
        self.verdicts_: list[list[Verdict]] = []
        if self.store_cv_results:
            kept = np.empty_like(errors)
            kept[:, :, order] = errors**2
            self.cv_results_ = kept[:, 0] if y.ndim == 1 else kept
        weight = source.block.weight
        if self.scoring is None or np.isnan(errors).all():
            return np.mean(errors**2, axis=1).T, weight
        score, targets = scorer_named(self.scoring), np.asarray(y, dtype=np.float64)
        guesses = [(source.block.y - errors[:, :, k]).reshape(targets.shape) for k in range(len(alphas))]
        return np.array([[-score(_Given(), guess, targets, weight)] for guess in guesses]), None

    def _folded(
        self, source: Memory, X: Any, y: npt.NDArray[Any], alphas: list[float], penalty_factors: Array, tol: float,
        deadline: Deadline | None,
    ) -> tuple[Array, None]:  # fmt: skip
        """Return the negative score of every alpha on every fold."""
        weight, loss = source.block.weight, Squared(source.block.y.shape[1])
        seen, held = split(self.cv, X, y, weight, classifier=False)
        family = Ridge(1.0, penalty_factors), partial(_strengths, alphas)
        (outcomes,) = trials(source, loss, [family], seen, tol=tol, deadline=on_trial(deadline))
        self.verdicts_ = outcomes.verdicts
        score, targets = scorer_named("r2" if self.scoring is None else self.scoring), np.asarray(y, dtype=np.float64)
        losses = np.full((len(alphas), len(held)), np.nan)
        for k, rows in enumerate(held):
            for j in range(outcomes.reached):
                guess = source.block.design.times(outcomes.coef[k, j])[rows].reshape(targets[rows].shape)
                losses[j, k] = -score(_Given(), guess, targets[rows], None if weight is None else weight[rows])
        return losses, None


def _strengths(alphas: list[float], total: float) -> list[float]:
    return [strength_of_alpha(alpha, total) for alpha in alphas]


class _Given(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts given numbers, for scorers that ask an estimator."""

    def fit(self, X: Any, y: Any = None) -> Self:
        return self

    def predict(self, X: Any) -> Any:
        return check_array(X, ensure_2d=False, ensure_all_finite=False)

    def __sklearn_is_fitted__(self) -> bool:
        return True
