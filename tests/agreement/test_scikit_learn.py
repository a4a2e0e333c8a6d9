"""lineal's estimators and scikit-learn's, on the same data, at tolerances where both should find the same minimiser."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from sklearn.datasets import load_digits, load_iris, load_wine

from lineal.estimators import LinearRegression, LogisticRegression, Ridge
from tests.agreement.weighting import weights_for

FORMS = ["C", "F", "float32", "read-only", "strided", "csr", "csc", "csr64", "integers", "list"]
SEEDS = range(6)


def features(rng, n, p):
    return rng.normal(size=(n, p)) * rng.uniform(0.5, 3.0, size=p) + rng.normal(size=p)


def formed(X, form):
    """Return X in another form, and the float64 values it holds."""
    thin = np.where(np.abs(X) > 1.0, X, 0.0)
    rows = scipy.sparse.csr_array(thin)
    wide = scipy.sparse.csr_array((rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)), X.shape)
    frozen = X.copy()
    frozen.flags.writeable = False
    single, whole = X.astype(np.float32), np.round(3.0 * X).astype(np.int32)
    return {
        "C": (X, X),
        "F": (np.asfortranarray(X), X),
        "float32": (single, single.astype(np.float64)),
        "read-only": (frozen, X),
        "strided": (np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3], X),
        "csr": (rows, thin),
        "csc": (scipy.sparse.csc_array(thin), thin),
        "csr64": (wide, thin),
        "integers": (whole, whole.astype(np.float64)),
        "list": (X.tolist(), X),
    }[form]


def logistic_of_scikit_learn(X, y, weight=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newton-cholesky says when it cannot go on; the comparison will tell
        model = sklearn.linear_model.LogisticRegression(solver="newton-cholesky", tol=1e-13, max_iter=300, **options)
        return model.fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("weighting", ["none", "zeros", "positive"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_least_squares(seed, intercept, weighting):
    rng = np.random.default_rng(seed)
    X = features(rng, 60, 7)
    y = X @ rng.normal(size=7) + rng.normal(size=60) + 5.0
    weight = weights_for(rng, 60, weighting)
    ours = LinearRegression(fit_intercept=intercept).fit(X, y, sample_weight=weight)
    theirs = sklearn.linear_model.LinearRegression(fit_intercept=intercept).fit(X, y, sample_weight=weight)
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9, atol=1e-10)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-10)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighting", ["none", "zeros", "positive"])
def test_ridge(alpha, intercept, weighting):
    rng = np.random.default_rng(7)
    X = features(rng, 80, 6)
    y = X @ rng.normal(size=6) + rng.normal(size=80) - 3.0
    weight = weights_for(rng, 80, weighting)
    options = {"alpha": alpha, "fit_intercept": intercept}
    ours = Ridge(**options).fit(X, y, sample_weight=weight)
    theirs = sklearn.linear_model.Ridge(solver="svd", **options).fit(X, y, sample_weight=weight)
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "direct", "newton", "newton-cg", "lbfgs"])
def test_ridge_with_more_columns_than_rows(solver):
    rng = np.random.default_rng(8)
    X = features(rng, 20, 70)
    y = rng.normal(size=20)
    ours = Ridge(alpha=0.5, solver=solver, tol=1e-10).fit(X, y)
    theirs = sklearn.linear_model.Ridge(alpha=0.5, solver="svd").fit(X, y)
    assert ours.verdict_.kind == "optimal"
    # alpha |b - b*|^2 / 2 is at most what is left to gain, at most tol of |y - mean|^2 / 2
    radius = np.sqrt(1e-10 * np.sum((y - y.mean()) ** 2) / 0.5)
    assert np.linalg.norm(ours.coef_ - theirs.coef_) <= radius

    def objective(model):
        return np.sum((y - model.predict(X)) ** 2) + 0.5 * np.sum(model.coef_**2)

    assert objective(ours) <= objective(theirs) + 1e-10 * np.sum((y - y.mean()) ** 2)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_minimum_norm_where_columns_depend_on_each_other(fit_intercept):
    rng = np.random.default_rng(9)
    X = rng.integers(-3, 4, size=(12, 30)).astype(float)
    y = rng.normal(size=12)
    ours = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    theirs = sklearn.linear_model.LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    assert ours.verdict_.kind == "not_unique"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("kind", ["ols", "ridge"])
@pytest.mark.parametrize("weighting", ["none", "zeros"])
def test_several_targets(columns, kind, weighting):
    rng = np.random.default_rng(10)
    X = features(rng, 50, 5)
    Y = X @ rng.normal(size=(5, columns)) + rng.normal(size=(50, columns))
    weight = weights_for(rng, 50, weighting)
    if kind == "ols":
        ours, theirs = LinearRegression(), sklearn.linear_model.LinearRegression()
    else:
        ours, theirs = Ridge(2.0), sklearn.linear_model.Ridge(2.0, solver="svd")
    ours.fit(X, Y, sample_weight=weight)
    theirs.fit(X, Y, sample_weight=weight)
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_) == (columns,)
    assert ours.predict(X).shape == theirs.predict(X).shape
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    np.testing.assert_allclose(ours.model_.predict(X), ours.predict(X), rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["ols", "ridge", "logistic", "softmax"])
def test_forms_of_x(form, kind):
    rng = np.random.default_rng(11)
    given, values = formed(features(rng, 90, 4), form)
    score = values @ rng.normal(size=4) + rng.logistic(size=90)
    if kind == "ols":
        y, ours, theirs = score, LinearRegression(), sklearn.linear_model.LinearRegression().fit(values, score)
    elif kind == "ridge":
        y, ours = score, Ridge(0.7)
        theirs = sklearn.linear_model.Ridge(0.7, solver="svd").fit(values, y)
    else:
        y = np.digitize(score, [0.0] if kind == "logistic" else [-1.0, 1.5])
        ours, theirs = LogisticRegression(tol=0.0), logistic_of_scikit_learn(values, y)
    ours.fit(given, y)
    assert ours.verdict_.proven or kind in {"logistic", "softmax"}
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-8)
    rounding = 1e-6 if form == "float32" else 0.0
    np.testing.assert_allclose(ours.predict(given), theirs.predict(values), rtol=1e-6, atol=rounding)


@pytest.mark.parametrize("weighting", ["none", "zeros", "positive"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.5, 1: 3.0}, {1: 4.0}])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_two_classes(weighting, class_weight, intercept, C):
    rng = np.random.default_rng(12)
    X = features(rng, 150, 5)
    y = (X @ rng.normal(size=5) + 2.0 * rng.logistic(size=150) > 1.0).astype(int)
    weight = weights_for(rng, 150, weighting)
    options = {"C": C, "class_weight": class_weight, "fit_intercept": intercept}
    ours = LogisticRegression(**options).fit(X, y, sample_weight=weight)
    theirs = logistic_of_scikit_learn(X, y, weight, **options)
    assert ours.verdict_.kind == "optimal"
    exact = LogisticRegression(tol=0.0, **options).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(exact.coef_, theirs.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(exact.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(exact.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(exact.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("weighting", ["none", "zeros"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("intercept", [True, False])
def test_several_classes(load, weighting, class_weight, intercept):
    bunch = load()
    X, y = bunch.data, bunch.target_names[bunch.target]
    weight = weights_for(np.random.default_rng(13), len(y), weighting)
    options = {"class_weight": class_weight, "fit_intercept": intercept}
    ours = LogisticRegression(**options).fit(X, y, sample_weight=weight)
    theirs = logistic_of_scikit_learn(X, y, weight, **options)
    assert ours.verdict_.kind == "optimal"
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    exact = LogisticRegression(tol=0.0, **options).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(exact.coef_, theirs.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(exact.predict_proba(X), theirs.predict_proba(X), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(exact.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-5, atol=1e-9)
    np.testing.assert_array_equal(exact.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.coef_.sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_.sum(), 0.0, atol=1e-9)


@pytest.mark.parametrize("solver", ["newton", "newton-cg", "lbfgs", "gradient-descent"])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_solver_ends_at_the_same_objective(solver, classes):
    rng = np.random.default_rng(14)
    X = rng.normal(size=(120, 4))
    y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0] + rng.logistic(size=120), [0.0] if classes == 2 else [-1.0, 1.0])
    model = LogisticRegression(solver=solver).fit(X, y)
    best = LogisticRegression(tol=1e-13).fit(X, y)
    assert model.verdict_.kind == "optimal"
    assert best.objective_ <= model.objective_ <= best.objective_ + model.verdict_.gap + 1e-15


def test_digits_default_is_as_good_as_a_converged_scikit_learn():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600, ::2], y[:600]  # all of it takes scikit-learn's Newton half a minute
    ours = LogisticRegression().fit(X, y)
    assert ours.verdict_.kind == "optimal"
    theirs = logistic_of_scikit_learn(X, y)

    def objective(model):
        proba = np.take_along_axis(model.predict_log_proba(X), y[:, None], axis=1)
        return -proba.mean() + np.sum(model.coef_**2) / (2 * len(y))

    assert ours.objective_ == pytest.approx(objective(ours), rel=1e-9)
    assert objective(theirs) >= objective(ours) - ours.verdict_.gap
    assert objective(ours) <= objective(theirs) * (1 + 1e-5)
