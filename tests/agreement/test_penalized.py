"""Lasso, elastic net, signs and l1 logistic regression beside scikit-learn's, at tolerances where both find the minimiser."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model

from lineal.estimators import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from tests.agreement.weighting import weights_for

TIGHT = 1e-11


def problem(seed, n=70, p=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 3.0, size=p) + rng.normal(size=p)
    y = X @ np.where(rng.uniform(size=p) < 0.5, rng.normal(size=p), 0.0) + rng.normal(size=n) + 5.0
    return rng, X, y


def agrees(ours, theirs, atol=1e-6):
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=atol)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=10 * atol)
    assert np.array_equal(ours.coef_ == 0.0, theirs.coef_ == 0.0)


@pytest.mark.parametrize("weighting", ["none", "zeros", "positive"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.01, 0.3])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_elastic_net(ratio, alpha, intercept, weighting):
    rng, X, y = problem(3)
    weight = weights_for(rng, len(y), weighting)
    options = {"alpha": alpha, "l1_ratio": ratio, "fit_intercept": intercept}
    ours = ElasticNet(tol=TIGHT, **options).fit(X, y, sample_weight=weight)
    theirs = sklearn.linear_model.ElasticNet(tol=1e-14, max_iter=100000, **options).fit(X, y, sample_weight=weight)
    agrees(ours, theirs)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_lasso_is_the_elastic_net_without_a_square(seed):
    _, X, y = problem(seed, n=40, p=60)
    ours, same = Lasso(alpha=0.2, tol=TIGHT).fit(X, y), ElasticNet(alpha=0.2, l1_ratio=1.0, tol=TIGHT).fit(X, y)
    theirs = sklearn.linear_model.Lasso(alpha=0.2, tol=1e-14, max_iter=1000000).fit(X, y)
    agrees(ours, theirs, atol=1e-5)
    np.testing.assert_array_equal(ours.coef_, same.coef_)
    assert ours.sparse_coef_.nnz == np.count_nonzero(theirs.coef_)


@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.csc_array, np.asfortranarray, np.float32])
def test_lasso_reads_every_form(form):
    _, X, y = problem(5)
    X = np.where(np.abs(X) > 1.0, X, 0.0).astype(np.float32).astype(np.float64)
    theirs = sklearn.linear_model.Lasso(alpha=0.1, tol=1e-14, max_iter=100000).fit(X, y)
    agrees(Lasso(alpha=0.1, tol=TIGHT).fit(form(X), y), theirs)


def test_lasso_with_several_targets():
    rng, X, y = problem(6)
    Y = np.column_stack([y, rng.normal(size=len(y)) + X[:, 0]])
    theirs = sklearn.linear_model.Lasso(alpha=0.1, tol=1e-14, max_iter=100000).fit(X, Y)
    agrees(Lasso(alpha=0.1, tol=TIGHT).fit(X, Y), theirs)


@pytest.mark.parametrize("weighting", ["none", "zeros", "positive"])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (LinearRegression, {}),
        (Ridge, {"alpha": 2.0}),
        (Lasso, {"alpha": 0.1}),
        (ElasticNet, {"alpha": 0.1}),
        (ElasticNet, {"alpha": 0.1, "fit_intercept": False}),
    ],
)
def test_positive(kind, options, weighting):
    rng, X, y = problem(8)
    weight = weights_for(rng, len(y), weighting)
    ours = kind(positive=True, tol=TIGHT, **options).fit(X, y, sample_weight=weight)
    tight = {} if kind is LinearRegression else {"tol": 1e-14, "max_iter": 100000}
    theirs = getattr(sklearn.linear_model, kind.__name__)(positive=True, **options, **tight)
    theirs.fit(X, y, sample_weight=weight)
    assert ours.verdict_.kind == "optimal"
    assert np.all(ours.coef_ >= 0.0)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def penalized(C, ratio, coef):
    return ratio * np.sum(np.abs(coef)) + 0.5 * (1.0 - ratio) * np.sum(coef**2)


@pytest.mark.parametrize("weighting", ["none", "positive"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_logistic_elastic_net(ratio, classes, weighting):
    rng, X, y = problem(9, n=120, p=4)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    weight = weights_for(rng, len(y), weighting)
    ours = LogisticRegression(l1_ratio=ratio, C=0.3, tol=TIGHT).fit(X, labels, sample_weight=weight)
    theirs = sklearn.linear_model.LogisticRegression(l1_ratio=ratio, C=0.3, solver="saga", tol=1e-9, max_iter=20000)
    theirs.fit(X, labels, sample_weight=weight)
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-6)

    def objective(model):
        shares = model.predict_proba(X)[np.arange(len(labels)), np.searchsorted(model.classes_, labels)]
        s = np.ones(len(labels)) if weight is None else weight
        return 0.3 * np.sum(s * -np.log(shares)) + penalized(0.3, ratio, model.coef_)

    assert objective(ours) <= objective(theirs) + 1e-9
    total = len(labels) if weight is None else weight.sum()
    assert ours.objective_ == pytest.approx(objective(ours) / (0.3 * total), rel=1e-12)


def test_older_names_of_penalties():
    _, X, y = problem(10)
    labels = y > np.median(y)
    for old, new in [("l1", 1.0), ("l2", 0.0)]:
        one = LogisticRegression(penalty=old).fit(X, labels)
        np.testing.assert_array_equal(one.coef_, LogisticRegression(l1_ratio=new).fit(X, labels).coef_)
    one = LogisticRegression(penalty="elasticnet", l1_ratio=0.3).fit(X, labels)
    np.testing.assert_array_equal(one.coef_, LogisticRegression(l1_ratio=0.3).fit(X, labels).coef_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn says that penalty is deprecated
        theirs = sklearn.linear_model.LogisticRegression(
            penalty="l1", solver="liblinear", fit_intercept=False, tol=1e-12, max_iter=100000
        ).fit(X, labels)
    ours = LogisticRegression(penalty="l1", fit_intercept=False, tol=TIGHT).fit(X, labels)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
