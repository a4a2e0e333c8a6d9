"""Rows that change side: second derivatives brought up to date, and proofs without a pass of their own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal import _core
from lineal.certify import prove
from lineal.certify.domain import metric
from lineal.certify.huber_bound import gap_of_sides
from lineal.designs import as_design
from lineal.estimators import HuberRegressor
from lineal.fitting import fitting
from lineal.losses import Absolute, Hinge, Huber, Quantile
from lineal.penalties import NoPenalty, Ridge
from lineal.problem import huber_active_set as sides
from lineal.problem.problem import Problem
from lineal.solvers import interior_point
from lineal.sources.memory import Memory

Array = npt.NDArray[np.float64]


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep track of sides on short tables too, whatever share of the rows changes."""
    monkeypatch.setattr(sides, "LARGE", 0)
    monkeypatch.setattr(sides, "FEW", 2)


def problem_of(seed: int, *, strength: float = 0.0, weighted: bool = False, single: bool = False) -> Problem:
    """Return Huber's loss on 300 rows, 4 columns and an intercept."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4)) * [1.0, 10.0, 0.1, 1.0]
    y = X @ [1.0, -0.2, 3.0, 0.0] + 0.7 * rng.standard_t(2, size=300)
    weight = np.where(rng.random(300) < 0.2, 0.0, rng.random(300)) if weighted else None
    offset = rng.normal(size=(300, 1)) if weighted else None
    charges = np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    penalty = Ridge(strength, charges) if strength else NoPenalty(5)
    design = as_design(X.astype(np.float32) if single else X, intercept=True)
    return Problem.of(Memory(design, y, weight, offset), Huber(1.2), penalty)


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("single", [False, True])
def test_second_derivatives_are_those_of_a_pass(weighted: bool, single: bool) -> None:
    problem = problem_of(1, strength=0.1, weighted=weighted, single=single)
    rng, coef = np.random.default_rng(2), np.zeros((5, 1))
    for size in (0.0, 1e-3, 1e-2, 0.05, 0.3, 3.0):
        coef = coef + size * rng.normal(size=coef.shape) / [[1.0], [1.0], [10.0], [0.1], [1.0]]
        found, block = problem.evaluate(coef, hessian=5), problem.source.whole
        assert block is not None
        X = block.design.dense().astype(np.float64)
        weight = np.ones(300) if block.weight is None else block.weight
        eta = X @ coef + (0.0 if block.offset is None else block.offset)
        inside = np.abs(eta - block.y)[:, 0] < 1.2
        plain = (X * (weight * inside)[:, None]).T @ X / weight.sum() + 0.1 * np.diag([0.0, 1.0, 1.0, 1.0, 1.0])
        slope = X.T @ (weight[:, None] * np.clip(eta - block.y, -1.2, 1.2)) / weight.sum()
        assert found.hessian is not None
        np.testing.assert_allclose(found.hessian[0], plain, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.gradient, slope + 0.1 * np.vstack([[[0.0]], coef[1:]]), rtol=1e-10, atol=1e-12)
        known = problem.sides(coef)
        assert known is not None
        apart, level = np.abs(np.abs(eta - block.y)[:, 0] - 1.2), known.codes & 127
        present = (weight > 0.0) & (apart > 1e-9)
        np.testing.assert_array_equal(known.codes[present] >= 128, inside[present])
        assert np.all(apart[present] >= 0.999 * 2.0 ** -level[present].astype(float))  # 1 <= 1.2 < 2
        assert np.all((apart[present] < 2.001 * 2.0 ** -level[present].astype(float)) | (level[present] == 0))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.sampled_from([1e-9, 1e-6, 1e-4, 1e-3, 1e-2]),
    strength=st.sampled_from([0.0, 1e-3, 1.0]),
    weighted=st.booleans(),
)
def test_a_gap_from_sides_is_never_too_small(seed: int, size: float, strength: float, weighted: bool) -> None:
    """Whatever the coefficients, F(b) - F* is at most the gap, F* from the usual proof of a fit to the last digits."""
    best = fitting.solve(problem_of(seed, strength=strength, weighted=weighted), tol=1e-14)
    assert best.verdict.gap is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sides, "LARGE", 0)
        problem = problem_of(seed, strength=strength, weighted=weighted)
        step = np.random.default_rng(seed).normal(size=best.coef.shape) / [[1.0], [1.0], [10.0], [0.1], [1.0]]
        coef = best.coef + size * step
        here = problem.evaluate(coef, hessian=5)
        gap = gap_of_sides(problem, coef, here)
    if gap is not None:
        assert here.value - best.objective <= gap + 1e-15 * abs(here.value)
        assert gap <= 1e3 * max(here.value - best.objective, 0.0) + 1e-13  # and it says something


@pytest.mark.usefixtures("everywhere")
def test_a_gap_from_sides_is_known_near_the_optimum() -> None:
    problem = problem_of(5)
    best = fitting.solve(problem_of(5), tol=1e-12)
    here = problem.evaluate(best.coef, hessian=5)
    gap, passes = gap_of_sides(problem, best.coef, here), problem.passes
    assert gap is not None
    assert gap <= 1e-12
    assert prove(problem, best.coef).gap == gap
    assert problem.passes == passes


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("given", [None, "weights"])
def test_outliers_are_those_of_the_predictions(given: str | None) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_t(2, size=500)
    weight = None if given is None else (rng.random(500) < 0.8).astype(float)
    model = HuberRegressor(epsilon=1.5, scale=0.8, alpha=0.0).fit(X, y, sample_weight=weight)
    assert model.verdict_.kind == "optimal"
    np.testing.assert_array_equal(model.outliers_, np.abs(y - model.predict(X)) > 1.5 * 0.8)


def test_a_residual_of_exactly_the_threshold_is_no_outlier() -> None:
    y, codes = np.array([[1.0], [-1.0], [2.0], [-0.5], [np.nextafter(1.0, 2.0)]]), np.zeros(5, dtype=np.uint8)
    block = Memory(as_design(np.ones((5, 1)), intercept=False), y).block
    assert block.design.rows is not None
    zero = np.zeros(1)
    block.design.rows.objective(3, block.y, None, None, np.zeros((1, 1)), 0, zero, zero, 0.0, 1.0, codes)
    known = sides.Sides(block, 1.0, np.zeros((1, 1)), codes, np.eye(1)[None])
    assert known.beyond().tolist() == [False, False, True, False, True]
    assert known.edge(1.0) is None
    assert np.flatnonzero(codes >= 128).tolist() == [3]


def test_rooms_of_ramps_are_those_of_the_domain() -> None:
    rng = np.random.default_rng(0)
    y, eta, theta = rng.normal(size=(3, 200, 1))
    theta = np.clip(theta, -0.3, 0.7)
    problem = Problem.of(Memory(as_design(eta, intercept=False), y), Quantile(0.3), NoPenalty(1))
    low, high = problem.loss.box(y) or (y, y)
    room = np.zeros_like(theta)
    _core.ramp_sums(eta, y, low, high, np.ones(200), theta, room)
    np.testing.assert_allclose(room, metric(problem, y, theta), rtol=1e-15)


@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.2), Hinge()])
@pytest.mark.parametrize("strength", [0.0, 0.1])
def test_paths_are_those_of_numpy(loss: Absolute, strength: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled steps and those written in numpy reach the same point."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 5))
    y = X @ rng.normal(size=5) + rng.standard_t(2, size=120)
    y = (y > 0.0).astype(float) if isinstance(loss, Hinge) else y
    penalty = Ridge(strength, np.ones(6)) if strength or isinstance(loss, Hinge) else NoPenalty(6)
    problem = Problem.of(Memory(as_design(X, intercept=True), y), loss, penalty)
    linear = 0.01 * rng.normal(size=(6, 1))
    one = interior_point._solve(problem, np.zeros((6, 1)), linear, 1e-9)
    monkeypatch.setattr(interior_point, "SMALL", 0)
    other = interior_point._solve(problem, np.zeros((6, 1)), linear, 1e-9)
    np.testing.assert_allclose(one[0], other[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(one[1], other[1], rtol=1e-4, atol=1e-4)
    assert one[2] <= 1e-8 * 120


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
