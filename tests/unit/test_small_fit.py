"""Penalized fits of short tables in one call: against fractions and long doubles, against the long way."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lineal import _core
from lineal.certify import prove
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting import fitting, small_fit
from lineal.losses import Logistic, Poisson, Squared
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.moments import MAX_MAGNITUDE
from lineal.sources.memory import Memory


def called(design, y, weight, square, loss=None, share=1e-11, most=50):
    """Call the core as ``small_fit`` does."""
    loss = Squared() if loss is None else loss
    rows = _core.Rows(design) if isinstance(design, list) else design.rows
    return rows.small_fit(loss.native, y, weight, square, MAX_MAGNITUDE, share, most, loss.unbounded)


def proof_of(found, design, y, weight, square, loss):
    """Return what ``small_fit`` proves of a native fit."""
    problem = small_fit.posed(found, Memory(design, y, weight), loss, Ridge(1.0, square))
    return small_fit.proven(problem, found.coef, found)


def exact(X: np.ndarray, y: np.ndarray, s: np.ndarray, square: np.ndarray) -> list[Fraction]:
    """Solve (X'SX/S + D) b = X'Sy/S in fractions."""
    p = X.shape[1]
    total = sum(map(Fraction, s.tolist()))
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    A = [[Fraction(0)] * (p + 1) for _ in range(p)]
    for row, own, weight in zip(rows, y.tolist(), s.tolist(), strict=True):
        for a in range(p):
            for b in range(p):
                A[a][b] += Fraction(weight) * row[a] * row[b] / total
            A[a][p] += Fraction(weight) * row[a] * Fraction(own) / total
    for a in range(p):
        A[a][a] += Fraction(float(square[a]))
    for a in range(p):
        for b in range(p):
            if b != a:
                factor = A[b][a] / A[a][a]
                A[b] = [u - factor * v for u, v in zip(A[b], A[a], strict=True)]
    return [A[a][p] / A[a][a] for a in range(p)]


def objective(X: np.ndarray, y: np.ndarray, s: np.ndarray, square: np.ndarray, coef: list[Fraction]) -> Fraction:
    total = sum(map(Fraction, s.tolist()))
    value = Fraction(0)
    for row, own, weight in zip(X.tolist(), y.tolist(), s.tolist(), strict=True):
        off = sum((Fraction(v) * b for v, b in zip(row, coef, strict=True)), -Fraction(own))
        value += Fraction(weight) * off * off / 2 / total
    return value + sum(Fraction(float(q)) * b * b / 2 for q, b in zip(square, coef, strict=True))


@pytest.mark.parametrize("seed", range(25))
def test_the_gap_bounds_the_distance_from_the_optimum_in_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(5, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-2, 2, size=p)
    y = X @ rng.normal(size=p) + rng.normal(size=n)
    s = rng.choice([0.0, 0.5, 2.0], size=n) if seed % 2 else np.ones(n)
    s[0] = 1.0
    square = np.concatenate([[0.0], rng.uniform(0.1, 1.0, size=p) * np.mean(X**2, axis=0)])
    given = as_design(X), y[:, None], s if seed % 2 else None, square
    found = called(*given)
    assert found is not None
    proof = proof_of(found, *given, Squared())
    assert proof is not None
    gap, start, baseline_value = proof.gap, found.start, found.baseline_value
    full = np.hstack([np.ones((n, 1)), X])
    best = exact(full, y, s, square)
    truth = objective(full, y, s, square, [Fraction(v) for v in found.coef[:, 0].tolist()])
    assert Fraction(gap) >= truth - objective(full, y, s, square, best)
    assert gap <= 1e-20 * baseline_value
    assert found.value == found.values[-1] == pytest.approx(float(truth), rel=1e-13)
    assert found.weight_sum == pytest.approx(s.sum())
    assert found.rows == np.count_nonzero(s)
    assert found.target[0] == start[0, 0] == pytest.approx(np.average(y, weights=s))
    assert not start[1:].any()
    assert baseline_value == pytest.approx(np.average((y - np.average(y, weights=s)) ** 2, weights=s) / 2)
    np.testing.assert_array_equal(found.largest, np.abs(full[s > 0.0]).max(axis=0))


@pytest.mark.parametrize("seed", range(40))
def test_the_short_way_ends_like_the_long_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    n, p, k = int(rng.integers(100, 400)), int(rng.integers(1, 10)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-3, 3, size=p)
    y = X @ rng.normal(size=(p, k)) + rng.normal(size=(n, k))
    weight = rng.choice([0.0, 1.0, 2.5], size=n) if seed % 2 else None
    penalty = Ridge(10.0 ** rng.uniform(-6, 1), np.concatenate([[0.0], np.mean(X**2, axis=0)]))
    source = Memory(as_design(X), y, weight)
    assert small_fit.small_fit(source, Squared(k), penalty, tol=1e-10) is not None
    short = fitting.fit(source, Squared(k), penalty, tol=1e-10)
    monkeypatch.setattr(small_fit, "declines", lambda *_: "the long way is asked for")
    long = fitting.fit(source, Squared(k), penalty, tol=1e-10)
    assert short.verdict.kind == long.verdict.kind == "optimal"
    assert short.verdict.evidence.keys() == long.verdict.evidence.keys()
    assert short.verdict.gap == pytest.approx(long.verdict.gap, rel=0.1)
    assert (short.solver, short.reason) == (long.solver, long.reason)
    assert short.trace.column("passes") == long.trace.column("passes")
    assert short.objective == pytest.approx(long.objective, rel=1e-13)
    np.testing.assert_allclose(short.coef, long.coef, rtol=1e-10, atol=1e-13 * np.abs(long.coef).max())
    for name in ("rows", "weight_sum", "mean", "scatter", "largest", "statistic", "offset"):
        np.testing.assert_allclose(
            getattr(short.problem.moments, name), getattr(long.problem.moments, name), rtol=1e-12
        )
    assert short.problem.baseline.value == pytest.approx(long.problem.baseline.value, rel=1e-13)


def test_what_is_unusual_is_left_to_the_long_way() -> None:
    rng = np.random.default_rng(0)
    X, y, square = rng.normal(size=(30, 3)), rng.normal(size=(30, 1)), np.array([0.0, 1.0, 1.0, 1.0])

    def tried(X=X, y=y, weight=None, square=square, intercept=True) -> object:
        return called(as_design(X, intercept=intercept), y, weight, square[: X.shape[1] + intercept])

    assert tried() is not None
    for bad in (np.nan, np.inf, 1e101):
        assert tried(X=np.where(X[3, 1] == X, bad, X)) is None
        assert tried(y=np.where(y == y[3], bad, y)) is None
    assert tried(X=X * np.array([1.0, 0.0, 1.0])) is None
    assert tried(X=X * np.array([1.0, 1e-101, 1.0])) is None
    assert tried(weight=np.where(np.arange(30) == 3, -1.0, 1.0)) is None
    assert tried(weight=np.where(np.arange(30) == 3, np.nan, 1.0)) is None
    assert tried(weight=np.zeros(30)) is None
    assert tried(square=np.array([0.0, 1.0, 0.0, 1.0])) is None
    assert tried(square=np.ones(4)) is None
    weak = np.array([0.0, 1e-9, 1e-9, 1e-9])
    assert small_fit.small_fit(Memory(as_design(X[:, [0, 0, 1]]), y), Squared(), Ridge(1.0, weak), tol=1e-6) is None
    source = Memory(as_design(X), y)
    assert small_fit.small_fit(source, Squared(), NoPenalty(4), tol=1e-6) is None
    assert small_fit.small_fit(Memory(as_design(X), y, offset=y), Squared(), Ridge(1.0, square), tol=1e-6) is None
    assert small_fit.small_fit(source, Squared(), Ridge(1.0, square), tol=0.0) is None
    with pytest.raises(InputError, match="NaN or infinity"):
        fitting.fit(Memory(as_design(np.where(X[3, 1] == X, np.nan, X)), y), Squared(), Ridge(1.0, square))


def test_rows_of_weight_zero_are_absent_whatever_they_hold() -> None:
    rng = np.random.default_rng(1)
    X, y, weight = rng.normal(size=(30, 2)), rng.normal(size=(30, 1)), np.ones(30)
    square = np.array([0.0, 1.0, 1.0])
    short = called([_core.Ones(29), _core.Dense(X[1:])], y[1:], None, square)
    X[0, 0], y[0], weight[0] = np.nan, np.inf, 0.0
    found = called(as_design(X), y, weight, square)
    assert found is not None
    assert short is not None
    assert found.rows == short.rows == 29
    np.testing.assert_allclose(found.coef, short.coef, rtol=1e-12)


def drawn(seed: int, loss: Logistic | Poisson) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
    """Return rows, targets, weights and penalty factors that differ in size, shape, scale and noise."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 400)), int(rng.integers(1, 12))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-2, 2, size=p) + rng.choice([0.0, 3.0], size=p)
    eta = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=p) * rng.choice([0.1, 0.5, 2.0]) / np.sqrt(p)
    if isinstance(loss, Logistic):
        y = (eta + rng.logistic(size=n) > 0.0).astype(float)
        y[:2] = [0.0, 1.0]
    else:
        y = rng.poisson(np.exp(np.minimum(eta, 5.0))).astype(float)
        y[0] = 1.0
    weight = rng.choice([0.0, 1.0, 2.5], size=n) if seed % 2 else None
    if weight is not None:
        weight[:2] = 1.0
    penalty_factors = np.concatenate([[0.0], np.mean(X**2, axis=0)])
    return X, y[:, None], weight, 10.0 ** rng.uniform(-5, 0) * penalty_factors


def least(X: np.ndarray, y: np.ndarray, s: np.ndarray, square: np.ndarray, loss: Logistic | Poisson, start: np.ndarray):
    """Return F(start) - min F, by Newton's method in long doubles."""
    A = np.hstack([np.ones((len(X), 1)), X]).astype(np.longdouble)
    y, s = y[:, 0].astype(np.longdouble), s.astype(np.longdouble)
    square, b = square.astype(np.longdouble), start[:, 0].astype(np.longdouble)

    def at(b):
        eta = A @ b
        if isinstance(loss, Logistic):
            value, mean = np.logaddexp(0, eta) - y * eta, 1 / (1 + np.exp(-eta))
            bend = mean * (1 - mean)
        else:
            mean = bend = np.exp(eta)
            value = mean - y * eta
        F = (s * value).sum() / s.sum() + (square * b * b).sum() / 2
        return (
            F,
            A.T @ (s * (mean - y)) / s.sum() + square * b,
            A.T @ ((s * bend)[:, None] * A) / s.sum() + np.diag(square),
        )

    first = lowest = at(b)[0]
    for _ in range(30):
        _, gradient, hessian = at(b)
        b = b - np.linalg.solve(hessian.astype(float), gradient.astype(float))
        lowest = min(lowest, at(b)[0])
    return first - lowest


@pytest.mark.slow
@pytest.mark.parametrize("loss", [Logistic(), Poisson()])
@pytest.mark.parametrize("seed", range(30))
def test_the_gap_bounds_the_distance_from_the_optimum_in_long_doubles(seed: int, loss: Logistic | Poisson) -> None:
    X, y, weight, square = drawn(seed, loss)
    s = np.ones(len(X)) if weight is None else weight
    given, proven = (as_design(X), y, weight, square), 0
    for share, most in ((1e-11, 50), (1e-3, 50), (0.0, 3), (0.0, 4)):
        found = called(*given, loss, share=share, most=most)
        proof = None if found is None else proof_of(found, *given, loss)
        if found is None or proof is None or proof.gap is None:  # not near enough for a dual point
            continue
        proven += 1
        distance = least(X, y, s, square, loss, found.coef)
        assert 0.0 < proof.gap < np.inf
        # a long double of size one is known to 1e-19
        assert proof.gap >= distance - 1e-17 * max(1.0, abs(found.baseline_value))
        # farther out the dual point of a whole step is outside its domain, and a part of it proves less
        if 1e-12 < distance < 1e-4 * (found.baseline_value - found.value):
            assert proof.gap <= 2.0 * distance
    assert proven


@pytest.mark.parametrize("loss", [Logistic(), Poisson()])
@pytest.mark.parametrize("seed", range(30))
def test_steps_in_one_call_end_like_the_long_way(
    seed: int, loss: Logistic | Poisson, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, weight, square = drawn(seed, loss)
    source, penalty = Memory(as_design(X), y, weight), Ridge(1.0, square)
    assert small_fit.small_fit(source, loss, penalty, tol=1e-6) is not None
    short = fitting.fit(source, loss, penalty)
    monkeypatch.setattr(small_fit, "declines", lambda *_: "the long way is asked for")
    long = fitting.fit(source, loss, penalty)
    assert short.verdict.kind == long.verdict.kind == "optimal"
    assert short.verdict.evidence.keys() == long.verdict.evidence.keys()
    assert short.verdict.relative_gap <= max(2.0 * small_fit.STEPS_END_SHARE, 1.1 * long.verdict.relative_gap)
    assert short.verdict.gap == pytest.approx(prove(long.problem, short.coef).gap, rel=0.01)
    assert (short.solver, short.reason) == (long.solver, long.reason)
    assert len(short.trace) <= len(long.trace) + 1
    assert short.trace.column("objective")[0] == pytest.approx(long.trace.column("objective")[0], rel=1e-13)
    assert short.objective <= long.objective + short.verdict.gap + 1e-14 * abs(long.objective)
    np.testing.assert_allclose(short.coef, long.coef, rtol=1e-2, atol=1e-3 * np.abs(long.coef).max())
    for name in ("rows", "weight_sum", "mean", "scatter", "largest", "statistic", "offset"):
        np.testing.assert_allclose(
            getattr(short.problem.moments, name), getattr(long.problem.moments, name), rtol=1e-12
        )
    np.testing.assert_allclose(short.problem.baseline.coef, long.problem.baseline.coef, rtol=1e-12)
    assert short.problem.baseline.value == pytest.approx(long.problem.baseline.value, rel=1e-13)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    X, y, _, square = drawn(3, Logistic())
    found = []
    for count in (1, 2, 5):
        _core.set_threads(count)
        found.append(called(as_design(X), y, None, square, Logistic()))
    _core.set_threads(0)
    assert all(one.coef.tobytes() == found[0].coef.tobytes() and one.value == found[0].value for one in found)


def test_targets_that_a_loss_does_not_know_and_one_class_are_left_to_the_long_way() -> None:
    X, y, _, square = drawn(5, Logistic())
    design = as_design(X)
    assert called(design, y, None, square, Logistic()) is not None
    for bad in (-0.5, 1.5, np.nan, np.inf):
        assert called(design, np.where(np.arange(len(y))[:, None] == 3, bad, y), None, square, Logistic()) is None
        if bad != 1.5:
            assert called(design, np.where(np.arange(len(y))[:, None] == 3, bad, y), None, square, Poisson()) is None
    for bad in (0.0, 1.0):
        assert called(design, np.full_like(y, bad), None, square, Logistic()) is None
    assert called(design, np.zeros_like(y), None, square, Poisson()) is None
    assert called(design, y, None, 0.0 * square, Logistic()) is None
    source, penalty = Memory(design, y), Ridge(1.0, square)
    assert small_fit.small_fit(source, Logistic(), NoPenalty(len(square)), tol=1e-6) is None
    assert small_fit.small_fit(Memory(design, y, offset=y), Logistic(), penalty, tol=1e-6) is None
    with pytest.raises(InputError, match="between 0 and 1"):
        fitting.fit(Memory(design, 2.0 * y), Logistic(), penalty)
    with pytest.raises(ValueError, match="squared, logistic and Poisson"):
        design.rows.small_fit(3, y, None, square, MAX_MAGNITUDE, 1e-8, 50, False)
    with pytest.raises(ValueError, match="one score"):
        design.rows.small_fit(1, np.hstack([y, y]), None, square, MAX_MAGNITUDE, 1e-8, 50, True)
