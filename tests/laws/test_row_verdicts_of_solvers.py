"""Losses with corners or borders beside their solvers: linear programs, interior points, dual ascent, long and far tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse

from lineal.certify.baseline import baseline_fit
from lineal.designs import Categorical, Dense, HStack, Ones, as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import (
    CrammerSinger,
    Hinge,
    Huber,
    Poisson,
    Sparsemax,
    SquaredHinge,
)
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.solvers import DualAscent, row_screening
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block
from tests.laws.row_cases import CORNERED, Case


@pytest.mark.parametrize("loss", CORNERED, ids=lambda loss: loss.name)
def test_interior_point_agrees_with_a_linear_program(loss):
    rng = np.random.default_rng(3)
    n, p = 60, 4
    design = as_design(rng.normal(size=(n, p)) * [1.0, 100.0, 0.01, 1.0])
    x = design.dense()
    y = x[:, 1:2] * 0.01 + rng.standard_t(2, size=(n, 1))
    y = (y > 0).astype(float) if loss.name == "hinge" else y
    weight = rng.uniform(0.5, 2.0, size=n)
    result = fit(Memory(design, y, weight), loss, NoPenalty(p + 1), tol=1e-8)
    assert result.verdict.kind == "optimal"
    assert result.solver == "interior-point"
    # eta - at = u - v, cost high u - low v
    blocks, costs, rights = [], [], []
    for at, low, high in loss.kinks(y):
        blocks.append(x)
        costs.append((weight * high[:, 0], -weight * low[:, 0]))
        rights.append(at[:, 0])
    rows = np.vstack(blocks)
    m = len(rows)
    found = optimize.linprog(
        np.concatenate([np.zeros(p + 1), *[c[0] for c in costs], *[c[1] for c in costs]]) / weight.sum(),
        A_eq=np.hstack([rows, -np.eye(m), np.eye(m)]),
        b_eq=np.concatenate(rights),
        bounds=[(None, None)] * (p + 1) + [(0, None)] * (2 * m),
    )
    assert result.objective == pytest.approx(found.fun, rel=1e-7)


@pytest.mark.parametrize("loss", [*CORNERED, Huber(0.5)], ids=lambda loss: loss.name)
@pytest.mark.parametrize("offset", [False, True])
def test_null_fit_is_the_best_constant(loss, offset):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, size=(21, 1)).astype(float) if loss.name == "hinge" else rng.standard_t(1, size=(21, 1)) * 9
    shift = rng.normal(size=(21, 1)) if offset else None
    weight = rng.choice([0.0, 1.0, 2.0], size=21)
    problem = Problem.of(Memory(as_design(rng.normal(size=(21, 2))), y, weight, shift), loss, NoPenalty(3))
    best = baseline_fit(problem)

    def total(constant):
        return (
            float(weight @ loss.value(y, constant + (0.0 if shift is None else shift) + np.zeros((21, 1))))
            / weight.sum()
        )

    assert best.value == pytest.approx(total(best.coef[0, 0]))
    grid = np.linspace(-60, 60, 20001)
    assert best.value <= min(total(c) for c in grid[:: 1 + 20 * (loss.name == "huber")]) + 1e-9


def test_solvers_that_follow_slopes_decline_corners():
    case = Case(0)
    with pytest.raises(InputError, match=r"corners|kinks"):
        fit(case.source(1), case.loss, case.penalty, solver="newton")
    with pytest.raises(InputError, match="sum of corners"):
        fit(case.source(1), Huber(1.0), case.penalty, solver="interior-point")


def falls_for_ever(x, y):
    """Ask scipy's linear program for d with x'd <= 0 where y = 0, x'd = 0 where y > 0, not all zero."""
    zero = x[y[:, 0] == 0]
    found = optimize.linprog(
        zero.sum(axis=0),
        A_ub=zero,
        b_ub=np.zeros(len(zero)),
        A_eq=x[y[:, 0] > 0],
        b_eq=np.zeros(int(np.sum(y > 0))),
        bounds=(-1, 1),
    )
    return -found.fun > 1e-6


@pytest.mark.parametrize("seed", range(60))
def test_counts_without_a_finite_optimum_are_never_called_optimal(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 14)), int(rng.integers(1, 4))
    x = np.round(rng.normal(size=(n, p)))
    y = rng.poisson(0.4, size=(n, 1)).astype(float)
    design = as_design(x)
    result = fit(Memory(design, y), Poisson(), NoPenalty(p + 1))
    if falls_for_ever(design.dense(), y):
        assert result.verdict.kind == "at_infinity", result.verdict.sentence
        scores = design.dense() @ result.arrays["direction"]
        assert np.all(scores[y == 0] <= 0.0)
        assert np.all(scores[y > 0] == 0.0)
        assert np.any(scores < 0.0)
    else:
        assert result.verdict.kind in {"optimal", "not_unique"}, result.verdict.sentence


@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge()], ids=lambda loss: loss.name)
def test_hinges_reach_zero_on_separable_rows(loss):
    """Unlike a likelihood they attain their infimum: beyond the margin nothing is left to gain."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(40, 3))
    y = (x @ [1.0, -2.0, 0.5] > 0).astype(float)[:, None]
    result = fit(Memory(as_design(x), y), loss, NoPenalty(4))
    assert result.verdict.kind == "optimal"
    assert result.objective <= 1e-6


@pytest.mark.parametrize(
    ("loss", "heavy"),
    # hinge loss on columns with tails as heavy as Cauchy's can end in `budget`: README, limits
    [(loss, heavy) for loss in CORNERED for heavy in (False, True) if not (heavy and loss.name == "hinge")],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_long_tables_are_solved_by_the_rows_near_their_corners(loss, heavy):
    """The same optimum as by all rows at once; also where a few rows are far out, or weigh nothing."""
    rng = np.random.default_rng(8)
    n, p = 9000, 3
    x = rng.standard_cauchy(size=(n, p)) if heavy else rng.normal(size=(n, p))
    y = x[:, :1] + rng.standard_t(1 if heavy else 3, size=(n, 1))
    y = (y > 0.5).astype(float) if loss.name == "hinge" else y
    weight = rng.choice([0.0, 1.0, 2.0], size=n)
    design = as_design(x)
    blocks = [Block(design.slice(a, b), y[a:b], weight[a:b]) for a, b in ((0, 10), (10, 5000), (5000, n))]
    for penalty in (NoPenalty(p + 1), Ridge(0.01, np.array([0.0, 1.0, 1.0, 1.0]))):
        problem = Problem.of(Memory(design, y, weight), loss, penalty)
        assert row_screening.worthwhile(problem)
        short = fit(Blocks(blocks), loss, penalty, tol=1e-8)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(row_screening, "worthwhile", lambda _: False)
            whole = fit(Memory(design, y, weight), loss, penalty, tol=1e-8)
        assert short.verdict.kind == whole.verdict.kind == "optimal", (short.verdict.sentence, whole.verdict.sentence)
        assert any("near" in record.note for record in short.trace)
        assert abs(short.objective - whole.objective) <= short.verdict.gap + whole.verdict.gap + 1e-14


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), CrammerSinger(2), Sparsemax(2)], ids=lambda loss: loss.name)
def test_dual_ascent_takes_every_storage_and_hard_rows(loss):
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(size=(50, 3)) * 2)
    x[0] = 0.0  # a row that says nothing
    y = (x[:, :1] + rng.normal(size=(50, 1)) > 0).astype(float)
    weight = rng.choice([0.0, 1.0, 3.0], size=50)
    bad = x.copy()
    bad[weight == 0.0] = 1e10
    codes = rng.integers(-1, 2, size=50).astype(np.int32)
    wide = np.hstack([x, (codes[:, None] == np.arange(2)).astype(float)])
    penalty = Ridge(0.1, np.array([0.0, 1.0, 2.0, 1.0, 1.0, 0.5]))
    reference = fit(Memory(as_design(wide), y, weight), loss, penalty, solver="dual-ascent", tol=1e-9)
    assert reference.verdict.kind == "optimal", reference.verdict.sentence
    readonly = bad.astype(np.float32)
    readonly.flags.writeable = False
    designs = [
        HStack([Ones(50), Dense(readonly), Categorical(codes, 2)]),
        HStack([Ones(50), Dense(np.asfortranarray(bad)), Categorical(codes, 2)]),
        as_design(sparse.csr_matrix(wide)),
        as_design(sparse.csc_matrix(wide.astype(np.float32))),
    ]
    for design in designs:
        other = fit(Memory(design, y, weight), loss, penalty, solver="dual-ascent", tol=1e-9)
        assert other.verdict.kind == "optimal"
        assert abs(other.objective - reference.objective) <= other.verdict.gap + reference.verdict.gap + 1e-14


def test_dual_ascent_declines_in_words():
    case = Case(3)
    for penalty, match in (
        (NoPenalty(case.x.shape[1]), "ridge"),
        (Ridge(1.0, np.zeros(case.x.shape[1])), "every column"),
    ):
        with pytest.raises(InputError, match=match):
            fit(case.source(1), Hinge(), penalty, solver="dual-ascent")
    with pytest.raises(InputError, match="closed step"):
        fit(case.source(1), Poisson(), Ridge(1.0, np.ones(case.x.shape[1])), solver="dual-ascent")


@pytest.mark.parametrize("loss", [Hinge(), CrammerSinger(3)])
def test_columns_far_from_zero_are_no_harder(loss):
    """A year is 2000 standard deviations from zero; where the intercept is free, that changes nothing but the intercept."""
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=(150, 4)), rng.integers(0, max(2, loss.outputs), 150).astype(float)
    x[:, 0] += y
    far = x + np.array([2e3, -5e2, 0.0, 1e4])
    penalty_factors = np.r_[0.0, np.ones(4)]
    found = [
        fit(Memory(as_design(part), y), loss, Ridge(0.01, penalty_factors), solver=DualAscent(), tol=1e-6)
        for part in (x, far)
    ]
    assert [result.verdict.kind for result in found] == ["optimal", "optimal"]
    np.testing.assert_allclose(found[1].objective, found[0].objective, rtol=1e-5)
