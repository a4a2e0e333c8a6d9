"""What deciding the second of two classes costs and catches at many thresholds, in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.metrics.scoring import Score
from lineal.sources.source import Block

THRESHOLDS: Final = tuple(k / 20 for k in range(1, 20))
"""The probabilities above which the second class is decided, one line each."""


@dataclass(frozen=True)
class Tally:
    """Weights of rows: ``all[k]`` of class k, ``taken[m, k]`` those of them above threshold m."""

    all: Array
    taken: Array

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.all + other.all, self.taken + other.taken)


@dataclass(frozen=True)
class AtThresholds:
    """The task that counts the rows whose probability of the second class is above each threshold."""

    score: Score

    def __call__(self, block: Block) -> Tally:
        """Return the counts of one block."""
        if self.score.coef is None:
            raise ValueError("thresholds are of a model, not of a constant")
        eta = self.score.scores(block.design, self.score.coef)
        proba = self.score.loss.mean(eta if block.offset is None else eta + block.offset)[:, 0]
        own = block.weights[:, None] * (block.y[:, :1] == np.arange(2.0))
        return Tally(own.sum(axis=0), np.stack([(proba > tau) @ own for tau in THRESHOLDS]))


def lines(tally: Tally, costs: Array | None = None) -> list[dict[str, Any]]:
    """Return a line for every threshold: what is decided there, how well, and at which mean cost if ``costs[k, l]`` are given.

    With TP, FP, FN, TN the weights of rows by what happened and what was decided, of S in all:
    ``precision = TP / (TP + FP)``, ``recall = TP / (TP + FN)``, ``f1 = 2 TP / (2 TP + FP + FN)``, ``accuracy = (TP + TN) / S``,
    ``lift = precision / share of the class``. ``best`` is the line of least cost, without costs of largest f1, of equal ones
    the first.

    >>> tally = Tally(np.array([6.0, 4.0]), np.array([[3.0, 4.0]] * 18 + [[1.0, 3.0]]))
    >>> [line["threshold"] for line in lines(tally) if line["best"]], lines(tally, np.array([[0, 1], [5, 0]]))[0]["cost"]
    ([0.95], 0.3)
    """
    answer = []
    negative, positive = tally.all
    for tau, (false, true) in zip(THRESHOLDS, tally.taken, strict=True):
        missed, quiet = positive - true, negative - false
        line = {
            "threshold": tau,
            "decided": (true + false) / (positive + negative),
            "precision": true / (true + false) if true + false > 0 else None,
            "recall": true / positive if positive > 0 else None,
            "f1": 2 * true / (2 * true + false + missed) if positive + true + false > 0 else None,
            "accuracy": (true + quiet) / (positive + negative),
            "lift": true / (true + false) / (positive / (positive + negative)) if true + false > 0 < positive else None,
        }
        if costs is not None:
            table = np.array([[quiet, false], [missed, true]])
            line["cost"] = float((table * costs).sum()) / (positive + negative)
        answer.append({name: None if value is None else float(value) for name, value in line.items()})
    best = max(range(len(answer)), key=lambda place: _worth(answer[place]))
    return [{**line, "best": place == best} for place, line in enumerate(answer)]


def _worth(line: Mapping[str, Any]) -> float:
    if "cost" in line:
        return -float(line["cost"])
    return -1.0 if line["f1"] is None else float(line["f1"])
