"""Where a perceptron stood at every step: the mistakes of its weights on all rows, and the fewest so far (the pocket's)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.perceptron.perceptron import TIES
from lineal.perceptron.pocket import mistaken
from lineal.perceptron.step_log import StepLog
from lineal.sources.rowwise import Count
from lineal.sources.source import Block, Source

MAX_SCORES: Final = 2 * 10**8
"""Scores (states times rows times outputs) up to which every state is counted; of longer runs none is."""
SCORES_TOGETHER: Final = 2**22
"""Scores that are held at once."""


def standing(log: StepLog, source: Source, tie: str) -> tuple[Array, Array]:
    """Return for every step how many rows its weights mistake, weights of rows counted, and the fewest of any so far.

    The weights of a step are those before it. The second column is what the pocket algorithm would return (Gallant 1990).
    NaN where the run is too long to count all states.

    >>> from lineal.designs import as_design
    >>> from lineal.perceptron.perceptron import Plan, present
    >>> from lineal.sources.memory import Memory
    >>> rows = Memory(as_design(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])), np.array([0.0, 1, 1, 0]))  # XOR
    >>> log = present(rows, 1, Plan(epochs=2, record=8)).ledger
    >>> now, best = standing(log, rows, "mistake")
    >>> now.tolist(), best.tolist()
    ([4.0, 2.0, 3.0, 2.0], [4.0, 2.0, 2.0, 2.0])
    """
    states = [line.weights for line in log]
    if not states:
        return np.empty(0), np.empty(0)
    place, distinct = _distinct(states)
    rows = source.sum(Count())
    outputs = states[0].shape[1]
    if rows * outputs * len(distinct) > MAX_SCORES:
        return np.full(len(states), np.nan), np.full(len(states), np.nan)
    counts = np.zeros(len(distinct))
    together = max(1, SCORES_TOGETHER // max(rows * outputs, 1))
    for first in range(0, len(distinct), together):
        some = distinct[first : first + together]
        counts[first : first + len(some)] = source.sum(
            _Counted(np.ascontiguousarray(np.hstack(some)), TIES[tie], outputs)
        )
    now = counts[place]
    return now, np.minimum.accumulate(now)


def _distinct(states: Sequence[Array]) -> tuple[list[int], list[Array]]:
    """Return the states without repeats of the one before, and which of them each step had."""
    distinct, place = [states[0]], [0]
    for state in states[1:]:
        if not np.array_equal(state, distinct[-1]):
            distinct.append(state)
        place.append(len(distinct) - 1)
    return place, distinct


@dataclass(frozen=True)
class _Counted:
    """The task that sums the weight of the rows that each of some states, side by side, mistakes."""

    states: Array
    tie: int
    outputs: int

    def __call__(self, block: Block) -> Array:
        """Sum over one block."""
        eta, own = block.design.times(self.states), block.y[:, 0].astype(np.intp)
        each = np.split(eta, eta.shape[1] // self.outputs, axis=1)
        return np.array([block.weights[mistaken(scores, own, self.tie)].sum() for scores in each])
