"""Logistic regression whose C is chosen by cross-validation, with scikit-learn's interface."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from lineal.api.dialects import solver_named, strength_of_C
from lineal.errors import InputError
from lineal.estimators.classification import target_of
from lineal.estimators.logistic import LogisticRegression
from lineal.estimators.parameters import count, flag, hints, number, numerals, only, until
from lineal.estimators.penalty_maker import penalty_maker
from lineal.estimators.validation import Scorer, rule_named, scorer_named, split
from lineal.fitting import fitting
from lineal.ground.arrays import Array, Index
from lineal.ground.deadline import on_trial
from lineal.losses import Logistic, Softmax
from lineal.losses.loss import Loss
from lineal.model.verdict import TOLERANCE
from lineal.paths.folds import Strengths, Trials, pick_of, trials
from lineal.sources.memory import Memory


class LogisticRegressionCV(LogisticRegression):
    """Logistic regression with the C (and l1_ratio) that score best on the rows a fold does not see.

    Every fold walks from the smallest C to the largest, each fit started from the one before; ``scores_`` is
    ``(folds, l1_ratios, Cs)``, weights respected. The final fit is ``LogisticRegression`` on all rows with ``C_`` and
    ``l1_ratio_``: ``verdict_`` is about it, ``verdicts_`` about the trials, ``[fold][l1_ratio][C]``. scikit-learn's
    LogisticRegressionCV with its parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    Cs : how many to try between 1e-4 and 1e4, or a list of them, above 0.
    l1_ratios : shares of l1 to try.
    cv : None for five stratified folds, their number, a splitter of scikit-learn's, or a list of (seen, held rows).
    scoring : None for accuracy, a name of scikit-learn's such as "neg_log_loss", or a scorer.
    fit_intercept, solver, tol, max_iter, class_weight, random_state : as in ``LogisticRegression``.
    penalty, refit, use_legacy_attributes : only their defaults.
    dual, verbose, n_jobs, intercept_scaling : accepted for compatibility, without effect.
    rule : "best", or "one-se" for the smallest C within one standard error of the best.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> model = LogisticRegressionCV(Cs=3).fit(X, X[:, 0] + rng.normal(size=60) > 0)
    >>> model.verdict_.kind, model.scores_.shape
    ('optimal', (5, 1, 3))
    """

    _keeps_single: ClassVar[bool] = False

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = (0.0,),
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str = "deprecated",
        scoring: Any = None,
        solver: str = "auto",
        tol: float = TOLERANCE,
        max_iter: int | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Any = None,
        use_legacy_attributes: bool = False,
        rule: str = "best",
        time_limit: float | None = None,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.rule = rule
        self.time_limit = time_limit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Choose C and l1_ratio on folds of the rows X and the labels y, then fit all rows."""
        Cs, ratios, rule = self._chosen()
        deadline = until("time_limit", self.time_limit)
        intercept, tol = flag("fit_intercept", self.fit_intercept), number("tol", self.tol)
        solver, most = solver_named(self.solver), count("max_iter", self.max_iter)
        score = scorer_named("accuracy" if self.scoring is None else self.scoring)
        X, labels, codes, weight = self._labelled(X, y, sample_weight, self.class_weight)
        outputs = 1 if len(labels) == 2 else len(labels)
        loss: Loss = Logistic() if outputs == 1 else Softmax(outputs)
        self.classes_ = labels
        source, penalty_factors = self._source(
            X, codes.astype(np.float64)[:, None], weight, None, outputs=outputs, intercept=intercept
        )
        self._look(source, loss, deadline)
        seen, held = split(self.cv, X, labels[codes], weight, classifier=True)
        families = [(penalty_maker(lambda _: 1.0, ratio)(0.0, penalty_factors), _strengths(Cs)) for ratio in ratios]
        tried = trials(source, loss, families, seen, solver=solver, tol=tol, max_iter=most, deadline=on_trial(deadline))
        self._report(source, X, labels[codes], tried, held, score, intercept=intercept)
        best, place = pick_of([-scores.T for scores in np.moveaxis(self.scores_, 1, 0)], rule)
        self.l1_ratio_, self.C_ = ratios[best], Cs[place]
        self.Cs_, self.l1_ratios_ = np.array(Cs), np.array(ratios)
        final = penalty_maker(lambda total: strength_of_C(self.C_, total), self.l1_ratio_)
        penalty = final(float(len(codes) if weight is None else weight.sum()), penalty_factors)
        result = fitting.fit(source, loss, penalty, solver=solver, tol=tol, max_iter=most, time_limit=deadline)
        self._note(result, target_of(labels), tol)
        self._spread(result.coef, intercept=intercept)
        return self

    def _report(
        self,
        source: Memory,
        X: Any,
        y: npt.NDArray[Any],
        tried: list[Trials],
        held: list[Index],
        score: Scorer,
        *,
        intercept: bool,
    ) -> None:
        """Note coefficients, steps and verdicts of the trials, and score them on the held rows."""
        weight = source.block.weight
        coef = np.stack([outcomes.coef for outcomes in tried], axis=1)
        # scikit-learn's order: (..., outputs, features), the intercept last
        self.coefs_paths_ = np.roll(np.moveaxis(coef, -1, -2), -int(intercept), axis=-1)
        self.n_iter_ = np.stack([outcomes.steps for outcomes in tried], axis=1)
        self.verdicts_ = [[outcomes.verdicts[k] for outcomes in tried] for k in range(len(held))]
        self.scores_ = np.empty(coef.shape[:3])
        judge = _Judge()
        judge.classes_, judge.n_features_in_ = self.classes_, self.n_features_in_
        for k, rows in enumerate(held):
            part, truth = X[rows], y[rows]
            share = None if weight is None else weight[rows]
            for r, c in np.ndindex(coef.shape[1:3]):
                judge.hold(coef[k, r, c], intercept=intercept)
                self.scores_[k, r, c] = score(judge, part, truth, share) if c < tried[r].reached else np.nan

    def _chosen(self) -> tuple[list[float], list[float], Any]:
        """Refuse what we do not honour; return the Cs, smallest first, the shares of l1 and the rule."""
        only("deprecated", "l1_ratios says which penalties to try", penalty=self.penalty)
        only(True, "the final fit is on all rows", refit=self.refit)
        only(False, "scores_ and its kin are arrays", use_legacy_attributes=self.use_legacy_attributes)
        hints(
            dual=self.dual, intercept_scaling=self.intercept_scaling, random_state=self.random_state, verbose=self.verbose,
            n_jobs=self.n_jobs,
        )  # fmt: skip
        if isinstance(self.Cs, int | np.integer) and not isinstance(self.Cs, bool):
            if self.Cs < 1:
                raise InputError(f"Cs is {self.Cs}; give how many to try, at least 1, or a list of them.")
            Cs = np.logspace(-4.0, 4.0, int(self.Cs)).tolist()
        else:
            Cs = sorted(numerals("Cs", self.Cs, above=0.0))
        return Cs, numerals("l1_ratios", self.l1_ratios, most=1.0), rule_named(self.rule)


class _Judge(LogisticRegression):
    """A model with given coefficients, for scorers that ask an estimator."""

    _keeps_single: ClassVar[bool] = False

    def hold(self, coef: Array, *, intercept: bool) -> None:
        self._spread(coef, intercept=intercept)


def _strengths(Cs: list[float]) -> Strengths:
    return lambda total: [strength_of_C(C, total) for C in Cs]
