"""Dependencies are stated only where they hold in every digit, and no gap is claimed that the exact matrix does not have."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import Squared
from lineal.penalties import L1, Bounds, NoPenalty, Ridge
from lineal.problem.dependence import _zero, among, suspected
from lineal.problem.problem import Problem
from lineal.sources.memory import Blocks, Memory
from tests.laws.catalogue import minimised

LOSSES = [loss for loss in minimised() if loss.outputs == 1 or loss.coupled]
INF = np.inf


def rank(rows):
    """Return the rank of a matrix of doubles, by elimination in fractions."""
    left, found = [[Fraction(value) for value in row] for row in rows], 0
    for column in range(len(left[0])):
        pivot = next((row for row in left if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        found += 1
        left = [[a - row[column] / pivot[column] * b for a, b in zip(row, pivot, strict=True)] for row in left]
    return found


def targets(loss, rng, n):
    if loss.targets == "two classes":
        return rng.integers(0, 2, size=(n, 1)).astype(float)
    if loss.outputs > 1:
        return rng.integers(0, 3, size=(n, 1)).astype(float)
    return rng.poisson(2.0, size=(n, 1)).astype(float) if loss.targets == "counts" else rng.normal(size=(n, 1))


numbers = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(-1e6, 1e6, allow_subnormal=False),
    st.sampled_from([0.1, 0.2, 0.3, 1e15, 1e-9]),
)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=6), st.tuples(numbers, numbers, numbers))
def test_zero_is_what_fractions_say(cells, direction):
    exact = all(sum(Fraction(a) * Fraction(b) for a, b in zip(row, direction, strict=True)) == 0 for row in cells)
    found = _zero(np.array(cells), np.array(direction))
    tiny = any(0 < abs(a * b) < 1e-250 for row in cells for a, b in zip(row, direction, strict=True))
    assert found == exact or (exact and tiny)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_called_dependent_is_so_in_fractions(seed):
    """Columns made of others by whole, dyadic, third and rounded weights, on whole numbers, grids and any doubles."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(3, 30)), int(rng.integers(2, 5))
    unit = rng.choice([1.0, 2.0**-20, 0.1, 0.0])
    x = rng.normal(size=(n, p)) if unit == 0.0 else np.round(rng.normal(size=(n, p)) * 50) * unit
    weights = rng.choice([1.0, -1.0, 2.0, 0.5, 1.0 / 3.0, 0.1], size=p)
    x = np.column_stack([x, x @ weights if seed % 3 else 3.0 * x[:, 0], 1.0 + x[:, 1] * (seed % 2)])
    weight = np.r_[1.0, rng.choice([0.0, 1.0, 2.5], size=n - 1)] if seed % 4 == 3 else None
    design = as_design(x).dense()
    present = design if weight is None else design[weight > 0.0]
    y = rng.normal(size=(n, 1))
    half = n // 2
    blocks = [(slice(0, half)), slice(half, n)]
    parts = [
        Memory(as_design(x[s]), y[s], None if weight is None else weight[s]).block for s in blocks if s.start < s.stop
    ]
    for source in (Memory(as_design(x), y, weight), Blocks(parts)):
        problem = Problem.of(source, Squared(1), NoPenalty(design.shape[1]))
        found = among(problem, problem.unpenalized)
        if found is not None:
            assert len(found.independent) == rank(present), (seed, found)
            exact = present @ found.null_space
            assert np.all(np.abs(exact) <= 1e-12 * (np.abs(present) @ np.abs(found.null_space)))


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("apart", [1e-15, 1e-13])
def test_columns_a_rounding_error_apart_are_not_called_dependent(loss, apart):
    """Their difference may gain what any column may; without a penalty no gap is known, and the sentence says so."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(30, 1)) + 3.0
    x = np.column_stack([x, x * (1.0 + apart * rng.integers(-3, 4, size=(30, 1)))])
    y = targets(loss, rng, 30)
    result = fit(Memory(as_design(x), y, columns=("(intercept)", "a", "b")), loss, NoPenalty(3))
    assert result.verdict.kind != "not_unique", result.verdict.sentence
    if result.verdict.kind == "budget" and result.verdict.gap is None:
        words = re.search(r"up to rounding, b = (1 \* )?a in every row|digits", result.verdict.sentence)
        assert words, result.verdict.sentence
    # the same span in columns that are apart: what doubles near each other differ by is exact
    wide = np.column_stack([x[:, 0], (x[:, 1] - x[:, 0]) / apart])
    best = fit(Memory(as_design(wide), y), loss, NoPenalty(3))
    assert best.verdict.kind == "optimal"
    bounds = Bounds(np.array([-INF, 0.0, -INF]), np.full(3, INF), NoPenalty(3))
    for penalty in (
        NoPenalty(3),
        bounds,
        L1(1e-20, np.array([0.0, 1.0, 1.0])),
        Ridge(1e-40, np.array([0.0, 1.0, 1.0])),
    ):
        other = fit(Memory(as_design(x), y), loss, penalty).verdict
        if other.gap is None:
            continue
        there = np.vstack([best.coef[0], best.coef[1] - best.coef[2] / apart, best.coef[2] / apart])
        # the optimum is at most what these coefficients reach (those of the bounds: not below zero)
        reached = best.objective + penalty.value(there)
        assert other.evidence["objective"] - other.gap <= reached + 1e-9 * abs(reached), penalty


def test_a_total_of_rounded_amounts_is_one_up_to_rounding():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 40)).round(2)
    x, y = np.column_stack([a, b, a + b]), rng.normal(size=(40, 1))
    names = ("(intercept)", "a", "b", "total")
    result = fit(Memory(as_design(x), y, columns=names), Squared(1), NoPenalty(4))
    assert result.verdict.kind == "budget"
    assert "up to rounding, total = a + b in every row" in result.verdict.sentence
    # the coefficients of least norm are given all the same
    assert result.coef[3, 0] == pytest.approx(result.coef[1, 0] + result.coef[2, 0], rel=1e-6)
    cents = np.round(100 * x)
    cents[:, 2] = cents[:, 0] + cents[:, 1]
    whole = fit(Memory(as_design(cents), y, columns=names), Squared(1), NoPenalty(4))
    assert whole.verdict.kind == "not_unique"
    problem = Problem.of(Memory(as_design(x), y), Squared(1), NoPenalty(4))
    assert among(problem, problem.unpenalized) is None
    assert len(suspected(problem, problem.unpenalized).dependent) == 1
