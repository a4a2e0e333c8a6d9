"""The domain of the dual points of a loss, row by row: an interval or the simplex; putting points in, moving them about."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lineal.losses.sparsemax import Sparsemax, hot
from lineal.problem.problem import EPS, Problem
from lineal.sources.source import Block

Array = npt.NDArray[np.float64]

MOVES = 12
"""So often a dual point is moved."""

NEAR = 1e-7
"""A dual point this near to an end of its domain, as a share of the largest, may be meant to be there."""

HOPELESS = 2300.0
"""Moves cut short reach no further than this share of the first: each takes 0.9 V, and leaves at most 1.9 V."""


def rows(problem: Problem, *others: Array) -> Iterator[tuple[Block, Array, list[Array]]]:
    """Yield every block with its weights over S and its part of arrays that hold one entry a row."""
    start, total = 0, problem.moments.weight_sum
    for block in problem.source.blocks():
        stop = start + block.n_rows
        weight = np.ones(block.n_rows) if block.weight is None else block.weight
        yield block, weight / total, [other[start:stop] for other in others]
        start = stop


def scores(block: Block, coef: Array, weight: Array) -> tuple[Array, Array]:
    """Return targets and scores; rows of weight zero are absent, whatever they hold."""
    eta = block.design.times(coef)
    eta = eta if block.offset is None else eta + block.offset
    if block.weight is None:
        return block.y, eta
    present = (weight > 0.0)[:, None]
    return np.where(present, block.y, 0.0), np.where(present, eta, 0.0)


def inside(problem: Problem, coef: Array, theta: Array | None) -> Array:
    """Return the dual point put into its domain; without one, the slopes."""
    parts = []
    height = sum(block.n_rows for block in problem.source.blocks())
    given = np.zeros((height, problem.shape[1])) if theta is None else theta
    if given.shape != (height, problem.shape[1]):
        given, theta = np.zeros((height, problem.shape[1])), None
    for block, weight, (part,) in rows(problem, given):
        present = (weight > 0.0)[:, None]
        if theta is None:
            y, eta = scores(block, coef, weight)
            point = problem.loss.slope(y, eta)
        else:
            y, point = np.where(present, block.y, 0.0), np.where(np.isfinite(part), part, 0.0)
        parts.append(np.where(present, put(problem, y, point), 0.0))
    return np.concatenate(parts)


def put(problem: Problem, y: Array, point: Array) -> Array:
    """Return the nearest point (nearly) of the domain."""
    box = problem.loss.box(y)
    if box is not None:
        return np.clip(point, *box)
    if not problem.loss.coupled:
        return point
    mine = hot(y, problem.shape[1])
    q = np.clip(point + mine, 0.0, 1.0)
    size = q.sum(axis=1, keepdims=True)
    q = np.where(size > 0.0, q / np.where(size > 0.0, size, 1.0), mine)
    return _zero_sum(q, mine)


def _zero_sum(q: Array, mine: Array) -> Array:
    """Return q - e_y with the entry of y made from the others."""
    others = q * (1.0 - mine)
    return np.asarray(others - mine * np.minimum(others.sum(axis=1, keepdims=True), 1.0))


def mixed(problem: Problem, theta: Array, share: float) -> Array:
    """Return the dual point moved a little towards the middle of the domain."""
    parts = []
    for block, weight, (part,) in rows(problem, theta):
        present = (weight > 0.0)[:, None]
        y = np.where(present, block.y, 0.0)
        box = problem.loss.box(y)
        if box is not None:
            # zero, which the uncharged columns allow; the middle where zero is on the border
            inner = (box[0] < 0.0) & (box[1] > 0.0)
            middle = 0.5 * (np.maximum(box[0], part - 1.0) + np.minimum(box[1], part + 1.0))
            moved = np.clip(part + share * (np.where(inner, 0.0, middle) - part), *box)
        else:
            mine = hot(y, problem.shape[1])
            moved = _zero_sum((part + mine) + share * (1.0 / problem.shape[1] - (part + mine)), mine)
        parts.append(np.where(present, moved, 0.0))
    return np.concatenate(parts)


def snapped(problem: Problem, theta: Array) -> Array:
    """Return the dual point of one score with what is nearly at an end of its interval exactly there."""
    size = float(np.max(np.abs(theta), initial=0.0))
    parts = []
    for block, weight, (part,) in rows(problem, theta):
        present = (weight > 0.0)[:, None]
        moved = part
        for end in problem.loss.box(np.where(present, block.y, 0.0)) or ():
            moved = np.where(present & (np.abs(moved - end) <= NEAR * size), end, moved)
        parts.append(moved)
    return np.concatenate(parts)


def metric(problem: Problem, y: Array, theta: Array) -> Array:
    """Return V: ``(n, 1)`` for an interval, ``(n, k, k)`` on the simplex."""
    box = problem.loss.box(y)
    if box is None:
        q = np.maximum(theta + hot(y, problem.shape[1]), 0.0)
        return np.asarray(q[:, :, None] * (np.eye(problem.shape[1]) - q[:, None, :]))
    return _room(theta, *box)


def strain(problem: Problem, y: Array, eta: Array, theta: Array, v: Array, rows: Array) -> Array:
    """Return the square of what a row may pay per |V^1/2 x t|."""
    if isinstance(problem.loss, Sparsemax):
        q = theta + hot(y, problem.shape[1])
        lean = problem.loss.lean(y, theta) - eta
        lean = lean - np.max(lean, axis=1, keepdims=True)
        mean = np.sum(q * lean, axis=1, keepdims=True)
        return np.asarray(np.sum(np.maximum(q, 0.0) * (lean - mean) ** 2, axis=1))
    ends = [problem.loss.mismatch(y, eta, put(problem, y, theta + side * v)) for side in (-1.0, 1.0)]
    more = np.maximum(np.maximum(*ends) - rows, 0.0)
    room = v[:, 0]
    return np.where(room > 0.0, more**2 / np.where(room > 0.0, room, 1.0), 0.0)


def _room(theta: Array, low: Array, high: Array) -> Array:
    below, above = theta - low, high - theta
    with np.errstate(invalid="ignore"):
        both = below * (above / (high - low))
    finite = np.isfinite(both)
    return both if finite.all() else np.where(finite, both, np.minimum(np.minimum(below, above), 1.0))


def hopeless(problem: Problem, theta: Array, share: float) -> bool:
    """Whether ``level`` fails at once for the dual point, and for what ``mixed`` makes of it with up to this share.

    Neither its sum nor that of V, whose slope is at most 1, changes by more than the way all rows go.
    """
    weight, low, high = _edges(problem)
    point = theta[:, 0]
    size = _dot(weight, np.abs(point))
    way = share * (1.0 + size) + 8.0 * EPS * size
    return not abs(_dot(weight, point)) - way <= HOPELESS * (_dot(weight, _room(point, low, high)) + way)


def level(problem: Problem, theta: Array) -> Array | None:
    """Return the dual point moved by multiples of V until it sums to zero over the rows; None where that fails.

    It is what an uncharged intercept alone asks for, and needs no pass over the other columns.
    """
    weight, low, high = _edges(problem)
    point, last = theta[:, 0], np.inf
    for _ in range(MOVES):
        v = _room(point, low, high)
        total, room = _dot(weight, point), _dot(weight, v)
        if abs(total) <= 4.0 * EPS * _dot(weight, np.abs(point)) or abs(total) >= 0.5 * last:
            return point[:, None]
        if not abs(total) <= HOPELESS * room:
            return None
        step = total / room
        full = abs(step) <= 0.9
        last = abs(total) if full else np.inf
        point = np.clip(point - (step if full else np.copysign(0.9, step)) * v, low, high)
    return point[:, None] if np.isfinite(last) else None


def owed(problem: Problem, theta: Array) -> tuple[float, float]:
    """Return the mean of the dual point of one score over the rows, and how far it may be off, with more digits if there are."""
    total = size = np.longdouble(0.0)
    for block, weight, (part,) in rows(problem, theta):
        terms = part[weight > 0.0, 0].astype(np.longdouble)
        terms = terms if block.weight is None else terms * block.weight[weight > 0.0]
        total, size = total + np.sum(terms), size + np.sum(np.abs(terms))
    mean, share = float(total / problem.moments.weight_sum), float(size / problem.moments.weight_sum)
    # numpy adds in pairs; S is known to a few EPS, and so is what it divides
    chain = 64.0 + 2.0 * np.log2(1.0 + problem.moments.rows)
    return mean, float(chain * np.finfo(np.longdouble).eps * share + 64.0 * EPS * abs(mean))


def balanced(problem: Problem, theta: Array) -> Array:
    """Return the dual point with its positive, or its negative, entries made shorter until they sum to zero over the rows."""
    weight, _, _ = _edges(problem)
    above, below = (_dot(weight, np.maximum(side * theta[:, 0], 0.0)) for side in (1.0, -1.0))
    less = min(above, below)
    shares = (less / above if above > 0.0 else 0.0), (less / below if below > 0.0 else 0.0)
    return np.where(theta > 0.0, shares[0] * theta, shares[1] * theta)


def _edges(problem: Problem) -> tuple[Array, Array, Array]:
    """Return weights over S, and both ends of the interval, of all rows of one score."""
    found: list[tuple[Array, Array, Array]] = []
    for block, weight, _ in rows(problem):
        present = (weight > 0.0)[:, None]
        box = problem.loss.box(block.y if block.weight is None else np.where(present, block.y, 0.0))
        assert box is not None
        low, high = (end[:, 0] if block.weight is None else np.where(present, end, 0.0)[:, 0] for end in box)
        found.append((weight, low, high))
    if len(found) == 1:
        return found[0]
    weights, lows, highs = zip(*found, strict=True)
    return np.concatenate(weights), np.concatenate(lows), np.concatenate(highs)


def _dot(weight: Array, values: Array) -> float:
    """Return a sum of products without BLAS, whose threads change bits."""
    return float(np.einsum("i,i->", weight, values))
