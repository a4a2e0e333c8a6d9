"""Small factors against numpy, Newton steps in one call against the same steps one by one, single rows against passes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal import _core
from lineal.designs import as_design
from lineal.fitting import fitting, small_fit
from lineal.losses import Huber, Logistic, Poisson, Softmax, Squared
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.model.verdict import Verdict
from lineal.penalties import NoPenalty, Ridge
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block


def matrix(n: int, seed: int, spread: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 3, n)) * 10.0 ** rng.uniform(-spread, spread, size=n)
    return X.T @ X


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 31, 64])
def test_a_small_factor_solves_spreads_and_tells_its_condition(n):
    A = matrix(n, n, 3.0)
    factor = _core.SmallFactor(A)
    d = 1.0 / np.sqrt(np.diag(A))
    even = A * d[:, None] * d
    inverse = np.linalg.inv(even)
    loss = 1e-13 / factor.condition
    assert np.isclose(
        factor.condition, 1.0 / (np.abs(even).sum(axis=0).max() * np.abs(inverse).sum(axis=0).max()), rtol=loss
    )
    assert np.allclose(factor.spread, np.sqrt(np.diag(inverse)) * d, rtol=loss)
    for right in (np.arange(1.0, n + 1.0), np.arange(2.0 * n).reshape(n, 2)):
        found = factor.solve(right)
        assert found.shape == right.shape
        scale = d if right.ndim == 1 else d[:, None]
        assert np.allclose(found / scale, inverse @ (right * scale), rtol=loss, atol=loss * np.abs(right * scale).max())


@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_a_matrix_without_a_factor_has_condition_zero(rows):
    X = np.array(rows, dtype=float)
    a, b, c = ([Fraction(v) for v in row] for row in rows)
    determinant = (
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
    )
    condition = _core.SmallFactor(X.T @ X).condition
    assert condition < 1e-14 if determinant == 0 else condition > 1e-14


def test_not_a_number_is_no_factor_and_other_shapes_are_refused():
    assert _core.SmallFactor(np.array([[np.nan]])).condition == 0.0
    assert _core.SmallFactor(np.array([[-1.0]])).condition == 0.0
    with pytest.raises(ValueError, match="square"):
        _core.SmallFactor(np.ones((2, 3)))
    with pytest.raises(ValueError, match="right"):
        _core.SmallFactor(np.eye(2)).solve(np.ones(3))


def rows(loss: str, n: int = 90, p: int = 4):
    rng = np.random.default_rng(p)
    X = rng.normal(size=(n, p)) * [1.0, 30.0, 0.1, 1.0][:p]
    eta = X @ rng.normal(size=p)
    y = {"logistic": (0.05 * eta + rng.logistic(size=n) > 0).astype(float), "poisson": rng.poisson(np.exp(0.05 * eta))}[
        loss
    ]
    return X, y.astype(float)[:, None], rng.integers(0, 3, size=n).astype(float), 0.1 * rng.normal(size=(n, 1))


@pytest.mark.parametrize("strength", [1e-3, 1.0])
@pytest.mark.parametrize("kind", ["logistic", "poisson"])
@pytest.mark.parametrize("weighted", [False, True])
def test_steps_in_one_call_are_the_steps_one_by_one(kind, strength, weighted, monkeypatch):
    X, y, weight, _ = rows(kind)
    source = Memory(as_design(X), y, weight=weight if weighted else None)
    loss = Logistic() if kind == "logistic" else Poisson()
    penalty = Ridge(strength, np.array([0.0, 1.0, 1.0, 1.0, 1.0]))
    together = fitting.fit(source, loss, penalty, tol=1e-13)
    monkeypatch.setattr(small_fit, "declines", lambda *_: "the long way is asked for")
    single = fitting.fit(source, loss, penalty, solver="newton", tol=1e-13)
    assert together.verdict.kind == single.verdict.kind == "optimal"
    common = min(len(together.trace), len(single.trace))
    objectives = [fit.trace.column("objective")[:common] for fit in (together, single)]
    assert np.allclose(*objectives, rtol=1e-13)
    assert np.allclose(together.coef, single.coef, rtol=1e-9, atol=1e-12)


def test_steps_stop_where_the_budget_says_and_go_on_where_tol_asks():
    X, y, _, _ = rows("logistic")
    source = Memory(as_design(X), y)
    stopped = fitting.fit(source, Logistic(), Ridge(1e-3, np.array([0.0, 1, 1, 1, 1])), max_iter=2)
    assert stopped.verdict.kind == "budget"
    assert len(stopped.trace) == 3
    sharp = fitting.fit(source, Logistic(), Ridge(1e-3, np.array([0.0, 1, 1, 1, 1])), tol=1e-13)
    assert sharp.verdict.relative_gap <= 1e-13


def test_two_blocks_take_the_same_steps(monkeypatch):
    monkeypatch.setattr(small_fit, "declines", lambda *_: "the long way is asked for")
    X, y, _, _ = rows("logistic")
    one = Memory(as_design(X), y)
    block = one.block
    two = Blocks([Block(block.design.slice(a, b), y[a:b]) for a, b in ((0, 40), (40, 90))])
    assert two.whole is None
    penalty = Ridge(1e-3, np.array([0.0, 1, 1, 1, 1]))
    assert np.allclose(
        fitting.fit(one, Logistic(), penalty).coef, fitting.fit(two, Logistic(), penalty).coef, rtol=1e-9
    )


def test_separated_rows_are_still_told():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    found = fitting.fit(Memory(as_design(X), np.array([[0.0], [0.0], [1.0], [1.0]])), Logistic(), NoPenalty(2))
    assert found.verdict.kind == "at_infinity"


@pytest.mark.parametrize("loss", [Squared(2), Logistic(), Softmax(3), Huber(1.0), Poisson()])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_scorer_of_single_rows_is_the_mean_of_a_pass(loss, intercept):
    rng = np.random.default_rng(0)
    X, coef = rng.normal(size=(5, 3)), rng.normal(size=(3 + intercept, loss.outputs))
    names = ("(intercept)", "a", "b", "c")[0 if intercept else 1 :]
    model = Model(coef, names, loss, NoPenalty(len(names)), Target("y", "number"), Verdict("optimal", "", 0.0, 0.0))
    score, means = model.scorer(), model.means(X)
    assert np.allclose(score(X), means, rtol=1e-13)
    for i in range(5):
        for row in (X[i], X[i : i + 1], X[i].tolist(), X[::-1][4 - i]):
            assert np.allclose(score(row), means[i : i + 1], rtol=1e-13)
    assert np.allclose(score(X.astype(np.float32)), means, rtol=1e-5)
    assert np.allclose(score(np.asfortranarray(X)), means, rtol=1e-13)
    with pytest.raises(ValueError, match="shape"):
        score([1.0, 2.0])
