"""Laws of dual points that an unpenalized intercept moves: they stay in their domain, sum to zero and prove what is true."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal.certify import domain
from lineal.certify.rows import bound
from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import Hinge
from lineal.penalties import Ridge
from lineal.problem.problem import Problem
from lineal.solvers import Stochastic
from lineal.sources.memory import Memory
from tests.laws.catalogue import minimised

LOSSES = minimised(smooth=False, coupled=False)


def case(loss, number, rows=40):
    """Return a problem, coefficients that fit nothing, and a dual point most of which is at the ends of its interval."""
    rng = np.random.default_rng(number)
    x = rng.normal(size=(rows, 3))
    y = (x[:, 0] + rng.normal(size=rows) > 0.8).astype(float) if loss.of_classes() else rng.normal(size=rows)
    weight = rng.choice([0.0, 1.0, 2.5], size=rows) if number % 2 else None
    if weight is not None:
        weight[:2] = 1.0
    problem = Problem.of(Memory(as_design(x), y, weight=weight), loss, Ridge(0.1, np.r_[0.0, np.ones(3)]))
    low, high = loss.box(y[:, None])
    theta = low + (high - low) * rng.choice([0.0, 1.0, rng.random()], p=[0.5, 0.4, 0.1], size=(rows, 1))
    return problem, rng.normal(size=(4, 1)), theta, np.ones(rows) if weight is None else weight


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@settings(max_examples=40, deadline=None)
@given(number=st.integers(0, 10_000))
def test_moved_points_sum_to_zero_inside_of_their_domain(loss, number):
    problem, coef, theta, weight = case(loss, number)
    theta = domain.inside(problem, coef, theta)
    low, high = loss.box(np.concatenate([block.y for block in problem.source.blocks()]))
    for found in (domain.level(problem, theta), domain.balanced(problem, theta)):
        if found is not None:
            assert np.all((low <= found) & (found <= high))
            assert np.all(found[weight == 0.0] == 0.0)
            assert abs(weight @ found[:, 0]) <= 1e-12 * max(weight @ np.abs(theta[:, 0]), 1e-300)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@settings(max_examples=25, deadline=None)
@given(number=st.integers(0, 10_000))
def test_a_dual_point_from_anywhere_proves_no_more_than_the_truth(loss, number):
    problem, coef, theta, _ = case(loss, number)
    best = fit(problem.source, loss, problem.penalty).objective
    found = bound(problem, coef, theta)
    assert found.gap is not None
    assert found.gap >= problem.evaluate(coef).value - best


def test_one_epoch_is_proven_by_few_passes(monkeypatch):
    """A fit that ends far from the optimum, all of its dual point at corners, does not look at the rows again and again."""
    problem, _, _, _ = case(Hinge(), 0, rows=400)
    looks, blocks = [], Memory.blocks
    monkeypatch.setattr(Memory, "blocks", lambda self: looks.append(1) or blocks(self))
    found = fit(problem.source, Hinge(), problem.penalty, solver=Stochastic(epochs=1))
    assert found.verdict.kind == "budget"
    assert 0.0 < found.verdict.gap <= found.objective
    assert len(looks) <= 40
