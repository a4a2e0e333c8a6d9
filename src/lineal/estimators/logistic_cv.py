"""Logistic regression whose C is chosen by cross-validation, with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from lineal.api.dialects import solver_named, strength_of_C
from lineal.errors import InputError
from lineal.estimators.classification import target_of
from lineal.estimators.logistic import LogisticRegression, penalty_named
from lineal.estimators.parameters import count, flag, hints, number, numerals, until
from lineal.estimators.penalty_maker import penalty_maker
from lineal.estimators.validation import Routed, Scorer, rule_named, scorer_named, split
from lineal.fitting import fitting
from lineal.ground.arrays import Array, Index
from lineal.ground.deadline import on_trial
from lineal.losses import Logistic, Softmax
from lineal.losses.loss import Loss
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.paths.folds import Rule, Strengths, Trials, pick_of, trials
from lineal.sources.memory import Memory


class LogisticRegressionCV(Routed, LogisticRegression):
    """Logistic regression with the C (and l1_ratio) that score best on the rows a fold does not see.

    Every fold walks from the smallest C to the largest, each fit started from the one before; ``scores_`` is
    ``(folds, l1_ratios, Cs)``, weights respected. The final fit is ``LogisticRegression`` on all rows with ``C_`` and
    ``l1_ratio_``: ``verdict_`` is about it, ``verdicts_`` about the trials, ``[fold][l1_ratio][C]``. scikit-learn's
    LogisticRegressionCV with its parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    Cs : how many to try between 1e-4 and 1e4, or a list of them, above 0.
    l1_ratios : shares of l1 to try; None for 0, the squared penalty.
    cv : None for five stratified folds, their number, a splitter of scikit-learn's, or a list of (seen, held rows).
    scoring : None for accuracy, a name of scikit-learn's such as "neg_log_loss", or a scorer.
    fit_intercept, solver, tol, max_iter, class_weight, random_state : as in ``LogisticRegression``.
    penalty : leave it out: l1_ratios says which penalties to try; scikit-learn's older names are understood.
    refit : True; with False there is no last fit: ``coef_``, ``C_`` and ``l1_ratio_`` are means over the folds of what was
        best in each, and ``verdict_`` says how far that is from the optimum of all rows at ``C_``.
    use_legacy_attributes : True for dicts by class in ``coefs_paths_`` and ``scores_``, and arrays in ``C_`` and ``l1_ratio_``.
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
    C_: Any
    l1_ratio_: Any
    scores_: Any
    coefs_paths_: Any

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = None,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose C and l1_ratio on folds of the rows X and the labels y, then fit all rows.

        ``params`` go to the scorer and to ``cv``, with scikit-learn's metadata routing.
        """
        routing = self._routed(params, sample_weight)
        Cs, ratios, rule = self._chosen()
        deadline = until("time_limit", self.time_limit)
        intercept, tol = flag("fit_intercept", self.fit_intercept), number("tol", self.tol)
        solver, most = solver_named(self.solver), count("max_iter", self.max_iter)
        scorer = scorer_named("accuracy" if self.scoring is None else self.scoring, routing)
        X, labels, codes, weight = self._labelled(X, y, sample_weight, self.class_weight)
        outputs = 1 if len(labels) == 2 else len(labels)
        loss: Loss = Logistic() if outputs == 1 else Softmax(outputs)
        self.classes_ = labels
        source, penalty_factors = self._source(
            X, codes.astype(np.float64)[:, None], weight, None, outputs=outputs, intercept=intercept
        )
        self._look(source, loss, deadline)
        seen, held = split(self.cv, X, labels[codes], weight, classifier=True, routing=routing)
        rising = np.argsort(Cs, kind="stable")  # the walk is from the smallest C; what is noted is in the order given
        walk = _strengths([Cs[place] for place in rising])
        families = [(penalty_maker(lambda _: 1.0, ratio)(0.0, penalty_factors), walk) for ratio in ratios]
        tried = trials(source, loss, families, seen, solver=solver, tol=tol, max_iter=most, deadline=on_trial(deadline))
        self._report(source, X, labels[codes], tried, held, scorer, intercept=intercept, rising=rising)
        self.Cs_, self.l1_ratios_ = np.array(Cs), np.array(ratios)
        start = self._choose(rule, intercept=intercept)
        final = penalty_maker(lambda total: strength_of_C(self.C_, total), self.l1_ratio_)
        penalty = final(float(len(codes) if weight is None else weight.sum()), penalty_factors)
        target = target_of(labels)
        result = fitting.fit(
            source,
            loss,
            penalty,
            solver=solver,
            start=start,
            tol=tol,
            max_iter=most if self.refit else 0,
            time_limit=deadline,
            labels=target.spelled,
            keep=bool(self.refit),
        )
        self._note(result, target, tol)
        self._spread(result.plain, intercept=intercept)
        if not self.refit:
            self.verdict_ = _not_refitted(result.verdict)
            self.model_ = replace(self.model_, verdict=self.verdict_)
        if self.use_legacy_attributes:
            self._as_dicts()
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """Return the score by ``scoring``; without one the share of the rows whose class is predicted."""
        routing = self._routed(params, sample_weight, "score")
        if self.scoring is None:
            return super().score(X, y, sample_weight)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return scorer_named(self.scoring, routing).knowing(self.classes_)(self, X, y, weight)

    def _report(
        self,
        source: Memory,
        X: Any,
        y: npt.NDArray[Any],
        tried: list[Trials],
        held: list[Index],
        scorer: Scorer,
        *,
        intercept: bool,
        rising: Index,
    ) -> None:
        """Note coefficients, steps and verdicts of the trials, and score them on the held rows."""
        weight = source.block.weight
        given = np.argsort(rising)
        coef = np.stack([outcomes.coef for outcomes in tried], axis=1)[:, :, given]
        # scikit-learn's order: (..., outputs, features), the intercept last
        self.coefs_paths_ = np.roll(np.moveaxis(coef, -1, -2), -int(intercept), axis=-1)
        self.n_iter_ = np.stack([outcomes.steps for outcomes in tried], axis=1)[:, :, given]
        self.verdicts_ = [
            [[outcomes.verdicts[k][place] for place in given if place < outcomes.reached] for outcomes in tried]
            for k in range(len(held))
        ]
        self.scores_ = np.empty(coef.shape[:3])
        judge, scorer = _Judge(), scorer.knowing(self.classes_)
        judge.classes_, judge.n_features_in_ = self.classes_, self.n_features_in_
        for k, rows in enumerate(held):
            part, truth = X[rows], y[rows]
            share = None if weight is None else weight[rows]
            score = scorer.of(rows)
            for r, c in np.ndindex(coef.shape[1:3]):
                judge.hold(coef[k, r, c], intercept=intercept)
                self.scores_[k, r, c] = score(judge, part, truth, share) if given[c] < tried[r].reached else np.nan

    def _choose(self, rule: Rule, *, intercept: bool) -> Array | None:
        """Note the C and the l1_ratio that the scores pick; without ``refit`` return the mean of the folds' best coefficients."""
        scores = np.where(np.isnan(self.scores_), -np.inf, self.scores_)
        sizes = scores.shape[:0:-1]
        if self.refit and rule != "best":
            rising = np.argsort(self.Cs_, kind="stable")
            losses = [-scores[:, r, rising].T for r in range(len(self.l1_ratios_))]
            ratio, place = pick_of(losses, rule)
            self.C_, self.l1_ratio_ = float(self.Cs_[rising[place]]), float(self.l1_ratios_[ratio])
            return None
        if self.refit:
            best = np.unravel_index(int(np.argmax(scores.sum(axis=0).T)), sizes)
            self.C_, self.l1_ratio_ = float(self.Cs_[best[0]]), float(self.l1_ratios_[best[1]])
            return None
        each = [np.unravel_index(int(np.argmax(fold.T)), sizes) for fold in scores]
        self.C_ = float(np.mean([self.Cs_[c] for c, _ in each]))
        self.l1_ratio_ = float(np.mean([self.l1_ratios_[r] for _, r in each]))
        mean = np.mean([self.coefs_paths_[k, r, c] for k, (c, r) in enumerate(each)], axis=0)
        return np.ascontiguousarray(np.roll(mean, int(intercept), axis=-1).T)

    def _as_dicts(self) -> None:
        """Note what was tried as scikit-learn 1.8 did: in dicts by class, and C_ and l1_ratio_ as arrays."""
        names = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        paths, scores = np.moveaxis(self.coefs_paths_, (3, 0, 2, 1), (0, 1, 2, 3)), np.swapaxes(self.scores_, 1, 2)
        steps = np.swapaxes(self.n_iter_, 1, 2)[None]
        if self.l1_ratios is None:
            paths, scores, steps = paths[:, :, :, 0], scores[:, :, 0], steps[..., 0]
        self.coefs_paths_ = dict(zip(names.tolist(), paths, strict=True))
        self.scores_ = dict.fromkeys(names.tolist(), scores)
        self.n_iter_ = steps
        self.C_, self.l1_ratio_ = np.full(len(names), self.C_), np.full(len(names), self.l1_ratio_)

    def _chosen(self) -> tuple[list[float], list[float], Rule]:
        """Refuse what we do not honour; return the Cs, the shares of l1 and the rule."""
        flag("refit", self.refit)
        flag("use_legacy_attributes", self.use_legacy_attributes)
        hints(
            dual=self.dual, intercept_scaling=self.intercept_scaling, random_state=self.random_state, verbose=self.verbose,
            n_jobs=self.n_jobs,
        )  # fmt: skip
        if isinstance(self.Cs, int | np.integer) and not isinstance(self.Cs, bool):
            if self.Cs < 1:
                raise InputError(f"Cs is {self.Cs}; give how many to try, at least 1, or a list of them.")
            Cs = np.logspace(-4.0, 4.0, int(self.Cs)).tolist()
        else:
            Cs = numerals("Cs", self.Cs, above=0.0, infinite=True)
        if self.l1_ratios is None and self.penalty == "elasticnet":
            raise InputError("l1_ratios is None; penalty='elasticnet' needs a list of numbers between 0 and 1.")
        ratios = [0.0] if self.l1_ratios is None else numerals("l1_ratios", self.l1_ratios, most=1.0)
        pairs = [penalty_named(self.penalty, 1.0, ratio) for ratio in ratios]
        none = pairs[0][0] == np.inf
        return [np.inf] if none else Cs, list(dict.fromkeys(share for _, share in pairs)), rule_named(self.rule)


class _Judge(LogisticRegression):
    """A model with given coefficients, for scorers that ask an estimator."""

    _keeps_single: ClassVar[bool] = False

    def hold(self, coef: Array, *, intercept: bool) -> None:
        self._spread(coef, intercept=intercept)


def _not_refitted(verdict: Verdict) -> Verdict:
    """Return the verdict on a mean over folds, which ``refit=False`` asks for: how far it is from the optimum at C_."""
    words = "The mean over folds of their best coefficients, as refit=False asks; no optimum of all rows."
    return replace(verdict, sentence=f"{words} {verdict.sentence}", reason="refit=False")


def _strengths(Cs: list[float]) -> Strengths:
    return lambda total: [strength_of_C(C, total) for C in Cs]
