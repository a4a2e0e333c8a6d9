"""The checker's own proof about kernel machines, against optima and kernels that others computed."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
import scipy.optimize
import sklearn.linear_model
import sklearn.svm
from sklearn.metrics import pairwise

from lineal.errors import ModelFileError
from lineal.verify.losses import BY_NAME
from lineal.verify.maps import kernels
from lineal.verify.maps.kernel import null_objective
from lineal.verify.maps.span import Span, _rise, bound

RNG = np.random.default_rng(11)
X, Z = RNG.normal(size=(7, 4)), RNG.normal(size=(5, 4))
RBF = {"kernel": "rbf", "gamma": 0.3}
LINEAR = {"kernel": "linear"}
POLY = {"kernel": "poly", "degree": 3, "coef0": 0.5, "gamma": 0.7}
LAPLACE = {"kernel": "laplacian", "gamma": 0.2}


def made(kernel, x, z):
    """Return a kernel as scikit-learn computes it."""
    name = kernel["kernel"]
    if name in ("sum", "product"):
        parts = [made(part, x, z) for part in kernel["parts"]]
        return sum(parts) if name == "sum" else np.prod(parts, axis=0)
    if name == "normalized":
        one, other = (np.sqrt(np.diag(made(kernel["base"], each, each))) for each in (x, z))
        return made(kernel["base"], x, z) / np.outer(one, other)
    numbers = {key: value for key, value in kernel.items() if key != "kernel"}
    return pairwise.pairwise_kernels(x, z, metric=name, **numbers)


@pytest.mark.parametrize(
    "kernel",
    [
        RBF, LINEAR, POLY, LAPLACE,
        {"kernel": "sum", "parts": [LINEAR, RBF]},
        {"kernel": "product", "parts": [POLY, LAPLACE, RBF]},
        {"kernel": "normalized", "base": POLY},
    ],
    ids=lambda kernel: kernel["kernel"],
)  # fmt: skip
def test_entries_are_those_of_scikit_learn(kernel):
    ours = kernels.take(kernel)
    np.testing.assert_allclose(ours.between(X, Z)[0], made(kernel, X, Z), rtol=1e-12)
    np.testing.assert_allclose(ours.own(X)[0], np.diag(made(kernel, X, X)), rtol=1e-12)


@pytest.mark.parametrize("kernel", [RBF, LINEAR, POLY, LAPLACE], ids=lambda kernel: kernel["kernel"])
@pytest.mark.parametrize("size", [1.0, 1e-3, 30.0])
def test_entries_are_off_by_no_more_than_is_said(kernel, size):
    value, error = kernels.take(kernel).between(size * X, size * Z)
    for i in range(len(X)):
        for j in range(len(Z)):
            exact = decimal_entry(kernel, size * X[i], size * Z[j])
            assert abs(Decimal(float(value[i, j])) - exact) <= Decimal(float(error[i, j]))


def test_a_normalized_kernel_is_off_by_no_more_than_is_said():
    value, error = kernels.take({"kernel": "normalized", "base": POLY}).between(X, Z)
    with localcontext() as context:
        context.prec = 60
        for i in range(len(X)):
            for j in range(len(Z)):
                cross, one, other = (decimal_entry(POLY, *pair) for pair in ((X[i], Z[j]), (X[i], X[i]), (Z[j], Z[j])))
                exact = cross / (one * other).sqrt()
                assert abs(Decimal(float(value[i, j])) - exact) <= Decimal(float(error[i, j]))


def decimal_entry(kernel, x, z):
    """Return an entry with sixty digits."""
    with localcontext() as context:
        context.prec = 60
        x, z = ([Decimal(float(each)) for each in row] for row in (x, z))
        numbers = {key: Decimal(value) for key, value in kernel.items() if key not in ("kernel", "degree")}
        if kernel["kernel"] in ("rbf", "laplacian"):
            apart = [abs(a - b) for a, b in zip(x, z, strict=True)]
            return (-numbers["gamma"] * sum(each**2 if kernel["kernel"] == "rbf" else each for each in apart)).exp()
        product = sum((a * b for a, b in zip(x, z, strict=True)), Decimal(0))
        if kernel["kernel"] == "linear":
            return product
        return (numbers["gamma"] * product + numbers["coef0"]) ** kernel["degree"]


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {"kernel": "magic"},
        {"kernel": "sigmoid", "gamma": 1.0, "coef0": 0.0},
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": -1.0},
        {"kernel": "rbf", "gamma": True},
        {"kernel": "rbf", "gamma": float("nan")},
        POLY | {"degree": 2.5},
        POLY | {"degree": 1000},
        {"kernel": "sum", "parts": [LINEAR]},
        {"kernel": "normalized", "base": POLY | {"coef0": -1.0}},
    ],
)
def test_what_is_no_kernel_is_refused(wrong):
    with pytest.raises(ModelFileError):
        kernels.take(wrong)


def deep(layers):
    return {"kernel": "normalized", "base": deep(layers - 1)} if layers else RBF


def test_kernels_of_kernels_end_somewhere():
    with pytest.raises(ModelFileError, match="can read"):
        kernels.take(deep(30))


N = 30
ROWS = RNG.normal(size=(N, 3))
SIGNAL = ROWS[:, 0] ** 2 - ROWS[:, 1] + 0.3 * RNG.normal(size=N)
WEIGHT = RNG.uniform(0.3, 2.0, N)
STRENGTH = 0.02


def root(kernel):
    """Return L with L L' the Gram matrix: rows whose inner products are its entries."""
    values, vectors = np.linalg.eigh(made(kernel, ROWS, ROWS))
    return vectors * np.sqrt(np.maximum(values, 0.0))


def optimum(name, kernel):
    """Return the least F, as scikit-learn finds it."""
    c = WEIGHT / (STRENGTH * WEIGHT.sum())
    y = target(name)[:, 0]
    if name == "hinge":
        found = sklearn.svm.SVC(kernel="precomputed", tol=1e-12).fit(made(kernel, ROWS, ROWS), y, sample_weight=c)
        eta, norm = found.decision_function(made(kernel, ROWS, ROWS)), dual_norm(found, kernel)
    elif name == "epsilon-insensitive":
        found = sklearn.svm.SVR(kernel="precomputed", tol=1e-12, epsilon=0.1).fit(made(kernel, ROWS, ROWS), y, c)
        eta, norm = found.predict(made(kernel, ROWS, ROWS)), dual_norm(found, kernel)
    elif name == "squared":
        found = sklearn.linear_model.Ridge(alpha=1.0, solver="cholesky").fit(root(kernel), y, sample_weight=c)
        eta, norm = found.predict(root(kernel)), float(np.sum(found.coef_**2))
    else:
        found = sklearn.linear_model.LogisticRegression(C=1.0, tol=1e-14, max_iter=10_000).fit(
            root(kernel), codes(name), sample_weight=c
        )
        eta, norm = found.decision_function(root(kernel)), float(np.sum(found.coef_**2))
    losses = BY_NAME[name](target(name), eta.reshape(N, -1), 0.1 if name.startswith("eps") else 0.0)
    return float(WEIGHT @ losses.value / WEIGHT.sum() + 0.5 * STRENGTH * norm)


def dual_norm(found, kernel):
    a = np.zeros(N)
    a[found.support_] = found.dual_coef_[0]
    return float(a @ made(kernel, ROWS, ROWS) @ a)


def codes(name):
    return np.digitize(SIGNAL, [0.0, 1.0] if name == "softmax" else [0.3])


def target(name):
    if name == "softmax":
        return np.eye(3)[codes(name)]
    return codes(name)[:, None].astype(float) if name in ("hinge", "logistic") else SIGNAL[:, None]


@pytest.mark.parametrize("name", ["squared", "logistic", "softmax", "hinge", "epsilon-insensitive"])
@pytest.mark.parametrize("kernel", [RBF, POLY, LINEAR], ids=lambda kernel: kernel["kernel"])
def test_the_gap_is_above_the_true_one_for_any_coefficients(name, kernel):
    y, loss = target(name), BY_NAME[name]
    span = Span(kernels.take(kernel), ROWS, y, WEIGHT, loss, 0.1 if name.startswith("eps") else 0.0, STRENGTH, True)
    best, every = optimum(name, kernel), np.arange(N)
    for scale in (0.0, 1e-3, 0.1, 1.0, 30.0):
        for _ in range(4):
            coef = scale * RNG.normal(size=(N, y.shape[1]))
            constant = scale * RNG.normal(size=y.shape[1])
            found = bound(span, every, coef, constant)
            eta = made(kernel, ROWS, ROWS) @ coef + constant
            direct = WEIGHT @ loss(y, eta, span.parameter).value / WEIGHT.sum()
            direct += 0.5 * STRENGTH * float(np.sum(coef * (made(kernel, ROWS, ROWS) @ coef)))
            assert found.objective == pytest.approx(direct, rel=1e-10)
            assert found.gap >= found.objective - best - 1e-7 * best
    assert null_objective(span) == pytest.approx(least_constant(loss, y, span.parameter), rel=1e-9)


def least_constant(loss, y, parameter):
    """Return the least mean loss of a constant: at a corner, or as scipy finds it; of classes their entropy."""
    if y.shape[1] > 1:
        shares = WEIGHT @ y / WEIGHT.sum()
        return float(-np.sum(shares * np.log(shares)))

    def mean(at):
        return float(WEIGHT @ loss(y, np.full_like(y, at), parameter).value) / WEIGHT.sum()

    if loss.cornered:
        corners = [-1.0, 1.0] if loss.name == "hinge" else [*(y[:, 0] - parameter), *(y[:, 0] + parameter)]
        return min(mean(at) for at in corners)
    return float(scipy.optimize.minimize_scalar(mean, bounds=(-10.0, 10.0), options={"xatol": 1e-10}).fun)


def test_a_row_that_is_sure_of_its_class_has_a_finite_rise():
    """Its theta is next to nothing: ``1 - q`` of ``q = theta + 1`` rounds to zero, whose logarithm is none."""
    row = BY_NAME["logistic"](np.array([[1.0]]), np.array([[46.0]]), 0.0)
    rise = _rise(row, np.array([-1e-20]), np.array([1e-22]), 0.0)
    log_odds = np.log(1e20)  # of q; the slope there is log(q / (1 - q)) - 46
    assert 1e-22 * abs(log_odds - 46.0) <= rise <= 1e-20
