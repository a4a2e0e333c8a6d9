"""Offsets: a constant one moves the intercept and nothing else; the baseline is the best constant for any."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from lineal import LogisticRegression, PoissonRegressor, path
from lineal.certify.baseline import baseline_fit
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import (
    Absolute,
    CrammerSinger,
    Huber,
    Logistic,
    Poisson,
    Softmax,
    Sparsemax,
    Squared,
    SquaredHinge,
)
from lineal.penalties import Bounds, NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block
from tests.laws.catalogue import minimised
from tests.laws.optimum import Reference

LOSSES = minimised()
ONE_SCORE = [loss for loss in LOSSES if loss.outputs == 1]


def name(value):
    return f"{value.name}-{value.outputs}" if hasattr(value, "name") else None


def target(rng, loss, n):
    if loss.targets == "counts":
        return rng.poisson(1.5, size=(n, 1)).astype(float)
    if loss.targets == "two classes":
        return np.arange(n)[:, None] % 2 * 1.0
    if loss.coupled:
        return np.arange(n)[:, None] % 3 * 1.0
    return rng.normal(size=(n, loss.outputs))


def parameter(loss):
    return next(iter(loss.parameters().values()), 0.0)


def best_constant(loss, y, weight, offset, start):
    """Return the least mean loss of a constant score (per output), from formulas of its own in fifty digits."""
    ones = np.ones((len(y), 1))
    found = Reference(loss.name, parameter(loss), loss.outputs, ones, y, weight, offset, np.zeros(1))
    value, _, settled = found.optimum(start)
    assert settled
    return float(value)


@pytest.mark.parametrize("loss", LOSSES, ids=name)
@pytest.mark.parametrize("constant", [0.1, -3.0, 100.0, -1000.0, 1e6])
@pytest.mark.parametrize("strength", [0.1, 0.0])
def test_a_constant_offset_moves_the_intercept_and_nothing_else(loss, constant, strength):
    rng = np.random.default_rng(7)
    n = 40
    x, y = rng.normal(size=(n, 2)), target(rng, loss, n)
    weight = rng.choice([0.5, 1.0, 3.0], size=n)
    moved = constant * (1.0 + np.arange(loss.outputs))
    penalty = Ridge(strength, np.array([0.0, 1.0, 1.0])) if strength else NoPenalty(3)
    plain = fit(Memory(as_design(x), y, weight), loss, penalty)
    found = fit(Memory(as_design(x), y, weight, np.tile(moved, (n, 1))), loss, penalty)
    assert found.verdict.kind == plain.verdict.kind
    # an intercept of 1e6 is rounded to 1e-10, which a loss with corners feels in full
    rounding = 4e-16 * abs(constant) * 3
    np.testing.assert_allclose(found.coef[1:], plain.coef[1:], rtol=1e-6, atol=1e-6)
    shared = moved.mean() if loss.coupled else 0.0  # moves no score's place among those of a row, and no intercept
    np.testing.assert_allclose(found.coef[0] + moved - shared, plain.coef[0], rtol=1e-6, atol=1e-6)
    assert found.objective == pytest.approx(plain.objective, rel=1e-10, abs=rounding)
    if plain.verdict.kind == "optimal":
        ours, theirs = (one.verdict.evidence["null_objective"] for one in (found, plain))
        assert ours == pytest.approx(theirs, rel=1e-12)
        assert found.verdict.relative_gap <= max(1e-6, 2.0 * plain.verdict.relative_gap)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ONE_SCORE, ids=name)
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 1e3, 1e6])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_the_null_fit_is_the_best_constant_for_any_offset(loss, size, shift):
    rng = np.random.default_rng(int(size * 1e3) + int(shift))
    n = 12
    x, y = rng.normal(size=(n, 1)), target(rng, loss, n)
    offset = shift + size * rng.normal(size=(n, 1))
    weight = np.where(np.arange(n) == 4, 0.0, rng.choice([0.5, 1.0, 3.0], size=n))
    offset[4] = 1e30  # of no weight, so that nobody looks
    problem = Problem.of(Memory(as_design(x), y, weight, offset), loss, Ridge(0.1, np.array([0.0, 1.0])))
    found = baseline_fit(problem)
    true = best_constant(loss, y, weight, offset, found.coef[:1])
    assert found.value == pytest.approx(true, rel=1e-10, abs=1e-9 * (shift + size) * 1e-6)


@pytest.mark.parametrize("loss", [Softmax(3), Sparsemax(3), CrammerSinger(3)], ids=name)
@pytest.mark.parametrize("size", [1.0, 1e3])
def test_the_null_fit_of_several_scores_is_the_best_constant(loss, size):
    rng = np.random.default_rng(3)
    n = 12
    y, offset = target(rng, loss, n), size * rng.normal(size=(n, 3))
    problem = Problem.of(
        Memory(as_design(rng.normal(size=(n, 1))), y, None, offset), loss, Ridge(0.1, np.array([0.0, 1.0]))
    )
    found = baseline_fit(problem)
    assert found.value == pytest.approx(best_constant(loss, y, None, offset, found.coef[:1]), rel=1e-9)


@pytest.mark.parametrize("loss", [Squared(1), Huber(0.7), Logistic(), Poisson(), SquaredHinge()], ids=name)
@pytest.mark.parametrize("size", [1.0, 300.0])
def test_the_null_fit_of_several_unpenalized_columns_is_their_best(loss, size):
    rng = np.random.default_rng(5)
    n = 14
    x, y, offset = rng.normal(size=(n, 2)), target(rng, loss, n), size * rng.normal(size=(n, 1))
    x[:, 0] = (np.arange(n) // 2 % 2) * 1.0  # a group within which the classes are mixed
    problem = Problem.of(Memory(as_design(x), y, None, offset), loss, Ridge(0.1, np.array([0.0, 0.0, 1.0])))
    found, design = baseline_fit(problem), as_design(x).dense()[:, :2]
    true, _, settled = Reference(
        loss.name, parameter(loss), 1, design, y, None, offset, np.zeros(2)
    ).optimum(found.coef[:2])  # fmt: skip
    assert settled
    assert found.value == pytest.approx(float(true), rel=1e-10)


@pytest.mark.parametrize("loss", [Squared(1), Huber(0.7), Logistic(), Poisson(), SquaredHinge(), Softmax(3)], ids=name)
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_gap_with_offsets_holds_and_is_small(loss, size, intercept):
    """Against optima in fifty digits: of the whole problem, and of the best constant."""
    rng = np.random.default_rng(int(size * 1e3))
    n, k = 12, loss.outputs
    x, y, offset = rng.normal(size=(n, 2)), target(rng, loss, n), 5.0 + size * rng.normal(size=(n, k))
    design = as_design(x, intercept=intercept)
    penalty_factors = np.array([0.0, 1.0, 1.0])[int(not intercept) :]
    found = fit(Memory(design, y, None, offset), loss, Ridge(0.1, penalty_factors))
    whole = Reference(loss.name, parameter(loss), k, design.dense(), y, None, offset, 0.1 * penalty_factors)
    best, _, settled = whole.optimum(found.coef)
    assert settled
    assert found.verdict.kind == "optimal"
    apart = float(whole.value(found.coef.tolist()) - best)
    alone = design.dense()[:, : int(intercept)]
    start = baseline_fit(found.problem).coef[: int(intercept)]
    rest, _, _ = Reference(loss.name, parameter(loss), k, alone, y, None, offset, np.zeros(int(intercept))).optimum(
        start
    )
    assert apart <= found.verdict.gap * (1.0 + 1e-9) + 1e-16
    assert apart <= 1e-6 * float(rest - best)


def test_the_issue():
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(30, 3)), rng.poisson(2.0, 30), np.arange(30) % 2
    plain, far = PoissonRegressor().fit(x, y), PoissonRegressor().fit(x, y, offset=np.full(30, 100.0))
    assert far.objective_ == pytest.approx(plain.objective_, rel=1e-13)
    assert far.intercept_ == pytest.approx(plain.intercept_ - 100.0, abs=1e-6)
    steps = [len(LogisticRegression().fit(x, z, offset=np.full(30, c)).trace_) for c in (0.0, 1e3, 1e6)]
    assert max(steps) <= steps[0] + 1


@pytest.mark.parametrize("constant", [1e12, -1e15, 1e17])
def test_an_intercept_without_enough_digits_is_said(constant):
    """At 1e15 an intercept has a step of 1/8: what is given is what is judged."""
    rng = np.random.default_rng(1)
    n = 30
    x, y, offset = rng.normal(size=(n, 2)), np.arange(n)[:, None] % 2 * 1.0, np.full((n, 1), constant)
    found = fit(Memory(as_design(x), y, None, offset), Logistic(), Ridge(0.1, np.array([0.0, 1.0, 1.0])))
    whole = Reference("logistic", 0.0, 1, as_design(x).dense(), y, None, offset, [0.0, 0.1, 0.1])
    best = whole.optimum(found.coef)[0]
    apart = float(whole.value(found.coef.tolist()) - best)
    assert found.verdict.gap is None or apart <= found.verdict.gap * (1.0 + 1e-9)
    if abs(constant) >= 1e15:
        assert found.verdict.kind == "budget"
        assert "too few digits" in found.verdict.sentence


@pytest.mark.parametrize("offset", [1000.0, -1e9])
def test_exponentials_beyond_doubles_are_refused_in_words(offset):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 2)), rng.poisson(2.0, 20)
    with pytest.raises(InputError, match="give the model an intercept"):
        PoissonRegressor(fit_intercept=False).fit(x, y, offset=np.full(20, offset))


def test_offsets_whose_squares_overflow_are_refused_in_words():
    with pytest.raises(InputError, match="change its unit"):
        PoissonRegressor().fit(np.arange(4.0)[:, None], np.arange(4), offset=np.full(4, 1e200))


def test_bounds_that_exclude_zero_leave_a_finite_yardstick():
    """The baseline of a loss with corners was taken outside the bounds: infinite, so that any gap was a small share of it."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
    lower, upper = np.array([-np.inf, 0.5, -np.inf]), np.array([np.inf, np.inf, np.inf])
    found = baseline_fit(Problem.of(Memory(as_design(x), y), Absolute(), Bounds(lower, upper, NoPenalty(3))))
    rest = y[:, 0] - 0.5 * x[:, 0]
    # the other column is neither penalized nor bounded: a best line of least absolute residuals goes through two rows
    lines = ((i, j, (rest[i] - rest[j]) / (x[i, 1] - x[j, 1])) for i in range(30) for j in range(i))
    best = min(np.mean(np.abs(rest - rest[i] - slope * (x[:, 1] - x[i, 1]))) for i, j, slope in lines)
    assert found.value == pytest.approx(best, rel=1e-12)


def test_offsets_in_blocks_are_levelled_alike():
    rng = np.random.default_rng(2)
    n = 30
    x, y, offset = rng.normal(size=(n, 2)), np.arange(n)[:, None] % 2 * 1.0, 1e6 + rng.normal(size=(n, 1))
    parts = [Block(as_design(x[i : i + 10]), y[i : i + 10], None, offset[i : i + 10]) for i in (0, 10, 20)]
    penalty = Ridge(0.1, np.array([0.0, 1.0, 1.0]))
    whole, split = (fit(s, Logistic(), penalty) for s in (Memory(as_design(x), y, None, offset), Blocks(parts)))
    assert whole.verdict.kind == split.verdict.kind == "optimal"
    np.testing.assert_allclose(whole.coef, split.coef, rtol=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "squared", "poisson"])
def test_a_path_with_a_constant_offset_is_the_path_without(loss):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(40, 5)), np.arange(40) % 2 * 1.0
    plain = path(x, y, loss=loss, penalty="l1", strengths=6)
    moved = path(x, y, loss=loss, penalty="l1", strengths=6, offset=np.full(40, 500.0))
    np.testing.assert_allclose(moved.strengths, plain.strengths, rtol=1e-9)
    np.testing.assert_allclose(moved.coef[:, 1:], plain.coef[:, 1:], atol=1e-6)
    np.testing.assert_allclose(moved.coef[:, 0] + 500.0, plain.coef[:, 0], atol=1e-6)
    assert {verdict.kind for verdict in moved.verdicts} == {"optimal"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["logistic", "poisson", "linear", "huber:0.7", "quantile:0.3", "svm", "squared-hinge"]
)
@pytest.mark.parametrize("kind", ["constant", "far", "varying"])
def test_the_checker_agrees_about_offsets(tmp_path, model, kind):
    rng = np.random.default_rng(8)
    n = 40
    x, steps = rng.normal(size=n), np.arange(n)
    y = (
        rng.poisson(2.0, n)
        if model == "poisson"
        else steps % 2
        if model in {"logistic", "svm", "squared-hinge"}
        else x + rng.normal(size=n)
    )
    offset = {"constant": np.full(n, 300.0), "far": 1e5 + rng.normal(size=n), "varying": rng.normal(size=n)}[kind]
    offset = (
        20.0 * offset if kind == "varying" and model != "poisson" else offset
    )  # e^60 is beyond what the checker proves
    lines = ["x,y,o", *(f"{a!r},{b!r},{c!r}" for a, b, c in zip(x.tolist(), y.tolist(), offset.tolist(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    run = [sys.executable, "-m", "lineal"]
    given = ["fit", "t.csv", "--target", "y", "--offset", "o", "--model", model, "--penalty", "ridge:0.1"]
    made = subprocess.run(
        [*run, *given, "--test-size", "0", "-o", "m.lineal", "--accept"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    checked = subprocess.run(
        [*run, "verify", "m.lineal", "t.csv"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, made.stdout + checked.stdout + checked.stderr
