"""Laws of stochastic methods: what a step is, in which order rows come, what is proven, what a stream costs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import lineal
from lineal.designs import Categorical, Dense, Ones, Sparse, Stack, as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import (
    Absolute,
    CrammerSinger,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Quantile,
    Softmax,
    Sparsemax,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.penalties import L1, Bounds, ElasticNet, Group, NoPenalty, Ridge
from lineal.solvers import GradientDescent, presentation
from lineal.solvers.learner import Frame, Learner, Saga, State
from lineal.solvers.presentation import hashed, window, windows
from lineal.solvers.schedules import Schedule
from lineal.solvers.stochastic import Stochastic
from lineal.sources.memory import Memory
from lineal.sources.source import Block, Source

CLASSES = [Logistic(), Hinge(), SquaredHinge()]
NUMBERS = [
    Squared(1),
    Squared(2),
    Huber(0.7),
    EpsilonInsensitive(0.2),
    SquaredEpsilonInsensitive(0.2),
    Absolute(),
    Quantile(0.3),
]
LOSSES = [*CLASSES, *NUMBERS, Softmax(3), CrammerSinger(3), Poisson()]
SMOOTH = [loss for loss in LOSSES if loss.smooth and loss.name != "poisson"]


def penalties(columns):
    charges = np.r_[0.0, np.linspace(0.5, 2.0, columns - 1)]
    return [NoPenalty(columns), Ridge(0.1, charges), L1(0.05, charges), ElasticNet(0.1, 0.5, charges)]


def data(loss, n=60, seed=0, zeros=0.5):
    """A design with ones, dense, sparse and categorical columns, as a stack and as one dense array."""
    rng = np.random.default_rng(seed)
    thin = rng.normal(size=(n, 6)) * (rng.uniform(size=(n, 6)) > zeros)
    codes = rng.integers(-1, 3, size=n).astype(np.int32)
    plain = rng.normal(size=(n, 3))
    stack = Stack([Ones(n), Dense(plain), Sparse(sparse.csr_matrix(thin)), Categorical(codes, 3)])
    dense = stack.dense()
    eta = dense @ rng.normal(size=(dense.shape[1], loss.outputs))
    if loss in CLASSES:
        y = (eta + rng.logistic(size=eta.shape) > 0).astype(float)
    elif loss.coupled:
        y = np.argmax(eta + rng.gumbel(size=eta.shape), axis=1)[:, None].astype(float)
    elif loss.name == "poisson":
        y = rng.poisson(np.exp(0.2 * eta)).astype(float)
    else:
        y = eta + rng.normal(size=eta.shape)
    return stack, dense, y, rng


def ids(value):
    return f"{value.name}{value.outputs}" if hasattr(value, "outputs") else getattr(value, "name", str(value))


def by_hand(loss, penalty, dense, y, weight, offset, order, *, step, batch, factor, saga=False, table=None, start=None):
    """The steps as they are defined, one column like the other: the iterates, and the losses before each was learned."""
    coef = np.zeros((dense.shape[1], loss.outputs)) if start is None else start.copy()
    table = np.zeros((len(dense), loss.outputs)) if table is None else table
    mean = dense.T @ (factor * weight[:, None] * table) / len(order)
    iterates, losses = [], 0.0
    for at in range(0, len(order), batch):
        rows = order[at : at + batch]
        x, eta = dense[rows], dense[rows] @ coef + offset[rows]
        losses += float(np.sum(weight[rows] * loss.value(y[rows], eta)))
        slope = loss.slope(y[rows], eta)
        change = slope - table[rows] if saga else slope
        gradient = x.T @ (factor * weight[rows][:, None] * change) / len(rows)
        coef = penalty.prox(coef - step * (gradient + (mean if saga else 0.0)), np.full(len(coef), step))
        mean = mean + gradient * len(rows) / len(order)
        table[rows] = slope
        iterates.append(coef)
    return iterates, losses, table, mean


@pytest.mark.parametrize("loss", LOSSES, ids=ids)
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("saga", [False, True])
@pytest.mark.parametrize("number", range(4), ids=["none", "ridge", "l1", "elastic"])
def test_a_step_is_what_its_formula_says_on_every_storage(loss, batch, saga, number):
    stack, dense, y, rng = data(loss)
    penalty = penalties(dense.shape[1])[number]
    weight, offset = rng.uniform(0.5, 2.0, size=60), 0.1 * rng.normal(size=(60, loss.outputs))
    order = rng.permutation(60)
    step = 0.002 if loss.name == "poisson" else 0.03
    options = {"step": step, "batch": batch, "factor": 0.7, "saga": saga}
    expected, losses, table, mean = by_hand(loss, penalty, dense, y, weight, offset, order, **options)
    for design in (stack, Dense(dense), Sparse(sparse.csr_matrix(dense)), Dense(np.asfortranarray(dense))):
        columns = dense.shape[1]
        learner = Learner(
            loss, penalty, Schedule("constant", step), Frame(np.ones(columns)), np.zeros((columns, loss.outputs)),
            batch=batch, average=1, weight=0.7, saga=Saga(np.zeros((columns, loss.outputs)), 60) if saga else None,
        )  # fmt: skip
        rows = window([Block(design, y, weight, offset)])
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
    learner.learn(window([Block(Sparse(sparse.csr_matrix(dense)), y)]).segments, order, drift.copy())
    np.testing.assert_allclose(learner.coef, expected[-1], rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(learner.result, np.mean(expected, axis=0), rtol=1e-5, atol=1e-8)


# without a penalty, losses of classes may have no optimum and those of numbers several
BOUNDED = [(loss, number) for loss in SMOOTH for number in range(4) if number > 0 or loss.name == "squared"]


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
    monkeypatch.setattr(presentation, "CELLS", cells)
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
        # the null fit where steps begin is a sum over blocks, too
        np.testing.assert_allclose(other.coef, fits[0].coef, rtol=0, atol=1e-12 * start)
    assert np.array_equal(fit(sources[0], Logistic(), penalty, solver=solver, max_iter=4, tol=0.0).coef, fits[0].coef)


def test_the_order_is_a_hash_of_seed_epoch_and_row():
    rows = window([Block(as_design(np.zeros((500, 1))), np.zeros((500, 1)), np.arange(500.0) % 5)])
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
    monkeypatch.setattr(presentation, "CELLS", 1)
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
            fit(Memory(Stack([Ones(80), Dense(np.ascontiguousarray(array[:, 1:]))]), target, weight, columns=columns),
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


def test_too_small_too_large_just_right_and_shrinking():
    """The picture of the notes: how far some steps of each size come."""
    _, dense, y, _ = data(Squared(1), n=200)
    penalty = Ridge(0.1, np.r_[0.0, np.ones(dense.shape[1] - 1)])

    def after(solver, epochs=8):
        found = fit(Memory(as_design(dense[:, 1:]), y), Squared(1), penalty, solver=solver, max_iter=epochs, tol=0.0)
        return found.trace.column("objective")

    small, right, large = (after(GradientDescent(step=step)) for step in (1e-3, 0.5, 3.0))
    assert small[0] == right[0] == large[0]
    assert right[-1] < small[-1] < small[0] < large[-1]
    best = fit(Memory(as_design(dense[:, 1:]), y), Squared(1), penalty).objective
    noisy = after(Stochastic(step=0.05), epochs=40)
    shrinking = after(Stochastic(step=0.05, schedule="invscaling"), epochs=40)
    assert shrinking[-1] - best < 0.2 * (noisy[-1] - best)


EXACT = {
    "constant": lambda _: 0.5,
    "adaptive": lambda _: 0.5,
    "invscaling": lambda t: 0.5 / t**0.4,
    "optimal": lambda t: 1.0 / (0.01 * (t + 200.0 - 1.0)),
}


@pytest.mark.parametrize("name", EXACT)
def test_schedules_follow_their_formula_to_a_twentieth_and_in_the_same_stretches_from_anywhere(name):
    schedule = Schedule(name, first=0.5, power=0.4, delay=200.0)
    assert schedule.at(1) == 0.5
    sizes = [schedule.at(t) for t in range(1, 3000)]
    for t in (*range(1, 3000, 7), 10**6, 10**9 + 7):
        assert EXACT[name](t) * (1 - 1e-12) <= schedule.at(t) <= 1.05 * EXACT[name](t) * (1 + 1e-12)
        lasts = schedule.lasts(t)
        if lasts is None:
            assert set(sizes) == {0.5}
        elif t < 2000:
            assert len(set(sizes[t - 1 : t - 1 + lasts])) == 1


def test_ending_says_why():
    stack, dense, y, _ = data(Squared(1))
    penalty = penalties(dense.shape[1])[1]
    source = Memory(stack, y)
    limited = fit(source, Squared(1), penalty, solver=Stochastic(epochs=3), tol=0.0)
    assert len(limited.trace) == 4
    assert limited.verdict.reason == "the limit of 3 epochs was reached"
    idle = fit(source, Squared(1), penalty, solver=Stochastic(patience=2, least=1e9), tol=0.0)
    assert idle.verdict.reason == "the last 2 epochs brought no more than 1e+11 % of all before"
    noted = fit(source, Squared(1), penalty, solver=Stochastic(schedule="adaptive", patience=1, least=1e9), tol=0.0)
    sizes = [float(note.removeprefix("step size ")) for note in noted.trace.column("note")]
    assert sizes[0] > sizes[-1] > 0.0
    assert noted.verdict.reason.startswith("the last 1 epochs")


@pytest.mark.parametrize(
    ("loss", "penalty", "solver", "words"),
    [
        (Squared(2), Group(0.1, np.r_[0.0, np.ones(12)]), Stochastic(), "'group'"),
        (
            Squared(1),
            Bounds(np.zeros(13), np.full(13, np.inf), NoPenalty(13)),
            Stochastic(),
            "none, ridge, l1 and elastic net",
        ),
        (Sparsemax(3), NoPenalty(13), Stochastic(), "sparsemax"),
        (Poisson(), NoPenalty(13), Stochastic("saga"), "bends without limit"),
        (Hinge(), NoPenalty(13), Stochastic("saga"), "corners"),
        (Squared(1), NoPenalty(13), Stochastic(schedule="optimal"), "no penalty"),
    ],
)
def test_what_has_no_stochastic_step_is_declined_in_words(loss, penalty, solver, words):
    stack, _, y, _ = data(loss)
    with pytest.raises(InputError, match=words):
        fit(Memory(stack, y), loss, penalty, solver=solver)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "sga"}, "sgd, saga"),
        ({"batch": 0}, "at least 1"),
        ({"step": -1.0}, "above zero"),
        ({"schedule": "optimum"}, "Did you mean 'optimal'"),
        ({"method": "saga", "average": True}, "noise vanishes"),
        ({"method": "saga", "schedule": "invscaling"}, "noise vanishes"),
    ],
)
def test_unknown_options_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        Stochastic(**options)


ONCE = [
    Stochastic(step=0.02, scaled=False),
    Stochastic(step=0.05, schedule="invscaling", scaled=False, average=True),
    Stochastic(schedule="optimal", scaled=False, average=25),
]


@pytest.mark.parametrize("solver", ONCE)
@pytest.mark.parametrize("loss", [Logistic(), Squared(1), Softmax(3), Hinge()], ids=ids)
def test_a_stream_costs_the_same_in_any_pieces(solver, loss):
    stack, dense, y, rng = data(loss)
    penalty = ElasticNet(0.1, 0.5, np.r_[0.0, np.ones(dense.shape[1] - 1)])
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], size=60)
    start = State.at(np.zeros((dense.shape[1], loss.outputs)))
    whole = solver.learn(Block(stack, y, weight), loss, penalty, start)
    pieces = start
    for a, b in ((0, 1), (1, 30), (30, 30), (30, 60)):
        pieces = solver.learn(Block(stack.slice(a, b), y[a:b], weight[a:b]), loss, penalty, pieces)
    np.testing.assert_allclose(pieces.coef, whole.coef, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(pieces.result, whole.result, rtol=1e-9, atol=1e-12)
    assert (pieces.rows, pieces.steps, pieces.averaged) == (whole.rows, whole.steps, whole.averaged)
    assert pieces.loss_sum == pytest.approx(whole.loss_sum, rel=1e-12)
    if solver.schedule == "constant":
        order = np.flatnonzero(weight > 0.0)
        expected, losses, *_ = by_hand(
            loss, penalty, dense, y, weight, np.zeros((60, loss.outputs)), order, step=0.02, batch=1, factor=1.0
        )
        assert whole.loss_sum == pytest.approx(losses, rel=1e-10)
        np.testing.assert_allclose(whole.coef, expected[-1], rtol=1e-9, atol=1e-12)
    verdict = whole.verdict()
    assert verdict.kind == "progressive"
    assert verdict.gap is None
    assert verdict.evidence["rows"] == np.count_nonzero(weight)
    assert verdict.evidence["mean"] == pytest.approx(whole.loss_sum / weight.sum())


def test_a_saved_stream_is_continued_as_if_nothing_had_happened(tmp_path):
    stack, dense, y, _ = data(Logistic())
    penalty = Ridge(0.1, np.r_[0.0, np.ones(dense.shape[1] - 1)])
    columns = ("(intercept)", *(f"x{j}" for j in range(dense.shape[1] - 1)))
    solver = ONCE[1]
    start = State.at(np.zeros((dense.shape[1], 1)))
    half = solver.learn(Block(stack.slice(0, 30), y[:30]), Logistic(), penalty, start)
    model = Model(
        half.result, columns, Logistic(), penalty, Target("y", "classes", classes=(0, 1)), half.verdict(),
        training={"rows": 30, "weight_sum": 30.0, "without_target": 0, "split": None, "fingerprint": None},
        arrays=half.arrays(),
    )  # fmt: skip
    model.save(tmp_path / "stream.lineal")
    back = lineal.load(tmp_path / "stream.lineal")
    assert back.verdict.kind == "progressive"
    rest = Block(stack.slice(30, 60), y[30:])
    continued = solver.learn(rest, back.loss, back.penalty, State.of(back.arrays))
    straight = solver.learn(rest, Logistic(), penalty, half)
    np.testing.assert_array_equal(continued.coef, straight.coef)
    np.testing.assert_array_equal(continued.sum, straight.sum)
    assert continued.verdict() == straight.verdict()
    with pytest.raises(InputError, match="nothing to continue"):
        State.of({"coef": back.coef})


@pytest.mark.parametrize(
    ("solver", "words"),
    [
        (Stochastic("saga", scaled=False), "seen once"),
        (Stochastic(scaled=False), "give one"),
        (Stochastic(step=0.1), "scaled=False"),
        (Stochastic(schedule="optimal", scaled=False), "no penalty"),
    ],
)
def test_what_a_stream_cannot_do_is_refused(solver, words):
    stack, dense, y, _ = data(Squared(1))
    with pytest.raises(InputError, match=words):
        solver.learn(Block(stack, y), Squared(1), NoPenalty(13), State.at(np.zeros((dense.shape[1], 1))))


def test_a_schedule_with_an_endless_delay_says_how_long_it_lasts():
    """Columns of 4e15 ask for steps of 1e-31: such a delay was gone through one step at a time, without an end."""
    for delay in (1e3, 1e20, 1e31):
        schedule = Schedule("optimal", first=1.0 / delay, delay=delay)
        lasts = schedule.lasts(1)
        assert lasts is not None
        assert 0.04 * delay < lasts < 0.06 * delay
        assert schedule.at(1) == schedule.at(lasts)
