"""The cross-validated estimators beside scikit-learn's, and leave-one-out beside leaving rows out one by one."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, ShuffleSplit

from lineal.estimators import (
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeCV,
)
from lineal.paths import folds

ALPHAS = np.logspace(-3, 3, 7)


def problem(seed, n=50, p=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2.0, size=p) + rng.normal(size=p)
    y = X @ np.where(rng.uniform(size=p) < 0.5, rng.normal(size=p), 0.0) + rng.normal(size=n) + 3.0
    return rng, X, y


@pytest.mark.parametrize("p", [6, 80])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("far", [0.0, 1e5])
def test_leave_one_out_is_leaving_out_one_by_one(p, intercept, weighted, far, monkeypatch):
    monkeypatch.setattr(folds, "CHUNK_CELLS", 40)  # several blocks of rows
    rng, X, y = problem(1, n=25, p=p)
    X[:, 2] += far * intercept
    weight = rng.integers(0, 3, size=25).astype(float) if weighted else np.ones(25)
    model = RidgeCV([0.3, 30.0], fit_intercept=intercept, store_cv_results=True)
    model.fit(X, y, sample_weight=weight if weighted else None)
    for k, alpha in enumerate([0.3, 30.0]):
        for i in range(25):
            s = np.where(np.arange(25) == i, 0.0, weight)
            other = sklearn.linear_model.Ridge(alpha=alpha, fit_intercept=intercept, solver="svd")
            other.fit(X[s > 0.0], y[s > 0.0], sample_weight=s[s > 0.0])
            error = y[i] - other.predict(X[i : i + 1])[0]
            # a column of 1e5 leaves ten digits of a prediction, in scikit-learn's fits as in ours
            assert model.cv_results_[i, k] == pytest.approx(weight[i] * error**2, rel=1e-8, abs=1e-11 * far)
    means = model.cv_results_.mean(axis=0)
    assert model.alpha_ == [0.3, 30.0][int(np.argmin(means))]
    assert model.best_score_ == pytest.approx(-means.min(), rel=1e-12)


@pytest.mark.parametrize("targets", [1, 3])
def test_ridge_leave_one_out_as_in_scikit_learn(targets):
    rng, X, y = problem(2)
    Y = y if targets == 1 else np.column_stack([y] + [rng.normal(size=len(y)) + X[:, k] for k in range(targets - 1)])
    ours, theirs = (kind(ALPHAS, store_cv_results=True) for kind in (RidgeCV, sklearn.linear_model.RidgeCV))
    ours.fit(X, Y)
    theirs.fit(X, Y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-10)
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-7)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    assert ours.verdict_.kind == "optimal"
    assert ours.verdicts_ == []


@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", "r2"])
def test_ridge_leave_one_out_scored_otherwise(scoring):
    _, X, y = problem(3)
    ours = RidgeCV(ALPHAS, scoring=scoring).fit(X, y)
    theirs = sklearn.linear_model.RidgeCV(ALPHAS, scoring=scoring).fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-9)


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
@pytest.mark.parametrize(
    "cv", [4, KFold(5, shuffle=True, random_state=1), ShuffleSplit(3, test_size=0.2, random_state=0)]
)
def test_ridge_folds(cv, scoring):
    _, X, y = problem(4)
    ours = RidgeCV(ALPHAS, cv=cv, scoring=scoring).fit(X, y)
    theirs = sklearn.linear_model.RidgeCV(ALPHAS, cv=cv, scoring=scoring).fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, Ridge(alpha=ours.alpha_).fit(X, y).coef_, rtol=1e-12)
    assert all(verdict.kind == "optimal" for fold in ours.verdicts_ for verdict in fold)
    assert {len(fold) for fold in ours.verdicts_} == {len(ALPHAS)}


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_lasso(weighted, positive):
    rng, X, y = problem(5)
    weight = rng.uniform(0.1, 3.0, size=len(y)) if weighted else None
    ours = LassoCV(alphas=12, positive=positive, tol=1e-10).fit(X, y, sample_weight=weight)
    theirs = sklearn.linear_model.LassoCV(alphas=12, positive=positive, tol=1e-13, max_iter=100000)
    theirs.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-9)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-5)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert ours.verdict_.kind == "optimal"
    assert [len(fold) for fold in ours.verdicts_] == [12] * 5
    assert all(verdict.kind == "optimal" for fold in ours.verdicts_ for verdict in fold)


def test_lasso_on_diabetes_with_all_defaults():
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = LassoCV().fit(X, y), sklearn.linear_model.LassoCV(tol=1e-8, max_iter=100000).fit(X, y)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-9)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    again = Lasso(alpha=ours.alpha_).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, again.coef_)


@pytest.mark.parametrize("ratio", [0.3, [0.2, 0.9]])
def test_elastic_net(ratio):
    _, X, y = problem(6)
    ours = ElasticNetCV(l1_ratio=ratio, alphas=8, tol=1e-10, cv=4).fit(X, y)
    theirs = sklearn.linear_model.ElasticNetCV(l1_ratio=ratio, alphas=8, tol=1e-13, max_iter=100000, cv=4).fit(X, y)
    assert ours.mse_path_.shape == theirs.mse_path_.shape
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-9)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-5)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-9)
    assert ours.l1_ratio_ == theirs.l1_ratio_
    again = ElasticNet(alpha=ours.alpha_, l1_ratio=ours.l1_ratio_, tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, again.coef_)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "roc_auc"])
@pytest.mark.parametrize("weighted", [False, True])
def test_logistic_two_classes(weighted, scoring):
    rng, X, y = problem(7, n=80)
    labels = np.where(y + rng.normal(size=len(y)) > np.median(y), "b", "a")
    weight = rng.uniform(0.1, 3.0, size=len(y)) if weighted else None
    ours = LogisticRegressionCV(Cs=5, scoring=scoring, tol=1e-10).fit(X, labels, sample_weight=weight)
    theirs = sklearn.linear_model.LogisticRegressionCV(
        Cs=5,
        scoring=scoring,
        l1_ratios=(0,),
        use_legacy_attributes=False,
        solver="newton-cholesky",
        tol=1e-12,
    ).fit(X, labels, sample_weight=weight)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-5)
    np.testing.assert_allclose(ours.coefs_paths_, theirs.coefs_paths_, atol=1e-4)
    assert pytest.approx(theirs.C_) == ours.C_
    again = LogisticRegression(C=ours.C_, tol=1e-10).fit(X, labels, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, again.coef_, rtol=1e-12)


def test_logistic_several_classes_and_penalties():
    _, X, y = problem(8, n=90, p=3)
    labels = np.digitize(y, np.quantile(y, [0.4, 0.7]))
    ours = LogisticRegressionCV(Cs=[0.1, 10.0], l1_ratios=[0.0, 1.0], cv=3, scoring="neg_log_loss").fit(X, labels)
    assert ours.scores_.shape == (3, 2, 2)
    assert ours.coefs_paths_.shape == (3, 2, 2, 3, 4)
    assert ours.n_iter_.shape == (3, 2, 2)
    place = np.unravel_index(np.argmax(ours.scores_.mean(axis=0)), (2, 2))
    assert (ours.l1_ratio_, ours.C_) == ([0.0, 1.0][place[0]], [0.1, 10.0][place[1]])
    assert all(v.kind == "optimal" for fold in ours.verdicts_ for ratio in fold for v in ratio)
    again = LogisticRegression(C=ours.C_, l1_ratio=ours.l1_ratio_).fit(X, labels)
    np.testing.assert_allclose(ours.coef_, again.coef_, rtol=1e-12)


def test_one_standard_error():
    _, X, y = problem(9)
    best, careful = (LassoCV(alphas=30, rule=rule).fit(X, y) for rule in ("best", "one-se"))
    mean = best.mse_path_.mean(axis=1)
    place = int(np.argmin(mean))
    error = best.mse_path_[place].std(ddof=1) / np.sqrt(best.mse_path_.shape[1])
    assert careful.alpha_ == best.alphas_[np.flatnonzero(mean <= mean[place] + error)[0]]
    assert careful.alpha_ > best.alpha_
    assert RidgeCV(ALPHAS, rule="one-se").fit(X, y).alpha_ >= RidgeCV(ALPHAS).fit(X, y).alpha_
    labels = y > np.median(y)
    first, second = (LogisticRegressionCV(rule=rule).fit(X, labels) for rule in ("best", "one-se"))
    assert second.C_ <= first.C_


def test_a_scorer_that_takes_no_weights_is_refused_them():
    _, X, y = problem(10)

    def scorer(estimator, X, y):
        return -np.mean((estimator.predict(X) - y) ** 2)

    assert RidgeCV(ALPHAS, scoring=scorer).fit(X, y).alpha_ == RidgeCV(ALPHAS).fit(X, y).alpha_
    with pytest.raises(ValueError, match="no sample_weight"):
        RidgeCV(ALPHAS, scoring=scorer).fit(X, y, sample_weight=np.full(len(y), 2.0))
