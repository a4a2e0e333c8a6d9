"""The law of verdicts for losses with corners: the gap is never below the truth, against optima in rational numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize

from lineal.certify import prove
from lineal.certify.rows import bound
from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import (
    Absolute,
    CrammerSinger,
    Hinge,
    Huber,
    Poisson,
    Sparsemax,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block
from tests.laws.exact import Exact
from tests.laws.exact import number as ball
from tests.laws.row_cases import Case


def sabotaged(rng, theta):
    """Yield dual points that no honest solver would hand over."""
    yield None
    yield np.zeros_like(theta)
    yield theta + 1e-6 * rng.normal(size=theta.shape)
    yield rng.normal(size=theta.shape) * 3
    yield np.full_like(theta, np.nan)
    yield theta[:-1]
    yield -theta


@pytest.mark.slow
@pytest.mark.parametrize("number", range(120))
def test_gap_bounds_the_true_suboptimality(number):
    case = Case(number)
    result = fit(case.source(1 if number % 2 else 3), case.loss, case.penalty)
    assert result.verdict.kind in {"optimal", "budget"}, result.verdict.sentence
    best = case.optimum([float(v) for v in result.coef[:, 0]])
    if best is None:
        return  # counted below
    if result.verdict.gap is not None:
        assert 0 <= case.away(result.coef, best) <= Fraction(result.verdict.gap)
    theta = result.arrays.get("theta", np.zeros((len(case.y), 1)))
    problem = Problem.of(case.source(3), case.loss, case.penalty)
    for size in (0.0, 1e-9, 1e-3, 1.0):
        coef = result.coef + size * case.rng.normal(size=result.coef.shape) * (1.0 + np.abs(result.coef))
        away = case.away(coef, best)
        for bad in (theta, *sabotaged(case.rng, theta)):
            proof = prove(problem, coef, theta=bad)
            assert proof.gap is None or away <= Fraction(proof.gap), (size, proof)


def test_most_cases_have_an_exact_optimum_and_a_proof():
    """A certificate that always declined, or a reference that never answers, would obey the law above."""
    known = proven = zero = 0
    for number in range(120):
        case = Case(number)
        result = fit(case.source(1), case.loss, case.penalty)
        known += case.optimum([float(v) for v in result.coef[:, 0]]) is not None
        proven += result.verdict.kind == "optimal"
        problem = Problem.of(case.source(1), case.loss, case.penalty)
        zero += prove(problem, np.zeros_like(result.coef), theta=result.arrays.get("theta")).gap is not None
    assert known >= 100
    assert proven >= 117
    assert zero >= 110


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss",
    [Huber(0.3), SquaredHinge(), SquaredEpsilonInsensitive(0.3), Sparsemax(3), CrammerSinger(3), Hinge(), Absolute()],
    ids=lambda loss: loss.name,
)
@pytest.mark.parametrize("seed", range(6))
def test_rowwise_bound_holds_for_every_loss_with_a_border(loss, seed):
    """Against the best of many starts of scipy: not exact, but from outside."""
    rng = np.random.default_rng(seed)
    n, p = 14, 2
    x = rng.normal(size=(n, p))
    design = as_design(x)
    dense = design.dense()
    k = loss.outputs
    y = rng.normal(size=(n, 1)) if loss.name in {"huber", "absolute", "squared-epsilon-insensitive"} else None
    y = rng.integers(0, max(k, 2), size=(n, 1)).astype(float) if y is None else y
    weight = rng.choice([0.0, 1.0, 2.0], size=n)
    penalty = Ridge(0.1, np.array([0.0, 1.0, 1.0]))
    problem = Problem.of(Memory(design, y, weight), loss, penalty)

    def objective(flat):
        coef = flat.reshape(p + 1, k)
        return float(weight @ loss.value(y, dense @ coef)) / weight.sum() + penalty.value(coef)

    reference = min(
        optimize.minimize(objective, rng.normal(size=(p + 1) * k), method=method, options={"maxiter": 4000}).fun
        for method in ("BFGS", "Nelder-Mead", "Powell")
    )
    given = 0
    for size in (0.0, 0.1, 1.0):
        coef = size * rng.normal(size=(p + 1, k))
        for theta in (None, rng.normal(size=(n, k)), np.zeros((n, k))):
            found = bound(problem, coef, theta)
            given += found.gap is not None
            assert found.gap is None or found.gap >= objective(coef.ravel()) - reference
    assert given >= 3


@pytest.mark.parametrize("seed", range(90))
def test_gap_of_smooth_losses_bounds_the_true_suboptimality(seed):
    """Against fifty digits, like the law of the likelihoods: also for sabotaged coefficients, from three blocks."""
    rng = np.random.default_rng(seed)
    loss = [Poisson(), Huber(0.6), SquaredHinge()][seed % 3]
    n, p = int(rng.integers(4, 14)), int(rng.integers(1, 4))
    intercept = bool(rng.random() < 0.7)
    x = rng.normal(size=(n, p)) * rng.choice([1.0, 1e-3, 1e3], size=p)
    y = {
        "poisson": lambda: rng.poisson(1.0, size=(n, 1)).astype(float),
        "huber": lambda: rng.standard_t(2, size=(n, 1)) + (1e6 if seed % 4 == 0 else 0.0),
        "squared-hinge": lambda: rng.integers(0, 2, size=(n, 1)).astype(float),
    }[loss.name]()
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n) if rng.random() < 0.5 else None
    if weight is not None:
        weight[0] = 1.0
    offset = rng.normal(size=(n, 1)) if rng.random() < 0.3 else None
    design = as_design(x, intercept=intercept)
    penalty_factors = np.ones(design.shape[1])
    penalty_factors[: int(intercept)] = 0.0
    strength = float(rng.choice([0.0, 1e-6, 1e-2, 1.0]))
    penalty = Ridge(strength, penalty_factors) if strength else NoPenalty(len(penalty_factors))
    edges = np.linspace(0, n, 4).astype(int)
    source = Blocks(
        [
            Block(
                design.slice(int(a), int(b)),
                y[a:b],
                None if weight is None else weight[a:b],
                None if offset is None else offset[a:b],
            )
            for a, b in itertools.pairwise(edges)
        ]
    )
    result = fit(source, loss, penalty)
    assert result.verdict.kind in {"optimal", "at_infinity", "not_unique"}, result.verdict.sentence
    if result.verdict.kind == "at_infinity":
        assert loss.name == "poisson"
        return
    exact = Exact(loss, design.dense(), y, weight, offset, strength, penalty_factors)
    best = exact.optimum(result.coef)
    if best is None:
        assert loss.name != "poisson"  # a singular second derivative: flat in some direction
        return

    def away(coef):
        return float((exact.value([[ball(v) for v in row] for row in coef]) - best).mid())

    assert away(result.coef) <= result.verdict.gap
    problem = Problem.of(source, loss, penalty)
    for size in (1e-9, 1e-3, 1.0):
        coef = result.coef + size * rng.normal(size=result.coef.shape) * (1.0 + np.abs(result.coef))
        for polish in (0, 20):
            proof = prove(problem, coef, polish=polish)
            assert proof.gap is None or away(coef) <= proof.gap, (size, proof)
