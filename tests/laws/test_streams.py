"""Streams of rows that are learned from once, and schedules of steps: what they cost, keep and refuse."""

from __future__ import annotations

import numpy as np
import pytest

import lineal
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import (
    Hinge,
    Logistic,
    Poisson,
    Softmax,
    Sparsemax,
    Squared,
)
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.penalties import Bounds, ElasticNet, Group, NoPenalty, Ridge
from lineal.solvers import GradientDescent
from lineal.solvers.learner import State
from lineal.solvers.schedules import Schedule
from lineal.solvers.stochastic import Stochastic
from lineal.sources.memory import Memory
from lineal.sources.source import Block
from tests.laws.stochastic_data import by_hand, data, ids, penalties


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
