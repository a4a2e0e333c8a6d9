"""Kernel machines beside scikit-learn's (libsvm, LAPACK) on real and random data: objectives, scores, layouts."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.gaussian_process
import sklearn.kernel_ridge
import sklearn.svm
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.gaussian_process import kernels
from sklearn.preprocessing import StandardScaler

from lineal.estimators import (
    SVC,
    SVR,
    GaussianProcessRegressor,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelRidge,
    LogisticRegression,
)
from lineal.kernels import Gaussian

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 4))
Y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * RNG.normal(size=120)
S = RNG.uniform(0.2, 2.0, size=120)
KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 2.0},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
]


def hinge_objective(K, coef, b, y, s, C):
    """Return C sum s max(1 - y f, 0) + |f|^2 / 2 in the plainest way."""
    f = K @ coef
    return C * np.sum(s * np.maximum(1 - y * (f + b), 0)) + coef @ f / 2


def whole(model, n):
    coef = np.zeros(n)
    coef[model.support_] = model.dual_coef_[0]
    return coef


def kernel_matrix(model, X):
    """Return the kernel of the rows, computed by scikit-learn."""
    from sklearn.metrics.pairwise import pairwise_kernels

    gamma = 1.0 / (X.shape[1] * X.var()) if model.gamma == "scale" else model.gamma
    wanted = {"gamma": gamma, "degree": model.degree, "coef0": model.coef0}
    return pairwise_kernels(X, metric=model.kernel, filter_params=True, **wanted)


@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("options", KERNELS, ids=str)
def test_two_classes_reach_a_lower_objective_than_libsvm(options, C):
    y = np.where(Y > 0.2, "yes", "no")
    ours = SVC(C=C, **options).fit(X, y, sample_weight=S)
    theirs = sklearn.svm.SVC(C=C, tol=1e-8, **options).fit(X, y, sample_weight=S)
    assert ours.verdict_.kind == "optimal"
    K, sides = kernel_matrix(ours, X), np.where(y == "yes", 1.0, -1.0)
    values = [
        hinge_objective(K, whole(model, len(X)), float(model.intercept_[0]), sides, S, C) for model in (ours, theirs)
    ]
    assert values[0] <= values[1] * (1 + 1e-9)
    assert ours.objective_ * C * S.sum() == pytest.approx(values[0], rel=1e-9)
    assert values[1] - values[0] <= ours.verdict_.gap * C * S.sum() + 1e-4 * values[0]
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-4)


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_several_classes_are_laid_out_as_there(shape):
    rows, y = load_iris(return_X_y=True)
    options = {"C": 2.0, "gamma": 0.4, "decision_function_shape": shape, "class_weight": {0: 2.0, 1: 0.5, 2: 1.0}}
    ours, theirs = SVC(**options).fit(rows, y), sklearn.svm.SVC(tol=1e-9, **options).fit(rows, y)
    assert ours.verdict_.kind == "optimal"
    assert len(ours.verdicts_) == 3
    np.testing.assert_allclose(ours.decision_function(rows), theirs.decision_function(rows), atol=1e-4)
    assert (ours.predict(rows) == theirs.predict(rows)).all()
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)


@pytest.mark.parametrize("break_ties", [False, True])
def test_votes_and_their_ties(break_ties):
    rng = np.random.default_rng(8)
    rows, y = rng.normal(size=(90, 2)), rng.integers(0, 5, size=90)
    options = {"C": 3.0, "gamma": 0.7, "break_ties": break_ties}
    ours, theirs = SVC(**options).fit(rows, y), sklearn.svm.SVC(tol=1e-9, **options).fit(rows, y)
    assert (ours.predict(rows) == theirs.predict(rows)).mean() > 0.98
    np.testing.assert_allclose(ours.decision_function(rows), theirs.decision_function(rows), atol=2e-3)


def test_breast_cancer():
    rows, y = load_breast_cancer(return_X_y=True)
    rows = StandardScaler().fit_transform(rows)
    ours, theirs = SVC().fit(rows, y), sklearn.svm.SVC(tol=1e-8).fit(rows, y)
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.decision_function(rows), theirs.decision_function(rows), atol=1e-4)
    linear, other = SVC(kernel="linear").fit(rows, y), sklearn.svm.SVC(kernel="linear", tol=1e-8).fit(rows, y)
    np.testing.assert_allclose(linear.coef_, other.coef_, atol=1e-3)
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = ours.coef_


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("options", KERNELS, ids=str)
def test_numbers(options, epsilon):
    ours = SVR(C=2.0, epsilon=epsilon, **options).fit(X, Y, sample_weight=S)
    theirs = sklearn.svm.SVR(C=2.0, epsilon=epsilon, tol=1e-8, **options).fit(X, Y, sample_weight=S)
    assert ours.verdict_.kind == "optimal"
    K = kernel_matrix(ours, X)

    def value(model):
        coef = whole(model, len(X))
        f = K @ coef
        return 2.0 * np.sum(S * np.maximum(np.abs(Y - f - model.intercept_[0]) - epsilon, 0)) + coef @ f / 2

    assert value(ours) <= value(theirs) * (1 + 1e-9)
    assert ours.objective_ * 2.0 * S.sum() == pytest.approx(value(ours), rel=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=5e-4)


@pytest.mark.parametrize(
    "options",
    [{}, {"kernel": "rbf"}, {"kernel": "polynomial", "degree": 2}, {"kernel": "laplacian", "gamma": 0.3}],
    ids=str,
)
@pytest.mark.parametrize("alpha", [1e-3, 1.0, [0.5, 20.0]], ids=str)
def test_kernel_ridge(options, alpha):
    several = np.column_stack([Y, Y**2])
    ours = KernelRidge(alpha, **options).fit(X, several, sample_weight=S)
    theirs = sklearn.kernel_ridge.KernelRidge(alpha=alpha, **options).fit(X, several, sample_weight=S)
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-6, atol=1e-6 * np.abs(ours.dual_coef_).max())


def test_kernel_ridge_of_a_linear_kernel_is_ridge():
    from sklearn.linear_model import Ridge

    rows, y = load_diabetes(return_X_y=True)
    kernel, plain = KernelRidge(0.7).fit(rows, y), Ridge(0.7, fit_intercept=False).fit(rows, y)
    np.testing.assert_allclose(kernel.predict(rows), plain.predict(rows), rtol=1e-9)
    np.testing.assert_allclose(rows.T @ kernel.dual_coef_, plain.coef_, rtol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_logistic_regression_of_a_linear_kernel_is_logistic_regression(classes, intercept):
    rows, y = load_iris(return_X_y=True)
    y = np.minimum(y, classes - 1)
    options = {"C": 2.0, "tol": 1e-12, "fit_intercept": intercept, "class_weight": "balanced"}
    kernel, plain = KernelLogisticRegression(kernel="linear", **options).fit(rows, y), LogisticRegression(**options)
    assert kernel.verdict_.kind == "optimal"
    assert kernel.objective_ == pytest.approx(plain.fit(rows, y).objective_, rel=1e-9)
    np.testing.assert_allclose(kernel.predict_proba(rows), plain.predict_proba(rows), atol=1e-5)
    np.testing.assert_allclose(kernel.predict_log_proba(rows), np.log(kernel.predict_proba(rows)), atol=1e-12)


@pytest.mark.parametrize("C", [0.1, 1e4])
def test_kernel_logistic_regression_by_another_optimizer(C):
    y, K = (Y > 0.3).astype(float), Gaussian(0.6).gram(X)
    root = np.linalg.cholesky(K + 1e-10 * np.eye(len(K)))

    def F(v):
        eta = root @ v[1:] + v[0]
        p = 1 / (1 + np.exp(-eta))
        value = C * np.sum(S * (np.logaddexp(0, eta) - y * eta)) + v[1:] @ v[1:] / 2
        slope = C * S * (p - y)
        return value, np.concatenate([[slope.sum()], root.T @ slope + v[1:]])

    ours = KernelLogisticRegression(C=C, gamma=0.6).fit(X, y, sample_weight=S)
    other = minimize(F, np.zeros(len(K) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 20000, "maxfun": 40000})
    assert ours.verdict_.kind == "optimal"
    assert ours.objective_ * C * S.sum() <= other.fun * (1 + 1e-7)
    assert other.fun - ours.objective_ * C * S.sum() <= 1e-3 * other.fun
    assert ours.dual_coef_.sum() == pytest.approx(0.0, abs=1e-8 * np.abs(ours.dual_coef_).sum())


@pytest.mark.parametrize("classes", [2, 4])
def test_the_kernel_perceptron_counts_mistakes(classes):
    """Its scores are those of the plain perceptron on an explicit feature map, presented in the same order."""
    rows = RNG.integers(-3, 4, size=(40, 2)).astype(float)
    rows = np.unique(rows, axis=0)
    y = (rows[:, 0] * rows[:, 1] > 0).astype(int) + (classes > 2) * 2 * (rows[:, 0] > 0)
    model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0, shuffle=False, max_iter=2000).fit(rows, y)
    r2 = np.sqrt(2.0)
    a, b = rows.T
    phi = np.column_stack([np.ones(len(rows)), np.ones(len(rows)), r2 * a, r2 * b, a * a, b * b, r2 * a * b])
    labels, codes = np.unique(y, return_inverse=True)
    w, mistakes = np.zeros((len(labels), 7)), 0
    for _ in range(2000):
        before = mistakes
        for x, k in zip(phi, codes, strict=True):
            if len(labels) == 2:
                side = 2 * k - 1
                if side * (w[1] @ x) <= 0:
                    w[1] += side * x
                    mistakes += 1
                continue
            scores = w @ x
            scores[k] = -np.inf
            other = int(np.argmax(scores))
            if w[k] @ x <= scores[other]:
                w[k] += x
                w[other] -= x
                mistakes += 1
        if mistakes == before:
            break
    assert model.mistakes_ == mistakes
    expected = phi @ (w[1:].T if len(labels) == 2 else w.T)
    np.testing.assert_allclose(model.decision_function(rows).reshape(len(rows), -1), expected, rtol=1e-8, atol=1e-6)
    assert model.verdict_.kind == "separated"
    assert (model.predict(rows) == y).all()
    assert mistakes <= model.verdict_.evidence["bound"]


def test_the_kernel_perceptron_stops_where_rows_contradict_each_other():
    model = KernelPerceptron(max_iter=5).fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    assert model.verdict_.kind == "budget"
    assert model.verdict_.evidence["wrong_rows"] >= 1


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("targets", [1, 2])
def test_gaussian_processes(targets, normalize):
    y = Y if targets == 1 else np.column_stack([Y, Y**2])
    options = {"alpha": 1e-4, "normalize_y": normalize}
    kernel = 2.0 * kernels.RBF(1.3) + kernels.WhiteKernel(0.2)
    ours = GaussianProcessRegressor(kernel, **options).fit(X, y)
    theirs = sklearn.gaussian_process.GaussianProcessRegressor(kernel, **options).fit(X, y)
    assert ours.verdict_.kind == "stationary"
    assert "optimal" in ours.verdict_.sentence.lower()
    assert ours.log_marginal_likelihood_value_ == pytest.approx(theirs.log_marginal_likelihood_value_, rel=1e-6)
    fixed = GaussianProcessRegressor(theirs.kernel_, optimizer=None, **options).fit(X, y)
    assert fixed.verdict_.kind == "optimal"
    assert fixed.log_marginal_likelihood_value_ == pytest.approx(theirs.log_marginal_likelihood_value_, rel=1e-9)
    new = RNG.normal(size=(7, 4))
    for asked in ({}, {"return_std": True}, {"return_cov": True}):
        found, expected = fixed.predict(new, **asked), theirs.predict(new, **asked)
        for one, other in zip(*((x,) if not asked else x for x in (found, expected)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)
    value, gradient = fixed.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    their_value, their_gradient = theirs.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    assert value == pytest.approx(their_value, rel=1e-9)
    np.testing.assert_allclose(gradient, their_gradient, rtol=1e-6, atol=1e-6)


def test_a_gaussian_process_with_a_kernel_of_ours_and_noise_by_row():
    noise = RNG.uniform(0.05, 0.5, size=120)
    ours = GaussianProcessRegressor(Gaussian(0.4), alpha=noise).fit(X, Y)
    assert ours.verdict_.kind == "optimal"
    K = Gaussian(0.4).gram(X)
    np.testing.assert_allclose(ours.alpha_, np.linalg.solve(K + np.diag(noise), Y), rtol=1e-8, atol=1e-10)
    logdet = np.linalg.slogdet(K + np.diag(noise))[1]
    value = -0.5 * Y @ ours.alpha_ - 0.5 * logdet - 60 * np.log(2 * np.pi)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(value, rel=1e-10)
    mean, std = GaussianProcessRegressor(Gaussian(0.4)).predict(X[:3], return_std=True)
    np.testing.assert_allclose([mean, std], [np.zeros(3), np.ones(3)])
    assert ours.sample_y(X[:5], 4).shape == (5, 4)


def test_the_cosine_of_rows_is_a_kernel():
    data, y = X[:60], X[:60, 0] ** 2
    theirs = sklearn.kernel_ridge.KernelRidge(kernel="cosine").fit(data, y)
    np.testing.assert_allclose(KernelRidge(kernel="cosine").fit(data, y).predict(data), theirs.predict(data), rtol=1e-6)


def test_a_gaussian_process_of_texts_by_a_kernel_that_counts():
    kernel = kernels.ConstantKernel(2.0, "fixed") + kernels.WhiteKernel(0.5, "fixed")
    model = GaussianProcessRegressor(kernel).fit(["a", "b", "c"], [1.0, 2.0, 6.0])
    # the mean of exchangeable observations: 2 / (0.5 + 3 * 2) of their sum
    assert model.predict(["d"]) == pytest.approx([9.0 * 2.0 / 6.5])
    with pytest.raises(ValueError, match="could not convert"):
        GaussianProcessRegressor(kernels.RBF()).fit(["a", "b"], [1.0, 2.0])


def test_a_gap_that_rounding_hides_is_no_optimum_where_there_is_much_to_gain():
    """Scores of polynomials of 160 with coefficients of 1e7 are known to a few digits: a gap above F is not 'by 0 %'."""
    random = np.random.default_rng(2)
    for _ in range(12):
        X = np.round(random.normal(size=(37, 1)) * 60.0)
        weight = random.choice([0.5, 1.0, 2.0, 1e-3, 1e3], 37)
        model = SVC(C=41134.5, kernel="poly", gamma=0.46, coef0=1.0).fit(X, np.arange(37) % 2, weight)
        assert model.verdict_.kind != "optimal" or model.verdict_.gap <= 1e-5 * max(model.objective_, 1.0)


@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e-17])
def test_targets_of_any_size_are_fitted_to_a_proof(scale):
    """Of targets that are all zero the minimum is the zero function, with F = 0; nothing is there to gain."""
    y = scale * np.column_stack([X[:, 0], np.sin(X[:, 1])])
    for targets in (y[:, 0], y):
        model = KernelRidge(alpha=0.1, kernel="rbf").fit(X, targets)
        assert model.verdict_.kind == "optimal"
        assert model.verdict_.gap <= 1e-12 * scale**2
        gram = np.exp(-0.25 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
        expected = np.linalg.solve(gram + 0.1 * np.eye(len(X)), targets)
        np.testing.assert_allclose(model.dual_coef_, expected, rtol=1e-9, atol=1e-12 * scale)
