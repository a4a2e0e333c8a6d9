"""Laws every solver obeys: one optimum, weights as repeats, permutations, the balance property, any partition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse

from lineal.designs import Categorical, Dense, HStack, Ones, as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import (
    Logistic,
    Softmax,
    Squared,
)
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.solvers import BY_NAME, GradientDescent
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block
from tests.laws.catalogue import minimised, targets


def suits(solver, loss):
    """Whether a solver takes a small ridge problem with this loss."""
    y = np.array([[0.0], [1.0]]) if loss.coupled else np.zeros((2, loss.outputs))
    problem = Problem.of(Memory(as_design([[1.0], [2.0]]), y), loss, Ridge(1.0, np.ones(2)))
    return BY_NAME[solver]().refuses(problem) is None


LOSSES = minimised(smooth=True)
CORNERED = minimised(smooth=False)
NEAR = ("sgd", "mini-batch")
"""Solvers that come near an optimum and rarely to it; tests/laws/test_stochastic.py has their laws."""
EXACT = [name for name in BY_NAME if name not in NEAR]
PAIRS = [(solver, loss) for solver in EXACT for loss in [*LOSSES, *CORNERED] if suits(solver, loss)]
TOL = 1e-9
ROUNDING = 1e-14


def data(loss, seed=0, n=80, p=4):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) * np.array([1.0, 10.0, 0.1, 1.0])[:p] + np.array([0.0, 5.0, 0.0, -1.0])[:p]
    truth = rng.normal(size=(p, loss.outputs)) / np.array([1.0, 10.0, 0.1, 1.0])[:p, None]
    eta = x @ truth
    y = targets(loss, eta, rng)
    return x, y, rng


def penalty_of(columns, strength=0.05):
    return Ridge(strength, np.r_[0.0, np.ones(columns - 1)])


def ids(value):
    return f"{value.name}{value.outputs}" if hasattr(value, "outputs") else str(value)


@pytest.mark.parametrize(("solver", "loss"), PAIRS, ids=ids)
def test_reaches_the_optimum_that_scipy_finds(solver, loss):
    x, y, _ = data(loss)
    design = as_design(x)
    dense = design.dense()
    penalty = penalty_of(5)
    result = fit(Memory(design, y), loss, penalty, solver=solver, tol=TOL)
    assert result.verdict.kind == "optimal", result.verdict.sentence
    assert result.solver == solver

    def objective(flat):
        coef = flat.reshape(result.coef.shape)
        value = float(np.mean(loss.value(y, dense @ coef))) + penalty.value(coef)
        gradient = dense.T @ loss.slope(y, dense @ coef) / len(y) + penalty.gradient(coef)
        return value, gradient.ravel()

    found = optimize.minimize(
        objective, np.zeros(result.coef.size), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}
    )
    assert result.objective <= found.fun + 1e-9 * (1 + abs(found.fun))
    assert result.objective - result.verdict.gap <= found.fun + ROUNDING  # both objectives are rounded doubles


@pytest.mark.parametrize("loss", LOSSES, ids=ids)
def test_weight_three_is_a_row_seen_three_times_and_weight_zero_is_absence(loss):
    x, y, rng = data(loss)
    weight = rng.choice([0.0, 1.0, 3.0], size=len(x))
    times = weight.astype(int)
    x_bad, y_bad = x.copy(), y.copy()
    x_bad[weight == 0.0] = 1e10
    weighted = fit(Memory(as_design(x_bad), y_bad, weight), loss, penalty_of(5), tol=1e-12)
    repeated = fit(
        Memory(as_design(np.repeat(x, times, axis=0)), np.repeat(y, times, axis=0)), loss, penalty_of(5), tol=1e-12
    )
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-7, atol=1e-9)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=ids)
def test_permuting_columns_permutes_coefficients(loss):
    x, y, rng = data(loss)
    order = rng.permutation(4)
    plain = fit(Memory(as_design(x), y), loss, penalty_of(5), tol=1e-12)
    moved = fit(Memory(as_design(x[:, order]), y), loss, penalty_of(5), tol=1e-12)
    np.testing.assert_allclose(moved.coef[1:], plain.coef[1:][order], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=ids)
def test_balance_the_mean_prediction_is_the_mean_target(loss):
    """An unpenalized intercept makes the weighted residuals sum to zero."""
    x, y, rng = data(loss)
    weight = rng.uniform(0.5, 2.0, size=len(x))
    design = as_design(x)
    result = fit(Memory(design, y, weight), loss, penalty_of(5), tol=1e-12)
    slope = loss.slope(y, design.times(result.coef))
    np.testing.assert_allclose(weight @ slope / weight.sum(), 0.0, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES, ids=ids)
def test_offset_of_a_known_part_gives_the_rest(loss):
    x, y, rng = data(loss)
    shift = rng.normal(size=(4, loss.outputs)) * 0.1
    offset = x @ shift
    plain = fit(Memory(as_design(x), y), loss, NoPenalty(5), tol=1e-12)
    moved = fit(Memory(as_design(x), y, None, offset), loss, NoPenalty(5), tol=1e-12)
    assert moved.objective == pytest.approx(plain.objective, rel=1e-9)
    gauge = shift - shift.mean(axis=1, keepdims=True) if loss.coupled else shift
    np.testing.assert_allclose(moved.coef[1:] + gauge, plain.coef[1:], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("solver", "loss"), [(solver, loss) for solver, loss in PAIRS if loss in LOSSES], ids=ids)
def test_any_partition_gives_the_same_fit(solver, loss):
    x, y, rng = data(loss)
    weight = rng.uniform(0.5, 2.0, size=len(x))
    design = as_design(x)
    blocks = [Block(design.slice(a, b), y[a:b], weight[a:b]) for a, b in ((0, 1), (1, 30), (30, 30), (30, 80))]
    whole = fit(Memory(design, y, weight), loss, penalty_of(5), solver=solver)
    parts = fit(Blocks(blocks), loss, penalty_of(5), solver=solver)
    assert parts.verdict.kind == whole.verdict.kind == "optimal"
    assert abs(parts.objective - whole.objective) <= parts.verdict.gap + whole.verdict.gap + ROUNDING


@pytest.mark.parametrize("loss", LOSSES, ids=ids)
def test_every_storage_gives_the_same_fit(loss):
    x, y, rng = data(loss, n=60)
    x = np.round(x * 4) / 4  # exact in float32
    x[np.abs(x) < 0.5] = 0.0
    codes = rng.integers(-1, 3, size=60).astype(np.int32)
    hot = (codes[:, None] == np.arange(3)).astype(float)
    dense = fit(Memory(as_design(np.hstack([x, hot])), y), loss, penalty_of(8), tol=1e-12)
    readonly = x.astype(np.float32)
    readonly.flags.writeable = False
    designs = {
        "float32": HStack([Ones(60), Dense(readonly), Categorical(codes, 3)]),
        "fortran": HStack([Ones(60), Dense(np.asfortranarray(x)), Categorical(codes, 3)]),
        "csr": as_design(sparse.csr_matrix(np.hstack([x, hot]))),
        "csc": as_design(sparse.csc_matrix(np.hstack([x, hot]))),
    }
    for name, design in designs.items():
        other = fit(Memory(design, y), loss, penalty_of(8), tol=1e-12)
        np.testing.assert_allclose(other.coef, dense.coef, rtol=1e-6, atol=1e-8, err_msg=name)


def test_large_tables_are_warmed_up_on_subsamples():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90_000, 3))
    x = x[np.argsort(x[:, 0])]  # sorted rows: a prefix would be a terrible sample
    y = (x[:, :1] + rng.logistic(size=(90_000, 1)) > 0).astype(float)
    result = fit(Memory(as_design(x), y), Logistic(), penalty_of(4, 1e-4))
    assert result.verdict.kind == "optimal"
    assert len(result.trace) <= 4


def test_n_below_p_is_solved_with_ridge_and_not_unique_without():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(10, 25)), rng.normal(size=(10, 1))
    ridge = fit(Memory(as_design(x), y), Squared(1), penalty_of(26, 0.1))
    assert ridge.verdict.kind == "optimal"
    plain = fit(Memory(as_design(x), y), Squared(1), NoPenalty(26))
    assert plain.verdict.kind == "not_unique"
    np.testing.assert_allclose(as_design(x).times(plain.coef), y, atol=1e-9)
    centred = x - x.mean(axis=0)
    np.testing.assert_allclose(plain.coef[1:], np.linalg.pinv(centred) @ (y - y.mean()), atol=1e-9)


def test_one_row():
    result = fit(Memory(as_design([[2.0]]), np.array([[3.0]])), Squared(1), NoPenalty(2))
    assert result.verdict.kind == "not_unique"
    assert result.coef[0, 0] + 2.0 * result.coef[1, 0] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("x", "y", "weight", "match"),
    [
        ([[1.0], [np.nan]], [[0.0], [1.0]], None, "x0"),
        ([[1.0], [np.inf]], [[0.0], [1.0]], None, "x0"),
        ([[1.0], [2.0]], [[0.0], [np.nan]], None, "target"),
        ([[1.0], [2.0]], [[0.0], [1.0]], [0.0, 0.0], "no rows"),
        ([[1.0], [2.0]], [[0.0], [1.0]], [1.0, -1.0], "weights"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_words(x, y, weight, match):
    source = Memory(as_design(x), np.array(y), None if weight is None else np.array(weight))
    with pytest.raises(InputError, match=match):
        fit(source, Squared(1), NoPenalty(2))


def test_an_empty_table_is_refused():
    with pytest.raises(InputError, match="no rows"):
        fit(Memory(as_design(np.zeros((0, 2))), np.zeros((0, 1))), Squared(1), NoPenalty(3))


def test_unknown_and_unsuitable_solvers_are_refused():
    x, y, _ = data(Logistic())
    with pytest.raises(InputError, match="'newton'"):
        fit(Memory(as_design(x), y), Logistic(), penalty_of(5), solver="newtn")
    with pytest.raises(InputError, match="closed form"):
        fit(Memory(as_design(x), y), Logistic(), penalty_of(5), solver="direct")


def test_interrupt_is_raised_or_becomes_a_budget():
    x, y, _ = data(Logistic())

    def stop(record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(Memory(as_design(x), y), Logistic(), penalty_of(5), progress=stop)
    result = fit(Memory(as_design(x), y), Logistic(), penalty_of(5), progress=stop, interrupt="budget")
    assert result.verdict.kind == "budget"
    assert "interrupted" in result.verdict.sentence


def test_time_limit_is_a_budget():
    x, y, _ = data(Logistic())
    result = fit(
        Memory(as_design(x), y), Logistic(), penalty_of(5), time_limit=1e-9, tol=1e-14, solver="gradient-descent"
    )
    assert result.verdict.kind == "budget"
    assert "time limit" in result.verdict.sentence


@pytest.mark.parametrize("penalty", [NoPenalty(5), penalty_of(5)], ids=["none", "ridge"])
def test_steps_too_long_are_said_to_be_so(penalty):
    """Coefficients of 1e154 overflow a ridge (and 0 times infinity no penalty at all); nothing has bounds here."""
    x, y, _ = data(Squared(1))
    result = fit(Memory(as_design(x), y), Squared(1), penalty, solver=GradientDescent(step=50.0))
    assert result.verdict.kind == "budget"
    assert "steps were too long" in result.verdict.sentence
    assert "bounds" not in result.verdict.sentence
    assert result.trace.records[-1].note == "diverged"


@pytest.mark.parametrize("solver", ["newton-cg"])
@pytest.mark.parametrize("trap", ["plain", "rare rows", "weights", "two blocks"])
def test_a_table_of_many_rows_is_proven_though_products_look_at_few_of_them(solver, trap):
    """Newton-CG samples the rows of its second derivative; the optimum and its proof are those of all rows."""
    rng = np.random.default_rng(5)
    n, p, loss = 45_000, 3, Softmax(3)
    x = rng.normal(size=(n, p)) + np.array([0.0, 20.0, -1.0])
    if trap == "rare rows":
        x[:, 0] = 0.0
        x[rng.choice(n, 6, replace=False), 0] = 50.0
    eta = (x - x.mean(axis=0)) @ rng.normal(size=(p, 3))
    y = np.argmax(eta + rng.gumbel(size=(n, 3)), axis=1)[:, None].astype(float)
    weight = np.exp(3.0 * rng.normal(size=n)) if trap == "weights" else None
    design = as_design(x)
    halves = [Block(design.slice(0, 20_000), y[:20_000]), Block(design.slice(20_000, n), y[20_000:])]
    source = Blocks(halves) if trap == "two blocks" else Memory(design, y, weight)
    penalty = penalty_of(p + 1, 1e-4)
    result = fit(source, loss, penalty, solver=solver, tol=1e-8)
    assert result.verdict.kind == "optimal", result.verdict.sentence
    other = fit(source, loss, penalty, solver="newton", tol=1e-12)
    assert (
        0.0
        <= result.objective - other.objective + other.verdict.gap
        <= result.verdict.gap + other.verdict.gap + ROUNDING
    )


@pytest.mark.parametrize("trap", ["plain", "far from zero", "units", "read-only", "wider rows", "Fortran"])
def test_rows_in_single_precision_are_fitted_to_all_digits(trap):
    """Newton-CG may take its products in floats; what it reaches and what is proven is in doubles."""
    rng = np.random.default_rng(6)
    n, p, loss = 900, 18, Softmax(4)
    z = rng.normal(size=(n, p))
    y = np.argmax(z @ rng.normal(size=(p, 4)) + rng.gumbel(size=(n, 4)), axis=1)[:, None].astype(float)
    spread = {"far from zero": 1e-3, "units": np.logspace(-30, 30, p)}.get(trap, 1.0)
    x = (z * spread + (1.0 if trap == "far from zero" else 0.0)).astype(np.float32)
    if trap == "wider rows":
        x = np.hstack([x, np.full((n, 3), np.nan, dtype=np.float32)])[:, :p]
    x = np.asfortranarray(x) if trap == "Fortran" else x
    x.flags.writeable = trap != "read-only"
    penalty = Ridge(1e-3, np.r_[0.0, np.var(x.astype(float), axis=0)])
    result = fit(Memory(as_design(x), y), loss, penalty, solver="newton-cg", tol=1e-10)
    assert result.verdict.kind == "optimal", result.verdict.sentence
    other = fit(Memory(as_design(x.astype(float)), y), loss, penalty, solver="newton", tol=1e-10)
    assert abs(result.objective - other.objective) <= max(result.verdict.gap, other.verdict.gap) + ROUNDING


def test_newton_keeps_its_last_second_derivative_on_long_tables():
    """The last steps of a long table take gradients only: the optimum is the same, and the slopes prove it."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(120_000, 30))
    y = (rng.random((120_000, 1)) < 1 / (1 + np.exp(-x @ rng.normal(size=(30, 1))))).astype(float)
    penalty = Ridge(1e-3, np.r_[0.0, np.ones(30)])
    quick = fit(Memory(as_design(x), y), Logistic(), penalty, tol=1e-9)
    exact = fit(Memory(as_design(x), y), Logistic(), penalty, tol=1e-13)
    assert (quick.verdict.kind, exact.verdict.kind) == ("optimal", "optimal")
    assert quick.objective - exact.objective <= quick.verdict.gap
    assert quick.verdict.relative_gap <= 1e-10
    assert quick.problem.passes == list(quick.trace)[-1].passes  # no pass for the proof
    assert 0.5e-3 * np.sum((quick.coef - exact.coef)[1:] ** 2) <= quick.verdict.gap
    wide = np.hstack([np.ones((len(x), 1)), x])
    slope = 1 / (1 + np.exp(-wide @ exact.coef)) - y
    penalty_factor = np.r_[0.0, np.full(30, 1e-3)][:, None]
    np.testing.assert_allclose(wide.T @ slope / len(x) + penalty_factor * exact.coef, 0.0, atol=1e-10)
