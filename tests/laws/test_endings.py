"""Every convex fit that has an optimum ends with a proof of it, and the proof is true: against other programs."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from lineal.designs import as_design
from lineal.estimators.fitted import model_of
from lineal.fitting.fitting import fit
from lineal.losses import (
    CrammerSinger,
    Huber,
    Logistic,
    Quantile,
    Sparsemax,
)
from lineal.model.target import Target
from lineal.penalties import L1, Bounds, ElasticNet, Group, NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.solvers import row_screening
from lineal.solvers.solver import Solver, Step
from lineal.sources.memory import Memory
from lineal.verify import verify
from tests.laws.drawn import CORNERED, INF, LOSSES, grid, name, target
from tests.laws.rivals import rival

LIMITS = np.array([-INF, 0.0, -0.2, -INF, 0.3]), np.array([INF, INF, 0.1, 0.0, 0.3])


def ends(loss, x, y, penalty, *, weight=None, offset=None, intercept=True):
    """Fit, and hold the verdict against another program; return the verdict."""
    design = as_design(x, intercept=intercept)
    result = fit(Memory(design, y, weight, offset), loss, penalty)
    verdict = result.verdict
    if verdict.gap is not None:
        best = rival(loss, design.dense(), y, weight, offset, penalty)
        if best is not None:
            # F(b) - F* <= gap, and F* <= what anybody reaches; the other program's own rounding is 1e-13 of it
            assert result.objective - best <= verdict.gap + 1e-13 * abs(best), verdict.sentence
    return verdict


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES, ids=name)
@pytest.mark.parametrize("strength", [1e-10, 1e-13, 1e-20, 1e-30])
def test_penalty_factors_too_weak_for_doubles_do_not_hide_the_optimum(loss, strength):
    """scikit-learn's C = 1e20 is a penalty factor of 1e-20: a dual point that obeys it cannot be told from zero."""
    for seed, dependent in ((0, False), (1, True)):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(40, 4))
        if dependent:
            x = grid(x)
            x[:, 3] = x[:, 0] - x[:, 1]
        y, penalty_factors = target(loss, rng, x), np.array([0.0, 1.0, 1.0, 1.0, 1.0])
        for penalty in (
            Ridge(strength, penalty_factors),
            L1(strength, penalty_factors),
            ElasticNet(strength, 0.5, penalty_factors),
        ):
            assert ends(loss, x, y, penalty).kind == "optimal", penalty
        if loss.smooth:
            assert ends(loss, x, y, Group(strength, penalty_factors)).kind == "optimal"


@pytest.mark.parametrize("loss", CORNERED, ids=name)
@pytest.mark.parametrize("seed", range(4))
def test_where_the_intercept_alone_is_optimal_there_is_nothing_to_gain(loss, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(int(rng.integers(5, 60)), 3))
    y, penalty_factors = target(loss, rng, x), np.array([0.0, 1.0, 1.0, 1.0])
    offset = rng.normal(size=y.shape) if seed % 2 else None
    for penalty in (L1(10.0, penalty_factors), ElasticNet(10.0, 0.5, penalty_factors)):
        assert ends(loss, x, y, penalty, offset=offset).kind == "optimal"
    alone = ends(loss, x, y, NoPenalty(4), offset=offset)
    assert alone.kind in {"optimal", "not_unique"}


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.smooth], ids=name)
@pytest.mark.parametrize("seed", range(3))
def test_one_sided_bounds_are_proven(loss, seed):
    """A coefficient that costs nothing and is off its only bound allows a dual point no gradient at all."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(50, 4))
    y, least = target(loss, rng, x), np.array([-np.inf, 0.0, 0.0, -np.inf, 0.0])
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=50) if seed else None
    penalty = Bounds(least, np.array([np.inf, np.inf, np.inf, 0.1, np.inf]), NoPenalty(5))
    assert ends(loss, x, y, penalty, weight=weight).kind == "optimal"


@pytest.mark.slow
@pytest.mark.parametrize("loss", CORNERED, ids=name)
@pytest.mark.parametrize("kind", ["scaled", "cauchy"])
@pytest.mark.parametrize("strength", [0.0, 1e-6, 1e-3, 0.05, 10.0])
def test_corners_are_met_in_columns_of_any_size(loss, kind, strength):
    """A penalty factor of 0.05 is nothing for a column of size 1e6, and forbids any use of one of size 1e-6."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.standard_cauchy(size=(40, 4)) if kind == "cauchy" else rng.normal(size=(40, 4)) * [1e6, 1e-6, 1.0, 1.0]
        y, penalty_factors = target(loss, rng, x), np.array([0.0, 1.0, 1.0, 1.0, 1.0])
        penalty = L1(strength, penalty_factors) if strength else NoPenalty(5)
        assert ends(loss, x, y, penalty).kind == "optimal", seed
        assert ends(loss, x, y, ElasticNet(strength or 1e-4, 0.5, penalty_factors)).kind == "optimal", seed


@pytest.mark.parametrize("loss", CORNERED, ids=name)
@pytest.mark.parametrize("seed", range(3))
def test_bounds_on_losses_with_corners(loss, seed):
    """A bound is a corner steeper than any gradient."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(30, 4)) * [1.0, 1.0, 100.0, 1.0]
    y, penalty_factors = target(loss, rng, x), np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=30) if seed else None
    for inner in (
        NoPenalty(5),
        L1(0.05, penalty_factors),
        Ridge(0.05, penalty_factors),
        ElasticNet(0.05, 0.5, penalty_factors),
    ):
        assert ends(loss, x, y, Bounds(*LIMITS, inner), weight=weight).kind == "optimal", inner


@pytest.mark.slow
@pytest.mark.parametrize("n", [500, 2000, 6000])
@pytest.mark.parametrize("loss", CORNERED, ids=name)
def test_bounds_on_a_long_table_with_corners(loss, n):
    """A bound that weighs as much as thousands of rows made interior points creep; the longest has far rows left out."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 4))
    y, penalty = target(loss, rng, x), Bounds(*LIMITS, NoPenalty(5))
    if n == 6000 and loss.name == "absolute":
        assert row_screening.worthwhile(Problem.of(Memory(as_design(x), y), loss, penalty))
    assert ends(loss, x, y, penalty).kind == "optimal"


@pytest.mark.parametrize("loss", CORNERED, ids=name)
def test_a_group_of_one_output_is_the_lasso(loss):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3))
    y, penalty_factors = target(loss, rng, x), np.array([0.0, 1.0, 2.0, 0.5])
    source = Memory(as_design(x), y)
    group, lasso = fit(source, loss, Group(0.1, penalty_factors)), fit(source, loss, L1(0.1, penalty_factors))
    assert group.verdict.kind == "optimal"
    assert abs(group.objective - lasso.objective) <= group.verdict.gap + lasso.verdict.gap + 1e-15


@pytest.mark.parametrize("seed", range(4))
def test_the_multi_class_hinge_takes_every_separable_penalty(seed):
    loss, rng = CrammerSinger(3), np.random.default_rng(seed)
    x = rng.normal(size=(40, 4)) * [1.0, 1.0, 100.0, 0.01]
    y, penalty_factors = target(loss, rng, x), np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=40) if seed % 2 else None
    offset = rng.normal(size=(40, 3)) if seed > 1 else None
    penalties = [NoPenalty(5), Bounds(*LIMITS, NoPenalty(5)), Bounds(*LIMITS, L1(0.05, penalty_factors))]
    penalties += [kind(strength, penalty_factors) for kind in (Ridge, L1) for strength in (1e-20, 1e-6, 0.05, 10.0)]
    penalties += [ElasticNet(strength, 0.5, penalty_factors) for strength in (1e-6, 0.05, 10.0)]
    for penalty in penalties:
        assert ends(loss, x, y, penalty, weight=weight, offset=offset).kind == "optimal", penalty
    source = Memory(as_design(x / [1.0, 1.0, 100.0, 0.01]), y, weight, offset)
    ridge = Ridge(0.05, penalty_factors)
    path, rows = (fit(source, loss, ridge, solver=solver) for solver in ("interior-point", "dual-ascent"))
    assert path.objective - rows.objective <= path.verdict.gap
    assert rows.objective - path.objective <= rows.verdict.gap


@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_one_sided_bounds_on_dependent_columns(loss):
    """The gradient of a column is zero where those are whose combination it is."""
    rng = np.random.default_rng(3)
    x = grid(rng.normal(size=(40, 4)))
    x[:, 3] = x[:, 0] - x[:, 1]
    y, penalty = target(loss, rng, x), Bounds(np.array([-INF, 0.0, 0.0, 0.0, 0.0]), np.full(5, INF), NoPenalty(5))
    assert ends(loss, x, y, penalty).kind == "optimal"


def test_huber_far_from_its_rows_is_led_back_within_bounds():
    """Where every residual is beyond the threshold there is no curvature: a parabola above the loss leads on."""
    penalty = Bounds(np.zeros(2), np.full(2, INF), NoPenalty(2))
    for scale in (1.0, 1e4):
        x, y = np.array([[1.0], [2.0], [3.0]]), scale * np.array([[2.0], [4.0], [6.5]])
        assert ends(Huber(0.1), x, y, penalty).kind == "optimal"


@pytest.mark.parametrize("loss", [*CORNERED, CrammerSinger(3)], ids=name)
@pytest.mark.parametrize("far", [1e3, 1e4])
def test_corners_are_met_far_from_zero(loss, far):
    """Means of 1e4 standard deviations leave a plain gram eight digits."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(40, 4))
    y, penalty_factors = target(loss, rng, x), np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    for penalty in (
        NoPenalty(5),
        L1(0.05, penalty_factors),
        Ridge(0.05, penalty_factors),
        ElasticNet(0.05, 0.5, penalty_factors),
    ):
        assert ends(loss, x + np.array([far, -far, 0.0, 0.0]), y, penalty).kind == "optimal", penalty


@pytest.mark.parametrize("seed", range(6))
def test_sparsemax_is_led_on_where_it_does_not_bend(seed):
    """Offsets make most probabilities 0 or 1 at the start: a model without curvature there has no minimum."""
    rng, loss = np.random.default_rng(seed), Sparsemax(3)
    x = np.where(rng.random((6, 5)) < 0.7, 0.0, rng.normal(size=(6, 5)))
    y, offset = rng.integers(3, size=(6, 1)).astype(float), 2.0 * rng.normal(size=(6, 3))
    problem = Memory(as_design(x, intercept=False), y, None, offset)
    result = fit(problem, loss, Group(0.04, np.ones(5)))
    assert result.verdict.kind == "optimal", result.verdict.sentence
    # zero slope of F where a column is used, and not too steep where it is not
    slope = x.T @ loss.slope(y, x @ result.coef + offset) / 6.0
    length = np.linalg.norm(result.coef, axis=1, keepdims=True)
    used = length[:, 0] > 0.0
    assert slope[used] == pytest.approx(-0.04 * (result.coef / np.where(length > 0.0, length, 1.0))[used], abs=1e-4)
    assert np.all(np.linalg.norm(slope[~used], axis=1) <= 0.04 * (1.0 + 1e-6))


@pytest.mark.parametrize("loss", [Logistic(), Quantile(0.5), Huber(1.0)], ids=lambda loss: loss.name)
def test_columns_far_from_zero_without_an_intercept_say_so(loss, tmp_path):
    rng = np.random.default_rng(0)
    x = np.column_stack([4e15 + np.arange(25.0), 1e9 + rng.normal(size=25), rng.normal(size=25)])
    eta = 0.1 * np.arange(25.0) + rng.normal(size=25)
    y = (eta > 1.0) * 1.0 if loss.name == "logistic" else eta
    source = Memory(as_design(x, intercept=False), y[:, None], columns=("a", "b", "c"))
    found = fit(source, loss, Ridge(0.1, np.ones(3)))
    assert found.verdict.kind == "budget"
    assert "columns are far from zero, and there is no intercept to take their means off" in found.verdict.sentence
    classes = loss.name == "logistic"
    target = Target("y", "classes", classes=(0, 1)) if classes else Target("y", "number")
    model_of(found, target, 1e-6).save(tmp_path / "m.lineal")
    with (tmp_path / "d.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["y", "a", "b", "c"])
        writer.writerows([int(t) if classes else repr(float(t)), *row] for t, row in zip(y, x.tolist(), strict=True))
    assert verify(tmp_path / "m.lineal", tmp_path / "d.csv").passed


def test_a_solver_that_has_lost_its_way_is_stopped():
    """Newton's method on far columns in very different units crept for thousands of steps, each a hair lower."""

    class Creeping(Solver):
        name, max_steps = "creeping", 7

        def declines(self, problem):
            return None

        def steps(self, problem, start, goal=None):
            while True:
                start = 0.99 * start
                yield Step(start, problem.evaluate(start).value, 1.0, problem.passes)

    x = np.random.default_rng(0).normal(size=(20, 2))
    found = fit(
        Memory(as_design(x), x[:, :1]), Huber(1.0), Ridge(0.1, np.ones(3)), solver=Creeping(), start=np.ones((3, 1))
    )
    assert found.verdict.kind == "budget"
    assert found.verdict.reason == "7 steps of Newton's method were not enough"
    assert len(found.trace) == 8
