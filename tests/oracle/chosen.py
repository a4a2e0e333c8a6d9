"""Estimators that choose a strength: the refit at what they chose, the trials, and that nothing tried scored better."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import scipy.sparse
from flint import arb, arb_mat

import lineal

from . import designs
from .designs import Draw, pick, power
from .doors import Case, Claim, claim_of, plain_penalty
from .judge import EPS, Violation, score_noise, truth
from .losses import ZERO, Loss
from .outcome import Outcome, known, of_claims
from .problem import BITS, Penalty, exact, pose

Folds = list[tuple[list[int], list[int]]]


def _alphas(draw: Draw) -> list[float]:
    return [power(draw, -4, 2) for _ in range(int(draw.integers(2, 5)))]


PARAMS: dict[str, Callable[[Draw], dict[str, Any]]] = {
    "RidgeCV": lambda d: {"alphas": _alphas(d), "store_cv_results": True},
    "LassoCV": lambda d: {"alphas": pick(d, 3, _alphas(d)), "positive": bool(d.random() < 0.2)},
    "ElasticNetCV": lambda d: {"alphas": pick(d, 3, _alphas(d)), "l1_ratio": pick(d, 0.3, [0.2, 0.9])},
    "LogisticRegressionCV": lambda d: {"Cs": _alphas(d), "l1_ratios": pick(d, (0.0,), (0.0, 1.0), (0.5,))},
}


def _folds(draw: Draw, n: int, y: Any = None) -> Folds:
    """Return two folds of rows; of classes both have rows of each."""
    places = np.empty(n, int)
    for label in [None] if y is None else np.unique(y):
        rows = np.arange(n) if label is None else np.flatnonzero(y == label)
        places[draw.permutation(rows)] = np.arange(len(rows)) % 2
    return [(np.flatnonzero(places != k).tolist(), np.flatnonzero(places == k).tolist()) for k in (0, 1)]


def drawn(seed: int, index: int, only: str | None = None, *, plain: bool = False) -> Case:
    """Return case number ``index`` of a seed."""
    draw = np.random.default_rng([seed, index, 2])
    door = only if only in PARAMS else str(draw.choice(list(PARAMS)))
    x, tags = designs.matrix(draw, only, plain=plain)
    x = np.resize(x, (12, x.shape[1])) if len(x) < 12 else x[:30]
    params = PARAMS[door](draw)
    if door == "LogisticRegressionCV":
        y, tag = designs.classes(draw, x, int(pick(draw, 2, 2, 3)), plain=plain)
        for label in np.unique(y):  # a class of one row would be missing in a fold
            if np.count_nonzero(y == label) < 2:
                y[int(np.flatnonzero(y != label)[0])] = label
    else:
        y, tag = designs.numbers(draw, x, plain=plain)
        if door == "RidgeCV" and draw.random() < 0.3:
            y, tag = np.column_stack([y, designs.numbers(draw, x, plain=plain)[0]]), f"{tag}, two targets"
    if door != "RidgeCV" or draw.random() < 0.4:
        params["cv"] = _folds(draw, len(x), y if door == "LogisticRegressionCV" else None)
        params.pop("store_cv_results", None)
    if draw.random() < 0.15:
        params["fit_intercept"] = False
        tags.append("no intercept")
    weight, heavy = designs.weights(draw, len(x), plain=plain)
    X, store = designs.stored(draw, x)
    return Case(door, params, X, y, weight, None, [*tags, tag, f"weights {heavy}", store])


def ask(case: Case) -> list[Outcome]:
    """Make the call, and return its outcomes: the refit, one trial of each fold, and the choice."""
    estimator = getattr(lineal, case.door)(**case.params).fit(case.X, case.y, sample_weight=case.weight)
    refit = claim_of(estimator.model_, case, estimator.verdict_, float(estimator.objective_))
    choice = known("choice", "chosen", "", CHOICES[case.door](case, estimator))
    return [*of_claims(case, [refit]), choice, *_trials(case, estimator)]


# ---------------------------------------------------------------- trials


def _trials(case: Case, estimator: Any) -> list[Outcome]:
    """Return the weakest trial of every fold; without its coefficients objective and lower bound are held against F*."""
    if "cv" not in case.params:
        return []
    found = []
    for k, (seen, held) in enumerate(case.params["cv"]):
        weight = np.zeros(len(np.asarray(case.y)))
        weight[seen] = 1.0 if case.weight is None else np.asarray(case.weight)[seen]
        if case.weight is not None and not np.asarray(case.weight)[held].any():
            return []  # that fold is left out
        part = Case(case.door, case.params, case.X, case.y, weight, None, case.tags)
        verdict, strength, ratio = _trial(case, estimator, k, float(weight.sum()))
        claim = _at(estimator, part, verdict, strength, ratio)
        if case.door == "LogisticRegressionCV":
            coef = np.roll(estimator.coefs_paths_[k, -1, 0], int(estimator.model_.has_intercept), axis=-1).T
            found += of_claims(case, [Claim(**{**claim.__dict__, "coef": coef})])
        else:
            found.append(
                Outcome(claim.problem.loss.name, verdict.kind, verdict.sentence, lambda claim=claim: _between(claim))
            )
    return found


def _trial(case: Case, estimator: Any, fold: int, total: float) -> tuple[Any, float, float | None]:
    """Return verdict, strength and share of l1 of the last trial of a fold: the weakest alpha, or the smallest C."""
    if case.door == "RidgeCV":
        return estimator.verdicts_[fold][-1], min(case.params["alphas"]) / total, None
    if case.door == "LogisticRegressionCV":
        return estimator.verdicts_[fold][-1][0], 1.0 / (estimator.Cs_[0] * total), estimator.l1_ratios_[-1]
    several = np.ndim(estimator.alphas_) == 2
    verdicts = estimator.verdicts_[-1] if several else estimator.verdicts_
    ratio = 1.0 if case.door == "LassoCV" else np.atleast_1d(case.params["l1_ratio"])[-1]
    return verdicts[fold][-1], float(np.atleast_2d(estimator.alphas_)[-1][-1]), float(ratio)


def _at(estimator: Any, part: Case, verdict: Any, strength: float, ratio: float | None) -> Claim:
    """Return a claim about some rows at another strength, without coefficients."""
    model = estimator.model_
    claim = claim_of(model, part, verdict, None)
    penalty_factors = [float(name != "(intercept)") for name in model.columns]
    name = "ridge" if not ratio else "l1" if ratio == 1.0 else "elastic"
    own = plain_penalty(model.penalty, len(penalty_factors))
    penalty = Penalty.of(
        name, len(penalty_factors), {"strength": strength, "l1_ratio": ratio}, penalty_factors, own.lower, own.upper
    )
    y = np.searchsorted(np.asarray(model.target.classes), part.y) if model.target.classes else part.y
    problem = pose(part.X, y, claim.problem.loss, penalty, intercept=model.has_intercept, weight=part.weight)
    return Claim(**{**claim.__dict__, "problem": problem, "coef": np.zeros_like(model.coef)})


def _between(claim: Claim) -> list[Violation]:
    """Hold ``lower_bound <= F* <= objective`` against the oracle's minimum."""
    evidence = claim.verdict.evidence
    if claim.verdict.gap is None or evidence.get("objective") is None:
        return []
    with flint.ctx.workprec(BITS):
        found = truth(claim)
        noise = score_noise(claim.problem, found.best.coef) + 4 * EPS * abs(float(found.best.value))
        low = float(arb(evidence["lower_bound"]) - found.best.value)
        high = float(found.best.value - arb(evidence["objective"]))
    out = []
    if low > noise:
        out.append(Violation("lower bound", low / found.share, f"trial: lower bound above F* by {low:.3g}"))
    if found.best.settled and high > noise + 1e-12 * abs(evidence["objective"]):
        out.append(Violation("objective", high / found.share, f"trial: objective below F* by {high:.3g}"))
    return out


# ---------------------------------------------------------------- choices


def _least(name: str, means: np.ndarray, at: Any) -> list[Violation]:
    """Return a violation where something tried has a lower mean loss than what was chosen."""
    best = float(np.nanmin(means))
    if not np.isfinite(best) or at <= best + 1e-12 * abs(best):
        return []
    return [
        Violation("choice", (at - best) / max(abs(best), 1e-300), f"{name} has loss {at!r}, but {best!r} was found")
    ]


def _net(case: Case, estimator: Any) -> list[Violation]:
    errors, alphas = np.atleast_3d(estimator.mse_path_), np.atleast_2d(estimator.alphas_)
    errors = errors if np.ndim(estimator.mse_path_) == 3 else np.asarray(estimator.mse_path_)[None]
    ratios = [1.0] if case.door == "LassoCV" else np.atleast_1d(case.params["l1_ratio"]).tolist()
    means = errors.mean(axis=2)
    r = ratios.index(estimator.l1_ratio_)
    return _least("alpha_", means, means[r, alphas[r].tolist().index(estimator.alpha_)])


def _logistic(case: Case, estimator: Any) -> list[Violation]:
    """The scores are accuracies: right rows, weighted, counted here from the recorded coefficients."""
    means = -np.nanmean(estimator.scores_, axis=0)
    r, c = estimator.l1_ratios_.tolist().index(estimator.l1_ratio_), estimator.Cs_.tolist().index(estimator.C_)
    out = _least("C_", means, means[r, c])
    x = case.X.toarray() if scipy.sparse.issparse(case.X) else np.asarray(case.X, float)
    weight = np.ones(len(x)) if case.weight is None else np.asarray(case.weight)
    folds = [held for _, held in case.params["cv"] if weight[held].any()]
    for k, held in enumerate(folds):
        coef = estimator.coefs_paths_[k, r, c]
        eta = x[held] @ coef[:, : x.shape[1]].T + (coef[:, x.shape[1]] if estimator.model_.has_intercept else 0.0)
        size = np.abs(x[held]) @ np.abs(coef[:, : x.shape[1]]).T
        sure = np.abs(eta) > 1e-9 * (1 + size)
        order = np.sort(eta, axis=1)
        clear = sure.all() if eta.shape[1] == 1 else bool(np.all(order[:, -1] - order[:, -2] > 1e-9 * (1 + size.max())))
        guess = (eta[:, 0] > 0).astype(int) if eta.shape[1] == 1 else np.argmax(eta, axis=1)
        right = float(np.average(estimator.classes_[guess] == np.asarray(case.y)[held], weights=weight[held]))
        if clear and abs(right - estimator.scores_[k, r, c]) > 1e-9:
            out.append(Violation("score", 1.0, f"score {estimator.scores_[k, r, c]!r}, counted {right!r}"))
    return out


def _ridge(case: Case, estimator: Any) -> list[Violation]:
    """Leave-one-out errors are compared with ridges fitted anew without each row, in 640 bits."""
    if "cv" in case.params:
        return []
    weight = np.ones(len(case.y)) if case.weight is None else np.asarray(case.weight, float)
    alphas = case.params["alphas"]
    kept = np.asarray(estimator.cv_results_).reshape(len(weight), -1, len(alphas))
    means = kept.mean(axis=(0, 1))  # of squared errors times weights
    out = []
    if np.isfinite(means).all():
        out = _least("alpha_", means, means[alphas.index(estimator.alpha_)])
        if abs(estimator.best_score_ + means.min()) > 1e-9 * abs(means.min()):
            out.append(Violation("score", 1.0, f"best_score_ {estimator.best_score_!r}, mean {-means.min()!r}"))
    place = len(alphas) - 1
    for i in (0, len(weight) - 1):
        true, noise = _left_out(case, weight, i, alphas[place], bool(estimator.fit_intercept))
        if true is None or weight[i] > 1e6 * np.median(weight):
            continue  # such a row all but determines the fit: what is left of it without the row is a difference of ones
        for c, value in enumerate(true):
            stated = kept[i, c, place]
            root, truth = math.sqrt(stated) if stated >= 0.0 else math.nan, math.sqrt(weight[i]) * abs(value)
            if abs(root - truth) > 1e-6 * truth + math.sqrt(weight[i]) * noise:
                out.append(Violation("score", 1.0, f"row {i} left out: error {root!r}, truth {truth!r}"))
    return out


def _left_out(case: Case, weight: np.ndarray, i: int, alpha: float, intercept: bool) -> tuple[Any, float]:
    """Return the errors at row i of the ridge of all other rows, and what rounding in doubles may add to them."""
    with flint.ctx.workprec(BITS):
        targets = np.asarray(case.y, float).reshape(len(weight), -1)
        outputs = targets.shape[1]
        penalty_factors = [0.0] * intercept + [1.0] * case.X.shape[1]
        others = weight.copy()
        others[i] = 0.0
        if np.count_nonzero(others) == 0:
            return None, 0.0
        penalty = Penalty.of("ridge", len(penalty_factors), {"strength": alpha}, penalty_factors)
        problem = pose(case.X, targets, Loss("squared", outputs), penalty, intercept=intercept, weight=others)
        whole = pose(case.X, targets, Loss("squared", outputs), penalty, intercept=intercept)
        s, p = arb(float(others.sum())), len(penalty_factors)
        x = problem.x
        scaled = arb_mat(x.nrows(), p, [problem.share[r] * s * x[r, j] for r in range(x.nrows()) for j in range(p)])
        gram = x.transpose() * scaled
        for j in range(p):
            gram[j, j] += arb(alpha) * arb(penalty_factors[j])
        y = arb_mat(x.nrows(), outputs, [v for row in problem.y for v in row])
        try:
            b = gram.solve(scaled.transpose() * y)
        except ZeroDivisionError:
            return None, 0.0
        row = [whole.x[i, j] for j in range(p)]
        errors, noise = [], 0.0
        for c in range(outputs):
            eta = sum((v * b[j, c] for j, v in enumerate(row)), ZERO)
            errors.append(float(exact([[targets[i, c]]])[0][0] - eta))
            spread = np.asarray(case.X.toarray() if scipy.sparse.issparse(case.X) else case.X, float)
            sizes = np.abs(spread - spread.mean(axis=0) * intercept).max(axis=0) if intercept else np.abs(spread).max(0)
            moved = sum(float(v) * abs(float(b[j + intercept, c])) for j, v in enumerate(sizes))
            noise = max(noise, 1e-8 * (moved + float(np.abs(targets[:, c]).max())))
        return errors, noise


CHOICES: dict[str, Callable[[Case, Any], list[Violation]]] = {
    "RidgeCV": _ridge,
    "LassoCV": _net,
    "ElasticNetCV": _net,
    "LogisticRegressionCV": _logistic,
}
