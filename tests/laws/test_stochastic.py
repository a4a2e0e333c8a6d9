"""Laws of stochastic methods: what a step is, in which order rows come, what is proven, what a stream costs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from lineal.designs import Dense, HStack, Ones, Sparse, as_design
from lineal.fitting.fitting import fit
from lineal.losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Quantile,
    Squared,
)
from lineal.penalties import ElasticNet, NoPenalty, Ridge
from lineal.solvers import GradientDescent, presentation
from lineal.solvers.learner import Frame, Learner, Saga
from lineal.solvers.presentation import Window, hashed, windows
from lineal.solvers.schedules import Schedule
from lineal.solvers.stochastic import Stochastic
from lineal.sources.memory import Memory
from lineal.sources.source import Block, Source
from tests.laws.catalogue import minimised
from tests.laws.stochastic_data import by_hand, data, ids, penalties

LOSSES = [loss for loss in minimised() if loss.row_kernel is not None]
SMOOTH = [loss for loss in LOSSES if loss.smooth and loss.curvature_bound < np.inf]


@pytest.mark.parametrize("loss", LOSSES, ids=ids)
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("saga", [False, True])
@pytest.mark.parametrize("number", range(4), ids=["none", "ridge", "l1", "elastic"])
def test_a_step_is_what_its_formula_says_on_every_storage(loss, batch, saga, number):
    stack, dense, y, rng = data(loss)
    penalty = penalties(dense.shape[1])[number]
    weight, offset = rng.uniform(0.5, 2.0, size=60), 0.1 * rng.normal(size=(60, loss.outputs))
    order = rng.permutation(60)
    step = 0.002 if loss.targets == "counts" else 0.03
    options = {"step": step, "batch": batch, "factor": 0.7, "saga": saga}
    expected, losses, table, mean = by_hand(loss, penalty, dense, y, weight, offset, order, **options)
    for design in (stack, Dense(dense), Sparse(sparse.csr_matrix(dense)), Dense(np.asfortranarray(dense))):
        columns = dense.shape[1]
        learner = Learner(
            loss, penalty, Schedule("constant", step), Frame(np.ones(columns)), np.zeros((columns, loss.outputs)),
            batch=batch, average=1, weight=0.7, saga=Saga(np.zeros((columns, loss.outputs)), 60) if saga else None,
        )  # fmt: skip
        rows = Window([Block(design, y, weight, offset)])
        kept = np.zeros((60, loss.outputs))
        found = learner.learn(rows.segments, order, kept)
        np.testing.assert_allclose(learner.coef, expected[-1], rtol=1e-9, atol=1e-12)
        # averaging begins once one row has been seen: after the first step
        np.testing.assert_allclose(learner.result, np.mean(expected[1:], axis=0), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(kept, table, rtol=1e-9, atol=1e-12)
        assert found == pytest.approx(losses, rel=1e-10)
        if saga:
            np.testing.assert_allclose(learner.saga.mean_gradient, mean, rtol=1e-8, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    strength=st.sampled_from([0.0, 1e-9, 0.01, 3.0]),
    ratio=st.sampled_from([0.0, 0.3, 1.0]),
    step=st.sampled_from([1e-4, 0.1, 2.0]),
)
def test_columns_that_rows_do_not_have_are_caught_up_with_exactly(seed, strength, ratio, step):
    """Hundreds of steps at once, across zero and back: the same as one after another."""
    rng = np.random.default_rng(seed)
    n, p = 150, 8
    dense = np.zeros((n, p))
    dense[:, 0] = rng.normal(size=n)
    dense[rng.integers(0, n, size=p - 1), np.arange(1, p)] = rng.normal(size=p - 1)  # one row has it
    y = rng.normal(size=(n, 1))
    penalty = ElasticNet(strength, ratio, rng.uniform(0.0, 2.0, size=p)) if strength else NoPenalty(p)
    start = rng.normal(size=(p, 1))
    drift = rng.normal(size=(n, 1)) * 0.1  # saga: columns are pulled where no row is
    order = rng.permutation(n)
    table = drift.copy()
    expected, *_ = by_hand(
        Huber(0.5), penalty, dense, y, np.ones(n), np.zeros((n, 1)), order,
        step=step / n, batch=1, factor=1.0, saga=True, table=table, start=start,
    )  # fmt: skip
    learner = Learner(
        Huber(0.5), penalty, Schedule("constant", step / n), Frame(np.ones(p)), start.copy(), average=0,
        saga=Saga(np.ascontiguousarray(dense.T @ drift / n), n),
    )  # fmt: skip
    learner.learn(Window([Block(Sparse(sparse.csr_matrix(dense)), y)]).segments, order, drift.copy())
    np.testing.assert_allclose(learner.coef, expected[-1], rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(learner.result, np.mean(expected, axis=0), rtol=1e-5, atol=1e-8)


# without a penalty, losses of classes may have no optimum and those of numbers several
BOUNDED = [(loss, number) for loss in SMOOTH for number in range(4) if number > 0 or loss.quadratic]


@pytest.mark.parametrize(("loss", "number"), BOUNDED, ids=ids)
@pytest.mark.parametrize("batch", [1, 5])
def test_saga_proves_the_optimum(loss, number, batch):
    stack, dense, y, rng = data(loss, n=200)
    penalty = penalties(dense.shape[1])[number]
    weight = rng.uniform(0.5, 2.0, size=200)
    result = fit(Memory(stack, y, weight), loss, penalty, solver=Stochastic("saga", batch=batch), tol=1e-6)
    assert result.verdict.kind == "optimal", result.verdict.sentence
    other = fit(Memory(as_design(dense, intercept=False), y, weight, columns=["(intercept)", *map(str, range(12))]),
                loss, penalty, tol=1e-9)  # fmt: skip
    assert result.objective - other.objective <= result.verdict.gap + 1e-13
    assert other.objective - result.objective <= other.verdict.gap + 1e-13


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.2), Quantile(0.3), Absolute()], ids=ids)
def test_sgd_proves_gaps_for_losses_with_corners_from_the_slopes_it_saw(loss):
    stack, dense, y, _ = data(loss, n=150)
    penalty = Ridge(0.05, np.r_[0.0, np.ones(dense.shape[1] - 1)])
    solver = Stochastic("sgd", schedule="optimal", average=1500)
    result = fit(Memory(stack, y), loss, penalty, solver=solver, tol=0.02, max_iter=300)
    assert result.verdict.kind == "optimal", result.verdict.sentence
    best = fit(Memory(stack, y), loss, penalty, tol=1e-8)
    true = result.objective - best.objective
    assert -best.verdict.gap <= true <= result.verdict.gap + 1e-13


@pytest.mark.parametrize("schedule", ["invscaling", "optimal", "adaptive"])
@pytest.mark.parametrize("average", [False, True])
def test_sgd_comes_close_with_shrinking_steps(schedule, average):
    stack, dense, y, _ = data(Logistic(), n=400)
    penalty = Ridge(0.05, np.r_[0.0, np.ones(dense.shape[1] - 1)])
    best = fit(Memory(stack, y), Logistic(), penalty)
    solver = Stochastic("sgd", schedule=schedule, average=average)
    found = fit(Memory(stack, y), Logistic(), penalty, solver=solver, tol=0.0, max_iter=60)
    zero = best.verdict.evidence["null_objective"]
    assert found.objective - best.objective <= 0.02 * (zero - best.objective)
    assert found.objective - best.objective <= found.verdict.gap


class Stream(Source):
    """Blocks that are made anew in every pass, as those of a file are."""

    def __init__(self, x, y, weight, edges):
        self.x, self.y, self.weight, self.edges = x, y, weight, edges

    @property
    def columns(self):
        return ("(intercept)", *(f"x{j}" for j in range(self.x.shape[1])))

    def blocks(self):
        for a, b in self.edges:
            yield Block(as_design(self.x[a:b].copy()), self.y[a:b].copy(), self.weight[a:b].copy(), None, a)


@pytest.mark.parametrize("cells", [2**25, 100])
@pytest.mark.parametrize(
    "solver",
    [
        Stochastic("saga"),
        Stochastic("saga", batch=7),
        Stochastic("sgd", schedule="invscaling", average=True, seed=3),
        Stochastic("sgd", batch=16, scaled=False, step=0.01),
        Stochastic("sgd", shuffle=False),
    ],
)
def test_any_partition_takes_the_very_same_steps(solver, cells, monkeypatch):
    monkeypatch.setattr(presentation, "WINDOW_CELLS", cells)
    rng = np.random.default_rng(0)
    n = 2600  # more than the smallest window
    x = rng.normal(size=(n, 3)) + 2.0
    y = (x[:, :1] + rng.logistic(size=(n, 1)) > 2.0).astype(float)
    weight = rng.choice([0.0, 1.0, 2.0], size=n)
    sources = [
        Memory(as_design(x), y, weight),
        Stream(x, y, weight, [(0, 1), (1, 900), (900, 900), (900, n)]),
        Stream(x, y, weight, [(0, 1024), (1024, 2048), (2048, n)]),
    ]
    penalty = ElasticNet(0.01, 0.5, np.r_[0.0, np.ones(3)])
    # one survey for all: moments of blocks differ by rounding
    moments = fit(sources[0], Logistic(), penalty, max_iter=0).problem.moments
    fits = [fit(source, Logistic(), penalty, solver=solver, max_iter=4, moments=moments, tol=0.0) for source in sources]
    for other in fits[1:]:
        start = np.abs(fits[0].coef).max()
        # the baseline where steps begin is a sum over blocks, too
        np.testing.assert_allclose(other.coef, fits[0].coef, rtol=0, atol=1e-12 * start)
    assert np.array_equal(fit(sources[0], Logistic(), penalty, solver=solver, max_iter=4, tol=0.0).coef, fits[0].coef)


def test_the_order_is_a_hash_of_seed_epoch_and_row():
    rows = Window([Block(as_design(np.zeros((500, 1))), np.zeros((500, 1)), np.arange(500.0) % 5)])
    order = rows.order(1, 1)
    assert sorted(order) == [i for i in range(500) if i % 5]
    assert len({tuple(rows.order(seed, epoch)[:20]) for seed in range(5) for epoch in range(5)}) == 25

    # splitmix64 chained over the three numbers, in whole numbers of any size
    def mix(z):
        z = (z + 0x9E3779B97F4A7C15) % 2**64
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        return z ^ (z >> 31)

    numbers = np.array([0, 7, 10**12])
    assert hashed(5, 3, numbers).tolist() == [mix(mix(mix(5) ^ 3) ^ int(i)) for i in numbers]
    spread = np.array([np.corrcoef(np.arange(400), rows.order(0, epoch))[0, 1] for epoch in range(40)])
    assert np.abs(spread).mean() < 0.1


def test_windows_cover_every_row_once(monkeypatch):
    monkeypatch.setattr(presentation, "WINDOW_CELLS", 1)
    x = np.arange(5000.0)[:, None]
    source = Stream(x, x, np.ones(5000), [(0, 3000), (3000, 3000), (3000, 3100), (3100, 5000)])
    found = list(windows(source))
    assert [rows.rows for rows in found] == [1024, 1024, 1024, 1024, 904]
    assert np.concatenate([rows.numbers for rows in found]).tolist() == list(range(5000))
    assert [len(rows.segments) for rows in found] == [1, 1, 2, 2, 1]


def test_rows_of_weight_zero_are_absent():
    _, dense, y, rng = data(Squared(1), n=80)
    weight = rng.choice([0.0, 1.0, 3.0], size=80)
    columns = ["(intercept)", *map(str, range(dense.shape[1] - 1))]
    bad, y_bad = dense.copy(), y.copy()
    bad[weight == 0.0, 1:], y_bad[weight == 0.0] = 1e9, -1e9
    penalty = penalties(dense.shape[1])[1]
    for method in ("sgd", "saga"):
        found = [
            fit(Memory(HStack([Ones(80), Dense(np.ascontiguousarray(array[:, 1:]))]), target, weight, columns=columns),
                Squared(1), penalty, solver=Stochastic(method), max_iter=5).coef
            for array, target in ((dense, y), (bad, y_bad))
        ]  # fmt: skip
        np.testing.assert_array_equal(found[0], found[1])


def test_large_scales_and_shifts_do_not_hinder_learning():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3)) * [1.0, 1e6, 1e-4] + [0.0, 3e6, 2.0]
    y = ((x - x.mean(axis=0)) / x.std(axis=0)).sum(axis=1, keepdims=True) + rng.normal(size=(300, 1))
    result = fit(Memory(as_design(x), y), Squared(1), NoPenalty(4), solver=Stochastic("saga"), max_iter=100)
    assert result.verdict.kind == "optimal"


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (10, 25)])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_small_and_wide_tables(shape, kind):
    rng = np.random.default_rng(1)
    x = rng.normal(size=shape).astype(kind)
    x.flags.writeable = False
    y = rng.normal(size=(shape[0], 1))
    penalty = Ridge(0.3, np.r_[0.0, np.ones(shape[1])])
    for design in (as_design(x), as_design(sparse.csr_matrix(x))):
        result = fit(Memory(design, y), Squared(1), penalty, solver=Stochastic("saga"), max_iter=3000)
        assert result.verdict.kind == "optimal", result.verdict.sentence


@pytest.mark.parametrize("solver", [GradientDescent(step=30.0), Stochastic(step=30.0), Stochastic("saga", step=30.0)])
def test_a_step_too_large_is_recorded_and_ends_in_words(solver):
    _, dense, y, _ = data(Squared(1))
    penalty = Ridge(0.1, np.r_[0.0, np.ones(dense.shape[1] - 1)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = fit(Memory(as_design(dense[:, 1:]), y), Squared(1), penalty, solver=solver)
    assert result.verdict.kind == "budget"
    assert "no longer finite" in result.verdict.sentence
    values = result.trace.column("objective")
    assert not np.isfinite(values[-1])
    assert values[1] > values[0]
