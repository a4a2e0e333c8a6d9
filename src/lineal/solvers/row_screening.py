"""Most rows of a long table are far from their corners, and only their side counts (Portnoy and Koenker 1997)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.designs import Dense, Ones, Sparse, Stack
from lineal.designs.design import Design
from lineal.problem.problem import Problem
from lineal.solvers.smoothing import approach
from lineal.solvers.solver import Array, Step
from lineal.sources.memory import Memory

Index = npt.NDArray[np.intp]
Inner = Callable[[Problem, Array, Array, float], tuple[Array, Array, float]]

MOST_COLUMNS = 100
"""Gathering rows costs columns^2 for each: beyond this it does not pay."""

CHUNK = 8192

ROUNDS = 5
"""So often the rows are chosen anew before all are taken."""

FEW = 40
"""So many rows a column, those nearest to their corners, are solved for after corners have been rounded off."""


def worthwhile(problem: Problem) -> bool:
    """Whether the table is so long that a sample and the rows near their corners are a small part of it."""
    return problem.shape[0] <= MOST_COLUMNS and problem.moments.rows >= 8 * _sample_size(problem)


def steps(problem: Problem, start: Array, inner: Inner) -> Iterator[Step]:
    """Solve a sample, fix the rows far from their corners to their sides, solve the others, and look again.

    ``inner(problem, start, linear, tol)`` minimises the mean loss plus ``linear.b`` plus the penalty: it returns
    coefficients, dual points and gap. The fixed rows are right where their side did not change; what is wrong with the
    others is summed up by their mismatch.
    """
    weight = np.concatenate([_weight(block.weight, block.n_rows) for block in problem.source.blocks()])
    present = np.flatnonzero(weight > 0.0)
    size = _sample_size(problem)
    picked = np.sort(np.random.default_rng(0).permutation(present)[:size])
    rate = problem.moments.weight_sum / float(np.sum(weight[picked]))
    sample = _part(problem, picked, rate)
    found = approach(problem, sample, start, FEW * problem.shape[0] // 2)
    coef = inner(sample, start, np.zeros(problem.shape), 1e-4)[0] if found is None else found[0]
    eta, y = _scores(problem, coef)
    near = 2 * size
    if found is not None:
        within = int(np.count_nonzero(_distance(problem, eta, y)[present] <= found[1]))
        near = near if 4 * within > len(present) else max(FEW * problem.shape[0], 2 * within)
    best = _mean(problem, weight, problem.loss.value(y, eta)) + problem.penalty.value(coef)
    held = np.zeros(len(weight), dtype=bool)  # rows that were on the wrong side: far away, but quick to move
    for _ in range(ROUNDS):
        distance = np.where(held, -1.0, _distance(problem, eta, y))
        count = near + int(np.count_nonzero(held))
        chosen = np.sort(present[np.argpartition(distance[present], min(count, len(present) - 1))[:count]])
        theta = problem.loss.slope(y, eta)
        theta[chosen] = 0.0
        linear = _pull(problem, weight[:, None] * theta)
        better, inside, gap = inner(_part(problem, chosen, 1.0), coef, linear, 1e-10)
        moved, _ = _scores(problem, better)
        value = _mean(problem, weight, problem.loss.value(y, moved)) + problem.penalty.value(better)
        theta[chosen] = inside
        theta[weight == 0.0] = 0.0
        rows = problem.loss.mismatch(y, moved, theta)
        rows[chosen] = 0.0
        estimate = gap + _mean(problem, weight, rows)
        held |= (rows > 0.0) & (weight > 0.0)
        if not (value < best or estimate <= 1e-9 * abs(value)):
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


def _weight(weight: Array | None, rows: int) -> Array:
    return np.ones(rows) if weight is None else weight


def _scores(problem: Problem, coef: Array) -> tuple[Array, Array]:
    """Return scores and targets of all rows."""
    problem.passes += 1
    etas, ys = [], []
    for block in problem.source.blocks():
        eta = block.design.times(coef)
        eta, y = eta if block.offset is None else eta + block.offset, block.y
        if block.weight is not None:
            present = (block.weight > 0.0)[:, None]
            eta, y = np.where(present, eta, 0.0), np.where(present, y, 0.0)
        etas.append(eta)
        ys.append(y)
    return (etas[0], ys[0]) if len(etas) == 1 else (np.concatenate(etas), np.concatenate(ys))


def _pull(problem: Problem, values: Array) -> Array:
    """Return X' values / S."""
    problem.passes += 1
    total, start = np.zeros(problem.shape), 0
    for block in problem.source.blocks():
        total += block.design.transpose_times(np.ascontiguousarray(values[start : start + block.n_rows]))
        start += block.n_rows
    return np.asarray(total / problem.moments.weight_sum)


def _part(problem: Problem, rows: Index, rate: float) -> Problem:
    """Return the problem on some rows, their weights times ``rate``, in memory; S stays that of all rows."""
    problem.passes += 1
    parts: list[Array] = []
    ys, weights, offsets, start = [], [], [], 0
    for block in problem.source.blocks():
        own = rows[np.searchsorted(rows, start) : np.searchsorted(rows, start + block.n_rows)] - start
        parts.extend(_picked(block.design, own))
        ys.append(block.y[own])
        weights.append(_weight(block.weight, block.n_rows)[own])
        offsets.append(np.zeros((len(own), 1)) if block.offset is None else block.offset[own])
        start += block.n_rows
    source = Memory(
        Dense(np.concatenate(parts)),
        np.concatenate(ys),
        rate * np.concatenate(weights),
        np.concatenate(offsets),
        problem.source.columns,
    )
    return Problem(source, problem.loss, problem.penalty, problem.moments)


def _few(design: Design, rows: Index) -> npt.NDArray[Any]:
    """Return some rows of a design of ones, of numbers or of sparse ones."""
    if isinstance(design, Dense):
        return design.array[rows]
    if isinstance(design, Sparse):
        from scipy import sparse  # slow to load: only for sparse rows

        first, last = int(design.indptr[0]), int(design.indptr[-1])
        cells = (design.data[first:last], design.indices[first:last], design.indptr - first)
        whole = sparse.csr_array(cells, shape=design.shape)
        return np.asarray(whole[rows].toarray())
    return np.ones((len(rows), 1))


def _picked(design: Design, rows: Index) -> Iterator[Array]:
    """Yield some rows as plain arrays."""
    inner = design.designs if isinstance(design, Stack) else (design,)
    if all(isinstance(part, Ones | Dense | Sparse) for part in inner):
        yield np.hstack([_few(part, rows) for part in inner]).astype(np.float64, copy=False)
        return
    for first in range(0, design.shape[0], CHUNK):
        last = min(first + CHUNK, design.shape[0])
        some = rows[np.searchsorted(rows, first) : np.searchsorted(rows, last)] - first
        if len(some):
            yield design.slice(first, last).dense()[some]
