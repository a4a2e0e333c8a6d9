"""The floats of X are those of coefficients and predictions, as in scikit-learn; the fit itself is made in doubles."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
import sklearn.svm

import lineal
import lineal.estimators

REGRESSORS = [
    "LinearRegression", "Ridge", "RidgeCV", "Lasso", "ElasticNet", "LassoCV", "ElasticNetCV",
    "PoissonRegressor", "HuberRegressor", "QuantileRegressor", "LinearSVR",
]  # fmt: skip
CLASSIFIERS = ["LogisticRegression", "LogisticRegressionCV", "LinearSVC"]


def fitted(name, X, y):
    theirs = getattr(sklearn.svm if "SV" in name else sklearn.linear_model, name)
    options = {"l1_ratios": (0.0,), "use_legacy_attributes": False, "scoring": "accuracy"}
    given = options if name == "LogisticRegressionCV" else {}
    return getattr(lineal, name)(**given).fit(X, y), theirs(**given).fit(X, y)


def rows(form):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    return form(X), X[:, 0] + rng.normal(size=60)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("name", REGRESSORS + CLASSIFIERS)
def test_floats_are_those_of_scikit_learn(name, form):
    X, score = rows(form)
    y = score > 0.0 if name in CLASSIFIERS else np.round(np.exp(score))
    ours, theirs = fitted(name, X, y)
    assert ours.coef_.dtype == theirs.coef_.dtype
    assert np.asarray(ours.intercept_).dtype == np.asarray(theirs.intercept_).dtype
    asked = "decision_function" if name in CLASSIFIERS else "predict"
    for given in (X, X.astype(np.float64)):
        assert getattr(ours, asked)(given).dtype == getattr(theirs, asked)(given).dtype


def test_doubles_of_a_fit_to_float32_stay_in_its_model():
    X, y = rows(np.asarray)
    single, double = (lineal.Ridge().fit(part, y) for part in (X, X.astype(np.float64)))
    np.testing.assert_array_equal(single.coef_, double.coef_.astype(np.float32))
    np.testing.assert_array_equal(single.model_.coef, double.model_.coef)
    assert lineal.LogisticRegression().fit(X, y > 0.0).predict_proba(X).dtype == np.float32


def test_rounded_coefficients_of_columns_far_from_zero_keep_their_digits():
    rng = np.random.default_rng(2)
    X = (1e6 + rng.normal(size=(200, 1))).astype(np.float32)
    y = X[:, 0].astype(np.float64) - 1e6
    model = lineal.LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-5, atol=1e-5)


def test_coefficients_that_float32_cannot_hold_stay_doubles():
    X = np.array([[1e-30], [2e-30], [3e-30]], dtype=np.float32)
    model = lineal.LinearRegression().fit(X, np.array([1e10, 2e10, 3e10]))
    assert model.coef_.dtype == np.float64
    np.testing.assert_allclose(model.predict(X), [1e10, 2e10, 3e10], rtol=1e-5)
