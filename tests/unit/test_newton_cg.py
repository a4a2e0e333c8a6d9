"""What Newton's method by products leaves for the certificate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lineal.certify.baseline import baseline_fit
from lineal.designs import as_design
from lineal.losses import Logistic, Softmax
from lineal.penalties import Ridge
from lineal.problem.passes import Kept
from lineal.problem.problem import Problem
from lineal.problem.standardized import standardize
from lineal.solvers.newton_cg import NewtonCG, _complete
from lineal.solvers.solver import Goal
from lineal.solvers.system import Preconditioner, System
from lineal.sources.memory import Memory


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [0.1, 3.0, 40.0])
def test_the_second_derivative_of_an_intercept_comes_from_kept_probabilities(weighted: bool, size: float) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(400, 6)), rng.integers(0, 4, (400, 1)).astype(float)
    weight = rng.integers(0, 3, 400).astype(float) if weighted else None
    source = Memory(as_design(x, intercept=True), y, weight)
    penalty = Ridge(0.1, np.append(0.0, np.ones(6)))
    coef = size * rng.normal(size=(7, 4))
    kept: Kept = {}
    problem = Problem.of(source, Softmax(4), penalty)
    problem.evaluate(coef, kept=kept)
    passes = problem.passes
    _complete(problem, coef, kept)
    found = problem.evaluate(coef, hessian=1)
    assert problem.passes == passes
    fresh = Problem.of(source, Softmax(4), penalty).evaluate(coef, hessian=1)
    assert found.hessian is not None
    assert fresh.hessian is not None
    np.testing.assert_allclose(found.hessian, fresh.hessian, rtol=1e-9, atol=1e-300)
    assert found.value == fresh.value


def _words(seed: int, rows: int = 6000, columns: int = 5000, per_row: int = 8) -> Problem:
    """Return logistic loss on short rows of words by a power law, C = 1."""
    rng = np.random.default_rng(seed)
    column = np.minimum((columns ** rng.uniform(size=(rows, per_row))).astype(int), columns - 1)
    x = sparse.csr_array(
        (np.full(rows * per_row, per_row**-0.5), (np.repeat(np.arange(rows), per_row), column.ravel()))
    )
    x.resize((rows, columns))
    score = x @ rng.normal(size=columns)
    y = (rng.uniform(size=rows) < 1.0 / (1.0 + np.exp(-2.0 * score))).astype(float)[:, None]
    source = Memory(as_design(x, intercept=True), y, None)
    return Problem.of(source, Logistic(), Ridge(1.0 / rows, np.append(0.0, np.ones(columns))))


@pytest.mark.parametrize("seed", range(3))
def test_a_step_made_the_last_one_leaves_what_a_proof_can_use(seed: int) -> None:
    """``r = g - H d`` with the second derivative written out by numpy."""
    problem = _words(seed, rows=600, columns=300)
    view = standardize(problem)
    inner = view.problem
    coef = 0.1 * np.random.default_rng(seed).normal(size=inner.shape)
    here = inner.evaluate(coef)
    system = System(inner, coef, here.gradient, Preconditioner.of(inner, 0), 200)
    goal = 1e-6 * system.estimate
    system.end(1e-3 * goal, goal)
    assert system.closing is not None
    design = next(inner.source.blocks()).design
    x = design.times(np.eye(inner.shape[0]))
    chance = 1.0 / (1.0 + np.exp(-(x @ coef)))
    second = x.T @ (chance * (1.0 - chance) * x) / len(x) + np.diag(inner.penalty.curvature())
    rest = here.gradient - second @ system.newton()
    assert system.rest is not None
    np.testing.assert_allclose(system.rest, rest, atol=1e-12)
    assert float(np.sum(rest[1:, 0] ** 2 / (2.0 * inner.penalty.curvature()[1:]))) <= goal
    # and how far a gradient is from the one foreseen: here not at all
    assert system.bent(rest) * system.first <= 1e-9


def test_a_fall_that_can_be_seen_is_taken_below_the_bound_of_rounding() -> None:
    problem = _words(0)
    rest = baseline_fit(problem)
    values = []
    for step in NewtonCG().steps(problem, rest.coef, Goal(1e-15, 1e-12, rest.value)):
        values.append(step.objective)
        bound = problem.evaluate(step.coef).error
        if len(values) > 12 or (len(values) > 2 and values[-2] - values[-1] < 1e-13):
            break
    falls = -np.diff(values)
    assert falls.min() > -1e-15
    assert np.any((falls > 0.0) & (falls < bound)), (falls, bound)
