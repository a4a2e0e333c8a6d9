"""Kernels of losses that bend in some rows only, against numpy: passes, moments, paths to corners; and outliers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import optimize

from lineal import _core
from lineal.certify.domain import metric
from lineal.designs import as_design
from lineal.estimators import HuberRegressor
from lineal.losses import Absolute, Quantile
from lineal.penalties import NoPenalty
from lineal.problem.problem import Problem
from lineal.solvers import interior_point
from lineal.sources.memory import Memory

Array = npt.NDArray[np.float64]


@pytest.mark.parametrize("given", [None, "weights"])
def test_outliers_are_those_of_the_predictions(given: str | None) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_t(2, size=500)
    weight = None if given is None else (rng.random(500) < 0.8).astype(float)
    model = HuberRegressor(epsilon=1.5, scale=0.8, alpha=0.0).fit(X, y, sample_weight=weight)
    assert model.verdict_.kind == "optimal"
    np.testing.assert_array_equal(model.outliers_, np.abs(y - model.predict(X)) > 1.5 * 0.8)


def test_rooms_of_ramps_are_those_of_the_domain() -> None:
    rng = np.random.default_rng(0)
    y, eta, theta = rng.normal(size=(3, 200, 1))
    theta = np.clip(theta, -0.3, 0.7)
    problem = Problem.of(Memory(as_design(eta, intercept=False), y), Quantile(0.3), NoPenalty(1))
    low, high = problem.loss.box(y) or (y, y)
    room = np.zeros_like(theta)
    _core.ramp_sums(eta, y, low, high, np.ones(200), theta, room)
    np.testing.assert_allclose(room, metric(problem.loss, y, theta), rtol=1e-15)


@pytest.mark.parametrize(("loss", "q"), [(Absolute(), 0.5), (Quantile(0.2), 0.2)])
def test_the_path_ends_where_the_linear_program_does(loss: Absolute, q: float) -> None:
    """Quantile loss is the linear program q.u + (1 - q).v, X b + u - v = y; the absolute loss is twice that of q = 1/2."""
    rng = np.random.default_rng(4)
    X = np.column_stack([np.ones(120), rng.normal(size=(120, 5))])
    y = X @ rng.normal(size=6) + rng.standard_t(2, size=120)
    problem = Problem.of(Memory(as_design(X[:, 1:], intercept=True), y), loss, NoPenalty(6))
    coef, _, gap = interior_point._solve(problem, np.zeros((6, 1)), np.zeros((6, 1)), 1e-9)
    unit = 2.0 if isinstance(loss, Absolute) else 1.0
    cost = np.r_[np.zeros(6), np.full(120, unit * q), np.full(120, unit * (1.0 - q))] / 120
    bounds = [(None, None)] * 6 + [(0.0, None)] * 240
    best = optimize.linprog(cost, A_eq=np.hstack([X, np.eye(120), -np.eye(120)]), b_eq=y, bounds=bounds)
    np.testing.assert_allclose(problem.evaluate(coef).value, best.fun, rtol=1e-7)
    np.testing.assert_allclose(coef[:, 0], best.x[:6], atol=1e-5)
    assert gap <= 1e-8


@pytest.mark.parametrize("single", [False, True])
def test_moments_and_gradients_of_rows_that_are_read_in_place(single: bool) -> None:
    """Constant columns have no scatter at all, far ones keep their digits, and the first row may be anything."""
    rng = np.random.default_rng(6)
    for p in (1, 7, 8, 20, 33, 70):
        X = rng.normal(size=(1000, p))
        X[:, 0] = 0.1
        X[0, -1] = 1e6
        X = X.astype(np.float32) if single else X
        rows = _core.Rows([_core.Ones(1000), _core.Dense(X)])
        _, mean, scatter, largest = rows.moments(None)
        wide = X.astype(np.longdouble)
        # all is measured from the first row: a few roundings of the largest entry
        assert np.all(np.abs(mean[1:] - wide.mean(axis=0).astype(float)) <= 8 * 2.2e-16 * largest[1:])
        # around the first row squares are at most 2 * 128 times the scatter, and 128 are added in a chain: below 1e-11
        np.testing.assert_allclose(scatter[1:], ((wide - wide.mean(axis=0)) ** 2).sum(axis=0).astype(float), rtol=1e-11)
        np.testing.assert_array_equal(largest[1:], np.abs(X).max(axis=0))
        assert (mean[0], scatter[0], largest[0]) == (1.0, 0.0, 1.0)
        assert scatter[1] == 0.0 or p == 1
        y, coef = rng.normal(size=(1000, 1)), rng.normal(size=(p + 1, 1))
        *_, gradient, _ = rows.evaluate(3, y, None, None, coef, 0, 1, 1.5)
        slope = np.clip(coef[0] + X.astype(float) @ coef[1:] - y, -1.5, 1.5)
        np.testing.assert_allclose(gradient[1:], X.astype(float).T @ slope, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(gradient[0], slope.sum(), rtol=1e-9, atol=1e-9)


def test_the_intercept_alone_needs_no_panel() -> None:
    y, weight = np.random.default_rng(7).normal(size=(777, 1)), np.random.default_rng(8).random(777)
    rows = _core.Rows([_core.Ones(777)])
    high, low, total, slopes, gradient, second = rows.evaluate(3, y, weight, None, np.full((1, 1), 0.3), 1, 1, 0.8)
    r = 0.3 - y[:, 0]
    slope = np.clip(r, -0.8, 0.8)
    np.testing.assert_allclose(total, weight.sum(), rtol=1e-13)
    np.testing.assert_allclose(high + low, weight @ (slope * (r - 0.5 * slope)), rtol=1e-13)
    np.testing.assert_allclose(slopes, weight @ np.abs(slope), rtol=1e-13)
    np.testing.assert_allclose(gradient[0, 0], weight @ slope, rtol=1e-11)
    assert second is not None
    np.testing.assert_allclose(second[0, 0, 0], weight @ (np.abs(r) < 0.8), rtol=1e-13)
