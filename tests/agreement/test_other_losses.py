"""Huber, quantile, Poisson, support vectors, sparsemax and Bayes beside scikit-learn and plain minimisation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.optimize
import sklearn.exceptions
import sklearn.linear_model
import sklearn.svm
from sklearn.datasets import load_diabetes

import lineal
from lineal.estimators import (
    BayesianRidge,
    HuberRegressor,
    LinearSVC,
    LinearSVR,
    PoissonRegressor,
    QuantileRegressor,
    SparsemaxClassifier,
)
from tests.agreement.weighting import weights_for

TIGHT = 1e-10


def problem(seed, n=60, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2.0, size=p) + rng.normal(size=p)
    y = X @ rng.normal(size=p) + rng.standard_t(3, size=n) + 2.0
    return rng, X, y


WEIGHTINGS = pytest.mark.parametrize("weighting", ["none", "zeros", "positive"])


@pytest.mark.slow
@WEIGHTINGS
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("intercept", [True, False])
def test_poisson(alpha, intercept, weighting):
    rng, X, y = problem(1)
    counts = rng.poisson(np.exp(0.2 * (y - y.mean()))).astype(float)
    weight = weights_for(rng, len(y), weighting)
    ours = PoissonRegressor(alpha=alpha, fit_intercept=intercept, tol=TIGHT).fit(X, counts, sample_weight=weight)
    theirs = sklearn.linear_model.PoissonRegressor(
        alpha=alpha, fit_intercept=intercept, solver="newton-cholesky", tol=1e-12, max_iter=1000
    ).fit(X, counts, sample_weight=weight)
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
    assert ours.score(X, counts, weight) == pytest.approx(theirs.score(X, counts, weight), rel=1e-6)


def test_poisson_counts_that_allow_no_optimum():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = PoissonRegressor(alpha=0.0).fit(X, np.array([2.0, 3.0, 0.0, 0.0]))
    assert model.verdict_.kind == "at_infinity"
    assert PoissonRegressor(alpha=0.1).fit(X, np.array([2.0, 3.0, 0.0, 0.0])).verdict_.kind == "optimal"


def test_poisson_exposure_as_offset():
    rng, X, y = problem(2)
    exposure = rng.uniform(0.5, 4.0, size=len(y))
    counts = rng.poisson(exposure * np.exp(0.2 * (y - y.mean()))).astype(float)
    ours = PoissonRegressor(alpha=0.1, tol=TIGHT).fit(X, counts / exposure, sample_weight=exposure)
    shifted = PoissonRegressor(alpha=0.1 * exposure.mean(), tol=TIGHT).fit(X, counts, offset=np.log(exposure))
    np.testing.assert_allclose(ours.coef_, shifted.coef_, atol=1e-6)
    np.testing.assert_allclose(shifted.predict(X, offset=np.log(exposure)), ours.predict(X) * exposure, rtol=1e-6)


def huber_objective(model, X, y, weight, epsilon, alpha):
    s = np.ones(len(y)) if weight is None else weight
    z = np.abs(y - X @ model.coef_ - model.intercept_) / model.scale_
    loss = np.where(z < epsilon, z**2, 2.0 * epsilon * z - epsilon**2)
    return np.sum(s * (model.scale_ + model.scale_ * loss)) + alpha * np.sum(model.coef_**2)


@pytest.mark.slow
@WEIGHTINGS
@pytest.mark.parametrize(("epsilon", "alpha"), [(1.35, 1e-4), (1.1, 0.0), (2.5, 10.0)])
@pytest.mark.parametrize("intercept", [True, False])
def test_huber_with_its_scale(epsilon, alpha, intercept, weighting):
    rng, X, y = problem(3, n=80)
    y[::9] += 40.0
    weight = weights_for(rng, len(y), weighting)
    options = {"epsilon": epsilon, "alpha": alpha, "fit_intercept": intercept}
    ours = HuberRegressor(tol=1e-9, **options).fit(X, y, sample_weight=weight)
    theirs = sklearn.linear_model.HuberRegressor(tol=1e-12, max_iter=20000, **options).fit(X, y, sample_weight=weight)
    assert ours.verdict_.kind == "optimal"
    here, there = (huber_objective(model, X, y, weight, epsilon, alpha) for model in (ours, theirs))
    total = len(y) if weight is None else weight.sum()
    assert ours.objective_ == pytest.approx(here / (2.0 * total), rel=1e-12)
    assert here <= there * (1.0 + 1e-9)
    assert ours.verdict_.gap >= (here - there) / (2.0 * total)
    assert ours.scale_ == pytest.approx(theirs.scale_, rel=3e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=3e-4 * np.abs(theirs.coef_).max())
    kept = slice(None) if weight is None else weight > 0.0
    assert np.mean(ours.outliers_[kept] == theirs.outliers_[kept]) > 0.97


@WEIGHTINGS
@pytest.mark.parametrize("alpha", [0.0, 10.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_huber_with_a_given_scale(alpha, intercept, weighting):
    rng, X, y = problem(3, n=80)
    y[::9] += 40.0
    weight = weights_for(rng, len(y), weighting)
    options = {"epsilon": 1.35, "alpha": alpha, "fit_intercept": intercept}
    theirs = sklearn.linear_model.HuberRegressor(tol=1e-12, max_iter=20000, **options).fit(X, y, sample_weight=weight)
    ours = HuberRegressor(tol=1e-9, scale=theirs.scale_, **options).fit(X, y, sample_weight=weight)
    assert ours.verdict_.kind == "optimal"
    assert ours.scale_ == theirs.scale_
    here, there = (huber_objective(model, X, y, weight, 1.35, alpha) for model in (ours, theirs))
    assert here <= there * (1.0 + 1e-9)
    total = len(y) if weight is None else weight.sum()
    assert ours.objective_ == pytest.approx(ours.scale_ * (here / (2.0 * total) - 0.5 * ours.scale_), rel=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=3e-4 * np.abs(theirs.coef_).max())
    np.testing.assert_array_equal(ours.outliers_, np.abs(y - ours.predict(X)) > 1.35 * ours.scale_)


@pytest.mark.parametrize("level", [2.0, 0.0, 0.1, -1e8, 1e-30])
@pytest.mark.parametrize("weighted", [False, True])
def test_huber_of_a_target_that_does_not_vary(level, weighted):
    """G >= 0 falls to zero with the scale: the intercept is the target, the scale at its lower bound, and that is optimal."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 3)), np.full(50, level)
    weight = rng.uniform(0.5, 2.0, size=50) if weighted else None
    ours = HuberRegressor().fit(X, y, sample_weight=weight)
    assert ours.verdict_.kind == "optimal", str(ours.verdict_)
    assert "does not vary" in str(ours.verdict_)
    np.testing.assert_allclose(ours.predict(X), y, rtol=1e-13, atol=1e-30)
    assert ours.scale_ > 0.0
    if 0.0 <= level <= 2.0 and level != 1e-30:  # where scikit-learn converges, to slopes of 1e-5
        theirs = sklearn.linear_model.HuberRegressor().fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5, atol=1e-5)
        assert ours.scale_ <= theirs.scale_


def test_huber_of_a_constant_without_an_intercept_is_a_fit_like_any_other():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 3)) + 1.0, np.full(50, 2.0)
    ours = HuberRegressor(fit_intercept=False, tol=1e-9).fit(X, y)
    theirs = sklearn.linear_model.HuberRegressor(fit_intercept=False, tol=1e-12, max_iter=20000).fit(X, y)
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)
    assert ours.scale_ == pytest.approx(theirs.scale_, rel=1e-5)


def test_huber_budget_is_said():
    _, X, y = problem(4)
    y[::9] += 40.0
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="1 iterations"):
        model = HuberRegressor(max_iter=1, tol=1e-12).fit(X, y)
    assert model.verdict_.kind == "budget"
    assert "1 iterations" in model.verdict_.sentence


@WEIGHTINGS
@pytest.mark.parametrize("alpha", [0.0, 0.05])
@pytest.mark.parametrize("quantile", [0.2, 0.5])
def test_quantile(quantile, alpha, weighting):
    rng, X, y = problem(5)
    weight = weights_for(rng, len(y), weighting)
    ours = QuantileRegressor(quantile=quantile, alpha=alpha, tol=1e-9).fit(X, y, sample_weight=weight)
    theirs = sklearn.linear_model.QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y, sample_weight=weight)
    assert ours.verdict_.kind == "optimal"

    def objective(model):
        r = y - model.predict(X)
        s = np.ones(len(y)) if weight is None else weight
        loss = np.maximum(quantile * r, (quantile - 1.0) * r)
        return np.sum(s * loss) / np.sum(s) + alpha * np.sum(np.abs(model.coef_))

    assert objective(ours) == pytest.approx(objective(theirs), rel=1e-7)
    assert ours.objective_ == pytest.approx(objective(ours), rel=1e-12)


@WEIGHTINGS
@pytest.mark.parametrize("intercept", [True, False])
def test_hinge(intercept, weighting):
    """SVC with a linear kernel does not penalty factor the intercept; LinearSVC of scikit-learn does."""
    rng, X, y = problem(6)
    labels = np.where(y > np.median(y), "up", "down")
    weight = weights_for(rng, len(y), weighting)
    ours = LinearSVC(loss="hinge", C=0.7, fit_intercept=intercept, tol=1e-9).fit(X, labels, sample_weight=weight)
    if intercept:
        theirs = sklearn.svm.SVC(kernel="linear", C=0.7, tol=1e-9).fit(X, labels, sample_weight=weight)
    else:
        theirs = sklearn.svm.LinearSVC(
            loss="hinge", dual=True, C=0.7, fit_intercept=False, tol=1e-10, max_iter=1000000, random_state=0
        ).fit(X, labels, sample_weight=weight)
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 0.5}])
def test_squared_hinge_one_against_the_rest(penalty, class_weight):
    _, X, y = problem(7)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.8]))
    options = {"penalty": penalty, "C": 0.4, "fit_intercept": False, "class_weight": class_weight}
    ours = LinearSVC(tol=TIGHT, **options).fit(X, labels)
    theirs = sklearn.svm.LinearSVC(dual=False, tol=1e-9, max_iter=100000, **options).fit(X, labels)
    assert [verdict.kind for verdict in ours.verdicts_] == ["optimal"] * 3
    assert len(ours.models_) == 3
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("weighting", ["none", "positive"])
def test_crammer_singer(weighting):
    rng, X, y = problem(7)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.8]))
    weight = weights_for(rng, len(y), weighting)
    options = {"multi_class": "crammer_singer", "C": 0.4, "fit_intercept": False}
    ours = LinearSVC(tol=1e-9, **options).fit(X, labels, sample_weight=weight)
    theirs = sklearn.svm.LinearSVC(tol=1e-10, max_iter=1000000, random_state=0, **options)
    theirs.fit(X, labels, sample_weight=weight)
    assert ours.verdict_.kind == "optimal"
    assert len(ours.verdicts_) == 1
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert LinearSVC(multi_class="crammer_singer").fit(X, labels).verdict_.kind == "optimal"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_dual_and_primal_agree(loss):
    _, X, y = problem(8)
    dual, auto = (LinearSVC(loss=loss, dual=dual, tol=1e-9).fit(X, y > 1.0) for dual in (True, "auto"))
    assert dual.solver_.startswith("dual-ascent: ")
    assert not auto.solver_.startswith("dual-ascent: ")
    np.testing.assert_allclose(dual.coef_, auto.coef_, atol=1e-4)
    if loss == "squared_hinge":
        np.testing.assert_array_equal(LinearSVC(dual=False, tol=1e-9).fit(X, y > 1.0).coef_, auto.coef_)


def test_squared_hinge_leaves_the_intercept_unpenalized():
    _, X, y = problem(8)
    side = np.where(y > 1.0, 1.0, -1.0)

    def objective(b):
        return 0.6 * np.sum(np.maximum(1.0 - side * (X @ b[1:] + b[0]), 0.0) ** 2) + 0.5 * np.sum(b[1:] ** 2)

    best = scipy.optimize.minimize(objective, np.zeros(5), method="BFGS", options={"gtol": 1e-9}).x
    ours = LinearSVC(C=0.6, tol=TIGHT).fit(X, side)
    np.testing.assert_allclose(ours.intercept_, best[0], atol=1e-5)
    np.testing.assert_allclose(ours.coef_[0], best[1:], atol=1e-5)


@WEIGHTINGS
def test_epsilon_insensitive(weighting):
    rng, X, y = problem(9)
    weight = weights_for(rng, len(y), weighting)
    ours = LinearSVR(epsilon=0.3, C=0.5, tol=1e-9).fit(X, y, sample_weight=weight)
    theirs = sklearn.svm.SVR(kernel="linear", epsilon=0.3, C=0.5, tol=1e-9).fit(X, y, sample_weight=weight)
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], atol=2e-5)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)


def test_squared_epsilon_insensitive():
    _, X, y = problem(10)
    options = {"loss": "squared_epsilon_insensitive", "epsilon": 0.2, "C": 0.5, "fit_intercept": False}
    ours = LinearSVR(tol=TIGHT, **options).fit(X, y)
    theirs = sklearn.svm.LinearSVR(dual=False, tol=1e-11, max_iter=100000, **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def nearest_on_simplex(scores):
    """Return the projection by bisection on its threshold: no sorting, unlike ours."""
    low, high = scores.max() - 1.0, scores.max()
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.maximum(scores - middle, 0.0).sum() > 1.0 else (low, middle)
    return np.maximum(scores - high, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_sparsemax(classes):
    rng, X, y = problem(11, p=2)
    labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    weight = rng.uniform(0.2, 2.0, size=len(y))
    ours = SparsemaxClassifier(C=2.0, tol=TIGHT).fit(X, labels, sample_weight=weight)
    hot = np.eye(classes)[labels]
    ones = np.column_stack([np.ones(len(y)), X])

    def objective(flat):
        b = flat.reshape(3, classes)
        eta = ones @ b
        p = np.array([nearest_on_simplex(row) for row in eta])
        loss = np.sum((p - hot) * eta, axis=1) - 0.5 * np.sum(p**2, axis=1) + 0.5
        gradient = 2.0 * ones.T @ (weight[:, None] * (p - hot))
        gradient[1:] += b[1:]
        return 2.0 * weight @ loss + 0.5 * np.sum(b[1:] ** 2), gradient.ravel()

    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9}
    best = scipy.optimize.minimize(objective, np.zeros(3 * classes), jac=True, method="L-BFGS-B", options=options)
    assert ours.verdict_.kind == "optimal"
    assert ours.objective_ * 2.0 * weight.sum() == pytest.approx(best.fun, rel=1e-8)
    shares = ours.predict_proba(X)
    wanted = np.array([nearest_on_simplex(row) for row in ones @ best.x.reshape(3, classes)])
    np.testing.assert_allclose(shares, wanted, atol=1e-5)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    assert np.count_nonzero(shares == 0.0) > 0
    np.testing.assert_array_equal(ours.predict(X), ours.classes_[np.argmax(shares, axis=1)])


@WEIGHTINGS
@pytest.mark.parametrize("intercept", [True, False])
def test_bayesian_ridge(intercept, weighting):
    rng, X, y = problem(12)
    weight = weights_for(rng, len(y), weighting)
    ours = BayesianRidge(fit_intercept=intercept, tol=1e-9).fit(X, y, sample_weight=weight)
    theirs = sklearn.linear_model.BayesianRidge(fit_intercept=intercept, tol=1e-13, max_iter=10000)
    theirs.fit(X, y, sample_weight=weight)
    assert ours.verdict_.kind == "stationary"
    np.testing.assert_allclose([ours.alpha_, ours.lambda_], [theirs.alpha_, theirs.lambda_], rtol=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
    np.testing.assert_allclose(ours.sigma_, theirs.sigma_, rtol=1e-5, atol=1e-9)
    total = len(y) if weight is None else weight.sum()
    mean, spread = ours.predict(X, return_std=True)
    known, theirs_spread = theirs.predict(X, return_std=True)
    np.testing.assert_allclose(mean, known, rtol=1e-6)
    # theirs takes the intercept as known; its variance is 1 / (alpha S)
    extra = 1.0 / (ours.alpha_ * total) if intercept else 0.0
    np.testing.assert_allclose(spread**2, theirs_spread**2 + extra, rtol=1e-5)


def test_bayesian_scores_end_at_the_log_evidence():
    _, X, y = problem(13)
    ours = BayesianRidge(compute_score=True).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sklearn.linear_model.BayesianRidge(compute_score=True, tol=1e-13, max_iter=10000).fit(X, y)
    assert np.all(np.diff(ours.scores_) > -1e-9)
    assert ours.scores_[-1] == pytest.approx(theirs.scores_[-1], rel=1e-6)


@pytest.mark.parametrize(("word", "share"), [("median", 0.5), ("quantile:0.5", 0.5), ("absolute", 1.0)])
@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_the_median_by_its_words(word, share, alpha):
    """scikit-learn's linear program: mean pinball loss + alpha |b|_1; |residual| is twice that loss."""
    X, y = load_diabetes(return_X_y=True)
    X = X[:, :4] * 20.0
    theirs = sklearn.linear_model.QuantileRegressor(quantile=0.5, alpha=alpha, solver="highs").fit(X, y)
    objective = np.mean(np.abs(y - theirs.predict(X))) * share + 2 * share * alpha * np.abs(theirs.coef_).sum()
    penalty = f"l1:{2 * share * alpha}" if alpha else "none"
    model = lineal.fit(X, y, model=word, penalty=penalty, **({"penalize": "raw"} if alpha else {}))
    assert model.verdict.kind == "optimal"
    assert model.verdict.evidence["objective"] == pytest.approx(objective, rel=1e-6)
    assert model.loss.name == ("absolute" if word == "absolute" else "quantile")
