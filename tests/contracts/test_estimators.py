"""The estimators keep scikit-learn's contract, with no expected failure."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from lineal.estimators import (
    HuberRegressor,
    Lasso,
    LinearRegression,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeCV,
)
from tests.contracts import catalogue

# which have expected failures: test_sgd.py, test_kernel_machines.py
EXAMPLES = catalogue.examples(
    "SGDClassifier", "SGDRegressor", "SVC", "SVR", "KernelLogisticRegression", "TableClassifier", "TableRegressor"
)
# LogisticRegression(fit_intercept=False) is not here: check_class_weight_classifiers needs an intercept to move, and
# scikit-learn's own estimator does not pass it without one either. tests/agreement covers it.
VARIANTS = [
    HuberRegressor(scale=1.0),
    LinearRegression(fit_intercept=False),
    Ridge(alpha=0.0),
    Ridge(solver="newton-cg"),
    Ridge(positive=True),
    LogisticRegression(solver="lbfgs"),
    LogisticRegression(class_weight="balanced"),
    LogisticRegression(l1_ratio=1.0, tol=1e-12),
    LinearSVC(loss="hinge"),
    LinearSVC(penalty="l1"),
    LinearSVR(loss="squared_epsilon_insensitive"),
    RidgeCV(cv=3),
    Perceptron(variant="averaged"),
    Perceptron(variant="voted"),
    Perceptron(variant="pocket", tie="positive"),
]


@pytest.mark.slow
@parametrize_with_checks([*EXAMPLES, *VARIANTS])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [LinearRegression(), Ridge(), Lasso()])
def test_check_estimator_reports_no_failure_and_expects_none(estimator):
    results = check_estimator(estimator, on_fail="raise", on_skip=None)
    assert len(results) > 40
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    assert not any(result["expected_to_fail"] for result in results)
