"""What the later estimators do not honour is refused in a sentence; their names are scikit-learn's; all of them show verdicts."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.neighbors
import sklearn.svm
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_html_repr

from lineal.errors import InputError
from lineal.estimators import (
    BayesianRidge,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    ElasticNet,
    ElasticNetCV,
    GaussianNB,
    HuberRegressor,
    KNeighborsClassifier,
    KNeighborsRegressor,
    Lasso,
    LassoCV,
    LinearDiscriminantAnalysis,
    LinearSVC,
    LinearSVR,
    LogisticRegressionCV,
    PoissonRegressor,
    QuadraticDiscriminantAnalysis,
    QuantileRegressor,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SparsemaxClassifier,
)
from tests.contracts import catalogue

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X @ [1.0, -2.0, 0.5] + RNG.normal(size=40)
LABELS = (Y > 0).astype(int)

EXAMPLES = {
    type(estimator): estimator
    for estimator in catalogue.examples(
        "LinearRegression",
        "Ridge",
        "LogisticRegression",
        "Perceptron",
        "SGDClassifier",
        "SGDRegressor",
        "MultiTaskLasso",
        "MultiTaskLassoCV",
        "TableClassifier",
        "TableRegressor",
        *catalogue.KERNEL_MACHINES,
    )  # which have files of their own
}
ESTIMATORS = tuple(EXAMPLES)
OURS = {"scale", "tol", "rule", "time_limit"}
"""Parameters of ours that scikit-learn's class need not have, behind all of its own."""

SHARED = [
    ("time_limit", 0.0, "above 0"),
    ("fit_intercept", "yes", "True or False"),
    ("tol", -1.0, "at least 0"),
    ("copy_X", "yes", "True or False"),
    ("max_iter", 2.5, "whole number"),
    ("random_state", "seven", "whole number"),
    ("verbose", "yes", "whole number"),
    ("n_jobs", "all", "whole number"),
    ("positive", "yes", "True or False"),
    ("selection", "greedy", "'cyclic' or 'random'"),
    ("intercept_scaling", 0.0, "above 0"),
    ("rule", "two-se", "'best' and 'one-se'"),
    ("warm_start", "yes", "True or False"),
    ("class_weight", "balance", "'balanced'"),
    ("alpha", -1.0, "at least 0"),
    ("force_alpha", "yes", "True or False"),
    ("fit_prior", "yes", "True or False"),
    ("class_prior", [0.5], "Number of priors must match"),
    ("priors", [0.5], "Number of priors must match"),
    ("store_covariance", "yes", "True or False"),
]

OWN = [
    (BernoulliNB, "binarize", -1.0, "at least 0"),
    (CategoricalNB, "min_categories", 2.5, "integral type"),
    (ComplementNB, "norm", 1, "True or False"),
    (GaussianNB, "var_smoothing", -1.0, "at least 0"),
    (LinearDiscriminantAnalysis, "solver", "newton", "accepted are 'svd'"),
    (LinearDiscriminantAnalysis, "shrinkage", 2.0, "at most 1"),
    (LinearDiscriminantAnalysis, "n_components", 5, "n_components cannot be larger"),
    (LinearDiscriminantAnalysis, "covariance_estimator", "shrunk", "is not supported with svd"),
    (QuadraticDiscriminantAnalysis, "solver", "lsqr", "accepted are 'svd'"),
    (QuadraticDiscriminantAnalysis, "shrinkage", 2.0, "at most 1"),
    (QuadraticDiscriminantAnalysis, "reg_param", 2.0, "at most 1"),
    (QuadraticDiscriminantAnalysis, "covariance_estimator", "shrunk", "is not supported with svd"),
    (Lasso, "precompute", "gram", "True, False, 'auto'"),
    (ElasticNet, "alpha", [1.0], "number"),
    (ElasticNet, "l1_ratio", 1.5, "at most 1"),
    (ElasticNet, "precompute", "gram", "True, False, 'auto'"),
    (PoissonRegressor, "solver", "linear", "accepted are auto"),
    (HuberRegressor, "epsilon", 0.9, "at least 1"),
    (HuberRegressor, "scale", 0.0, "above 0"),
    (HuberRegressor, "scale", "mad", "number"),
    (QuantileRegressor, "quantile", 1.0, "between 0 and 1"),
    (QuantileRegressor, "quantile", 0.0, "above 0"),
    (QuantileRegressor, "solver", "newton", "cannot be used here"),
    (QuantileRegressor, "solver_options", "presolve", "None or a dict"),
    (LinearSVC, "penalty", "l3", "'l2' and 'l1'"),
    (LinearSVC, "loss", "log", "'squared_hinge' and 'hinge'"),
    (LinearSVC, "dual", "primal", "'auto', True and False"),
    (LinearSVC, "C", 0.0, "above 0"),
    (LinearSVC, "multi_class", "ovo", "'ovr' and 'crammer_singer'"),
    (LinearSVR, "epsilon", -0.1, "at least 0"),
    (LinearSVR, "C", 0.0, "above 0"),
    (LinearSVR, "loss", "squared", "'epsilon_insensitive'"),
    (LinearSVR, "dual", False, "'auto' and True"),
    (SparsemaxClassifier, "C", 0.0, "above 0"),
    (SparsemaxClassifier, "l1_ratio", 2.0, "at most 1"),
    (SparsemaxClassifier, "solver", "linear", "accepted are auto"),
    (BayesianRidge, "max_iter", None, "needs a limit"),
    (BayesianRidge, "alpha_1", -1.0, "at least 0"),
    (BayesianRidge, "alpha_2", -1.0, "at least 0"),
    (BayesianRidge, "lambda_1", -1.0, "at least 0"),
    (BayesianRidge, "lambda_2", -1.0, "at least 0"),
    (BayesianRidge, "alpha_init", 0.0, "above 0"),
    (BayesianRidge, "lambda_init", 0.0, "above 0"),
    (BayesianRidge, "compute_score", 1, "True or False"),
    (RidgeCV, "alphas", [0.0, 1.0], "above 0"),
    (RidgeCV, "alphas", [], "at least one"),
    (RidgeCV, "scoring", "accurate", "scoring is 'accurate'"),
    (RidgeCV, "cv", 1, "n_splits"),
    (RidgeCV, "gcv_mode", "qr", "'svd' or 'eigen'"),
    (RidgeCV, "store_cv_results", 1, "True or False"),
    (RidgeCV, "alpha_per_target", 1, "True or False"),
    *(
        (RidgeClassifierCV, name, value, words)
        for name, value, words in [
            ("alphas", [0.0, 1.0], "above 0"),
            ("scoring", "accurate", "scoring is 'accurate'"),
            ("cv", 1, "n_splits"),
            ("store_cv_results", 1, "True or False"),
        ]
    ),
    (RidgeClassifier, "solver", "linear", "accepted are auto"),
    (LassoCV, "eps", 0.0, "above 0"),
    (LassoCV, "alphas", 0, "at least 1"),
    (LassoCV, "alphas", "many", "list of numbers"),
    (LassoCV, "precompute", "gram", "True, False, 'auto'"),
    (LassoCV, "cv", 1, "n_splits"),
    (ElasticNetCV, "l1_ratio", 0.0, "give alphas as a list"),
    (ElasticNetCV, "l1_ratio", [0.5, 2.0], "at most 1"),
    (ElasticNetCV, "eps", -1.0, "above 0"),
    (ElasticNetCV, "alphas", [-1.0], "at least 0"),
    (ElasticNetCV, "precompute", "gram", "True, False, 'auto'"),
    (ElasticNetCV, "cv", 1, "n_splits"),
    (LogisticRegressionCV, "Cs", 0, "at least 1"),
    (LogisticRegressionCV, "Cs", [0.0], "above 0"),
    (LogisticRegressionCV, "l1_ratios", [2.0], "at most 1"),
    (LogisticRegressionCV, "cv", 1, "n_splits"),
    (LogisticRegressionCV, "dual", "yes", "True, False or"),
    (LogisticRegressionCV, "penalty", "l3", "'elasticnet' and None"),
    (LogisticRegressionCV, "scoring", "accurate", "scoring is 'accurate'"),
    (LogisticRegressionCV, "solver", "linear", "accepted are auto"),
    (LogisticRegressionCV, "refit", 1, "True or False"),
    (LogisticRegressionCV, "use_legacy_attributes", "warn", "True or False"),
    *(
        (kind, *row)
        for kind in (KNeighborsClassifier, KNeighborsRegressor)
        for row in [
            ("n_neighbors", 0, "n_neighbors > 0"),
            ("weights", "near", "'uniform', 'distance'"),
            ("algorithm", "ball", "'auto', 'brute', 'kd_tree', 'ball_tree'"),
            ("leaf_size", 0, "leaf_size > 0"),
            ("p", 0, "above 0"),
            ("metric", "euclidian", "Did you mean 'euclidean'"),
            ("metric_params", [1], "must be a dict"),
        ]
    ),
]


def made(kind, **parameters):
    return clone(EXAMPLES[kind]).set_params(**parameters)


def target(estimator):
    return LABELS if is_classifier(estimator) else np.abs(np.round(Y)) if isinstance(estimator, PoissonRegressor) else Y


def rows(estimator):
    """Return rows that suit the estimator: counts for those that count."""
    return np.abs(np.round(X)) if estimator.__sklearn_tags__().input_tags.positive_only else X


def shared():
    for kind in ESTIMATORS:
        known = inspect.signature(kind).parameters
        yield from ((kind, *row) for row in SHARED if row[0] in known)


@pytest.mark.parametrize(("kind", "name", "value", "words"), [*shared(), *OWN])
def test_refused(kind, name, value, words):
    estimator = made(kind, **{name: value})
    with pytest.raises(ValueError, match=r".") as error:
        estimator.fit(rows(estimator), target(estimator))
    assert words in str(error.value)
    assert isinstance(error.value, InputError) or words == "n_splits"  # scikit-learn's splitter speaks for itself


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_parameter_has_a_refusal(kind):
    refused = {name for owner, name, *_ in [*shared(), *OWN] if owner is kind}
    assert set(inspect.signature(kind).parameters) == refused


@pytest.mark.parametrize(
    "kind", [kind for kind in ESTIMATORS if kind is not SparsemaxClassifier]
)  # which is ours alone
def test_names_order_and_kinds_are_those_of_scikit_learn(kind):
    homes = (
        sklearn.linear_model, sklearn.svm, sklearn.naive_bayes, sklearn.discriminant_analysis, sklearn.neighbors,
    )  # fmt: skip
    other = next(getattr(home, kind.__name__) for home in homes if hasattr(home, kind.__name__))
    ours, theirs = inspect.signature(kind).parameters, inspect.signature(other).parameters
    assert [(p.name, p.kind) for p in ours.values()][: len(theirs)] == [(p.name, p.kind) for p in theirs.values()]
    assert set(ours) - set(theirs) <= OURS
    changed = {name for name, p in theirs.items() if ours[name].default != p.default}
    assert changed <= {"tol", "solver", "max_iter", "l1_ratios", "scoring", "use_legacy_attributes"}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_notebook_shows_the_verdict_first(kind):
    estimator = made(kind)
    assert "lineal-verdict" not in estimator._repr_html_()
    fitted = clone(estimator).fit(rows(estimator), target(estimator))
    page = fitted._repr_html_()
    assert page.startswith(f'<p class="lineal-verdict lineal-{fitted.verdict_.kind}">')
    assert estimator_html_repr(fitted)[:30] in page


EVENTS = (BernoulliNB, CategoricalNB)
"""Their models take what is counted of X, not X: tests/agreement/test_naive_bayes.py."""
SIGNED = (RidgeClassifier, RidgeClassifierCV)
"""Their models are of the numbers +1 and -1: tests/agreement/test_ridge_classifier.py."""


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if kind not in EVENTS + SIGNED])
def test_the_model_predicts_as_the_estimator_does(kind):
    estimator = made(kind)
    x = rows(estimator)
    fitted = estimator.fit(x, target(estimator))
    ours, same = fitted.predict(x), fitted.model_.predict(x)
    assert np.array_equal(ours, same) if is_classifier(estimator) else np.allclose(ours, same, rtol=1e-14, atol=0.0)


@pytest.mark.parametrize("kind", [Lasso, ElasticNet, PoissonRegressor, HuberRegressor])
def test_warm_start(kind):
    model = kind(warm_start=True)
    first = model.fit(X, target(model)).coef_.copy()
    steps = model.n_iter_
    np.testing.assert_allclose(model.fit(X, target(model)).coef_, first, rtol=1e-6)
    assert model.n_iter_ <= steps
    with pytest.raises(InputError, match="warm_start"):
        model.fit(X[:, :2], target(model))


def test_budgets():
    for model in (Lasso(alpha=1e-3, max_iter=0), LinearSVC(max_iter=1), PoissonRegressor(max_iter=1, alpha=1e-3)):
        with pytest.warns(ConvergenceWarning, match=r"iterations was reached.*Increase max_iter") as heard:
            fitted = model.fit(X, target(model))
        assert [Path(one.filename) for one in heard] == [Path(__file__)]
        assert fitted.verdict_.kind == "budget"
        assert "iterations" in fitted.verdict_.reason


def test_the_worst_member_speaks_for_all():
    classes = np.digitize(Y, [-1.0, 1.0])
    with pytest.warns(ConvergenceWarning):
        model = LinearSVC(max_iter=3).fit(X, classes)
    kinds = [verdict.kind for verdict in model.verdicts_]
    assert len(kinds) == 3
    assert model.verdict_.kind == ("budget" if "budget" in kinds else "optimal")
    assert model.verdict_ in model.verdicts_
    good = LinearSVC().fit(X, classes)
    assert good.verdict_.relative_gap == max(verdict.relative_gap for verdict in good.verdicts_)


def test_folds_without_weight_are_left_out():
    weight = np.where(np.arange(40) < 8, 0.0, 1.0)  # the first of five folds
    model = LassoCV(alphas=3).fit(X, Y, sample_weight=weight)
    assert model.mse_path_.shape == (3, 4)
    assert np.isfinite(model.mse_path_).all()
