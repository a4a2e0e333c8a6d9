"""What Newton's method by products leaves for the certificate."""

from __future__ import annotations

import numpy as np
import pytest

from lineal.designs import as_design
from lineal.losses import Softmax
from lineal.passes import Kept
from lineal.penalties import Ridge
from lineal.problem import Problem
from lineal.solvers.newton_cg import _complete
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
