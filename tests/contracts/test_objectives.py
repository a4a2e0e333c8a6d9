"""One objective: what an estimator documents, what ``objective_`` says, what is printed and what is certified."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import lineal
from lineal import estimators
from lineal.cli import run

N = 60
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, 3)) * [1.0, 0.5, 2.0] + [0.0, 1.0, -1.0]
SCORE = X @ [1.0, -0.5, 0.3] + RNG.normal(size=N)
BOTH = np.column_stack([SCORE, SCORE**2])
TWO, THREE = (SCORE > 0.3).astype(int), np.digitize(SCORE, [-0.8, 0.8])
COUNTS = RNG.poisson(np.exp(0.3 * SCORE))
WEIGHT = RNG.choice([0.5, 1.0, 2.0], size=N)
C, ALPHA = 0.7, 0.3


def scores(model):
    return X @ np.atleast_2d(model.coef_).T + model.intercept_


def square(model):
    return float(np.sum(np.asarray(model.coef_) ** 2))


def absolute(model):
    return float(np.sum(np.abs(model.coef_)))


def norms(model):
    return float(np.sum(np.linalg.norm(model.coef_, axis=0)))


def residual(model):
    return SCORE - scores(model)[:, 0]


def log_loss(model, y=TWO):
    eta = scores(model)
    if eta.shape[1] == 1:
        return np.logaddexp(0.0, eta[:, 0]) - y * eta[:, 0]
    return np.logaddexp.reduce(eta, axis=1) - eta[np.arange(N), y]


def margin(model, y=TWO):
    return (2 * y - 1) * scores(model)[:, 0]


def pinball(model, q):
    r = residual(model)
    return np.maximum(q * r, (q - 1.0) * r)


def simplex(eta):
    """The nearest point of the simplex to every row, by bisection."""
    low, high = eta.max(axis=1) - 1.0, eta.max(axis=1)
    for _ in range(200):
        middle = (low + high) / 2
        over = np.maximum(eta - middle[:, None], 0.0).sum(axis=1) > 1.0
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return np.maximum(eta - low[:, None], 0.0)


def sparsemax(model, y):
    eta = scores(model)
    eta = np.hstack([-eta / 2, eta / 2]) if eta.shape[1] == 1 else eta
    p = simplex(eta)
    return np.sum(p * eta, axis=1) - 0.5 * np.sum(p * p, axis=1) + 0.5 - eta[np.arange(N), y]


def crammer(model):
    eta = scores(model)
    other = eta + (np.arange(3) != THREE[:, None])
    return other.max(axis=1) - eta[np.arange(N), THREE]


def huber(model, sigma, epsilon):
    z = np.abs(residual(model) / sigma)
    return np.where(z <= epsilon, z**2, 2.0 * epsilon * z - epsilon**2)


def mean(values):
    return float(WEIGHT @ values / WEIGHT.sum())


S = float(WEIGHT.sum())

# What each docstring says is minimised, over the factor that makes its loss a mean (docs/estimators.md).
CASES = {
    "LinearRegression": (estimators.LinearRegression(), SCORE, lambda m: mean(residual(m) ** 2) / 2),
    "Ridge": (estimators.Ridge(ALPHA), SCORE, lambda m: (S * mean(residual(m) ** 2) + ALPHA * square(m)) / (2 * S)),
    "RidgeCV": (estimators.RidgeCV(), SCORE, lambda m: (S * mean(residual(m) ** 2) + m.alpha_ * square(m)) / (2 * S)),
    "RidgeClassifier": (
        estimators.RidgeClassifier(ALPHA), TWO,
        lambda m: (S * mean((2.0 * TWO - 1.0 - scores(m)[:, 0]) ** 2) + ALPHA * square(m)) / (2 * S),
    ),
    "RidgeClassifierCV": (
        estimators.RidgeClassifierCV(), TWO,
        lambda m: (S * mean((2.0 * TWO - 1.0 - scores(m)[:, 0]) ** 2) + m.alpha_ * square(m)) / (2 * S),
    ),
    "Lasso": (estimators.Lasso(0.1), SCORE, lambda m: mean(residual(m) ** 2) / 2 + 0.1 * absolute(m)),
    "LassoCV": (estimators.LassoCV(), SCORE, lambda m: mean(residual(m) ** 2) / 2 + m.alpha_ * absolute(m)),
    "MultiTaskLasso": (
        estimators.MultiTaskLasso(0.1), BOTH,
        lambda m: mean(np.sum((BOTH - scores(m)) ** 2, axis=1)) / 2 + 0.1 * norms(m),
    ),
    "MultiTaskLassoCV": (
        estimators.MultiTaskLassoCV(alphas=4, cv=3), BOTH,
        lambda m: mean(np.sum((BOTH - scores(m)) ** 2, axis=1)) / 2 + m.alpha_ * norms(m),
    ),
    "ElasticNet": (
        estimators.ElasticNet(0.1, l1_ratio=0.4), SCORE,
        lambda m: mean(residual(m) ** 2) / 2 + 0.1 * (0.4 * absolute(m) + 0.3 * square(m)),
    ),
    "ElasticNetCV": (
        estimators.ElasticNetCV(l1_ratio=0.4), SCORE,
        lambda m: mean(residual(m) ** 2) / 2 + m.alpha_ * (0.4 * absolute(m) + 0.3 * square(m)),
    ),
    "LogisticRegression": (
        estimators.LogisticRegression(C=C), TWO, lambda m: mean(log_loss(m)) + square(m) / (2 * C * S),
    ),
    "LogisticRegression 3": (
        estimators.LogisticRegression(C=C), THREE, lambda m: mean(log_loss(m, THREE)) + square(m) / (2 * C * S),
    ),
    "LogisticRegression l1": (
        estimators.LogisticRegression(C=C, l1_ratio=1.0), TWO, lambda m: mean(log_loss(m)) + absolute(m) / (C * S),
    ),
    "LogisticRegressionCV": (
        estimators.LogisticRegressionCV(), TWO, lambda m: mean(log_loss(m)) + square(m) / (2 * m.C_ * S),
    ),
    "PoissonRegressor": (
        estimators.PoissonRegressor(alpha=ALPHA), COUNTS,
        lambda m: mean(np.exp(scores(m)[:, 0]) - COUNTS * scores(m)[:, 0]) + ALPHA / 2 * square(m),
    ),
    "HuberRegressor": (
        estimators.HuberRegressor(alpha=ALPHA), SCORE,
        lambda m: (S * mean(m.scale_ * (1.0 + huber(m, m.scale_, 1.35))) + ALPHA * square(m)) / (2 * S),
    ),
    "HuberRegressor scale": (
        estimators.HuberRegressor(alpha=ALPHA, scale=0.8), SCORE,
        lambda m: mean(0.8**2 * huber(m, 0.8, 1.35)) / 2 + ALPHA * 0.8 / (2 * S) * square(m),
    ),
    "QuantileRegressor": (
        estimators.QuantileRegressor(quantile=0.3, alpha=0.05), SCORE, lambda m: mean(pinball(m, 0.3)) + 0.05 * absolute(m),
    ),
    "LinearSVC": (
        estimators.LinearSVC(C=C), TWO, lambda m: mean(np.maximum(1.0 - margin(m), 0.0) ** 2) / 2 + square(m) / (4 * C * S),
    ),
    "LinearSVC hinge": (
        estimators.LinearSVC(C=C, loss="hinge"), TWO,
        lambda m: mean(np.maximum(1.0 - margin(m), 0.0)) + square(m) / (2 * C * S),
    ),
    "LinearSVC 3": (
        estimators.LinearSVC(C=C, loss="hinge", multi_class="crammer_singer"), THREE,
        lambda m: mean(crammer(m)) + square(m) / (2 * C * S),
    ),
    "LinearSVR": (
        estimators.LinearSVR(C=C, epsilon=0.2), SCORE,
        lambda m: mean(np.maximum(np.abs(residual(m)) - 0.2, 0.0)) + square(m) / (2 * C * S),
    ),
    "LinearSVR squared": (
        estimators.LinearSVR(C=C, epsilon=0.2, loss="squared_epsilon_insensitive"), SCORE,
        lambda m: mean(np.maximum(np.abs(residual(m)) - 0.2, 0.0) ** 2) / 2 + square(m) / (4 * C * S),
    ),
    "SparsemaxClassifier": (
        estimators.SparsemaxClassifier(C=C), THREE, lambda m: mean(sparsemax(m, THREE)) + square(m) / (2 * C * S),
    ),
    # two classes: coef_ is the difference of two scores of opposite sign, each half of it
    "SparsemaxClassifier 2": (
        estimators.SparsemaxClassifier(C=C), TWO, lambda m: mean(sparsemax(m, TWO)) + square(m) / (4 * C * S),
    ),
    "SGDClassifier": (
        estimators.SGDClassifier(loss="log_loss", alpha=0.01), TWO, lambda m: mean(log_loss(m)) + 0.01 / 2 * square(m),
    ),
    "SGDRegressor": (
        estimators.SGDRegressor(alpha=0.01), SCORE, lambda m: mean(residual(m) ** 2) / 2 + 0.01 / 2 * square(m),
    ),
}  # fmt: skip


def printed(capsys, path):
    """Return the value of F on the page of ``lineal show``."""
    assert run(["show", str(path)]) == 0
    return float(re.search(r"F\s+=\s+([-\d.e+]+)", capsys.readouterr().out)[1])


NOTHING = {
    "BayesianRidge", "GaussianProcessRegressor",
    "KernelPerceptron", "Perceptron",
    "KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors",
    "BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB",
    "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis",
    "Nystroem", "RBFSampler",
    "TableClassifier", "TableRegressor",
}  # fmt: skip
"""Those that minimize no F: an evidence is maximized, mistakes are corrected, neighbors looked up, counts and moments taken."""
IN_A_SPAN = {"KernelLogisticRegression", "KernelRidge", "SVC", "SVR"}
"""Those whose F is about a'Ka: tests/agreement/test_kernel_machines.py and tests/laws/test_span.py hold it."""


def test_every_estimator_is_here():
    assert {case.split()[0] for case in CASES} | NOTHING | IN_A_SPAN == set(estimators.__all__)


@pytest.mark.parametrize("case", CASES)
def test_documented_stated_printed_and_certified_are_one_function(case, tmp_path, capsys):
    model, y, formula = CASES[case]
    model.fit(X, y, sample_weight=WEIGHT)
    wanted = pytest.approx(formula(model), rel=1e-12)
    assert model.objective_ == wanted
    assert model.verdict_.evidence["objective"] == wanted
    if case == "HuberRegressor":
        # model_ is the fit with the scale as given: G = F / sigma + sigma / 2
        wanted = pytest.approx(model.scale_ * formula(model) - model.scale_**2 / 2, rel=1e-12)
    model.model_.save(tmp_path / "m.lineal")
    assert model.model_.verdict.evidence["objective"] == wanted
    assert printed(capsys, tmp_path / "m.lineal") == pytest.approx(wanted.expected, rel=1e-5)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_one_against_the_rest_adds_its_members_up(loss):
    model = estimators.LinearSVC(C=C, loss=loss).fit(X, THREE, sample_weight=WEIGHT)
    factor, power = (2.0, 2) if loss == "squared_hinge" else (1.0, 1)
    members = []
    for k, verdict in enumerate(model.verdicts_):
        z = (2.0 * (k == THREE) - 1.0) * scores(model)[:, k]
        value = mean(np.maximum(1.0 - z, 0.0) ** power) / factor + np.sum(model.coef_[k] ** 2) / (2 * factor * C * S)
        assert verdict.evidence["objective"] == pytest.approx(value, rel=1e-12)
        members.append(value)
    assert model.objective_ == pytest.approx(sum(members), rel=1e-12)


MODELS = ["linear", "ridge", "logistic", "huber:0.7", "quantile:0.3", "poisson", "svm", "squared-hinge", "sparsemax"]


def row_losses(model, eta, y):
    """The losses of `docs/model-file.md`, anew."""
    name, e = model.loss.name, eta[:, 0]
    side = 2 * (y > 0.5) - 1.0
    if name == "squared":
        return (y - e) ** 2 / 2
    if name == "logistic":
        return np.logaddexp(0.0, e) - y * e
    if name == "softmax":
        return np.logaddexp.reduce(eta, axis=1) - eta[np.arange(N), y]
    if name == "poisson":
        return np.exp(e) - y * e
    if name == "huber":
        return np.where(np.abs(y - e) <= 0.7, (y - e) ** 2 / 2, 0.7 * np.abs(y - e) - 0.245)
    if name == "quantile":
        return np.maximum(0.3 * (y - e), -0.7 * (y - e))
    if name == "hinge":
        return np.maximum(1.0 - side * e, 0.0)
    if name == "squared-hinge":
        return np.maximum(1.0 - side * e, 0.0) ** 2 / 2
    if name == "crammer-singer":
        return (eta + (np.arange(3) != y[:, None])).max(axis=1) - eta[np.arange(N), y]
    assert name == "sparsemax"
    p = simplex(eta)
    return np.sum(p * eta, axis=1) - 0.5 * np.sum(p * p, axis=1) + 0.5 - eta[np.arange(N), y]


FITS = [
    (model, penalty, several)
    for model in MODELS
    for penalty in ("none", "ridge:0.1", "l1:0.05", "elastic:0.05,0.4")
    for several in (False, True)
    if (not several or model in {"logistic", "svm", "sparsemax"}) and (model != "ridge" or penalty == "ridge:0.1")
]


@pytest.mark.parametrize(("model", "penalty", "several"), FITS)
def test_printed_and_certified_are_the_formula_for_every_model(model, penalty, several, tmp_path, capsys):
    classes = model in {"logistic", "svm", "squared-hinge", "sparsemax"}
    y = (THREE if several else TWO) if classes else COUNTS if model == "poisson" else SCORE
    table = {
        "a": X[:, 0],
        "b": X[:, 1],
        "c": X[:, 2],
        "w": WEIGHT,
        "y": np.array([f"k{v}" for v in y]) if classes else y,
    }
    lines = [",".join(table), *(",".join(str(v) for v in row) for row in zip(*table.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    given = ["fit", str(tmp_path / "t.csv"), "--target", "y", "--weight", "w", "--model", model, "--penalty", penalty]
    assert run([*given, "--test-size", "0", "--json", "--accept", "-o", str(tmp_path / "m.lineal")]) == 0
    told = json.loads(capsys.readouterr().out)
    found = lineal.load(tmp_path / "m.lineal")
    assert found.verdict.kind == "optimal"
    eta = np.column_stack([np.ones(N), X]) @ found.coef
    average = WEIGHT @ X / S
    sd = np.sqrt(WEIGHT @ (X - average) ** 2 / S)[:, None]
    scaled = sd * found.coef[1:]
    kind, _, numbers = penalty.partition(":")
    strength, ratio = ([float(v) for v in numbers.split(",")] + [0.0])[:2] if numbers else (0.0, 0.0)
    ratio = {"l1": 1.0}.get(kind, ratio)
    penalty_factor = strength * (ratio * np.sum(np.abs(scaled)) + (1.0 - ratio) / 2 * np.sum(scaled**2))
    wanted = pytest.approx(mean(row_losses(found, eta, y)) + penalty_factor, rel=1e-11)
    assert found.verdict.evidence["objective"] == wanted
    assert told["model"]["objective_value"] == wanted
    assert printed(capsys, tmp_path / "m.lineal") == pytest.approx(wanted.expected, rel=1e-5)
