"""Laws of dual ascent: the sums its loop makes are those of the losses, and its looks agree with the gap by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lineal.designs import Dense, Ones, Stack, as_design
from lineal.losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from lineal.penalties import Ridge
from lineal.problem import Problem
from lineal.solvers import NewtonCG, choose
from lineal.solvers.dual_ascent import _State
from lineal.sources.memory import Memory

LOSSES = [
    Hinge(),
    SquaredHinge(),
    Absolute(),
    Quantile(0.3),
    Huber(0.7),
    EpsilonInsensitive(0.2),
    SquaredEpsilonInsensitive(0.2),
]


def state(loss, charges, intercept, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.6)
    y = rng.normal(size=(40, 1))
    if loss.name.endswith("hinge"):
        y = (y > 0.0).astype(float)
    weight = rng.choice([0.0, 0.5, 2.0], size=40)
    offset = 0.2 * rng.normal(size=(40, 1))
    design = as_design(sparse.csr_matrix(x), intercept=intercept)
    problem = Problem.of(Memory(design, y, weight, offset), loss, Ridge(0.1, np.r_[np.zeros(int(intercept)), charges]))
    return _State(problem, np.zeros(problem.shape), np.random.default_rng(seed)), problem, design.dense()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("charges", [np.ones(5), np.array([1.0, 2.0, 0.5, 1.0, 1.0])], ids=["even", "uneven"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_a_look_is_the_gap_by_hand(loss, charges, intercept):
    ascent, problem, x = state(loss, charges, intercept)
    block = next(problem.source.blocks())
    weight = block.weight / block.weight.sum()
    for _ in range(3):
        ascent.epoch()
        value, gap, debt = ascent.gap()
        theta, eta = ascent.rows[0].theta, x @ ascent.coef + block.offset
        by_hand = weight @ (loss.value(block.y, eta) + loss.conjugate(block.y, theta) - (theta * eta)[:, 0])
        assert debt == pytest.approx(0.1 * abs(weight @ theta[:, 0]) if intercept else 0.0, abs=1e-15)
        assert value == pytest.approx(problem.evaluate(ascent.coef).value, rel=1e-12)
        assert gap == pytest.approx(by_hand, rel=1e-9, abs=1e-14)


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
        gaps.append(ascent.gap()[1])
        shown.append(ascent.epoch())
    for before, seen, after in zip(gaps[:-1], shown[:-1], gaps[1:], strict=True):
        assert 0.1 * min(before, after) - 1e-14 <= seen <= 3.0 * max(before, after) + 1e-14


def test_a_gram_is_factored_only_where_it_is_cheap():
    rng = np.random.default_rng(0)
    y = (rng.random(400) > 0.5).astype(float)
    thin = sparse.random_array((400, 600), density=0.01, format="csr", rng=rng)
    for design, gram in ((as_design(thin), 0), (Stack([Ones(400), Dense(thin.toarray())]), NewtonCG().gram)):
        problem = Problem.of(Memory(design, y), SquaredHinge(), Ridge(0.01, np.r_[0.0, np.ones(600)]))
        chosen, _ = choose(problem)
        assert isinstance(chosen, NewtonCG)
        assert chosen.gram == gram
