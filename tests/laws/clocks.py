"""Clocks that are injected, and rows whose passes note the time."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.designs import as_design
from lineal.sources.memory import Blocks
from lineal.sources.source import Block


class Clock:
    """Says one second more whenever it is asked."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


class Counted(Blocks):
    """Blocks that note what time it is when a pass begins."""

    clock: Clock
    began: list[float]

    def blocks(self) -> Any:
        self.began.append(self.clock.now)
        return super().blocks()


def rows(loss: Any, n: int = 60, p: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    eta = x @ rng.normal(size=(p, max(loss.outputs, 1))) + rng.normal(size=(n, max(loss.outputs, 1)))
    if loss.targets == "classes":
        return x, np.argmax(eta, axis=1).astype(float)
    if loss.targets == "two classes":
        return x, (eta[:, 0] > 0.0).astype(float)
    return x, rng.poisson(np.exp(0.3 * eta[:, 0])).astype(float) if loss.targets == "counts" else eta


def counted(loss: Any, clock: Clock, **given: Any) -> Counted:
    x, y = rows(loss, **given)
    cut = np.array_split(np.arange(len(x)), 3)
    y = y.reshape(len(x), -1)
    source = Counted([Block(as_design(x[part]), np.ascontiguousarray(y[part])) for part in cut])
    source.clock, source.began = clock, []
    return source


def penalty_factors(source: Any) -> np.ndarray:
    return np.r_[0.0, np.ones(len(source.columns) - 1)]
