"""Ridge of short tables in one call: against fractions, against the long way, and what is left to the long way."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lineal import _core, closed, fitting
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.losses import Squared
from lineal.moments import FARTHEST
from lineal.penalties import NoPenalty, Ridge
from lineal.sources.memory import Memory

LEAST = 2e-3


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
    found = as_design(X).rows.closed(y[:, None], s if seed % 2 else None, square, FARTHEST, 0.0)
    assert found is not None
    total, count, _, _, largest, constant, null_value, coef, value, _, gap, _ = found
    full = np.hstack([np.ones((n, 1)), X])
    best = exact(full, y, s, square)
    truth = objective(full, y, s, square, [Fraction(v) for v in coef[:, 0].tolist()])
    assert Fraction(gap) >= truth - objective(full, y, s, square, best)
    assert gap <= 1e-20 * null_value
    assert value == pytest.approx(float(truth), rel=1e-13)
    assert total == pytest.approx(s.sum())
    assert count == np.count_nonzero(s)
    assert constant[0] == pytest.approx(np.average(y, weights=s))
    assert null_value == pytest.approx(np.average((y - np.average(y, weights=s)) ** 2, weights=s) / 2)
    np.testing.assert_array_equal(largest, np.abs(full[s > 0.0]).max(axis=0))


@pytest.mark.parametrize("seed", range(40))
def test_the_short_way_ends_like_the_long_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    n, p, k = int(rng.integers(100, 400)), int(rng.integers(1, 10)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-3, 3, size=p)
    y = X @ rng.normal(size=(p, k)) + rng.normal(size=(n, k))
    weight = rng.choice([0.0, 1.0, 2.5], size=n) if seed % 2 else None
    penalty = Ridge(10.0 ** rng.uniform(-6, 1), np.concatenate([[0.0], np.mean(X**2, axis=0)]))
    source = Memory(as_design(X), y, weight)
    assert closed.close(source, Squared(k), penalty, 1e-10) is not None
    short = fitting.fit(source, Squared(k), penalty, tol=1e-10)
    monkeypatch.setattr(fitting, "close", lambda *_: None)
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
    assert short.problem.null.value == pytest.approx(long.problem.null.value, rel=1e-13)


def test_what_is_unusual_is_left_to_the_long_way() -> None:
    rng = np.random.default_rng(0)
    X, y, square = rng.normal(size=(30, 3)), rng.normal(size=(30, 1)), np.array([0.0, 1.0, 1.0, 1.0])

    def tried(X=X, y=y, weight=None, square=square, least=LEAST, intercept=True) -> object:
        return as_design(X, intercept=intercept).rows.closed(
            y, weight, square[: X.shape[1] + intercept], FARTHEST, least
        )

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
    assert tried(X=X[:, [0, 0, 1]], square=np.array([0.0, 1e-9, 1e-9, 1e-9])) is None
    source = Memory(as_design(X), y)
    assert closed.close(source, Squared(), NoPenalty(4), 1e-6) is None
    assert closed.close(Memory(as_design(X), y, offset=y), Squared(), Ridge(1.0, square), 1e-6) is None
    assert closed.close(source, Squared(), Ridge(1.0, square), 0.0) is None
    with pytest.raises(InputError, match="NaN or infinity"):
        fitting.fit(Memory(as_design(np.where(X[3, 1] == X, np.nan, X)), y), Squared(), Ridge(1.0, square))


def test_rows_of_weight_zero_are_absent_whatever_they_hold() -> None:
    rng = np.random.default_rng(1)
    X, y, weight = rng.normal(size=(30, 2)), rng.normal(size=(30, 1)), np.ones(30)
    square = np.array([0.0, 1.0, 1.0])
    short = _core.Rows([_core.Ones(29), _core.Dense(X[1:])]).closed(y[1:], None, square, FARTHEST, LEAST)
    X[0, 0], y[0], weight[0] = np.nan, np.inf, 0.0
    found = as_design(X).rows.closed(y, weight, square, FARTHEST, LEAST)
    assert found is not None
    assert short is not None
    assert found[1] == short[1] == 29
    np.testing.assert_allclose(found[7], short[7], rtol=1e-12)
