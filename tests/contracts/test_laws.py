"""Laws of the estimators over random small problems: repeated rows, absent rows, order of columns, balance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal.estimators import LinearRegression, LogisticRegression, Ridge

KINDS = ["ols", "ridge", "logistic", "softmax", "targets"]


def problem(kind, seed):
    """Return an estimator that goes to rounding, rows, targets and whole weights, some of them zero."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(25, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-2, 2, size=p)
    score = (X / np.abs(X).max(axis=0)) @ rng.normal(size=p) + rng.logistic(size=n)
    weight = rng.integers(0, 4, size=n).astype(float)
    weight[:6] = 1.0
    intercept = bool(rng.integers(2))
    if kind == "ols":
        return LinearRegression(fit_intercept=intercept), X, score, weight
    if kind == "targets":
        return LinearRegression(fit_intercept=intercept), X, np.column_stack([score, rng.normal(size=n)]), weight
    if kind == "ridge":
        return Ridge(0.3, fit_intercept=intercept), X, score, weight
    y = np.argsort(np.argsort(score)) % (2 if kind == "logistic" else 3)
    y[:6] = [0, 1, 2, 0, 1, 2] if kind == "softmax" else [0, 1, 0, 1, 0, 1]
    return LogisticRegression(C=0.5, tol=0.0, fit_intercept=intercept), X, y, weight


def scores(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_a_weight_is_a_number_of_rows(kind, seed):
    model, X, y, weight = problem(kind, seed)
    times = weight.astype(int)
    weighted = scores(model.fit(X, y, sample_weight=weight), X)
    repeated = scores(model.fit(X.repeat(times, axis=0), y.repeat(times, axis=0)), X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1), data=st.data())
@settings(max_examples=15, deadline=None)
def test_the_order_of_columns_and_rows_does_not_matter(kind, seed, data):
    model, X, y, weight = problem(kind, seed)
    columns = np.array(data.draw(st.permutations(range(X.shape[1]))))
    rows = np.array(data.draw(st.permutations(range(len(X)))))
    one = model.fit(X, y, sample_weight=weight)
    coef, eta = one.coef_, scores(one, X)
    other = model.fit(X[rows][:, columns], y[rows], sample_weight=weight[rows])
    np.testing.assert_allclose(other.coef_, coef[..., columns], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(scores(other, X[:, columns]), eta, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_predictions_balance_where_there_is_an_intercept(kind, seed):
    """The intercept is not penalized, so the weighted mean of predictions is that of the targets."""
    model, X, y, weight = problem(kind, seed)
    model.set_params(fit_intercept=True).fit(X, y, sample_weight=weight)
    assert model.verdict_.kind in {"optimal", "budget"}
    if hasattr(model, "predict_proba"):
        found, wanted = model.predict_proba(X), (y[:, None] == model.classes_).astype(float)
    else:
        found, wanted = model.predict(X), y
    np.testing.assert_allclose(weight @ found, weight @ wanted, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_default_tolerance_is_kept(kind, seed):
    model, X, y, weight = problem(kind, seed)
    best = model.fit(X, y, sample_weight=weight).objective_
    model.set_params(tol=1e-6).fit(X, y, sample_weight=weight)
    assert model.verdict_.kind == "optimal"
    assert model.objective_ - best <= model.verdict_.gap + 1e-13
    assert model.verdict_.relative_gap <= 1e-6


@pytest.mark.parametrize("kind", ["ols", "ridge", "targets"])
@pytest.mark.parametrize("rows", [1, 2])
def test_very_few_rows(kind, rows):
    model, X, y, _ = problem(kind, 5)
    model.fit(X[:rows], y[:rows])
    assert model.verdict_.kind in {"optimal", "not_unique"}
    assert np.isfinite(model.coef_).all()
    if kind != "ridge":
        np.testing.assert_allclose(model.predict(X[:rows]), y[:rows], rtol=1e-9, atol=1e-9)


def test_two_rows_two_classes():
    X, y = np.array([[0.0], [2.0]]), np.array(["a", "b"])
    model = LogisticRegression().fit(X, y)
    assert model.verdict_.kind == "optimal"
    assert model.predict(X).tolist() == ["a", "b"]
    assert model.decision_function(np.array([[1.0]]))[0] == pytest.approx(0.0, abs=1e-6)
    assert LogisticRegression(penalty=None).fit(X, y).verdict_.kind == "at_infinity"


def test_log_probabilities_stay_finite_where_probabilities_underflow():
    X = np.array([[-1.0], [1.0], [-2.0], [2.0]])
    model = LogisticRegression(C=1e3).fit(X, np.array([0, 1, 0, 1]))
    far = np.array([[1e4], [-1e4]])
    assert np.isfinite(model.predict_log_proba(far)).all()
    np.testing.assert_allclose(np.diff(model.predict_log_proba(far))[:, 0], model.decision_function(far), rtol=1e-12)
