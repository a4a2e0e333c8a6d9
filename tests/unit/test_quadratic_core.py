"""The gap of Huber's loss from the rows well within its threshold, against the optimum found by hand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from lineal.certify import proving
from lineal.certify.quadratic_core import core_gap
from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import Huber, Logistic
from lineal.penalties import L1, NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory

Array = npt.NDArray[np.float64]
THRESHOLD = 1.2


def rows(n: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return columns, targets with heavy tails, and weights."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)) * [1.0, 0.1, 30.0, 1.0] + [0.0, 2.0, 0.0, 0.0]
    return x, x @ [1.0, -2.0, 0.01, 0.0] + rng.standard_t(2.0, n), rng.uniform(0.0, 2.0, n)


def objective(b: Array, wide: Array, y: Array, weight: Array, ridge: Array) -> np.longdouble:
    """Return F in more digits than doubles have."""
    r = np.abs(wide.astype(np.longdouble) @ b - y)
    near = np.minimum(r, THRESHOLD)
    return np.sum(weight * near * (r - near / 2)) / np.sum(weight) + np.sum(ridge * np.asarray(b) ** 2) / 2


def optimum(wide: Array, y: Array, weight: Array, ridge: Array) -> Array:
    """Return the minimizer: reweighted least squares, then Newton steps."""
    b = np.zeros(wide.shape[1])
    for step in range(200):
        r = wide @ b - y
        bend = THRESHOLD / np.maximum(np.abs(r), THRESHOLD) if step < 100 else (np.abs(r) < THRESHOLD).astype(float)
        hessian = (wide * (weight * bend)[:, None]).T @ wide / weight.sum() + np.diag(ridge)
        gradient = wide.T @ (weight * np.clip(r, -THRESHOLD, THRESHOLD)) / weight.sum() + ridge * b
        b = b - np.linalg.solve(hessian, gradient)
    return b


@pytest.mark.parametrize("strength", [0.0, 0.3])
@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-6, 1e-4, 1e-3])
@pytest.mark.parametrize("seed", range(4))
def test_the_gap_is_above_what_is_left_and_near_it(strength: float, size: float, seed: int) -> None:
    x, y, weight = rows(2000, seed)
    wide, ridge = np.hstack([np.ones((len(x), 1)), x]), strength * np.r_[0.0, np.ones(4)]
    best = optimum(wide, y, weight, ridge)
    b = best + size * np.random.default_rng(seed).normal(size=5) / np.sqrt(np.mean(wide**2, axis=0))
    penalty = Ridge(strength, np.r_[0.0, np.ones(4)]) if strength else NoPenalty(5)
    problem = Problem.of(Memory(as_design(x), y, weight), Huber(THRESHOLD), penalty)
    coef = b[:, None]
    gap = core_gap(problem, coef)
    left = float(objective(b, wide, y, weight, ridge) - objective(best, wide, y, weight, ridge))
    assert gap is not None
    # a Newton decrement is off by the rows that change sides, here less than a tenth; F is known to 2e-17 here
    assert left - 2e-17 <= gap <= 1.1 * left + 2e-17


def test_rows_near_the_threshold_ask_for_no_proof_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many rows some are always so near that a Newton step leads their dual point out of its domain."""
    x, y, _ = rows(40_000)
    monkeypatch.setattr(proving, "_prove_rows", None)
    result = fit(Memory(as_design(x), y), Huber(THRESHOLD), NoPenalty(5), tol=1e-6)
    assert result.verdict.kind == "optimal"


def test_it_is_left_to_others_where_it_does_not_apply() -> None:
    """A step longer than the threshold, a penalty with kinks, a loss that bends everywhere."""
    x, y, weight = rows(300)
    source, far = Memory(as_design(x), y, weight), np.full((5, 1), 3.0)
    assert core_gap(Problem.of(source, Huber(THRESHOLD), NoPenalty(5)), far) is None
    near = fit(source, Huber(THRESHOLD), NoPenalty(5)).coef
    assert core_gap(Problem.of(source, Huber(THRESHOLD), NoPenalty(5)), near) is not None
    assert core_gap(Problem.of(source, Huber(THRESHOLD), NoPenalty(5)), near, np.full((5, 1), 1.0)) is None
    assert core_gap(Problem.of(source, Huber(THRESHOLD), L1(0.1, np.r_[0.0, np.ones(4)])), near) is None
    classes = Memory(as_design(x), (y > 0.0).astype(float))
    assert core_gap(Problem.of(classes, Logistic(), NoPenalty(5)), near) is None
