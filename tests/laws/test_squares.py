"""Laws of the paths of the squared loss: whatever the columns are, every point is proven, and no proof claims too much."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from lineal.certify import directions
from lineal.certify.squares import Prover
from lineal.designs import Categorical, Dense, HStack, Ones, as_design
from lineal.fitting.fitting import fit
from lineal.losses import Squared
from lineal.paths import squares
from lineal.paths.squares import Squares
from lineal.paths.strengths import path
from lineal.penalties import L1, Bounds, ElasticNet
from lineal.problem.problem import Problem
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block

INF = np.inf
FAMILIES = ("l1", "elastic", "non-negative")


def family(kind, columns, ones, rng):
    penalty_factors = np.r_[np.zeros(ones), rng.uniform(0.5, 2.0, size=columns)]
    if kind == "elastic":
        return ElasticNet(1.0, 0.6, penalty_factors)
    if kind == "l1":
        return L1(1.0, penalty_factors)
    return Bounds(np.r_[np.full(ones, -INF), np.zeros(columns)], np.full(columns + ones, INF), L1(1.0, penalty_factors))


def table(rng, n, p):
    x = rng.normal(size=(n, p))
    return x, x[:, : min(3, p)].sum(axis=1) + 0.5 * rng.normal(size=n)


def hard(name, rng):
    """Return columns and a target that make something difficult."""
    if name == "powers":
        t = np.linspace(0, 1, 200)
        return t[:, None] ** np.arange(1, 12), np.sin(9 * t)
    x, y = table(rng, *HARD[name])
    if name == "columns twice":
        x = np.hstack([x, x, -x])
    if name == "neighbours almost alike":
        x = np.cumsum(x, axis=1) / 10 + 1e-3 * x
    if name == "far from zero":
        x = x + 1e3 * np.arange(1, 11)
    if name == "units":
        x = x * 10.0 ** rng.uniform(-6, 6, size=10)
    if name == "a target far from zero":
        y = y + 1e5
    if name == "columns of zeros and ones":
        x = np.hstack([x, np.zeros((50, 2)), np.ones((50, 2))])
    return x, y


HARD = {
    "more columns than rows": (15, 400),
    "columns twice": (40, 120),
    "neighbours almost alike": (60, 30),
    "far from zero": (50, 10),
    "units": (50, 10),
    "a target far from zero": (50, 10),
    "columns of zeros and ones": (50, 5),
    "powers": (200, 11),
    "two rows": (2, 5),
    "one column": (30, 1),
}
"""Rows and columns of the tables before they are made difficult."""


@pytest.mark.parametrize("ones", [0, 1])
@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize("name", HARD)
def test_hard_columns_are_proven(name, kind, ones):
    rng = np.random.default_rng(7)
    x, y = hard(name, rng)
    weight = rng.choice([0.5, 1.0, 2.0], size=len(y))
    offset = 0.1 * rng.normal(size=(len(y), 1))
    source = Memory(as_design(x, intercept=bool(ones)), y, weight, offset)
    penalty = family(kind, x.shape[1], ones, rng)
    found = path(source, Squared(1), penalty, 20, ratio=1e-2)
    for point in found.points:
        assert point.verdict.kind == "optimal", (point.strength, point.verdict.sentence)
        # the same numbers, summed by hand
        r = (x @ point.coef[ones:, 0] + (point.coef[0, 0] if ones else 0.0) + offset[:, 0] - y) * 1.0
        value = 0.5 * float(weight @ r**2 / weight.sum()) + penalty.at(point.strength).value(point.coef)
        assert point.objective == pytest.approx(value, rel=1e-10)
    for point in found.points[::6]:
        alone = fit(source, Squared(1), penalty.at(point.strength), solver="coordinate", tol=1e-9)
        allowed = point.verdict.gap + alone.verdict.gap + 1e-13 * abs(alone.objective) + 1e-16 * np.max(np.abs(y))
        # scores are sums of terms of this size and known to its rounding only, and the objective with them
        allowed += 1e-16 * np.max(np.abs(x) @ np.abs(point.coef[ones:])) * np.sqrt(2.0 * abs(alone.objective))
        assert abs(alone.objective - point.objective) <= allowed


@pytest.mark.parametrize(
    "storage", ["csr", "codes", "fortran", "float32", "three blocks", "zero weights", "no intercept"]
)
def test_every_storage_gives_the_same_path(storage):
    rng = np.random.default_rng(3)
    x, y = table(rng, 60, 330)
    x = np.where(np.abs(x) < 1.0, 0.0, np.round(4 * x) / 4)
    codes = rng.integers(-1, 3, size=60).astype(np.int32)
    whole = np.hstack([x, (codes[:, None] == np.arange(3)).astype(float)])
    weight = rng.choice([0.0, 1.0, 2.0], size=60)
    ones = int(storage != "no intercept")
    design = {
        "csr": as_design(sparse.csr_matrix(whole)),
        "fortran": HStack([Ones(60), Dense(np.asfortranarray(whole))]),
        "float32": as_design(whole.astype(np.float32)),
        "no intercept": HStack([Dense(x), Categorical(codes, 3)]),
    }.get(storage, HStack([Ones(60), Dense(x), Categorical(codes, 3)]))
    cuts = ((0, 20), (20, 21), (21, 60)) if storage == "three blocks" else ((0, 60),)
    blocks = [Block(design.slice(a, b), y[a:b, None], weight[a:b]) for a, b in cuts]
    if storage == "zero weights":
        kept = weight > 0.0
        plain = Memory(as_design(whole[kept]), y[kept], weight[kept])
    else:
        plain = Memory(as_design(whole, intercept=bool(ones)), y, weight)
    penalty = L1(1.0, np.r_[np.zeros(ones), np.ones(333)])
    one = path(plain, Squared(1), penalty, 10, ratio=0.1)
    other = path(Blocks(blocks), Squared(1), penalty, one.strengths)
    for a, b in zip(one.points, other.points, strict=True):
        assert a.verdict.kind == b.verdict.kind == "optimal"
        assert abs(a.objective - b.objective) <= a.verdict.gap + b.verdict.gap + 1e-14


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(FAMILIES), ones=st.integers(0, 1), spread=st.floats(0.0, 2.0)
)
def test_a_proof_at_any_coefficients_holds(seed, kind, ones, spread):
    """The gap at coefficients that are no optimum is at least the distance to the best value anybody finds."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 30)), int(rng.integers(1, 12))
    x, y = table(rng, n, p)
    weight = rng.uniform(0.1, 2.0, size=n)
    source, penalty = Memory(as_design(x, intercept=bool(ones)), y, weight), family(kind, p, ones, rng)
    problem = Problem.of(source, Squared(1), penalty)
    walk = Squares(problem, penalty, 1e-6, None)
    strengths = np.array([0.5, 0.05])
    coef = spread * rng.normal(size=(2, p)) * (rng.random((2, p)) < 0.5)
    coef = np.abs(coef) if kind == "non-negative" else coef
    whole = walk._short(coef, np.arange(ones, p + ones))
    proofs = Prover(problem, penalty).prove(
        strengths, np.arange(p + ones), whole, walk._look(coef, strengths).residuals
    )
    for strength, b, proof in zip(strengths, whole, proofs, strict=True):
        best = fit(source, Squared(1), penalty.at(float(strength)), solver="prox-newton", tol=1e-10).objective
        value = problem.at(penalty.at(float(strength))).evaluate(b[:, None]).value
        assert proof.objective == pytest.approx(value, rel=1e-12)
        assert proof.gap >= (value - best) * (1.0 - 1e-9) - 1e-14 * abs(best)


def test_a_proof_agrees_with_exact_fractions():
    """x = 1, 2, 3 with y = 1, 2, 4, no intercept, l1 of strength 1: at b = 1, r = (0, 0, -1), g = -1, theta = r."""
    x, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 4.0])
    problem = Problem.of(Memory(as_design(x, intercept=False), y), Squared(1), L1(1.0, np.ones(1)))
    walk = Squares(problem, problem.penalty, 1e-6, None)
    one = np.ones((1, 1))
    proof = Prover(problem, problem.penalty).prove(
        np.ones(1), np.zeros(1, dtype=np.intp), one, walk._look(one, np.ones(1)).residuals
    )[0]
    # F(1) = 1/6 + 1, and b (linear + g) = 0: the gap is zero, as (14/3) b = 17/3 - 1 says
    assert proof.objective == pytest.approx(float(Fraction(7, 6)), rel=1e-15)
    assert 0.0 <= proof.gap <= 1e-12
    half = np.full((1, 1), 0.5)
    proof = Prover(problem, problem.penalty).prove(
        np.ones(1), np.zeros(1, dtype=np.intp), half, walk._look(half, np.ones(1)).residuals
    )[0]
    # r = -(1/2, 1, 5/2), mean r^2 = 5/2, g = -10/3, a = 3/10; (1 - a)^2 5/4 + |b| (1 - 1) = 49/80
    assert proof.gap == pytest.approx(float(Fraction(49, 80)), rel=1e-11)


def test_columns_that_the_rules_miss_are_taken_up(monkeypatch):
    """With stretches so long that the rules are blind, the answer stays the same."""
    rng = np.random.default_rng(0)
    x, y = table(rng, 50, 700)
    source, penalty = Memory(as_design(x), y), L1(1.0, np.r_[0.0, np.ones(700)])
    plain = path(source, Squared(1), penalty, 12, ratio=0.1)
    monkeypatch.setattr(directions, "MAX_TURN", -0.9)
    blind = path(source, Squared(1), penalty, 12, ratio=0.1)
    for one, other in zip(plain.points, blind.points, strict=True):
        assert other.verdict.kind == "optimal"
        assert abs(one.objective - other.objective) <= one.verdict.gap + other.verdict.gap + 1e-14


def test_a_path_that_sweeps_cannot_end_hands_over(monkeypatch):
    """Where no exact solve is allowed and sweeps get no time, others find the points."""
    rng = np.random.default_rng(0)
    x, y = table(rng, 50, 20)
    monkeypatch.setattr(squares, "STRETCH_MAX_SOLVES", 1)
    monkeypatch.setattr(squares, "POINT_MAX_SWEEPS", -1e9)
    found = path(Memory(as_design(x), y), Squared(1), L1(1.0, np.r_[0.0, np.ones(20)]), 6)
    assert {verdict.kind for verdict in found.verdicts} == {"optimal"}


def test_any_number_of_threads_gives_the_same_bits():
    from lineal import _core

    rng = np.random.default_rng(0)
    x, y = table(rng, 300, 900)
    before = _core.threads()
    found = []
    try:
        for count in (1, 2, 5):
            _core.set_threads(count)
            found.append(path(Memory(as_design(x), y), Squared(1), L1(1.0, np.r_[0.0, np.ones(900)]), 15, ratio=0.1))
    finally:
        _core.set_threads(before)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].coef, other.coef)
        assert [p.verdict.gap for p in found[0].points] == [p.verdict.gap for p in other.points]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(FAMILIES), ones=st.integers(0, 1), near=st.floats(0.0, 1.0))
def test_columns_that_a_few_directions_clear_are_within_their_penalty_factor(seed, kind, ones, near):
    """Whatever the points are: a column that the look leaves out has a gradient that its penalty factor allows, at every one."""
    rng = np.random.default_rng(seed)
    n, p, count = int(rng.integers(3, 40)), 320, 9
    x, y = table(rng, n, p)
    weight = rng.uniform(0.1, 2.0, size=n)
    source, penalty = Memory(as_design(x, intercept=bool(ones)), y, weight), family(kind, p, ones, rng)
    problem = Problem.of(source, Squared(1), penalty)
    walk = squares.Squares(problem, penalty, 1e-6, None)
    columns = ones + np.sort(rng.choice(p, 6, replace=False))
    walk._work(columns)
    strengths = np.geomspace(0.3, 0.1, count)
    coef = np.linspace(0.0, 1.0, count)[:, None] * rng.normal(size=6) + (0.1 * near * rng.normal(size=(count, 6))) ** 3
    seen = walk._look(coef, strengths).residuals
    s = weight / weight.sum()
    r = x[:, columns - ones] @ coef.T - y[:, None]
    r = r - ones * (s @ r)
    gradient = np.zeros((p + ones, count))
    gradient[ones:] = x.T @ (s[:, None] * r)
    assert np.allclose(gradient[seen.columns].T, seen.slopes, rtol=1e-9, atol=1e-12)
    rest = np.setdiff1d(np.arange(ones, p + ones), seen.columns)
    assert np.all(np.abs(gradient[rest]) <= np.outer(walk.rates.linear[rest], strengths))


def test_most_columns_are_looked_at_through_few_directions():
    """Neighbouring points of a sparse path have few directions, and few columns are near their penalty factor."""
    rng = np.random.default_rng(0)
    x = sparse.random_array((400, 3000), density=0.02, format="csc", rng=rng)
    y = x @ (rng.normal(size=3000) * (np.arange(3000) < 5)) + 0.1 * rng.normal(size=400)
    problem = Problem.of(Memory(as_design(x), y), Squared(1), L1(1.0, np.r_[0.0, np.ones(3000)]))
    walk = squares.Squares(problem, problem.penalty, 1e-6, None)
    looks = []
    look = walk._look
    walk._look = lambda *given: looks.append(look(*given)) or looks[-1]
    top = float(np.max(np.abs(walk.origin[1:])))
    points = list(walk.points(np.geomspace(top, top / 10, 40)))
    assert {point.verdict.kind for point in points} == {"optimal"}
    assert any(not shown.ways.whole and len(shown.residuals.columns) < 600 for shown in looks)
    assert all(design.upright for design in problem.source.block.design.designs[1:])
