"""Columns far from zero: what differs between rows is found and proven, in coefficients of the columns as they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array

import lineal
from lineal.designs import as_design
from lineal.designs.center import less, unrounded
from lineal.fitting.fitting import fit
from lineal.losses import Absolute, CrammerSinger, Logistic
from lineal.penalties import L1, Bounds, ElasticNet, NoPenalty, Ridge
from lineal.problem.frame import centered
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory
from lineal.verify.arithmetic import times
from tests.laws.checker import checked
from tests.laws.drawn import INF, LOSSES, name, target
from tests.laws.rivals import rival

CHARGES = np.array([0.0, 1.0, 1.0, 1.0])
PENALTIES = [
    NoPenalty(4),
    Ridge(0.1, CHARGES),
    L1(0.01, CHARGES),
    ElasticNet(0.01, 0.5, CHARGES),
    Bounds(np.where(CHARGES > 0.0, 0.0, -INF), np.full(4, INF), NoPenalty(4)),
]


def table(loss, far, seed=0):
    """Return columns of whole 2^-10ths, so that they stay the same when moved; moved and as they were; and targets."""
    rng = np.random.default_rng(seed)
    x = np.round(1024.0 * rng.normal(size=(60, 3))) / 1024.0
    return x + np.array([far, 0.0, -far]), x, target(loss, rng, x)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [*LOSSES, CrammerSinger(3)], ids=name)
@pytest.mark.parametrize("far", [2.0**20, 2.0**30])
def test_every_loss_is_proven_in_columns_far_from_zero(loss, far):
    x, near, y = table(loss, far)
    for penalty in PENALTIES:
        result = fit(Memory(as_design(x), y), loss, penalty)
        assert result.verdict.kind == "optimal", (penalty, result.verdict.sentence)
        # the optimum is that of the columns near zero
        best = rival(loss, as_design(near).dense(), y, None, None, penalty)
        if best is not None:
            # scores with twice the digits: those of plain doubles are off by 1e-7 here
            value = float(np.mean(loss.value(y, times(as_design(x).dense(), result.coef)))) + penalty.value(result.coef)
            assert value - best <= result.verdict.gap + 1e-12 * abs(best), penalty
        proven = checked(loss, as_design(x).dense(), y, None, None, penalty, True, result)
        gain = result.verdict.evidence["null_objective"] - result.objective
        assert proven is not None, penalty
        assert proven <= 4.0 * result.verdict.gap + 1e-8 * gain, penalty


def test_standard_errors_are_those_of_the_columns_as_they_are():
    """Slopes have those they have near zero; the intercept is a sum of them."""
    x, near, y = table(Logistic(), 2.0**30)
    far, plain = (fit(Memory(as_design(part), y), Logistic(), NoPenalty(4)) for part in (x, near))
    turn = np.eye(4)
    turn[0, 1], turn[0, 3] = -(2.0**30), 2.0**30
    there, here = far.arrays["covariance"], turn @ plain.arrays["covariance"] @ turn.T
    size = np.sqrt(np.diagonal(here))
    assert there / size / size[:, None] == pytest.approx(here / size / size[:, None], abs=1e-6)


def test_where_the_intercept_has_too_few_digits_the_gap_says_so():
    """MixedHStack 2^43 it is a multiple of 2^-10: the median's corner is missed by about that, and the proof knows."""
    x, near, y = table(Absolute(), 2.0**43)
    penalty = Ridge(0.1, CHARGES)
    result = fit(Memory(as_design(x), y), Absolute(), penalty)
    best = fit(Memory(as_design(near), y), Absolute(), penalty)
    rows = [
        abs(sum((Fraction(a) * Fraction(b) for a, b in zip(row, result.coef[:, 0], strict=True)), -Fraction(goal)))
        for row, goal in zip(as_design(x).dense(), y[:, 0], strict=True)
    ]
    exact = float(sum(rows) / 60) + penalty.value(result.coef)
    assert exact == pytest.approx(result.objective, rel=1e-12)
    assert exact - best.objective <= result.verdict.gap <= 1e-3


def test_a_fit_in_centered_columns_is_one_in_the_columns_as_they_are():
    x, _, y = table(Logistic(), 2.0**30)
    frame = centered(Problem.of(Memory(as_design(x), y), Logistic(), NoPenalty(4)), 100.0)
    coef = np.array([[0.3], [1.0 / 3.0], [0.0], [0.7]])
    exact = Fraction(0.3) + sum(Fraction(m) * Fraction(b) for m, b in zip(frame.center, coef[:, 0], strict=True))
    assert frame.inward(coef)[0, 0] == float(exact)
    assert frame.inward(frame.outward(coef))[0, 0] == pytest.approx(0.3, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [*LOSSES, CrammerSinger(3)], ids=name)
@pytest.mark.parametrize("form", [csr_array, csc_array])
def test_a_sparse_matrix_with_columns_far_from_zero_is_proven_like_a_dense_one(loss, form):
    """Its columns near zero stay sparse: those far away have no zeros to spare."""
    far, near, y = table(loss, 2.0**40)
    near[np.abs(near[:, 1]) < 0.5, 1] = 0.0
    far[:, 1] = near[:, 1]
    source = Memory(as_design(form(far)), y)
    for penalty in PENALTIES:
        result = fit(source, loss, penalty, keep=True)
        assert result.verdict.kind == "optimal", (penalty, result.verdict.sentence)
        best = rival(loss, as_design(near).dense(), y, None, None, penalty)
        if best is not None:  # another solver's optimum of the columns near zero
            assert result.objective - best <= result.verdict.gap + 1e-12 * abs(best), penalty


@pytest.mark.parametrize("form", [csr_array, csc_array])
def test_columns_of_a_sparse_matrix_less_a_center(form):
    """What is near zero stays sparse, and numbers are those of the dense matrix less the center."""
    draw = np.random.default_rng(3)
    x = np.where(draw.random((12, 6)) < 0.3, draw.normal(size=(12, 6)), 0.0)
    x[:, [1, 2, 5]] = 3e15 + np.arange(36.0).reshape(12, 3) / 2.0
    center = np.r_[0.0, np.where(x[0] > 1e15, x[0], 0.0)]
    moved = less(as_design(form(x)), center)
    assert np.array_equal(moved.dense(), as_design(x).dense() - center)
    assert [type(part).__name__ for part in moved.designs] == ["Ones", "Sparse", "Dense", "Sparse", "Dense"]
    assert unrounded(as_design(form(x)), center).all()
    assert np.array_equal(unrounded(as_design(form(x)), center / 7.0), center == 0.0)


@pytest.mark.parametrize("form", [csr_array, csc_array])
def test_ordinary_sparse_columns_stay_as_they_are(form):
    """Means of a few standard deviations, and a column of ones: nothing is held dense for these."""
    draw = np.random.default_rng(4)
    x = np.where(draw.random((50, 4)) < 0.9, 3.0, 0.0)
    x[:, 3] = 1.0
    y = draw.normal(size=(50, 1))
    problem = Problem.of(Memory(as_design(form(x)), y), Absolute(), Ridge(0.1, np.r_[0.0, np.ones(4)]))
    assert np.any(problem.moments.mean[1:] > 2.0 * problem.moments.sd[1:])
    assert centered(problem, 1.0) is None
    assert centered(Problem.of(Memory(as_design(x), y), problem.loss, problem.penalty), 1.0) is not None


def halves(x):
    """Return a matrix by rows whose numbers are stored twice, each a half, from the last column to the first."""
    columns = np.tile(np.repeat(np.arange(x.shape[1])[::-1], 2), len(x))
    starts = 2 * x.shape[1] * np.arange(len(x) + 1)
    return csr_array((np.repeat(x[:, ::-1].ravel(), 2) / 2.0, columns, starts), shape=x.shape)


@pytest.mark.parametrize("form", [csr_array, csc_array, coo_array, halves])
def test_sparse_rows_are_predicted_through_a_center(form):
    """As dense ones are, but for the order of a sum."""
    x = np.column_stack([3e15 + np.arange(30.0) / 2.0, np.where(np.arange(30) % 4 == 0, np.arange(30.0), 0.0)])
    y = np.arange(30.0) + np.sin(np.arange(30.0))
    sparse = lineal.Ridge().fit(form(x), y)
    assert sparse.verdict_.kind == "optimal"
    assert sparse.predict(form(x)) == pytest.approx(lineal.Ridge().fit(x, y).predict(x), abs=1e-9)
    assert sparse.predict(form(x)) == pytest.approx(sparse.predict(x), abs=1e-13)
    model = lineal.fit(form(x), y, penalty="ridge:0.1")
    assert model.verdict.kind == "optimal"
    assert model.predict(form(x)) == pytest.approx(model.predict(x), abs=1e-13)
