"""What in the data explains that rounding ended a fit, in words that the checker knows."""

from __future__ import annotations

import numpy as np
import pytest

from lineal.designs import as_design
from lineal.fitting.causes import explained
from lineal.losses import Huber, Squared
from lineal.penalties import NoPenalty
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory
from lineal.verify.evidence.sentences import REASONS

ENDED = "rounding error allows no further progress"


def _said(x: np.ndarray, *, loss: object = None, weight: np.ndarray | None = None, level: float = 0.0) -> list[str]:
    source = Memory(as_design(x, intercept=True), np.full((len(x), 1), level), weight)
    problem = Problem.of(source, loss or Squared(1), NoPenalty(1 + x.shape[1]))
    coef = np.zeros(problem.shape)
    coef[0] = level
    said = explained(problem, coef, ENDED).split("; ")
    assert said[0] == ENDED
    assert all(any(pattern.fullmatch(piece) for pattern in REASONS) for piece in said)
    return said[1:]


@pytest.mark.parametrize("seed", range(3))
def test_every_cause_is_said_where_it_is_one(seed: int) -> None:
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(20, 3))
    near = np.column_stack([x, x[:, 0] - x[:, 1] + 1e-9 * draw.normal(size=20)])
    assert _said(x) == []
    assert _said(x, weight=10.0 ** np.linspace(-8, 1, 20)) == []
    assert _said(x, weight=10.0 ** np.linspace(-8, 4, 20)) == ["weights differ by a factor of 1e+12"]
    assert _said(x, weight=np.where(np.arange(20) < 5, 0.0, 1.0)) == []
    assert _said(near) == ["columns are nearly combinations of others"]
    assert _said(near + 1e5) == ["columns are nearly combinations of others"]
    assert _said(x + 1e5) == []
    assert _said(x, loss=Huber(1.0), level=1e3) == []
    (piece,) = _said(x, loss=Huber(1.0), level=1e14)
    assert piece.startswith("scores are rounded by up to ")
    assert piece.endswith(", which is not small beside a threshold of 1")
