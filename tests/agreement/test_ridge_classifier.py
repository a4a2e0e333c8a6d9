"""RidgeClassifier and RidgeClassifierCV against scikit-learn, and a strength of its own for every target of a ridge."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_predict

import lineal
from lineal.errors import InputError


def problem(classes, seed=0, n=80):
    rng = np.random.default_rng(seed)
    X = rng.normal([0.0, 3.0, -1.0, 0.0], size=(n, 4))
    score = X[:, 0] - X[:, 1] + rng.normal(size=n) + 3.0
    y = np.digitize(score, np.quantile(score, np.linspace(0.0, 1.0, classes + 1)[1:-1]))
    return rng, X, np.array(["ash", "birch", "cedar"])[y]


def agree(ours, theirs, X):
    assert ours.verdict_.proven
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.model_.predict(X), ours.decision_function(X), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"ash": 3.0}])
@pytest.mark.parametrize("classes", [2, 3])
def test_classes(classes, class_weight, form):
    rng, X, y = problem(classes)
    # "balanced" counts rows by their weight here, as in LogisticRegression; there it counts them once
    weight = None if class_weight == "balanced" else rng.uniform(0.5, 2.0, size=len(y))
    options = {"alpha": 2.0, "class_weight": class_weight}
    theirs = sklearn.linear_model.RidgeClassifier(**options).fit(X, y, weight)
    agree(lineal.RidgeClassifier(**options).fit(form(X), y, weight), theirs, X)


@pytest.mark.parametrize("options", [{"positive": True}, {"fit_intercept": False}, {"solver": "lsqr", "alpha": 0.1}])
def test_options(options):
    _, X, y = problem(3)
    theirs = sklearn.linear_model.RidgeClassifier(**{**options, "tol": 1e-12}).fit(X, y)
    agree(lineal.RidgeClassifier(**options, tol=1e-12).fit(X, y), theirs, X)


@pytest.mark.parametrize("kind", ["RidgeClassifier", "RidgeClassifierCV"])
def test_labels_of_which_a_row_has_any_number(kind):
    rng, X, _ = problem(2)
    Y = (X[:, :3] + rng.normal(size=(len(X), 3)) > [0.0, 3.0, -1.0]).astype(int)
    theirs = getattr(sklearn.linear_model, kind)().fit(X, Y)
    agree(getattr(lineal, kind)().fit(X, Y), theirs, X)
    agree(getattr(lineal, kind)().fit(X, scipy.sparse.csr_array(Y)), theirs, X)


@pytest.mark.parametrize("cv", [None, StratifiedKFold(4)])
@pytest.mark.parametrize("classes", [2, 3])
def test_alpha_is_the_one_scikit_learn_takes(classes, cv):
    _, X, y = problem(classes)
    options = {"alphas": [0.1, 1.0, 10.0, 100.0], "cv": cv}
    theirs = sklearn.linear_model.RidgeClassifierCV(**options).fit(X, y)
    ours = lineal.RidgeClassifierCV(**options).fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-9)
    agree(ours, theirs, X)


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_left_out_are_scored_as_brute_force_scores_them(classes):
    _, X, y = problem(classes, n=40)
    model = lineal.RidgeClassifierCV(alphas=[0.1, 1000.0], scoring="accuracy").fit(X, y)
    by_hand = [
        np.mean(cross_val_predict(sklearn.linear_model.RidgeClassifier(alpha), X, y, cv=LeaveOneOut()) == y)
        for alpha in (0.1, 1000.0)
    ]
    assert model.best_score_ == pytest.approx(max(by_hand))
    assert model.alpha_ == (0.1, 1000.0)[int(np.argmax(by_hand))]


def targets():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 4)) + 1.0
    return X, X @ rng.normal(size=(4, 3)) + rng.normal(size=(30, 3)) * [0.1, 3.0, 30.0]


@pytest.mark.parametrize("options", [{}, {"positive": True}, {"fit_intercept": False}])
def test_ridge_with_an_alpha_for_each_target(options):
    X, Y = targets()
    alphas = [0.0, 2.0, 50.0]
    model = lineal.Ridge(alphas, **options, tol=1e-12).fit(X, Y, np.arange(1.0, 31.0))
    assert [verdict.proven for verdict in model.verdicts_] == [True] * 3
    for k, alpha in enumerate(alphas):
        alone = sklearn.linear_model.Ridge(alpha, **options, tol=1e-14).fit(X, Y[:, k], np.arange(1.0, 31.0))
        np.testing.assert_allclose(model.coef_[k], alone.coef_, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(model.predict(X)[:, k], alone.predict(X), rtol=1e-5, atol=1e-7)
    with pytest.raises(InputError, match="2 != 3"):
        lineal.Ridge([1.0, 2.0]).fit(X, Y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
def test_an_alpha_is_chosen_for_each_target(scoring, weighted):
    X, Y = targets()
    weight = np.linspace(0.5, 2.0, 30) if weighted else None
    options = {
        "alphas": [0.1, 1.0, 10.0, 100.0], "alpha_per_target": True, "store_cv_results": True, "scoring": scoring,
    }  # fmt: skip
    theirs = sklearn.linear_model.RidgeCV(**options).fit(X, Y, weight)
    ours = lineal.RidgeCV(**options).fit(X, Y, weight)
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    assert len(set(ours.alpha_)) > 1
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-9)
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-7)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
    with pytest.raises(InputError, match="incompatible"):
        lineal.RidgeCV(alpha_per_target=True, cv=3).fit(X, Y)
