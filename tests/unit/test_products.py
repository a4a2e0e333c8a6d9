"""Products of columns and targets: all that a squared loss needs of well-conditioned rows, and less than others need."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from lineal.algebra.cholesky import Cholesky
from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import Squared
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.moments import survey
from lineal.problem.problem import EPS, Problem
from lineal.solvers.direct import PRODUCTS_MAX_LOSS, remaining
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block

Array = npt.NDArray[np.float64]


def rows(n: int = 40_000, p: int = 30, k: int = 1) -> tuple[Array, Array]:
    rng = np.random.default_rng(n + p + k)
    x = rng.normal(size=(n, p)) + 0.5
    return x, x @ rng.normal(size=(p, k)) + rng.normal(size=(n, k))


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("strength", [0.0, 0.1])
def test_one_look_at_the_rows_is_enough(k: int, strength: float) -> None:
    x, y = rows(k=k)
    penalty_factors = np.r_[0.0, np.ones(x.shape[1])]
    penalty = Ridge(strength, penalty_factors) if strength else NoPenalty(len(penalty_factors))
    found = fit(Memory(as_design(x), y), Squared(k), penalty, tol=1e-12)
    assert found.verdict.kind == "optimal"
    covariance = int(k > 1 and not strength)  # standard errors of several targets look at their residuals
    assert found.problem.passes == 1 + covariance
    wide = np.hstack([np.ones((len(x), 1)), x]).astype(np.longdouble)
    gram = wide.T @ wide / len(x) + np.diag(strength * penalty_factors)
    left = wide @ found.coef - y
    gradient = (wide.T @ left / len(x) + strength * penalty_factors[:, None] * found.coef).astype(float)
    truth = found.coef - np.linalg.solve(gram.astype(float), gradient)
    np.testing.assert_allclose(found.coef, truth, rtol=1e-11, atol=1e-12)
    value = float(np.sum(left**2)) / 2 / len(x) + strength / 2 * float(np.sum(found.coef[1:] ** 2))
    np.testing.assert_allclose(found.objective, value, rtol=1e-12)


def test_means_cost_the_other_columns_no_digits() -> None:
    """An intercept that depends on many columns with means makes the whole ill-conditioned, but nothing else is lost."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4000, 600)) + 3.0
    y = x @ rng.normal(size=(600, 1)) / 20.0 + rng.normal(size=(4000, 1))
    wide = np.hstack([np.ones((4000, 1)), x])
    even = wide / np.linalg.norm(wide, axis=0)
    gram = even.T @ even
    factor = Cholesky.of(gram)
    schur = gram[1:, 1:] - np.outer(gram[1:, 0], gram[0, 1:])
    left = np.diagonal(schur)
    condition = 1.0 / np.linalg.cond(schur / np.sqrt(np.outer(left, left)), 1)
    assert factor.condition * PRODUCTS_MAX_LOSS < EPS  # by itself it would ask for the rows
    assert remaining(factor) == pytest.approx(condition * left.min(), rel=0.5)  # LAPACK estimates the condition
    found = fit(Memory(as_design(x), y), Squared(1), Ridge(0.01, np.r_[0.0, np.ones(600)]), tol=1e-12, solver="direct")
    assert found.verdict.kind == "optimal"
    assert found.problem.passes == 1
    long, penalty_factors = wide.astype(np.longdouble), 0.01 * np.r_[0.0, np.ones(600)][:, None]
    gradient = long.T @ (long @ found.coef - y) / 4000 + penalty_factors * found.coef
    truth = found.coef - np.linalg.solve(wide.T @ wide / 4000 + np.diag(penalty_factors[:, 0]), gradient.astype(float))
    np.testing.assert_allclose(found.coef, truth, rtol=1e-9, atol=1e-11)


def test_evaluations_are_those_of_the_rows_and_their_errors_are_bounded() -> None:
    x, y = rows(5000, 6)
    source, penalty = Memory(as_design(x), y), Ridge(0.01, np.r_[0.0, np.ones(6)])
    quick, slow = (Problem.of(source, Squared(1), penalty, products=products) for products in (True, False))
    for seed in range(5):
        coef = np.random.default_rng(seed).normal(size=(7, 1))
        a, b = quick.evaluate(coef, hessian=7), slow.evaluate(coef, hessian=7)
        assert a.gradient_error is not None
        assert b.gradient_error is None
        assert abs(a.value - b.value) <= a.error
        assert np.all(np.abs(a.gradient - b.gradient) <= a.gradient_error)
        assert np.all(a.slope >= b.slope)
        np.testing.assert_allclose(a.hessian, b.hessian, rtol=1e-12)


def test_too_few_digits_ask_the_rows() -> None:
    """A residual of a millionth of the target, or a target far from zero, cancels in products."""
    x, y = rows(5000, 6)
    exact = x @ np.arange(6.0)[:, None]
    for target in (exact + 1e-6 * y, y + 1e7):
        source = Memory(as_design(x), target)
        problem = Problem.of(source, Squared(1), NoPenalty(7), products=True)
        coef = np.linalg.lstsq(np.hstack([np.ones((5000, 1)), x]), target, rcond=None)[0]
        here = problem.evaluate(coef, hessian=7)
        assert here.gradient_error is None
        asked = Problem.of(source, Squared(1), NoPenalty(7)).evaluate(coef, hessian=7)
        # a pass without a second derivative adds in another order; products would be off by far more than this
        assert abs(here.value - asked.value) <= here.error < 1e-6 * here.value


def test_blocks_add_up() -> None:
    x, y = rows(3000, 5)
    whole = survey(Memory(as_design(x), y), Squared(1), products=True).products
    cut = [Block(as_design(x[i : i + 700]), y[i : i + 700]) for i in range(0, 3000, 700)]
    pieces = survey(Blocks(cut), Squared(1), products=True).products
    assert whole is not None
    assert pieces is not None
    np.testing.assert_allclose(pieces.gram, whole.gram, rtol=1e-12)
    np.testing.assert_allclose(pieces.scatter, whole.scatter, rtol=1e-12)
    np.testing.assert_allclose(pieces.mean, whole.mean, rtol=1e-12)


def test_offsets_have_no_products() -> None:
    x, y = rows(100, 2)
    assert survey(Memory(as_design(x), y, offset=y), Squared(1), products=True).products is None
