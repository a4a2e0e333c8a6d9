"""Unpenalised fits, weights, offsets and covariances against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest

from lineal.estimators import LinearRegression, LogisticRegression

statsmodels = pytest.importorskip("statsmodels.api")


def problem(seed, n=200, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 10.0, 0.1, 3.0][:p] + 1.0
    eta = X @ np.array([1.0, -0.1, 4.0, 0.2])[:p] - 3.0
    return rng, X, eta


@pytest.mark.parametrize("seed", range(3))
def test_weighted_least_squares(seed):
    rng, X, eta = problem(seed)
    y = eta + rng.normal(size=200)
    weight = rng.integers(0, 4, size=200).astype(float)
    ours = LinearRegression().fit(X, y, sample_weight=weight)
    theirs = statsmodels.GLM(y, statsmodels.add_constant(X), freq_weights=weight).fit()
    np.testing.assert_allclose([ours.intercept_, *ours.coef_], theirs.params, rtol=1e-8)
    np.testing.assert_allclose(ours.model_.covariance(), theirs.cov_params(), rtol=1e-7, atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("offset", [False, True])
def test_logistic_without_penalty(seed, offset):
    rng, X, eta = problem(seed)
    shift = rng.normal(size=200) if offset else None
    y = (eta + (shift if offset else 0.0) + rng.logistic(size=200) > 0).astype(int)
    weight = rng.integers(0, 4, size=200).astype(float)
    ours = LogisticRegression(C=np.inf, tol=1e-13).fit(X, y, sample_weight=weight, offset=shift)
    family = statsmodels.families.Binomial()
    design = statsmodels.add_constant(X)
    theirs = statsmodels.GLM(y, design, family=family, freq_weights=weight, offset=shift).fit(tol=1e-14)
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose([*ours.intercept_, *ours.coef_[0]], theirs.params, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ours.model_.covariance(), theirs.cov_params(), rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(
        ours.predict_proba(X, offset=shift)[:, 1], theirs.predict(design, offset=shift), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("seed", range(3))
def test_multinomial_without_penalty(seed):
    rng, X, eta = problem(seed)
    y = np.digitize(eta + 2.0 * rng.logistic(size=200), [-1.0, 1.0])
    ours = LogisticRegression(penalty=None, tol=1e-12).fit(X, y)
    theirs = statsmodels.MNLogit(y, statsmodels.add_constant(X)).fit(method="newton", tol=1e-14, disp=False)
    assert ours.verdict_.kind == "optimal"
    full = np.column_stack([ours.intercept_, ours.coef_]).T
    np.testing.assert_allclose(full[:, 1:] - full[:, :1], theirs.params, rtol=1e-6, atol=1e-8)  # their gauge
    assert -200 * ours.objective_ == pytest.approx(theirs.llf, rel=1e-10)
