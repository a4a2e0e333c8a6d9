"""Dialects on real fits: where scikit-learn stops, the slope of our objective at the translated strength is zero."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import linear_model, svm
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import scale

from lineal.api.dialects import DIALECTS, Scale, dialect, solver_named, strength_of_alpha, strength_of_C, translations
from lineal.errors import InputError
from lineal.estimators import LogisticRegression, Ridge


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(1).uniform(0.5, 2.5, len(y))
    return scale(X), y / 10.0, weight


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(2).uniform(0.5, 2.5, len(y))
    return scale(X), y, weight


def slope(X, row_slopes, weight):
    """Return the gradient of the weighted mean loss."""
    return X.T @ (weight * row_slopes) / weight.sum()


def stationary(gradient, strength, coef, tolerance=1e-5):
    """Whether gradient + strength b = 0, relative to the size of either."""
    size = np.abs(strength * coef).max()
    assert size > 1e-3 * np.abs(gradient).max()  # else the test could not fail
    np.testing.assert_allclose(gradient, -strength * coef, atol=tolerance * size)


def of(name, value, weight, spread=None):
    return dialect(name).strength(value, Scale(len(weight), float(weight.sum()), spread))


def test_ridge(diabetes):
    X, y, weight = diabetes
    fit = linear_model.Ridge(alpha=200.0, solver="cholesky").fit(X, y, sample_weight=weight)
    strength = of("sklearn-alpha-ridge", 200.0, weight)
    stationary(slope(X, fit.predict(X) - y, weight), strength, fit.coef_)
    assert strength == pytest.approx(strength_of_alpha(200.0, weight.sum()), rel=1e-15)
    ours = Ridge(alpha=200.0).fit(X, y, sample_weight=weight)
    assert ours.model_.penalty.strength == pytest.approx(strength)
    np.testing.assert_allclose(ours.coef_, fit.coef_, rtol=1e-8)


def test_logistic_regression(cancer):
    X, y, weight = cancer
    fit = linear_model.LogisticRegression(C=0.01, tol=1e-10, max_iter=5000, solver="newton-cholesky")
    fit.fit(X, y, sample_weight=weight)
    strength = of("sklearn-C", 0.01, weight)
    stationary(slope(X, fit.predict_proba(X)[:, 1] - y, weight), strength, fit.coef_[0])
    assert strength == pytest.approx(strength_of_C(0.01, weight.sum()), rel=1e-15)
    ours = LogisticRegression(C=0.01, tol=1e-12).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, fit.coef_, rtol=1e-5, atol=1e-8)


def test_liblinear(cancer):
    """Its intercept is penalized, so there is none; l1 as well."""
    X, y, weight = cancer
    for l1_ratio in (0.0, 1.0):
        fit = linear_model.LogisticRegression(
            C=0.02, l1_ratio=l1_ratio, tol=1e-9, max_iter=20000, solver="liblinear", fit_intercept=False, random_state=0
        )
        fit.fit(X, y, sample_weight=weight)
        strength, coef = of("liblinear-C", 0.02, weight), fit.coef_[0]
        gradient = slope(X, fit.predict_proba(X)[:, 1] - y, weight)
        if l1_ratio == 0.0:
            stationary(gradient, strength, coef, 1e-4)
        else:
            on = coef != 0.0
            np.testing.assert_allclose(gradient[on], -strength * np.sign(coef[on]), rtol=1e-3)
            assert np.all(np.abs(gradient[~on]) <= strength * (1 + 1e-3))
            assert 0 < on.sum() < len(on)


def test_squared_hinge(cancer):
    X, y, weight = cancer
    fit = svm.LinearSVC(C=0.003, tol=1e-10, max_iter=100000, fit_intercept=False, dual=False)
    fit.fit(X, y, sample_weight=weight)
    sign = 2.0 * y - 1.0
    short = np.maximum(1.0 - sign * fit.decision_function(X), 0.0)  # the slope of short^2 / 2 is -sign short
    for name in ("sklearn-C-squared", "liblinear-C-squared"):
        stationary(slope(X, -sign * short, weight), of(name, 0.003, weight), fit.coef_[0], 1e-4)


def test_squared_epsilon_insensitive(diabetes):
    X, y, weight = diabetes
    fit = svm.LinearSVR(
        C=0.001,
        epsilon=1.0,
        loss="squared_epsilon_insensitive",
        dual=False,
        tol=1e-10,
        max_iter=100000,
        fit_intercept=False,
    )
    fit.fit(X, y, sample_weight=weight)
    residual = fit.predict(X) - y
    slopes = np.sign(residual) * np.maximum(np.abs(residual) - 1.0, 0.0)
    stationary(slope(X, slopes, weight), of("sklearn-C-squared", 0.001, weight), fit.coef_.ravel(), 1e-4)


def test_lasso_and_elastic_net(diabetes):
    X, y, weight = diabetes
    for ratio in (1.0, 0.3):
        fit = linear_model.ElasticNet(alpha=0.8, l1_ratio=ratio, tol=1e-12, max_iter=100000)
        fit.fit(X, y, sample_weight=weight)
        gradient = slope(X, fit.predict(X) - y, weight)
        for name in ("sklearn-alpha-mean", "glmnet-lambda"):
            strength, on = of(name, 0.8, weight), fit.coef_ != 0.0
            expected = -strength * (ratio * np.sign(fit.coef_) + (1 - ratio) * fit.coef_)
            np.testing.assert_allclose(gradient[on], expected[on], rtol=1e-6)
            assert on.any()


def test_poisson(diabetes):
    X, y, weight = diabetes
    counts = np.round(y)
    fit = linear_model.PoissonRegressor(alpha=0.7, tol=1e-10, max_iter=10000, solver="newton-cholesky")
    fit.fit(X, counts, sample_weight=weight)
    stationary(slope(X, fit.predict(X) - counts, weight), of("sklearn-alpha-mean", 0.7, weight), fit.coef_)


def test_quantile(diabetes):
    """The objective itself, at the fit and around it: the median with l1 has no slope to set to zero."""
    X, y, weight = diabetes
    fit = linear_model.QuantileRegressor(alpha=0.05, quantile=0.5, solver="highs").fit(X, y, sample_weight=weight)
    strength = of("sklearn-alpha-mean", 0.05, weight)

    def objective(coef, intercept):
        residual = np.abs(y - X @ coef - intercept)
        return weight @ (0.5 * residual) / weight.sum() + strength * np.abs(coef).sum()

    best = objective(fit.coef_, fit.intercept_)
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert (
            objective(fit.coef_ * (1 + 0.05 * rng.normal(size=10)), fit.intercept_ + 0.01 * rng.normal()) >= best - 1e-9
        )
    shrunk = [objective(fit.coef_ * t, fit.intercept_) for t in (0.98, 1.02)]
    assert min(shrunk) > best


def test_sgd(diabetes):
    """(1/n) sum s loss, not (1/S): stochastic, so to a few per cent."""
    X, y, weight = diabetes
    y = y - np.average(y, weights=weight)
    fit = linear_model.SGDRegressor(
        alpha=2.0,
        max_iter=3000,
        tol=None,
        fit_intercept=False,
        average=True,
        learning_rate="constant",
        eta0=1e-3,
        random_state=0,
    )
    fit.fit(X, y, sample_weight=weight)
    stationary(slope(X, X @ fit.coef_ - y, weight), of("sklearn-alpha-sgd", 2.0, weight), fit.coef_, 0.03)
    with pytest.raises(AssertionError):
        stationary(slope(X, X @ fit.coef_ - y, weight), 2.0, fit.coef_, 0.03)


def test_huber(diabetes):
    X, y, weight = diabetes
    fit = linear_model.HuberRegressor(alpha=30.0, epsilon=1.35, max_iter=10000, tol=1e-10).fit(
        X, y, sample_weight=weight
    )
    residual, threshold = fit.predict(X) - y, 1.35 * fit.scale_
    strength = of("sklearn-alpha-huber", 30.0, weight, fit.scale_)
    stationary(slope(X, np.clip(residual, -threshold, threshold), weight), strength, fit.coef_, 1e-3)
    with pytest.raises(InputError, match="scale_"):
        of("sklearn-alpha-huber", 30.0, weight)


def test_sigma_and_tau(diabetes):
    X, y, weight = diabetes
    fit = linear_model.BayesianRidge(tol=1e-12, max_iter=5000).fit(X, y, sample_weight=weight)
    ratio = fit.lambda_ / fit.alpha_  # sigma^2 / tau^2
    stationary(slope(X, fit.predict(X) - y, weight), of("sigma2-tau2", ratio, weight), fit.coef_)


@pytest.mark.parametrize("name", ["LM1", "LM2", "LC"])
def test_the_notes(diabetes, name):
    """The three scalings as the notes write them, solved as they stand: slopes of sums, no mean."""
    X, y, _ = diabetes
    y = y - y.mean()
    lam, gram, right = 50.0, X.T @ X, X.T @ y
    # LM1: lam |w|^2 + |y - X w|^2; LM2 with the loss (y - eta)^2 / 2: (lam/2) |w|^2 + ...; LC: |y - X w|^2 / 2 + lam |w|^2
    penalty_factor = {"LM1": lam, "LM2": lam, "LC": 2 * lam}[name]
    coef = np.linalg.solve(gram + penalty_factor * np.eye(10), right)
    stationary(slope(X, X @ coef - y, np.ones(len(y))), of(name, lam, np.ones(len(y))), coef)


def test_glmnet_gaussian():
    """glmnet divides y by its standard deviation before it fits a ridge, and scales lambda and coefficients back."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 3)), 7.0 * rng.normal(size=40)
    X, y = X - X.mean(axis=0), y - y.mean()
    lam, spread = 2.0, y.std()
    inside = np.linalg.solve(X.T @ X / 40 + lam / spread * np.eye(3), X.T @ (y / spread) / 40)
    stationary(
        slope(X, X @ (spread * inside) - y, np.ones(40)),
        of("glmnet-lambda-gaussian", lam, np.ones(40), spread),
        spread * inside,
    )


@given(
    st.sampled_from([d.name for d in DIALECTS]),
    st.floats(1e-6, 1e6),
    st.integers(1, 10**6),
    st.floats(1e-3, 1e6),
    st.floats(1e-3, 1e3),
)
def test_there_and_back(name, value, n, total, spread):
    scale_ = Scale(n, total, spread)
    found = translations(value, name, scale_)
    assert found[name] == pytest.approx(value, rel=1e-12)
    for other, said in found.items():
        assert dialect(other).strength(said, scale_) == pytest.approx(found["strength"], rel=1e-12)


def test_no_penalty_and_refusals():
    assert dialect("sklearn-C").strength(math.inf, Scale(5)) == 0.0
    assert dialect("sklearn-C").value(0.0, Scale(5)) == math.inf
    assert translations(1.0, "strength", Scale(3))["glmnet-lambda-gaussian"] is None
    with pytest.raises(InputError, match="sklearn-C"):
        dialect("sklearn-c")
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="at least 0"):
            dialect("LM1").strength(bad, Scale(5))
    for scale_ in ((0,), (5, -1.0), (5, 5.0, math.inf)):
        with pytest.raises(InputError, match="above 0"):
            Scale(*scale_)


def test_solvers():
    assert solver_named("cholesky") == "auto"
    with pytest.raises(InputError, match="lbfgs"):
        solver_named("lbfg")
