"""One row far from all others, or a heavy tail: what rounding may hide of mean errors is not that of the largest number."""

from __future__ import annotations

import numpy as np
import pytest

from lineal.certify import domain
from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import Hinge
from lineal.penalties import L1, NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory
from tests.laws.checker import checked
from tests.laws.drawn import CORNERED, name, target
from tests.laws.rivals import rival


@pytest.mark.slow
@pytest.mark.parametrize("loss", CORNERED, ids=name)
@pytest.mark.parametrize("kind", ["outlier", "cauchy"])
def test_corners_are_proven_beside_an_outlier(loss, kind):
    rng = np.random.default_rng(0)
    x = rng.standard_cauchy(size=(3000, 1)) if kind == "cauchy" else rng.normal(size=(3000, 1))
    y = target(loss, rng, np.clip(x, -3.0, 3.0))
    x[5] = 1e8 if kind == "outlier" else x[5]
    design, penalty_factors = as_design(x), np.array([0.0, 1.0])
    lasso = L1(1e-3 if kind == "outlier" else 0.1, penalty_factors)
    for penalty in (NoPenalty(2), lasso, *(Ridge(1.0 / (c * 3000), penalty_factors) for c in (1e-3, 1.0, 1e3))):
        result = fit(Memory(design, y), loss, penalty)
        assert result.verdict.kind == "optimal", (penalty, result.verdict.sentence)
        best = rival(loss, design.dense(), y, None, None, penalty)
        if best is not None:
            assert result.objective - best <= result.verdict.gap + 1e-12
        proven = checked(loss, design.dense(), y, None, None, penalty, True, result)
        assert proven is not None
        assert proven <= 4.0 * result.verdict.gap + 1e-9


def test_what_an_intercept_is_owed_is_known_to_more_digits_than_doubles_have():
    """1 - 1 + 2^-60: the sum of doubles in this order is exact, with an error bound far below EPS."""
    theta = np.array([[-1.0], [1.0], [-(2.0**-60)]])
    problem = Problem.of(Memory(as_design(np.arange(3.0)[:, None]), np.ones((3, 1))), Hinge(), NoPenalty(2))
    mean, error = domain.owed(problem, theta)
    assert abs(mean + 2.0**-60 / 3.0) <= error
    assert error <= 128.0 * np.finfo(np.longdouble).eps
