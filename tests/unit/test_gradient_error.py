"""A gradient that was not made from rows is known to its ``gradient_error`` only, and no proof may forget it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lineal.certify.proving import prove
from lineal.designs import as_design
from lineal.losses import Squared
from lineal.penalties import Ridge
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory


@pytest.mark.parametrize("enough", [1.0, 0.0])
def test_the_error_of_a_gradient_is_part_of_the_gap(enough):
    """Where the gradient is within its noise of zero, coefficients are not proven to be better than that."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
    problem = Problem.of(Memory(as_design(x), y), Squared(1), Ridge(0.1, np.array([0.0, 1.0, 1.0])))
    coef = np.array([[float(np.mean(y))], [0.3], [-0.2]])
    here = problem.evaluate(coef, hessian=1)
    problem.keep(coef, replace(here, gradient=np.zeros_like(coef), gradient_error=np.abs(here.gradient)))
    proof = prove(problem, coef, hint=np.zeros_like(coef), enough=enough)
    whole = np.column_stack([np.ones(30), x])
    best = np.linalg.solve(whole.T @ whole / 30.0 + np.diag([0.0, 0.1, 0.1]), whole.T @ y / 30.0)

    def objective(b):
        return 0.5 * float(np.mean((whole @ b - y) ** 2)) + 0.05 * float(np.sum(b[1:] ** 2))

    assert proof.gap is not None
    assert proof.gap >= objective(coef) - objective(best)
