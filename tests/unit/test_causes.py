"""What in the data explains that rounding ended a fit, in words that the checker knows."""

from __future__ import annotations

import numpy as np
import pytest

from lineal.designs import as_design
from lineal.fitting.causes import ROUNDING, explained
from lineal.losses import Huber, Logistic, Squared
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory
from lineal.verify.evidence.sentences import REASONS


def _said(
    x: np.ndarray, *, loss: object = None, weight: np.ndarray | None = None, level: float = 0.0, penalty: object = None,
    offset: np.ndarray | None = None, y: np.ndarray | None = None, slope: float = 0.0,
) -> list[str]:  # fmt: skip
    """Return what is said of targets that one column explains, where nothing but sizes is said unless there is more."""
    y = level + np.sign(x[:, 0] - np.median(x[:, 0])) if y is None else y
    source = Memory(as_design(x, intercept=True), y[:, None], weight, offset)
    problem = Problem.of(source, loss or Squared(1), penalty or NoPenalty(1 + x.shape[1]))
    coef = np.zeros(problem.shape)
    coef[0] = level - slope * np.mean(x[:, 0])
    coef[1] = slope
    said = explained(problem, coef, ROUNDING).split("; ")
    assert said[0] == ROUNDING
    assert len(said) > 1
    assert all(any(pattern.fullmatch(piece) for pattern in REASONS) for piece in said)
    return [
        piece for piece in said[1:] if not piece.startswith(("scores are sums of terms up to", "of a null loss of"))
    ]


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


@pytest.mark.parametrize("seed", range(3))
def test_sizes_of_columns_offsets_and_gains_are_causes(seed: int) -> None:
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(20, 2))
    units = np.array([1.0, 1e9])
    ridge = Ridge(1.0, np.array([0.0, 1.0, 1.0]))
    assert _said(x * units) == []  # without a penalty, units are nothing
    (piece,) = _said(x * units, penalty=ridge)
    assert piece.startswith("penalized columns differ in size by a factor of ")
    classes, offset = (x[:, 0] > 0.0).astype(float), 100.0 * draw.uniform(-1.0, 1.0, size=(20, 1))
    assert _said(x, loss=Logistic(), y=classes, offset=offset + 1e3 * 0.0)[0].startswith("offsets differ by up to ")
    assert _said(x, loss=Logistic(), y=classes, offset=np.full((20, 1), 100.0)) == []
    assert _said(x, offset=offset) == []  # squares hear every row
    far = x + np.array([1e8, 0.0])
    assert _said(far)[0] == "columns are far from zero, and their means could not be taken off"


def test_where_nothing_else_is_known_sizes_are_said() -> None:
    x = np.linspace(-1.0, 1.0, 9)[:, None]
    source = Memory(as_design(x), 2.0 * x)
    problem = Problem.of(source, Squared(1), NoPenalty(2))
    good, best = np.array([[0.0], [1.5]]), np.array([[0.0], [2.0]])
    assert explained(problem, good, ROUNDING).startswith(
        f"{ROUNDING}; scores are sums of terms up to 2e+00, and rounded"
    )
    assert (
        explained(problem, good, "the last hundred steps brought nothing") == "the last hundred steps brought nothing"
    )
    sizes = explained(problem, best, ROUNDING)
    assert explained(problem, best, ROUNDING, 1e-3) == sizes  # all of the null loss is gained
    few = Problem.of(Memory(as_design(x), x**2), Squared(1), NoPenalty(2))
    said = explained(few, np.array([[float(np.mean(x**2))], [0.0]]), ROUNDING, 1e-12)
    assert said == f"{ROUNDING}; the columns gain at most 1e-12 over a null loss of 0.067"
