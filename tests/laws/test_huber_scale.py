"""Coefficients and scale of Huber's loss together: derivatives beside plain sums, the minimum beside plain minimisation."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

from lineal.designs import Dense, HStack, Ones, Sparse
from lineal.fitting.joint import Joint, best_scale
from lineal.fitting.scale import scaled_huber
from lineal.losses import Huber
from lineal.problem.moments import survey
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block

EPSILON = 1.35


def objective(rows, coef, scale, penalty_factors, penalty_factor):
    """Return G by its definition."""
    X, y, weight, offset = rows
    z = np.abs(X @ coef + offset - y) / scale
    h = np.where(z <= EPSILON, z**2 / 2, EPSILON * z - EPSILON**2 / 2)
    return weight @ (scale / 2 + scale * h) / weight.sum() + penalty_factor / 2 * penalty_factors @ coef**2


def case(seed, n=300, p=4):
    """Return a source in one of its forms, and its rows as plain arrays."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X @ rng.normal(size=p) + rng.standard_t(1.5, size=n) + 7.0
    weight = rng.integers(0, 3, size=n).astype(float) if seed % 2 else np.ones(n)
    offset = rng.normal(size=n) if seed % 3 == 0 else np.zeros(n)
    inner = Sparse(scipy.sparse.csr_matrix(X)) if seed % 5 == 4 else Dense(X)
    ones = seed % 4 != 3
    design = HStack([Ones(n), inner]) if ones else inner
    given = (y, weight if seed % 2 else None, offset if seed % 3 == 0 else None)
    source = Memory(design, *given)
    if seed % 7 == 6:
        block = source.block
        cut = [slice(0, n // 3), slice(n // 3, n)]
        source = Blocks(
            [
                Block(
                    block.design.slice(c.start, c.stop),
                    block.y[c],
                    None if block.weight is None else block.weight[c],
                    None if block.offset is None else block.offset[c],
                )
                for c in cut
            ],
            source.columns,
        )
    plain = np.column_stack([np.ones(n), X]) if ones else X
    penalty_factors = np.r_[np.zeros(int(ones)), np.ones(p)]
    return source, (plain, y, weight, offset), penalty_factors


@pytest.mark.parametrize("seed", range(14))
def test_derivatives_are_those_of_the_definition(seed):
    source, rows, penalty_factors = case(seed)
    joint = Joint(source, survey(source, Huber(1.0)), EPSILON, 0.2, penalty_factors)
    rng = np.random.default_rng(seed)
    coef, scale = rng.normal(size=len(penalty_factors)), 1.7

    def at(point):
        return objective(rows, point[:-1], point[-1], penalty_factors, 0.2)

    here = joint.at(coef[:, None], scale)
    place = np.r_[coef, scale]
    assert here.value == pytest.approx(at(place), rel=1e-13)
    step = 1e-6
    moves = step * np.eye(len(place))
    slopes = [(at(place + move) - at(place - move)) / (2 * step) for move in moves]
    np.testing.assert_allclose(here.gradient, slopes, rtol=1e-6, atol=1e-8)
    around = [
        (joint.at(there[:-1, None], there[-1]).gradient, joint.at(back[:-1, None], back[-1]).gradient)
        for there, back in ((place + move, place - move) for move in moves)
    ]
    bends = np.array([(there - back) / (2 * step) for there, back in around])
    np.testing.assert_allclose(here.hessian, bends, rtol=1e-5, atol=1e-6)
    X, y, weight, offset = rows
    z = np.clip((X @ coef + offset - y) / scale, -EPSILON, EPSILON)
    assert abs(here.square - weight @ z**2 / weight.sum()) <= here.error <= 1e-11


@pytest.mark.parametrize("seed", range(14))
def test_minimum_beside_a_plain_one(seed):
    source, rows, penalty_factors = case(seed)
    joint = Joint(source, survey(source, Huber(1.0)), EPSILON, 0.01, penalty_factors)
    found = joint.minimum(None, 1e-9, 1e-9, 1e3, None)
    assert found is not None
    assert abs(found.square - 1.0) < 1e-8

    def at(point):
        return objective(rows, point[:-1], np.exp(point[-1]), penalty_factors, 0.01)

    start = np.r_[found.coef[:, 0] + 0.1, np.log(found.scale) + 0.1]
    plain = scipy.optimize.minimize(at, start, method="Nelder-Mead", options={"maxiter": 20000, "fatol": 1e-13})
    value = objective(rows, found.coef[:, 0], found.scale, penalty_factors, 0.01)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert value <= plain.fun * (1 + 1e-12)
    assert value == pytest.approx(plain.fun, rel=1e-5)


def test_a_long_table_is_as_well_served_through_its_subsamples():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90_000, 3))
    y = 1e4 + X @ [1.0, -2.0, 0.0] + rng.standard_t(1, size=90_000)
    source = Memory(HStack([Ones(len(X)), Dense(X)]), y)
    found = scaled_huber(source, EPSILON, 0.0, np.zeros(4), tol=1e-8)
    assert found.verdict.kind == "optimal"
    assert found.steps <= 4
    r = y - np.column_stack([np.ones(len(X)), X]) @ found.coef[:, 0]
    assert found.scale == pytest.approx(best_scale(r, np.full(len(y), 1 / len(y)), EPSILON), rel=1e-9)
    slopes = np.clip(r / found.scale, -EPSILON, EPSILON)
    assert np.max(np.abs(slopes @ np.column_stack([np.ones(len(X)), X]))) / len(y) < 1e-9


@pytest.mark.parametrize("kind", ["constant", "exact", "twins", "one row", "wide"])
def test_where_newton_leads_nowhere_the_scale_is_searched(kind):
    rng = np.random.default_rng(5)
    n, p = {"one row": (1, 2), "wide": (5, 9)}.get(kind, (50, 3))
    X = rng.normal(size=(n, p))
    X = np.column_stack([X, X[:, 0]]) if kind == "twins" else X
    y = {"constant": np.full(n, 3.0), "exact": X[:, 0] * 2}.get(kind, rng.standard_t(2, size=n))
    source = Memory(HStack([Ones(n), Dense(X)]), y)
    penalty_factors = np.r_[0.0, np.ones(X.shape[1])]
    found = scaled_huber(source, EPSILON, 0.0, penalty_factors)
    spread = float(np.std(y)) or 3.0
    assert np.all(np.isfinite(found.coef))
    assert found.objective <= 1e-6 * spread or found.verdict.proven
    assert found.scale > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("penalty_factor", [0.0, 1e-4, 0.1])
def test_nothing_to_gain_is_met_to_the_last_digits(seed, penalty_factor):
    """Most targets are 0, and zero coefficients are best: with the scale G falls to epsilon times the mean of |y|.

    A scale held at a billionth of the spread cost more than a millionth of what there is to gain, which is nothing.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(30, 2))
    y = np.where(np.arange(30) % 10 == 7, rng.normal(size=30), 0.0)
    found = scaled_huber(Memory(HStack([Ones(30), Dense(x)]), y), EPSILON, penalty_factor, np.array([0.0, 1.0, 1.0]))
    z, one = np.column_stack([np.ones(30), x]), np.eye(30)
    program = scipy.optimize.linprog(
        np.r_[np.zeros(3), np.full(60, EPSILON / 30)], A_eq=np.hstack([z, one, -one]), b_eq=y,
        bounds=[(None, None)] * 3 + [(0, None)] * 60, method="highs",
    )  # fmt: skip
    least = EPSILON * float(np.mean(np.abs(y)))
    assert program.fun == pytest.approx(least, rel=1e-12)  # the absolute loss gains nothing by any column
    assert found.verdict.kind == "optimal"
    assert found.objective - least <= 1e-14 * least
    assert found.verdict.gap <= 1e-13 * least


@pytest.mark.parametrize("seed", [14, 47, 77, 97, 147, 275])
def test_a_scale_of_nothing_but_rounding_is_proven(seed):
    """Few rows around 1e6, most of them met: the optimum is that of absolute loss, from a linear program."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(5, 15)), int(rng.integers(1, 4))
    x = rng.normal(size=(n, p))
    y = 1e6 * rng.choice([1, -3, 10]) + x @ rng.normal(size=p) + rng.standard_t(2, size=n)
    found = scaled_huber(Memory(HStack([Ones(n), Dense(x)]), y), EPSILON, 0.0, np.zeros(p + 1))
    assert found.verdict.kind == "optimal"
    z, one = np.column_stack([np.ones(n), x]), np.eye(n)
    cost = np.r_[np.zeros(p + 1), np.full(2 * n, EPSILON / n)]
    program = scipy.optimize.linprog(
        cost, A_eq=np.hstack([z, one, -one]), b_eq=y - y.mean(),
        bounds=[(None, None)] * (p + 1) + [(0, None)] * (2 * n), method="highs",
    )  # fmt: skip
    assert found.objective == pytest.approx(program.fun, rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_columns_far_from_zero_cost_neither_steps_nor_the_proof(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(20, 4))
    y = x @ rng.normal(size=4) + rng.standard_t(2, size=20)
    near, far = (
        scaled_huber(Memory(HStack([Ones(20), Dense(cells)]), y), EPSILON, 1e-7, np.r_[0.0, np.ones(4)])
        for cells in ((x + 1e7) - 1e7, x + 1e7)
    )
    assert far.verdict.kind == near.verdict.kind == "optimal"
    assert far.objective == pytest.approx(near.objective, rel=1e-7)
    assert far.steps <= 60


def test_where_half_of_the_rows_are_equal_the_scale_is_the_least_there_is():
    y = np.r_[np.zeros(16), 2.0, 1.0, -2.0, 1.0, 1.0, -1.0, -2.0, -1.0, 1.0, 1.0, 1.0]
    x = np.random.default_rng(3).normal(size=(27, 1))
    found = scaled_huber(Memory(HStack([Ones(27), Dense(x)]), y), EPSILON, 0.0, np.zeros(2))
    assert found.verdict.kind == "optimal"
    assert found.objective <= EPSILON * np.mean(np.abs(y)) + 1e-9 * np.std(y)
