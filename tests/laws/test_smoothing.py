"""Corners rounded off: sums beside their definition, and how near their minimum is to that of the corners."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import Absolute, CrammerSinger, Quantile
from lineal.penalties import L1, NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.solvers import InteriorPoint, row_screening
from lineal.solvers.smoothing import Rounded, approach
from lineal.sources.memory import Memory
from tests.laws.catalogue import minimised

LOSSES = minimised(smooth=False, coupled=False)


def case(loss, n, seed, form="dense"):
    """Return a source of n rows with weights, some of them zero, and offsets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + rng.standard_t(2, size=n)
    y = (y > 0).astype(float) if loss.of_classes() else y
    weight, offset = rng.integers(0, 3, size=n).astype(float), 0.3 * rng.normal(size=n)
    data = {
        "dense": X,
        "single": X.astype(np.float32),
        "sparse": scipy.sparse.csr_matrix(X * (rng.random(X.shape) < 0.5)),
    }
    return Memory(as_design(data[form]), y, weight, offset)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_sums_are_those_of_the_definition(loss):
    source = case(loss, 60, 0)
    problem = Problem.of(source, loss, Ridge(0.3, np.r_[0.0, np.ones(4)]))
    rounded = Rounded.of(problem)
    block, T = source.block, 0.7

    def value(coef):
        eta = block.design.dense() @ coef + block.offset
        total = 0.0
        for at, low, high in loss.kinks(block.y):
            r = eta - at
            size = np.where(np.abs(r) <= T, r**2 / (2 * T), np.abs(r) - T / 2)
            total += block.weight @ ((high - low) * size / 2 + (high + low) * (eta) / 2)[:, 0]
        lean = sum(block.weight @ ((high + low) / 2 * block.offset)[:, 0] for _, low, high in loss.kinks(block.y))
        return (total - lean) / block.weight.sum() + 0.15 * np.sum(coef[1:] ** 2)

    coef = np.random.default_rng(1).normal(size=(5, 1))
    found, slope, bend = rounded.at(coef, T)
    assert found == pytest.approx(value(coef), rel=1e-12)
    moves = 1e-6 * np.eye(5)[:, :, None]
    slopes = [(value(coef + move) - value(coef - move)) / 2e-6 for move in moves]
    np.testing.assert_allclose(slope[:, 0], slopes, rtol=1e-6, atol=1e-7)
    bends = [(rounded.at(coef + move, T)[1] - rounded.at(coef - move, T)[1])[:, 0] / 2e-6 for move in moves]
    np.testing.assert_allclose(bend, bends, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", ["dense", "single", "sparse"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_minimum_is_near_that_of_the_corners(loss, form):
    source = case(loss, 30_000, 2, form)
    problem = Problem.of(source, loss, NoPenalty(5))
    picked = np.flatnonzero(source.block.weight > 0.0)[::10]
    rate = source.block.weight.sum() / source.block.weight[picked].sum()
    found = approach(problem, row_screening._part(problem, picked, rate), np.zeros((5, 1)), 100)
    assert found is not None
    coef, threshold = found
    here = problem.evaluate(coef).value
    best = min(step.objective for step in InteriorPoint().steps(problem, np.zeros((5, 1))))
    assert best - 1e-12 <= here
    # no more is lost than half a threshold in every row within it
    within = np.min(
        [np.abs(source.block.design.times(coef) + source.block.offset - at) for at, _, _ in loss.kinks(source.block.y)],
        axis=0,
    )
    assert here - best <= 0.5 * threshold * np.mean(within <= 2 * threshold) + 1e-9
    assert np.mean(within <= threshold) < 0.05


def test_a_long_table_beside_a_linear_program():
    rng = np.random.default_rng(7)
    n = 6000
    X = np.column_stack([np.ones(n), rng.normal(size=n)])
    y = X @ [1.0, 2.0] + rng.standard_t(1, size=n)
    problem = Problem.of(Memory(as_design(X[:, 1:]), y), Quantile(0.3), NoPenalty(2))
    assert row_screening.worthwhile(problem)
    step = next(iter(InteriorPoint().steps(problem, np.zeros((2, 1)))))
    inside = scipy.sparse.hstack([X, -X, scipy.sparse.eye(n), -scipy.sparse.eye(n)])
    cost = np.r_[np.zeros(4), np.full(n, 0.3 / n), np.full(n, 0.7 / n)]
    program = scipy.optimize.linprog(cost, A_eq=inside, b_eq=y, bounds=(0, None))
    assert step.objective == pytest.approx(program.fun, rel=1e-9)
    assert "rows near their corners" in step.note


def test_what_is_not_rounded_off():
    source = case(Absolute(), 50, 3)
    assert Rounded.of(Problem.of(source, Absolute(), L1(0.1, np.r_[0.0, np.ones(4)]))) is None
    classes = Memory(as_design(np.eye(3)), np.arange(3.0))
    assert Rounded.of(Problem.of(classes, CrammerSinger(3), NoPenalty(4))) is None
    assert Rounded.of(Problem.of(source, Absolute(), NoPenalty(5))) is not None


def test_targets_all_alike_need_no_rounding():
    n = 9000
    X = np.random.default_rng(4).normal(size=(n, 2))
    found = fit(Memory(as_design(X), np.full(n, 5.0)), Absolute(), NoPenalty(3))
    assert found.verdict.proven
    assert found.objective <= 1e-9
