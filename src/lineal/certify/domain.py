"""The domain of the dual points of a loss, row by row: an interval or the simplex; putting points in, moving them about."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.losses.sparsemax import hot
from lineal.problem.problem import EPS, Problem
from lineal.sources import rowwise
from lineal.sources.source import Block

T = TypeVar("T")

MAX_MOVES = 12
"""Moves of a dual point, at most."""

MAX_MOVES_TOTAL = 2300.0
"""Moves cut short reach no further than this many times V: each takes 0.9 V, and leaves at most 1.9 V."""


@dataclass(frozen=True)
class OfRows(Generic[T]):
    """A function ``work`` of a block, its weights over ``total`` and its part of arrays that hold one entry a row."""

    work: Callable[..., T]
    total: float
    others: tuple[Array, ...] = ()

    def __call__(self, block: Block) -> T:
        """Return the result of one block."""
        return self.work(block, block.weights / self.total, *(other[block.rows] for other in self.others))


def over(problem: Problem, work: Callable[..., T], *others: Array) -> tuple[T, ...]:
    """Return the results of all blocks for a function of a block, its weights over S and its part of ``others``."""
    return problem.source.collect(OfRows(work, problem.moments.weight_sum, others))


def inside(problem: Problem, coef: Array, theta: Array | None) -> Array:
    """Return the dual point put into its domain; without one, the slopes."""
    work = partial(_inside, problem.loss, coef)
    if theta is None or theta.shape != (problem.source.sum(rowwise.Count()), problem.shape[1]):
        return np.concatenate(over(problem, work))
    return np.concatenate(over(problem, work, theta))


def _inside(loss: Loss, coef: Array, block: Block, weight: Array, theta: Array | None = None) -> Array:
    """Return the dual point of one block."""
    present = (weight > 0.0)[:, None]
    if theta is None:
        y, eta, _ = rowwise.Scored(coef)(block)
        point = loss.slope(y, eta)
    else:
        y, point = np.where(present, block.y, 0.0), np.where(np.isfinite(theta), theta, 0.0)
    return np.where(present, put(loss, y, point), 0.0)


def put(loss: Loss, y: Array, point: Array) -> Array:
    """Return the nearest point (nearly) of the domain."""
    box = loss.box(y)
    if box is not None:
        return np.clip(point, *box)
    if not loss.coupled:
        return point
    mine = hot(y, loss.outputs)
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
    return np.concatenate(over(problem, partial(_mixed, problem.loss, share), theta))


def _mixed(loss: Loss, share: float, block: Block, weight: Array, theta: Array) -> Array:
    """Return the dual point of one block moved."""
    present = (weight > 0.0)[:, None]
    y = np.where(present, block.y, 0.0)
    box = loss.box(y)
    if box is not None:
        # zero, which the unpenalized columns allow; the middle where zero is on the border
        inner = (box[0] < 0.0) & (box[1] > 0.0)
        middle = 0.5 * (np.maximum(box[0], theta - 1.0) + np.minimum(box[1], theta + 1.0))
        moved = np.clip(theta + share * (np.where(inner, 0.0, middle) - theta), *box)
    else:
        mine = hot(y, loss.outputs)
        moved = _zero_sum((theta + mine) + share * (1.0 / loss.outputs - (theta + mine)), mine)
    return np.where(present, moved, 0.0)


def snapped(problem: Problem, theta: Array) -> Array:
    """Return the dual point of one score with what is nearly at an end of its interval exactly there."""
    size = float(np.max(np.abs(theta), initial=0.0))
    # one within 1e-7 of the largest may be meant to be at the end
    return np.concatenate(over(problem, partial(_snapped, problem.loss, 1e-7 * size), theta))


def _snapped(loss: Loss, near: float, block: Block, weight: Array, theta: Array) -> Array:
    """Return the dual point of one block, what is ``near`` to an end put there."""
    present = (weight > 0.0)[:, None]
    for end in loss.box(np.where(present, block.y, 0.0)) or ():
        theta = np.where(present & (np.abs(theta - end) <= near), end, theta)
    return theta


def metric(loss: Loss, y: Array, theta: Array) -> Array:
    """Return V: ``(n, 1)`` for an interval, ``(n, k, k)`` on the simplex."""
    box = loss.box(y)
    if box is None:
        q = np.maximum(theta + hot(y, loss.outputs), 0.0)
        return np.asarray(q[:, :, None] * (np.eye(loss.outputs) - q[:, None, :]))
    return _room(theta, *box)


def strain(loss: Loss, y: Array, eta: Array, theta: Array, v: Array, rows: Array) -> Array:
    """Return the square of what a row may pay per |V^1/2 x t|."""
    at = loss.lean(y, theta)
    if at is not None:
        q, lean = theta + hot(y, loss.outputs), at - eta
        lean = lean - np.max(lean, axis=1, keepdims=True)
        mean = np.sum(q * lean, axis=1, keepdims=True)
        return np.asarray(np.sum(np.maximum(q, 0.0) * (lean - mean) ** 2, axis=1))
    ends = [loss.mismatch(y, eta, put(loss, y, theta + side * v)) for side in (-1.0, 1.0)]
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
    return not abs(_dot(weight, point)) - way <= MAX_MOVES_TOTAL * (_dot(weight, _room(point, low, high)) + way)


def level(problem: Problem, theta: Array) -> Array | None:
    """Return the dual point moved by multiples of V until it sums to zero over the rows; None where that fails.

    It is what an unpenalized intercept alone asks for, and needs no pass over the other columns.
    """
    weight, low, high = _edges(problem)
    point, last = theta[:, 0], np.inf
    for _ in range(MAX_MOVES):
        v = _room(point, low, high)
        total, room = _dot(weight, point), _dot(weight, v)
        if abs(total) <= 4.0 * EPS * _dot(weight, np.abs(point)) or abs(total) >= 0.5 * last:
            return point[:, None]
        if not abs(total) <= MAX_MOVES_TOTAL * room:
            return None
        step = total / room
        full = abs(step) <= 0.9
        last = abs(total) if full else np.inf
        point = np.clip(point - (step if full else np.copysign(0.9, step)) * v, low, high)
    return point[:, None] if np.isfinite(last) else None


def owed(problem: Problem, theta: Array) -> tuple[float, float]:
    """Return the mean of the dual point of one score over the rows, and how far it may be off, with more digits if there are."""
    total = size = np.longdouble(0.0)
    for terms in over(problem, _terms, theta):
        total, size = total + np.sum(terms), size + np.sum(np.abs(terms))
    mean, share = float(total / problem.moments.weight_sum), float(size / problem.moments.weight_sum)
    # numpy adds in pairs; S is known to a few EPS, and so is what it divides
    chain = 64.0 + 2.0 * np.log2(1.0 + problem.moments.rows)
    return mean, float(chain * np.finfo(np.longdouble).eps * share + 64.0 * EPS * abs(mean))


def _terms(block: Block, weight: Array, theta: Array) -> npt.NDArray[np.longdouble]:
    """Return ``s theta`` of the rows of one block that have a weight."""
    terms = theta[weight > 0.0, 0].astype(np.longdouble)
    return np.asarray(terms if block.weight is None else terms * block.weight[weight > 0.0])


def balanced(problem: Problem, theta: Array) -> Array:
    """Return the dual point with its positive, or its negative, entries made shorter until they sum to zero over the rows."""
    weight, _, _ = _edges(problem)
    above, below = (_dot(weight, np.maximum(side * theta[:, 0], 0.0)) for side in (1.0, -1.0))
    less = min(above, below)
    shares = (less / above if above > 0.0 else 0.0), (less / below if below > 0.0 else 0.0)
    return np.where(theta > 0.0, shares[0] * theta, shares[1] * theta)


def _edges(problem: Problem) -> tuple[Array, Array, Array]:
    """Return weights over S, and both ends of the interval, of all rows of one score."""
    weights, lows, highs = zip(*over(problem, partial(_ends, problem.loss)), strict=True)
    return rowwise.joined(weights), rowwise.joined(lows), rowwise.joined(highs)


def _ends(loss: Loss, block: Block, weight: Array) -> tuple[Array, Array, Array]:
    """Return the same of one block."""
    present = (weight > 0.0)[:, None]
    box = loss.box(block.y if block.weight is None else np.where(present, block.y, 0.0))
    assert box is not None
    low, high = (end[:, 0] if block.weight is None else np.where(present, end, 0.0)[:, 0] for end in box)
    return weight, low, high


def _dot(weight: Array, values: Array) -> float:
    """Return a sum of products without BLAS, whose threads change bits."""
    return float(np.einsum("i,i->", weight, values))
