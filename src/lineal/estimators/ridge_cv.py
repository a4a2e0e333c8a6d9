"""Ridge regression whose alpha is chosen by leaving rows out, with scikit-learn's interface."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from lineal.api.dialects import strength_of_alpha
from lineal.designs.center import scores
from lineal.errors import InputError
from lineal.estimators.bases import BaseEstimator, MultiOutputMixin, RegressorMixin
from lineal.estimators.fitted import Fitted
from lineal.estimators.intake import features_and_target, numbers, weights
from lineal.estimators.parameters import flag, hints, number, numerals, until
from lineal.estimators.penalty_maker import penalty_maker
from lineal.estimators.regression import Regressor, per_target, target_of
from lineal.estimators.validation import Routed, Routing, Scorer, rule_named, scorer_named, split
from lineal.fitting import fitting
from lineal.ground.arrays import Array, Index
from lineal.ground.deadline import Deadline, beforehand, in_time, on_trial
from lineal.losses import Squared
from lineal.model.target import Target
from lineal.model.verdict import TOLERANCE
from lineal.paths.folds import Rule, leave_one_out, pick, trials
from lineal.penalties import Ridge
from lineal.problem.moments import survey
from lineal.sources.memory import Memory


class _Tried(NamedTuple):
    """Losses of every alpha, strongest first, ``(alphas, rows or folds)``, and how much each of these counts."""

    losses: Array
    shares: Array | None


class RidgeSearch(Routed, Fitted):
    """What RidgeCV and RidgeClassifierCV share: alphas, the rows that are left out, the choice, the last fit."""

    alphas: Any
    fit_intercept: bool
    scoring: Any
    store_cv_results: bool
    tol: float
    rule: str
    _scoring_of_folds: ClassVar[str]

    @abstractmethod
    def _score(self, scorer: Scorer, guess: Array, truth: npt.NDArray[Any], weight: Array | None) -> float:
        """Return a score of guessed targets, ``(rows, targets)``, against the truth."""

    def _search(
        self, X: Any, values: Array, y: npt.NDArray[Any], weight: Array | None, target: Target, routing: Routing,
        *, each: bool = False, classifier: bool = False,
    ) -> Array:  # fmt: skip
        """Choose an alpha, or one for ``each`` target, and fit all rows; note all but the coefficients, and return those.

        ``values`` are the numbers that are fitted, ``y`` what scores are about.
        """
        intercept, tol, rule = flag("fit_intercept", self.fit_intercept), number("tol", self.tol), rule_named(self.rule)
        deadline, targets = until("time_limit", self.time_limit), values.shape[1]
        alphas = self._alphas()
        source, penalty_factors = self._source(X, values, weight, None, outputs=targets, intercept=intercept)
        moments = beforehand(deadline, lambda: survey(source, Squared(targets)))  # refuses what no fit can use
        # Strongest first for the path and the rule; of equal scores scikit-learn takes the first alpha given, as we do.
        order = np.argsort(-np.array(alphas), kind="stable")
        falling = [alphas[k] for k in order]
        if self.cv is None:
            tried = self._left_out(source, y, falling, order, on_trial(deadline), routing, each=each)
        else:
            folds = split(self.cv, X, y, weight, classifier=classifier, routing=routing)
            tried = [self._folded(source, y, falling, penalty_factors, tol, deadline, folds, routing)]
        places = [_choice(one, order, rule) for one in tried]
        chosen = np.array([falling[place] for place in places])
        scores = np.array([_level(one, place, self.cv is None) for one, place in zip(tried, places, strict=True)])
        self.alpha_: Any
        self.best_score_: Any
        self.alpha_, self.best_score_ = (chosen, scores) if each and targets > 1 else (falling[places[0]], scores[0])
        costs = [
            penalty_maker(partial(strength_of_alpha, alpha))(moments.weight_sum, penalty_factors)
            for alpha in chosen.tolist()
        ]
        if len(costs) > 1:
            fits = per_target(source, costs, tol=tol, deadline=deadline)
            self._gather(fits, target_of(None), target_of(None), tol)
            return np.hstack([result.plain for result in fits])
        result = fitting.fit(
            source, Squared(targets), costs[0], tol=tol, moments=moments, time_limit=deadline, keep=True
        )
        self._note(result, target, tol)
        return result.plain

    def _alphas(self) -> list[float]:
        """Return the alphas to try, as they are given."""
        if flag("store_cv_results", self.store_cv_results) and self.cv is not None:
            raise InputError(
                "cv!=None and store_cv_results=True are incompatible: what is stored are leave-one-out errors."
            )
        return numerals("alphas", self.alphas, above=0.0 if self.cv is None else None)

    def _left_out(
        self, source: Memory, y: npt.NDArray[Any], alphas: list[float], order: Index, deadline: Deadline | None,
        routing: Routing, *, each: bool,
    ) -> list[_Tried]:  # fmt: skip
        """Return the losses of every alpha, NaN without time: one for each row, or one in all where a scorer is given.

        They are those of all targets together, or of ``each``.
        """
        block = source.block
        nothing = partial(np.full, (*block.y.shape, len(alphas)), np.nan)
        errors = in_time(deadline, lambda: leave_one_out(source, alphas, deadline), nothing)
        self.verdicts_ = []
        if self.store_cv_results:
            kept = np.empty_like(errors)
            kept[:, :, order] = block.y[:, :, None] - errors
            if self.scoring is None:
                kept[:, :, order] = errors**2 * (1.0 if block.weight is None else block.weight[:, None, None])
            self.cv_results_ = kept[:, 0] if y.ndim == 1 and block.y.shape[1] == 1 else kept
        groups = [[k] for k in range(block.y.shape[1])] if each else [list(range(block.y.shape[1]))]
        if self.scoring is None or np.isnan(errors).all():
            return [_Tried(np.mean(errors[:, group] ** 2, axis=1).T, block.weight) for group in groups]
        scorer = scorer_named(self.scoring, routing)
        return [
            _Tried(
                np.array(
                    [
                        [
                            -self._score(
                                scorer, block.y[:, group] - errors[:, group, k], _part(y, group, each), block.weight
                            )
                        ]
                        for k in range(len(alphas))
                    ]
                ),
                None,
            )
            for group in groups
        ]

    def _folded(
        self, source: Memory, y: npt.NDArray[Any], alphas: list[float], penalty_factors: Array, tol: float,
        deadline: Deadline | None, folds: tuple[list[Index], list[Index]], routing: Routing,
    ) -> _Tried:  # fmt: skip
        """Return the negative score of every alpha on every fold."""
        weight, loss = source.block.weight, Squared(source.block.y.shape[1])
        seen, held = folds
        family = Ridge(1.0, penalty_factors), partial(_strengths, alphas)
        (outcomes,) = trials(source, loss, [family], seen, tol=tol, deadline=on_trial(deadline), keep=True)
        self.verdicts_ = outcomes.verdicts
        scorer = scorer_named(self._scoring_of_folds if self.scoring is None else self.scoring, routing)
        losses = np.full((len(alphas), len(held)), np.nan)
        for k, rows in enumerate(held):
            for j in range(outcomes.reached):
                guess = scores(source.block.design, outcomes.coef[k, j], outcomes.centers[k])[rows]
                share = None if weight is None else weight[rows]
                losses[j, k] = -self._score(scorer.of(rows), guess, y[rows], share)
        return _Tried(losses, None)


@dataclass(eq=False, repr=False)
class RidgeCV(MultiOutputMixin, Regressor, RidgeSearch):
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
    store_cv_results : whether to keep what leave-one-out found in ``cv_results_``, ``(rows, [targets,] alphas)``: squared
        errors times weights, or with ``scoring`` the predictions.
    alpha_per_target : whether every target gets an alpha of its own; ``alpha_``, ``best_score_`` and ``verdicts_``, those of
        the last fits, then have one entry a target. Without ``cv`` only.
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
    _scoring_of_folds: ClassVar[str] = "r2"

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose alpha on rows left out of X and y, of shape (n,) or (n, targets), then fit all rows.

        ``params`` go to the scorer and to ``cv``, with scikit-learn's metadata routing.
        """
        hints(gcv_mode=self.gcv_mode)
        each = flag("alpha_per_target", self.alpha_per_target)
        if each and self.cv is not None:
            raise InputError(
                "cv!=None and alpha_per_target=True are incompatible: leaving rows out one by one judges each target."
            )
        routing = self._routed(params, sample_weight)
        X, y = features_and_target(self, X, y, numeric=True)
        values, weight = numbers(y), weights(sample_weight, X)
        several = y.ndim == 2 and y.shape[1] > 1
        target = target_of(values.shape[1] if several else None)
        coef = self._search(X, values, np.asarray(y, dtype=np.float64), weight, target, routing, each=each)
        self._spread(coef, intercept=bool(self.fit_intercept), several=several, column=y.ndim == 2)
        return self

    def _score(self, scorer: Scorer, guess: Array, truth: npt.NDArray[Any], weight: Array | None) -> float:
        return scorer(_Given(), guess.reshape(truth.shape), truth, weight)


def _strengths(alphas: list[float], total: float) -> list[float]:
    return [strength_of_alpha(alpha, total) for alpha in alphas]


def _part(y: npt.NDArray[Any], group: list[int], each: bool) -> npt.NDArray[Any]:
    """Return the truth that a group of targets is scored against."""
    return y[:, group[0]] if each and y.ndim == 2 else y


def _choice(tried: _Tried, order: Index, rule: Rule) -> int:
    """Return the place of the alpha that a rule picks, in falling order; of equally good ones the first that was given."""
    if rule != "best":
        return pick(tried.losses, tried.shares, rule)
    means = np.average(tried.losses, axis=1, weights=tried.shares)[np.argsort(order)]
    return int(np.argsort(order)[int(np.argmin(np.where(np.isnan(means), np.inf, means)))])


def _level(tried: _Tried, place: int, left_out: bool) -> np.float64:
    """Return the score of an alpha: the mean over folds, or over rows of the squared error times the weight."""
    losses = tried.losses[place]
    return np.float64(-np.mean(losses if not left_out or tried.shares is None else tried.shares * losses))


class _Given(RegressorMixin, BaseEstimator):
    """Predicts given numbers, for scorers that ask an estimator."""

    def fit(self, X: Any, y: Any = None) -> Self:
        return self

    def predict(self, X: Any) -> Any:
        return check_array(X, ensure_2d=False, ensure_all_finite=False)

    def __sklearn_is_fitted__(self) -> bool:
        return True
