"""The optima that the benchmark compares with, against scipy and textbooks."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.objective import Objective, largest, optimum, path


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_the_reference_optimum_agrees_with_scipy(loss: str) -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = {
        "squared": rng.normal(size=80),
        "logistic": rng.integers(0, 2, 80).astype(float),
        "softmax": rng.integers(0, 3, 80),
    }[loss]
    penalty_factors = np.array([1.0, 0.5, 2.0]) if loss == "logistic" else None
    objective = Objective(loss, X, y, 0.1, penalty_factors)
    k = objective.outputs
    found = minimize(
        lambda b: objective.value(b[:-k].reshape(3, k), b[-k:]), np.zeros(4 * k), method="BFGS", options={"gtol": 1e-9}
    ).fun
    assert optimum(objective, 1e-8, "baseline") == pytest.approx(found, rel=1e-9)
    grid = [objective.value(np.zeros((3, k)), np.full(k, c) * np.arange(1, k + 1)) for c in np.linspace(-1, 1, 41)]
    assert objective.baseline() <= min(grid) + 1e-12


def test_the_reference_for_dependent_columns_is_the_projection() -> None:
    t = np.linspace(0.0, 1.0, 50)
    X = np.stack([t, t**2, t**3], axis=1)
    y = np.sin(5.0 * t)
    A = np.column_stack([np.ones(50), X])
    residual = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    assert optimum(Objective("squared", X, y, 0.0), 1e-2, "optimum") == pytest.approx(
        0.5 * np.mean(residual**2), rel=1e-9
    )


@pytest.mark.parametrize("loss", ["hinge", "absolute"])
def test_the_reference_of_a_loss_with_corners_agrees_with_a_linear_program(loss: str) -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(1)
    n = 60
    X = rng.normal(size=(n, 3))
    y = rng.normal(size=n) if loss == "absolute" else (X[:, 0] + rng.normal(size=n) > 0.0).astype(float)
    A = np.column_stack([X, np.ones(n)])
    if loss == "absolute":
        cost, sides = 0.5, [np.hstack([A, -np.eye(n)]), np.hstack([-A, -np.eye(n)])]
        right = np.concatenate([y, -y])
    else:
        sign = (2.0 * y - 1.0)[:, None]
        cost, sides, right = 1.0, [np.hstack([-sign * A, -np.eye(n)])], -np.ones(n)
    bounds = [(None, None)] * 4 + [(0.0, None)] * n
    prices = np.concatenate([np.zeros(4), np.full(n, cost / n)])
    exact = linprog(prices, np.vstack(sides), right, bounds=bounds).fun
    assert optimum(Objective(loss, X, y, 0.0), 1e-7, "baseline") == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("loss", ["squared-hinge", "huber", "huber-scale", "hinge"])
def test_the_reference_with_a_ridge_agrees_with_scipy(loss: str) -> None:
    from scipy import sparse
    from scipy.optimize import minimize

    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.standard_t(2.0, 80)
    y = (y > 0.0).astype(float) if loss.endswith("hinge") else y
    objective = Objective(loss, X, y, 0.1, threshold=1.35)
    extra = [1.0] if loss == "huber-scale" else []
    start, found = np.array([0.0] * 4 + extra), np.inf
    for _ in range(6):
        done = minimize(
            lambda b: objective.value(b[:3], b[3:]),
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 10_000, "maxfev": 20_000},
        )
        start, found = done.x, done.fun
    assert optimum(objective, 1e-6, "baseline") == pytest.approx(found, rel=1e-6)
    if loss.endswith("hinge"):
        thin = Objective(loss, sparse.csr_matrix(X), y, 0.1)
        assert optimum(thin, 1e-6, "baseline") == pytest.approx(found, rel=1e-6)
        grid = [objective.value(np.zeros(3), np.array([c])) for c in np.linspace(-2.0, 2.0, 401)]
        assert objective.baseline() <= min(grid) + 1e-12


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("thin", [False, True])
def test_the_reference_of_l1_meets_the_conditions_of_optimality(loss: str, thin: bool) -> None:
    from benchmarks import reference
    from scipy import sparse

    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 90)) * (rng.random((60, 90)) < 0.5)
    y = X[:, :4].sum(axis=1) + rng.normal(size=60)
    y = (y > 0.0).astype(float) if loss == "logistic" else y - y.mean()
    ones = loss == "logistic"
    given = sparse.csc_matrix(X) if thin else X
    top = largest(Objective(loss, given, y, 0.0, penalty="l1", ones=ones))
    b = np.zeros(90 + ones)
    for strength in (1.001 * top, 0.4 * top, 0.1 * top):
        b = reference.sparse(loss, given, y, strength, ones=ones, start=b)
        coef, shift = b[:90], b[90] if ones else 0.0
        eta = X @ coef + shift
        slope = (1.0 / (1.0 + np.exp(-eta)) if ones else eta) - y
        gradient = X.T @ slope / 60
        assert np.abs(gradient).max() <= strength * (1.0 + 1e-7)
        assert gradient[coef != 0.0] == pytest.approx(-strength * np.sign(coef[coef != 0.0]), rel=1e-6)
        assert not ones or abs(slope.mean()) < 1e-9
        assert np.any(coef) == (strength < top)
        objective = Objective(loss, given, y, strength, penalty="l1", ones=ones)
        assert path(objective, [strength]) == pytest.approx([objective.value(coef, np.atleast_1d(shift))])
