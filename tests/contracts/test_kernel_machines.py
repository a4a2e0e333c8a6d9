"""Kernel machines keep scikit-learn's contract and its parameters; what they do not honour is refused in a sentence."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.gaussian_process
import sklearn.kernel_ridge
import sklearn.svm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import lineal
from lineal import kernels
from lineal.errors import InputError
from lineal.estimators import (
    SVC,
    SVR,
    GaussianProcessRegressor,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelRidge,
)
from lineal.kernels import Gaussian

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * RNG.normal(size=40)
LABELS = (Y > 0).astype(int)
THEIRS = {
    SVC: sklearn.svm.SVC,
    SVR: sklearn.svm.SVR,
    KernelRidge: sklearn.kernel_ridge.KernelRidge,
    GaussianProcessRegressor: sklearn.gaussian_process.GaussianProcessRegressor,
}

VARIANTS = [
    SVC(gamma=0.5),
    SVC(kernel="linear", class_weight="balanced"),
    SVC(kernel="precomputed"),
    SVC(kernel="poly", gamma=0.1, degree=2, coef0=1.0),
    SVR(gamma=0.5),
    SVR(kernel="linear"),
    KernelRidge(kernel="rbf"),
    KernelRidge(kernel="precomputed"),
    KernelLogisticRegression(gamma=0.5),
    KernelPerceptron(kernel="precomputed"),
    GaussianProcessRegressor(Gaussian(0.5), alpha=0.1, normalize_y=True),
]
SCALE = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "gamma='scale' is made of the rows, not of their weights, as in scikit-learn",
)


@pytest.mark.slow
@parametrize_with_checks(VARIANTS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [SVC(), SVR(), KernelLogisticRegression()])
def test_nothing_but_the_weights_of_gamma_fails(estimator):
    results = check_estimator(estimator, expected_failed_checks=SCALE, on_fail=None, on_skip=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []


@pytest.mark.parametrize("kind", THEIRS)
def test_names_kinds_and_defaults_are_those_of_scikit_learn(kind):
    ours, theirs = inspect.signature(kind).parameters, inspect.signature(THEIRS[kind]).parameters
    assert {name: p.kind for name, p in ours.items() if name in theirs} == {name: p.kind for name, p in theirs.items()}
    assert set(ours) - set(theirs) <= {"tol", "time_limit"}
    assert {name for name, p in theirs.items() if ours[name].default != p.default} <= {"tol"}


REFUSED = [
    (SVC, "C", 0.0, "above 0"),
    (SVC, "C", np.inf, "finite number above 0"),
    (SVC, "kernel", "rbff", "Did you mean 'rbf'"),
    (SVC, "kernel", 3, "a kernel of lineal.kernels"),
    (SVC, "gamma", "wide", "'scale', 'auto'"),
    (SVC, "gamma", 0.0, "give one above 0"),
    (SVC, "degree", 2.5, "whole number"),
    (SVC, "coef0", "one", "finite number"),
    (SVC, "shrinking", 1, "True or False"),
    (SVC, "probability", True, "CalibratedClassifierCV"),
    (SVC, "tol", -1.0, "at least 0"),
    (SVC, "cache_size", 0, "above 0"),
    (SVC, "class_weight", "fair", "'balanced'"),
    (SVC, "verbose", "yes", "whole number"),
    (SVC, "max_iter", -2, "-1 for no limit"),
    (SVC, "decision_function_shape", "ova", "'ovr' and 'ovo'"),
    (SVC, "break_ties", "yes", "True or False"),
    (SVC, "random_state", "seven", "whole number"),
    (SVC, "time_limit", 0.0, "above 0"),
    (SVR, "epsilon", -0.1, "at least 0"),
    (SVR, "C", -1.0, "above 0"),
    (SVR, "kernel", "chi2", "a function that returns"),
    (SVR, "gamma", -1.0, "at least 0"),
    (SVR, "max_iter", 2.5, "whole number"),
    (KernelRidge, "alpha", -1.0, "at least 0"),
    (KernelRidge, "alpha", [1.0, 2.0], "y has 1 targets"),
    (KernelRidge, "kernel", "chi2", "a function that returns"),
    (KernelRidge, "gamma", -1.0, "at least 0"),
    (KernelRidge, "kernel_params", {"p": 2}, "arguments of a kernel that is a function"),
    (KernelRidge, "tol", "small", "one finite number"),
    (KernelLogisticRegression, "C", 0.0, "above 0"),
    (KernelLogisticRegression, "kernel", "sigmoid", "not positive semi-definite"),
    (KernelLogisticRegression, "fit_intercept", 1, "True or False"),
    (KernelLogisticRegression, "max_iter", -1, "whole number"),
    (KernelPerceptron, "max_iter", 0, "at least 1"),
    (KernelPerceptron, "shuffle", "no", "True or False"),
    (GaussianProcessRegressor, "alpha", -1.0, "at least 0"),
    (GaussianProcessRegressor, "kernel", "rbf", "sklearn.gaussian_process.kernels"),
    (GaussianProcessRegressor, "optimizer", "adam", "'fmin_l_bfgs_b', None"),
    (GaussianProcessRegressor, "n_targets", 2, "seen in `y` is 1"),
]


@pytest.mark.parametrize(("kind", "name", "value", "words"), REFUSED)
def test_what_is_not_honoured_is_refused(kind, name, value, words):
    kernel = {"coef0": "sigmoid", "degree": "poly"}.get(name, "rbf")
    start = {} if kind is GaussianProcessRegressor else {"kernel": kernel}
    estimator = kind(**{**start, name: value})
    with pytest.raises(InputError, match=words):
        estimator.fit(X, LABELS if hasattr(kind, "decision_function") else Y)


@pytest.mark.parametrize("kind", [SVC, SVR, KernelRidge])
@pytest.mark.parametrize("as_given", [np.float32, "csr", "read-only", "list"])
def test_other_forms_of_the_same_rows(kind, as_given):
    rows = X.astype(np.float32).astype(float)
    given = {"csr": lambda: sp.csr_matrix(rows), "list": rows.tolist, np.float32: lambda: rows.astype(np.float32)}
    frozen = rows.copy()
    frozen.flags.writeable = False
    other = given.get(as_given, lambda: frozen)()
    y = LABELS if kind is SVC else Y
    one, two = kind(kernel="rbf", gamma=0.3).fit(rows, y), kind(kernel="rbf", gamma=0.3).fit(other, y)
    assert two.verdict_.kind == "optimal"
    score = "decision_function" if kind is SVC else "predict"
    np.testing.assert_allclose(getattr(two, score)(other), getattr(one, score)(rows), atol=1e-7)


@pytest.mark.parametrize("kind", [SVC, SVR, KernelRidge])
def test_precomputed_and_functions_are_the_kernel_itself(kind):
    y, score = LABELS if kind is SVC else Y, "decision_function" if kind is SVC else "predict"
    named = kind(kernel="rbf", gamma=0.3).fit(X, y)
    ours = kind(kernel=Gaussian(0.3)).fit(X, y)
    K = Gaussian(0.3).gram(X)
    given = kind(kernel="precomputed").fit(K, y)
    function = (lambda x, z: float(np.exp(-0.3 * np.sum((x - z) ** 2)))) if kind is KernelRidge else Gaussian(0.3).gram
    called = kind(kernel=function).fit(X, y)
    expected = getattr(named, score)(X[:7])
    for found, rows in ((ours, X[:7]), (given, K[:7]), (called, X[:7])):
        assert found.verdict_.kind == "optimal"
        np.testing.assert_allclose(getattr(found, score)(rows), expected, atol=1e-7)
    with pytest.raises(AttributeError, match="no model_"):
        _ = given.model_


@pytest.mark.parametrize("kind", [SVC, SVR, KernelRidge])
def test_no_fit_without_mercers_property_is_called_optimal(kind):
    y = LABELS if kind is SVC else Y
    sigmoid = kind(kernel="sigmoid", gamma=0.5, coef0=0.0).fit(X, y)
    indefinite = RNG.normal(size=(40, 40))
    given = kind(kernel="precomputed", **({"max_iter": 2000} if kind is not KernelRidge else {}))
    given.fit(indefinite + indefinite.T, y)
    for model in (sigmoid, given):
        assert model.verdict_.kind in {"stationary", "budget"}
        assert model.verdict_.gap is None
        assert "not positive semi-definite" in model.verdict_.sentence
    with pytest.raises(InputError, match="not symmetric"):
        kind(kernel="precomputed").fit(indefinite, y)


@pytest.mark.parametrize("kind", [SVC, SVR, KernelRidge])
def test_the_model_predicts_as_the_estimator_does(kind, tmp_path):
    estimator = clone(kind(kernel="rbf", gamma=0.3)).fit(X, LABELS if kind is SVC else Y)
    estimator.model_.save(tmp_path / "m.lineal")
    model = lineal.load(tmp_path / "m.lineal")
    scores = estimator.decision_function(X) if kind is SVC else estimator.predict(X)
    np.testing.assert_allclose(model.scores(X)[:, 0], scores, rtol=1e-12, atol=1e-12)
    if kind is SVC:
        assert (model.predict(X) == estimator.predict(X)).all()
    assert model.verdict == estimator.verdict_
    if kind is not KernelRidge:
        assert len(model.feature_map.numbers) == len(estimator.support_) < 40
    again = pickle.loads(pickle.dumps(estimator))  # noqa: S301
    assert (again.predict(X) == estimator.predict(X)).all()


def test_odd_rows():
    one = KernelRidge(kernel="rbf").fit([[1.0]], [3.0])
    assert one.verdict_.kind == "optimal"
    assert one.predict([[1.0]])[0] == pytest.approx(1.5, abs=1e-15)
    assert SVR().fit([[1.0]], [3.0]).predict([[9.0]])[0] == pytest.approx(3.0, abs=0.1 + 1e-9)
    twice = SVC(kernel="linear", C=1e6).fit(np.repeat([[0.0], [1.0]], 4, axis=0), np.repeat([0, 1], 4))
    assert twice.verdict_.kind == "optimal"
    np.testing.assert_allclose(twice.decision_function([[0.5], [1.0]]), [0.0, 1.0], atol=1e-6)
    constant = SVC(gamma="scale").fit(np.ones((6, 2)), [0, 0, 1, 1, 1, 1])
    assert constant.verdict_.kind == "optimal"
    assert constant.predict([[1.0, 1.0]]).tolist() == [1]
    mixed = SVC(C=1e-8).fit(X, LABELS)
    assert mixed.verdict_.kind == "optimal"
    flat = SVR(C=1e-8, epsilon=10.0).fit(X, Y)
    assert flat.verdict_.kind == "optimal"
    assert len(flat.support_) == 0
    with pytest.raises(InputError, match="only one class"):
        SVC().fit(X, np.zeros(40))


def test_a_limit_ends_in_budget_with_a_gap():
    with pytest.warns(ConvergenceWarning, match="max_iter was reached"):
        short = SVC(max_iter=3, gamma=0.3).fit(X, LABELS)
    assert short.verdict_.kind == "budget"
    assert short.verdict_.gap > 0.0
    assert "max_iter was reached" in short.verdict_.sentence
    late = SVC(gamma=0.3, time_limit=1e-9).fit(X, LABELS)
    assert late.verdict_.kind in {"budget", "optimal"}


TEXTS = ["banana", "ananas", "bandana", "cherry", "berry", "sherry"]
TREES = ["(S (A a))", "(S (A b))", "(S (B a))", "(S (C (A c)))", "(S (C (A b)))", "(S (A a))"]
WORDS = [["a", "b"], ["b", "c"], ["a", "a"], ["d", "e"], ["e", "f"], ["d", "d"]]


def common(x, z):
    return float(len(set(x) & set(z)))


@pytest.mark.parametrize(
    ("points", "kernel"),
    [
        (TEXTS, kernels.read("spectrum:2")),
        (TEXTS, kernels.read("normalized(string:ssk,2,0.5)")),
        (WORDS, kernels.read("spectrum:1,unit=words")),
        (TREES, kernels.read("tree:0.4")),
        (TEXTS, kernels.FromFunction(common)),
    ],
)
@pytest.mark.parametrize("name", ["SVC", "SVR", "KernelLogisticRegression", "KernelRidge", "GaussianProcessRegressor"])
def test_texts_and_trees_are_compared_as_their_precomputed_matrix(points, kernel, name):
    kind = getattr(lineal, name)
    y = list("aaaeee") if name in ("SVC", "KernelLogisticRegression") else [1.0, 2.0, 3.0, 4.0, 5.0, 6.5]
    options = {"alpha": 0.1} if name == "GaussianProcessRegressor" else {}
    model, matrix = kind(kernel=kernel, **options).fit(points, y), kernel.gram(points)
    given = kind(kernel="precomputed", **options).fit(matrix, y)
    again = kind(kernel=kernels.Precomputed(), **options).fit(matrix, y)
    assert model.verdict_.kind == given.verdict_.kind == "optimal"
    call = "decision_function" if isinstance(y[0], str) else "predict"
    expected = getattr(given, call)(matrix[:3])
    np.testing.assert_allclose(getattr(model, call)(points[:3]), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(getattr(again, call)(matrix[:3]), expected)
    assert not hasattr(model, "model_")
    with pytest.raises(InputError, match="list of the points"):
        model.predict("banana")


def test_estimators_of_texts_go_through_cross_validation_and_pickles():
    model = lineal.SVC(kernel=kernels.read("spectrum:2"))
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(TEXTS * 3, list("aaaeee") * 3)
    assert search.best_score_ == 1.0
    again = pickle.loads(pickle.dumps(model.fit(TEXTS, list("aaaeee"))))  # noqa: S301  (our own bytes)
    assert again.predict(["cabana", "merry"]).tolist() == ["a", "e"]
    assert lineal.KernelPerceptron(kernel=model.kernel).fit(TEXTS, list("aaaeee")).verdict_.kind == "separated"
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(TEXTS, [0, 1])


def test_a_function_that_is_positive_semi_definite_is_proven_and_another_is_not():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    y = rows[:, 0] > 0.0
    good = lineal.SVC(kernel=kernels.FromFunction(lambda x, z: float(np.exp(-((x - z) @ (x - z)))))).fit(rows, y)
    named = lineal.SVC(gamma=1.0).fit(rows, y)
    assert (good.verdict_.kind, named.verdict_.kind) == ("optimal", "optimal")
    np.testing.assert_allclose(good.decision_function(rows), named.decision_function(rows), rtol=1e-9, atol=1e-9)
    bad = lineal.SVC(kernel=kernels.FromFunction(lambda x, z: -(float((x - z) @ (x - z)) ** 1.5))).fit(rows, y)
    assert bad.verdict_.kind in ("stationary", "budget")


def test_of_a_precomputed_kernel_a_gaussian_process_knows_the_mean_alone():
    model = lineal.GaussianProcessRegressor("precomputed", alpha=0.1).fit(np.eye(3), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(model.predict(np.eye(3)), np.array([1.0, 2.0, 3.0]) / 1.1)
    with pytest.raises(InputError, match="only the mean"):
        model.predict(np.eye(3), return_std=True)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rows", [np.ones((18, 2)), np.repeat([[0.0, 1.0], [2.0, 2.0], [5.0, 1.0]], 6, axis=0)])
def test_points_that_are_equal_in_every_class_have_a_proven_optimum(rows, classes):
    y = np.arange(18) % classes  # every point has all classes equally often: nothing is better than zero
    model = lineal.KernelLogisticRegression(C=10.0).fit(rows, y)
    assert model.verdict_.kind == "optimal"
    assert model.verdict_.gap < 1e-14
    np.testing.assert_allclose(model.predict_proba(rows), 1.0 / classes, atol=1e-12)
