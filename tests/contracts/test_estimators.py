"""The three estimators keep scikit-learn's contract, with no expected failure."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from lineal.estimators import LinearRegression, LogisticRegression, Ridge

# LogisticRegression(fit_intercept=False) is not here: check_class_weight_classifiers needs an intercept to move, and
# scikit-learn's own estimator does not pass it without one either. tests/agreement covers it.
ESTIMATORS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(),
    Ridge(alpha=0.0),
    Ridge(solver="newton-cg"),
    LogisticRegression(),
    LogisticRegression(solver="lbfgs"),
    LogisticRegression(class_weight="balanced"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [LinearRegression(), Ridge(), LogisticRegression()])
def test_check_estimator_reports_no_failure_and_expects_none(estimator):
    results = check_estimator(estimator, on_fail="raise", on_skip=None)
    assert len(results) > 40
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    assert not any(result["expected_to_fail"] for result in results)
