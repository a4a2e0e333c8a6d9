"""Optima whose dual points have to be at the very end of their domain: a level of a category that has one class only."""

from __future__ import annotations

import numpy as np
import pytest

from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import Hinge, SquaredHinge
from lineal.penalties import Bounds, NoPenalty
from lineal.sources.memory import Memory
from tests.laws.checker import checked
from tests.laws.rivals import rival

INF = np.inf


def levels(rng, rows, *, last):
    """Return indicators of three levels (a fourth where ``last``), and classes that overlap but in the first level."""
    code = np.resize(np.arange(4), rows)
    x = (code[:, None] == np.arange(3 + last)).astype(float)
    y = (rng.random(rows) < 0.4 + 0.1 * code).astype(float)
    return x, np.where(code == 0, 1.0, y)[:, None]


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("intercept", [False, True])
def test_a_level_of_one_class_has_a_proof(loss, seed, intercept):
    """Its rows lie beyond their corner, and nothing can make up for a dual point of one of them that is above zero.

    With an intercept and no indicator of the last level, where it is the first one is known from a combination of columns.
    """
    rng = np.random.default_rng(seed)
    x, y = levels(rng, 60, last=not intercept)
    if intercept:
        x = x[:, [1, 2]] if seed % 2 else x
    weight = rng.choice([0.0, 1.0, 2.0], size=60) if seed > 1 else None
    design = as_design(x, intercept=intercept)
    width = design.shape[1]
    free = Bounds(np.full(width, -INF), np.where(np.arange(width) == width - 1, 0.5, INF), NoPenalty(width))
    for penalty in (NoPenalty(width), free):
        result = fit(Memory(design, y, weight), loss, penalty)
        assert result.verdict.kind == "optimal", (penalty, result.verdict.sentence)
        best = rival(loss, design.dense(), y, weight, None, penalty)
        assert result.objective - best <= result.verdict.gap + 1e-13
        proven = checked(loss, design.dense(), y, weight, None, penalty, intercept, result)
        assert proven is not None
        assert proven <= 4.0 * result.verdict.gap + 1e-10
