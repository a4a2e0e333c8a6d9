"""Gaps are never below what is left, to fifty digits: Huber's core, points far away, the curvature of a step, no loss at all."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from mpmath import eigsy, lu_solve, matrix, mpf

from lineal.certify.afar import prove_by
from lineal.certify.baseline import baseline_fit
from lineal.certify.quadratic_core import core_gap
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.fitting.stopping import QUIET
from lineal.losses import Hinge, Huber, Logistic, Poisson, Softmax, Squared, SquaredHinge
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.separation import lossless
from lineal.solvers.gradient_descent import GradientDescent
from lineal.solvers.stable_step import curvature_above, curvature_above_by_row
from lineal.sources.memory import Memory
from tests.laws.optimum import Reference

LOSSES = [Squared(1), Logistic(), Huber(0.5), SquaredHinge(), Softmax(3), Poisson()]


def digits(coef):
    return [[mpf(float(cell)) for cell in row] for row in coef]


def drawn(rng, rows, columns):
    """Columns of any size, some of them twice or zero; weights over 24 orders, or whole numbers with zeros."""
    x = rng.normal(size=(rows, columns)) * 10.0 ** (rng.uniform(-6, 6, columns) * rng.integers(0, 2))
    x += rng.choice([0.0, 0.0, 1e3]) * rng.integers(0, 2, columns)
    if columns > 1 and rng.random() < 0.2:
        x[:, 1] = x[:, 0] * (1.0 + rng.choice([0.0, 1e-9]))
    if rng.random() < 0.1:
        x[:, 0] = 0.0
    kinds = (None, 10.0 ** rng.uniform(-12, 12, rows), np.r_[1.0, rng.integers(0, 3, rows - 1)])
    return x, kinds[rng.integers(3)]


def penalty_of(rng, columns, intercept):
    factors = np.where(rng.random(columns) < 0.8, 10.0 ** rng.integers(-3, 4, columns), 0.0)
    factors[0] *= not intercept
    strength = float(rng.choice([0.0, 1e-10, 1e-3, 1.0, 1e6]))
    return Ridge(strength, factors) if strength and factors.any() else NoPenalty(columns)


@pytest.mark.parametrize("seed", range(25))
def test_the_core_of_huber_proves_no_less_than_is_left(seed):
    """Rows at the threshold, thresholds far below and above residuals, coefficients near, stale and wild, false hints."""
    rng = np.random.default_rng(seed)
    rows, columns, intercept = int(rng.integers(3, 25)), int(rng.integers(1, 4)), bool(rng.integers(2))
    x, weight = drawn(rng, rows, columns)
    wide = np.column_stack([np.ones(rows), x]) if intercept else x
    size = np.where(wide.any(axis=0), np.abs(wide).max(axis=0), 1.0)[:, None]
    y = rng.standard_t(1.5, rows) * rng.choice([1e-6, 1.0, 1e4])
    offset = rng.normal(size=(rows, 1)) * rng.choice([0.0, 1.0, 1e6])
    threshold = float(np.median(np.abs(y)) * rng.choice([1e-2, 0.3, 1.0, 3.0, 1e6]))
    penalty = penalty_of(rng, wide.shape[1], intercept)
    source = Memory(as_design(x, intercept=intercept), y[:, None], weight, offset)
    problem = Problem.of(source, Huber(threshold), penalty)
    oracle = Reference("huber", threshold, 1, wide, y[:, None], weight, offset, np.asarray(penalty.curvature()))
    start = digits(fit(source, Huber(threshold), penalty).coef)
    end, _ = oracle.newton(start, mpf(1), 30, mpf(10) ** -6)
    best = min(oracle.value(end), oracle.value(start))
    near = np.array([[float(cell[0])] for cell in end])
    steps = [e * threshold * rng.normal(size=near.shape) / size for e in (0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.1)]
    points = [*(near + step for step in steps), np.zeros_like(near), 1e10 * rng.normal(size=near.shape)]
    if intercept:
        touching = near.copy()
        touching[0] += y[0] + threshold - offset[0] - wide[0] @ near
        points.append(touching)
    for coef in points:
        left = oracle.value(digits(coef)) - best
        for hint in (None, np.zeros_like(coef), 1e-3 * threshold * rng.normal(size=coef.shape) / size):
            gap = core_gap(problem, coef, hint)
            assert gap is None or not gap < left


@pytest.mark.parametrize("seed", range(12))
def test_where_huber_is_a_quadratic_its_core_is_exact_but_for_rounding(seed):
    """The gap is that of a quadratic then: nothing but what is added for rounding keeps it above."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(5, 30)), int(rng.integers(1, 12))
    x = rng.normal(size=(rows, columns)) * 10.0 ** rng.uniform(-3, 3, columns)
    y, penalty = rng.normal(size=rows), Ridge(10.0 ** rng.integers(-6, 7), 10.0 ** rng.uniform(-6, 6, columns))
    share = matrix([[mpf(float(cell)) for cell in row] for row in x])
    bend = share.T * share / rows
    for j, more in enumerate(np.asarray(penalty.curvature())):
        bend[j, j] += mpf(float(more))
    best = lu_solve(bend, share.T * matrix([mpf(float(v)) for v in y]) / rows)
    proven = 0
    for error in (0.0, 1e-14, 1e-8, 1e-3, 1.0):
        coef = np.array([[float(v)] for v in best]) * (1.0 + error * rng.normal(size=(columns, 1)))
        away = matrix([mpf(float(v)) for v in coef[:, 0]]) - best
        wide = 1e4 * float(np.max(np.abs(x @ coef)) + np.max(np.abs(y)))
        gap = core_gap(Problem.of(Memory(as_design(x, intercept=False), y[:, None]), Huber(wide), penalty), coef)
        if gap is not None:
            proven += 1
            left = (away.T * bend * away)[0] / 2
            assert left <= gap
            assert error < 1e-3 or gap <= left * (1 + mpf(10) ** -6)
    assert proven


@pytest.mark.parametrize("seed", range(30))
def test_gaps_from_afar_hold_for_wild_and_diverged_coefficients(seed):
    rng = np.random.default_rng(seed)
    loss, rows, columns = LOSSES[seed % len(LOSSES)], int(rng.integers(4, 16)), int(rng.integers(1, 3))
    x = rng.normal(size=(rows, columns)) * 10.0 ** rng.uniform(-2, 2, columns)
    classes = 3 if isinstance(loss, Softmax) else 2
    order = np.argsort(np.argsort(x[:, 0])) * classes // rows  # separable
    y = (order if rng.random() < 0.3 else rng.integers(0, classes, rows)).astype(float)[:, None]
    weight = None if rng.random() < 0.4 else np.r_[1.0, rng.integers(0, 3, rows - 1)]
    wide = np.column_stack([np.ones(rows), x])
    strength = float(rng.choice([0.0, 1e-2, 1.0]))
    penalty = Ridge(strength, np.r_[0.0, np.ones(columns)]) if strength else NoPenalty(columns + 1)
    source = Memory(as_design(x), y, weight)
    problem = Problem.of(source, loss, penalty)
    oracle = Reference(loss.name, 0.5, loss.outputs, wide, y, weight, None, np.asarray(penalty.curvature()))
    good = fit(source, loss, penalty).coef
    best = min(
        oracle.value(digits(good * scale)) for scale in (1.0, 100.0)
    )  # F* or above, also where it is at infinity
    for coef in (1e10 * rng.normal(size=good.shape), rng.normal(size=good.shape), np.zeros_like(good)):
        for better in (good, baseline_fit(problem).coef, coef):
            with np.errstate(**QUIET):  # as its caller has it
                gap = prove_by(problem, coef, better).gap if np.all(np.isfinite(better)) else None
            if gap is not None and np.isfinite(gap):
                assert gap >= oracle.value(digits(coef)) - best
    few = fit(source, loss, penalty, solver=GradientDescent(step=10.0 ** rng.uniform(-3, 2)), max_iter=20)
    gap = few.verdict.gap
    if gap is not None and np.isfinite(gap) and np.all(np.isfinite(few.coef)):
        assert gap >= oracle.value(digits(few.coef)) - best


@pytest.mark.parametrize("seed", range(30))
def test_the_curvature_of_a_stable_step_is_above_the_exact_one(seed):
    rng = np.random.default_rng(seed)
    loss, rows, columns = LOSSES[seed % 5], int(rng.integers(2, 20)), int(rng.integers(1, 5))
    x, weight = drawn(rng, rows, columns)
    weight = np.ones(rows) if weight is None else weight
    y = rng.integers(0, 2, rows).astype(float)[:, None]
    penalty = penalty_of(rng, columns + 1, intercept=True)
    problem = Problem.of(Memory(as_design(x), y, weight), loss, penalty)
    share = [mpf(float(s)) / sum(mpf(float(v)) for v in weight) for s in weight]
    wide = matrix([[mpf(float(cell)) for cell in row] for row in np.column_stack([np.ones(rows), x])])
    bend = mpf(loss.curvature_bound)
    own = [mpf(float(more)) for more in np.asarray(penalty.curvature())]
    gram = matrix(columns + 1, columns + 1)
    for i in range(columns + 1):
        for j in range(columns + 1):
            gram[i, j] = bend * sum(s * wide[n, i] * wide[n, j] for n, s in enumerate(share)) + (
                own[i] if i == j else 0
            )
    above = curvature_above(problem)
    top = max(eigsy(gram, eigvals_only=True))
    assert top <= above <= top * (1 + mpf(10) ** -9)
    count = int(np.count_nonzero(weight))
    squares = [sum(wide[n, j] ** 2 for j in range(columns + 1)) for n in range(rows)]
    largest = max(bend * count * s * square for s, square in zip(share, squares, strict=True)) + max(own)
    assert curvature_above_by_row(problem) >= largest


@pytest.mark.parametrize("seed", range(25))
def test_coefficients_without_loss_have_none_in_exact_fractions(seed):
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(3, 12)), int(rng.integers(1, 4))
    x = np.round(3.0 * rng.normal(size=(rows, columns))) * 10.0 ** rng.integers(-6, 7, columns)
    score = x @ rng.normal(size=columns)
    y = (score > np.median(score)).astype(float)
    weight = np.r_[1.0, 10.0 ** rng.uniform(-12, 12, rows - 1) * rng.integers(0, 2, rows - 1)]
    offset = rng.normal(size=(rows, 1)) * rng.choice([0.0, 1.0, 1e6])
    loss = (Hinge(), SquaredHinge())[seed % 2]
    problem = Problem.of(Memory(as_design(x), y[:, None], weight, offset), loss, NoPenalty(columns + 1))
    coef = lossless(problem)
    assert coef is not None, "a threshold of a score separates"
    for cells, own, more, s in zip(x, y, offset[:, 0], weight, strict=True):
        terms = [
            Fraction(float(cell)) * Fraction(float(b)) for cell, b in zip(np.r_[1.0, cells], coef[:, 0], strict=True)
        ]
        eta = sum(terms, Fraction(float(more)))
        assert s == 0.0 or (eta if own else -eta) >= 1


@pytest.mark.parametrize("loss", [Squared(1), Huber(1.0), Huber(1e-165)], ids=["squared", "wide", "narrow"])
def test_targets_whose_squares_underflow_are_refused(loss):
    """Every loss would be zero, every gap too: at zero as at the optimum."""
    x = np.random.default_rng(0).normal(size=(30, 2))
    y = (x @ [1.0, -2.0])[:, None]
    with pytest.raises(InputError, match="so small that doubles cannot hold their squares; change its unit"):
        fit(Memory(as_design(x), 1e-165 * y), loss, NoPenalty(3))
    assert fit(Memory(as_design(x), 0.0 * y), loss, NoPenalty(3)).verdict.kind == "optimal"


def test_small_targets_and_thresholds_are_fitted():
    x = np.random.default_rng(0).normal(size=(30, 2))
    y = (x @ [1.0, -2.0])[:, None]
    found = fit(Memory(as_design(x), 1e-120 * y), Huber(1e-120), NoPenalty(3))
    np.testing.assert_allclose(found.coef[1:, 0], [1e-120, -2e-120], rtol=1e-6)
    assert fit(Memory(as_design(x), y), Huber(1e-165), NoPenalty(3)).verdict.gap is not None
