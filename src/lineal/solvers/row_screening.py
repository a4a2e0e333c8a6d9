"""Most rows of a long table are far from their corners, and only their side counts (Portnoy and Koenker 1997)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from lineal.designs import Dense
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.problem.problem import Problem
from lineal.solvers.smoothing import approach
from lineal.solvers.solver import Step
from lineal.sources import rowwise
from lineal.sources.memory import Memory
from lineal.sources.rowwise import Scored
from lineal.sources.source import Block

Solve = Callable[[Problem, Array, Array, float], tuple[Array, Array, float]]

ROWS_PER_COLUMN = 40
"""Rows per column, those nearest to their corners, that are solved for after smoothing."""


def worthwhile(problem: Problem) -> bool:
    """Whether the table is so long that a sample and the rows near their corners are a small part of it."""
    # Gathering a row costs columns^2: beyond a hundred columns it does not pay.
    return problem.shape[0] <= 100 and problem.moments.rows >= 8 * _sample_size(problem)


def steps(problem: Problem, start: Array, solve: Solve) -> Iterator[Step]:
    """Solve a sample, fix the rows far from their corners to their sides, solve the others, and look again.

    ``solve(problem, start, linear, tol)`` minimizes the mean loss plus ``linear.b`` plus the penalty: it returns
    coefficients, dual points and gap. The fixed rows are right where their side did not change; what is wrong with the
    others is summed up by their mismatch.
    """
    weight = rowwise.weights(problem.source)
    present = np.flatnonzero(weight > 0.0)
    size = _sample_size(problem)
    picked = np.sort(np.random.default_rng(0).permutation(present)[:size])
    rate = problem.moments.weight_sum / float(np.sum(weight[picked]))
    sample = _part(problem, picked, rate)
    smoothed = approach(problem, sample, start, ROWS_PER_COLUMN * problem.shape[0] // 2)
    coef = solve(sample, start, np.zeros(problem.shape), 1e-4)[0] if smoothed is None else smoothed[0]
    eta, y = _scores(problem, coef)
    near = 2 * size
    if smoothed is not None:
        within = int(np.count_nonzero(_distance(problem, eta, y)[present] <= smoothed[1]))
        near = near if 4 * within > len(present) else max(ROWS_PER_COLUMN * problem.shape[0], 2 * within)
    best = _mean(problem, weight, problem.loss.value(y, eta)) + problem.penalty.value(coef)
    held = np.zeros(len(weight), dtype=bool)  # rows that were on the wrong side: far away, but quick to move
    for _ in range(5):
        distance = np.where(held, -1.0, _distance(problem, eta, y))
        count = near + int(np.count_nonzero(held))
        chosen = np.sort(present[np.argpartition(distance[present], min(count, len(present) - 1))[:count]])
        theta = problem.loss.slope(y, eta)
        theta[chosen] = 0.0
        linear = _pull(problem, weight[:, None] * theta)
        better, inside, gap = solve(_part(problem, chosen, 1.0), coef, linear, 1e-10)
        moved, _ = _scores(problem, better)
        value = _mean(problem, weight, problem.loss.value(y, moved)) + problem.penalty.value(better)
        theta[chosen] = inside
        theta[weight == 0.0] = 0.0
        rows = problem.loss.mismatch(y, moved, theta)
        rows[chosen] = 0.0
        estimate = gap + _mean(problem, weight, rows)
        held |= (rows > 0.0) & (weight > 0.0)
        # an outlier that is fixed to its side may pull the others to infinity
        if not (value < best or estimate <= 1e-9 * abs(value) < np.inf):
            near = max(2 * near, 2 * size)  # too few to hold the others back
            continue
        coef, eta, best = better, moved, value
        yield Step(coef, value, estimate, problem.passes, f"{len(chosen)} rows near their corners", theta=theta)


def _distance(problem: Problem, eta: Array, y: Array) -> Array:
    """Return how far every row is from its nearest corner."""
    return np.asarray(np.min([np.abs(eta - at)[:, 0] for at, _, _ in problem.loss.kinks(y)], axis=0))


def _mean(problem: Problem, weight: Array, rows: Array) -> float:
    return float(np.sum(weight * np.where(weight > 0.0, rows, 0.0))) / problem.moments.weight_sum


def _sample_size(problem: Problem) -> int:
    return int((np.sqrt(problem.shape[0]) * problem.moments.rows) ** (2.0 / 3.0)) + 10 * problem.shape[0]


def _scores(problem: Problem, coef: Array) -> tuple[Array, Array]:
    """Return scores and targets of all rows."""
    y, eta, _ = (rowwise.joined(parts) for parts in zip(*problem.source.collect(Scored(coef)), strict=True))
    return eta, y


def _pull(problem: Problem, values: Array) -> Array:
    """Return X' values / S."""
    return np.asarray(problem.source.sum(rowwise.TransposeTimes(values)) / problem.moments.weight_sum)


def _part(problem: Problem, rows: Index, rate: float) -> Problem:
    """Return the problem on some rows, their weights times ``rate``, in memory; S stays that of all rows."""
    x, y, weight, offset = (np.concatenate(parts) for parts in zip(*problem.source.collect(Picked(rows)), strict=True))
    source = Memory(Dense(x), y, rate * weight, offset, problem.source.columns)
    return Problem(source, problem.loss, problem.penalty, problem.moments)


@dataclass(frozen=True)
class Picked:
    """Some rows, by their sorted places among all rows of the source: cells, targets, weights and offsets."""

    rows: Index

    def __call__(self, block: Block) -> tuple[Array, Array, Array, Array]:
        """Return those of one block."""
        own = self.rows[np.searchsorted(self.rows, block.start) :] - block.start
        own = own[: np.searchsorted(own, block.n_rows)]
        offset = np.zeros((len(own), 1)) if block.offset is None else block.offset[own]
        return block.design.dense_rows(own), block.y[own], block.weights[own], offset
