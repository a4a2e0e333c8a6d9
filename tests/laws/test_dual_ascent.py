"""Laws of dual ascent: the sums its loop makes are those of the losses, and its looks agree with the gap by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lineal import _core
from lineal.designs import Dense, HStack, Ones, as_design
from lineal.fitting import fitting
from lineal.losses import Hinge, SquaredHinge
from lineal.penalties import Ridge
from lineal.problem.problem import Problem
from lineal.solvers import NewtonCG, choose
from lineal.solvers.dual_ascent import _shuffled, _State
from lineal.sources.memory import Memory
from tests.laws.catalogue import minimised

LOSSES = [loss for loss in minimised(coupled=False) if loss.dual_step() is not None]


def state(loss, penalty_factors, intercept, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.6)
    y = rng.normal(size=(40, 1))
    if loss.of_classes():
        y = (y > 0.0).astype(float)
    weight = rng.choice([0.0, 0.5, 2.0], size=40)
    offset = 0.2 * rng.normal(size=(40, 1))
    design = as_design(sparse.csr_matrix(x), intercept=intercept)
    problem = Problem.of(
        Memory(design, y, weight, offset), loss, Ridge(0.1, np.r_[np.zeros(int(intercept)), penalty_factors])
    )
    return _State(problem, np.zeros(problem.shape), np.random.default_rng(seed)), problem, design.dense()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty_factors", [np.ones(5), np.array([1.0, 2.0, 0.5, 1.0, 1.0])], ids=["even", "uneven"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_a_look_is_the_gap_by_hand(loss, penalty_factors, intercept):
    ascent, problem, x = state(loss, penalty_factors, intercept)
    block = next(problem.source.blocks())
    weight = block.weight / block.weight.sum()
    for _ in range(3):
        ascent.epoch()
        found = ascent.look()
        theta, eta = ascent.rows[0].theta, x @ found.coef + block.offset
        by_hand = weight @ (loss.value(block.y, eta) + loss.conjugate(block.y, theta) - (theta * eta)[:, 0])
        debt = 0.1 * abs(weight @ theta[:, 0]) if intercept else 0.0
        assert found.value == pytest.approx(problem.evaluate(found.coef).value, rel=1e-12)
        assert found.gap - debt == pytest.approx(by_hand, rel=1e-9, abs=1e-14)
        # no other intercept does much better
        for by in (-0.1, -1e-3, 1e-3, 0.1) if intercept else ():
            other = problem.evaluate(found.coef + by * np.eye(problem.shape[0])[:, :1]).value
            assert other >= found.value - 0.02 * by_hand - 1e-14


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_a_dual_point_handed_over_owes_the_intercept_nothing(loss):
    ascent, problem, _ = state(loss, np.ones(5), True)
    for _ in range(6):
        ascent.epoch()
    theta, block = ascent.theta(), next(problem.source.blocks())
    assert abs(block.weight @ theta[:, 0]) <= 1e-12 * block.weight.sum()
    low, high = loss.box(block.y)
    assert np.all((theta >= low) & (theta <= high))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_what_visited_rows_show_follows_the_gap(loss):
    """The sum over an epoch's visits lies about between the gaps before and after it."""
    ascent, _, _ = state(loss, np.ones(5), False)
    gaps, shown = [], []
    for _ in range(8):
        gaps.append(ascent.look().gap)
        shown.append(ascent.epoch())
    for before, seen, after in zip(gaps[:-1], shown[:-1], gaps[1:], strict=True):
        assert 0.1 * min(before, after) - 1e-14 <= seen <= 3.0 * max(before, after) + 1e-14


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_two_lanes_climb_as_one_does_whatever_the_threads(loss, intercept):
    """Coefficients follow from the dual points, the dual never falls, and any number of threads gives the same bits."""
    rng = np.random.default_rng(3)
    rows, columns = 600, 200
    x = sparse.random_array((rows, columns), density=0.05, format="csr", rng=rng)
    y = rng.normal(size=(rows, 1))
    y = (y > 0.0).astype(float) if loss.of_classes() else y
    design = as_design(x, intercept=intercept)
    problem = Problem.of(
        Memory(design, y, rng.choice([0.0, 1.0, 2.0], size=rows)),
        loss,
        Ridge(0.01, np.r_[np.zeros(int(intercept)), np.ones(columns)]),
    )
    found = []
    before = _core.threads()
    try:
        for threads in (1, 2, 3):
            _core.set_threads(threads)
            ascent = _State(problem, np.zeros(problem.shape), np.random.default_rng(0))
            block = ascent.rows[0]
            block.batch, ascent.lanes = 40, True
            duals = []
            for _ in range(12):
                ascent.epoch()
                slope = block.design.transpose_times(block.weight[:, None] * block.theta)
                penalized = slice(int(intercept), None)
                assert np.allclose(
                    ascent.coef[penalized], -slope[penalized] * ascent.inverse[penalized, None], atol=1e-12
                )
                conjugate = loss.conjugate(block.y, block.theta)
                duals.append(-block.weight @ conjugate - problem.penalty.value(ascent.coef))
            found.append((ascent.coef.tobytes(), ascent.look().coef.tobytes(), block.theta.tobytes()))
            if not intercept:
                assert np.all(np.diff(duals) >= -1e-12)
    finally:
        _core.set_threads(before)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("strength", [1e-3, 0.05, 1.0])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=lambda loss: loss.name)
def test_the_intercept_finds_its_place_however_strong_the_penalty_factor(loss, strength):
    rng = np.random.default_rng(5)
    rows = sparse.random_array((1500, 400), density=0.05, format="csr", rng=rng)
    rows = sparse.csr_array(rows / np.sqrt(rows.power(2).sum(axis=1))[:, None])
    score = rows @ rng.normal(size=400) + 0.3 * rng.normal(size=1500)
    y = (score > np.quantile(score, 0.48))[:, None].astype(float)
    penalty_factor = Ridge(strength, np.r_[0.0, np.ones(400)])
    found = fitting.fit(
        Memory(as_design(rows, intercept=True), y), loss, penalty_factor, solver="dual-ascent", tol=1e-3
    )
    assert found.verdict.kind == "optimal"
    assert int(list(found.trace)[-1].note.split()[1]) <= 40


def test_an_order_in_groups_visits_all_once_and_neighbours_together():
    rng = np.random.default_rng(0)
    for count in (0, 1, 15, 16, 1000, 1003):
        places = _shuffled(rng, count, 16)
        assert sorted(places.tolist()) == list(range(count))
    far = np.abs(np.diff(_shuffled(rng, 100_000, 16)))
    assert np.mean(far < 16) > 0.9


def test_a_gram_is_factored_only_where_it_is_cheap():
    rng = np.random.default_rng(0)
    y = (rng.random(400) > 0.5).astype(float)
    thin = sparse.random_array((400, 600), density=0.01, format="csr", rng=rng)
    for design, gram in ((as_design(thin), 0), (HStack([Ones(400), Dense(thin.toarray())]), NewtonCG().gram)):
        problem = Problem.of(Memory(design, y), SquaredHinge(), Ridge(0.01, np.r_[0.0, np.ones(600)]))
        chosen, _ = choose(problem)
        assert isinstance(chosen, NewtonCG)
        assert chosen.gram == gram
