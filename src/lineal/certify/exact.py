"""Dual points that the tied coefficients allow exactly: floats propose which rows may move, integers solve for how far.

At the optimum of a loss with corners only few rows have a theta inside its domain, and they may leave some combinations of the
tied gradients without a row that could change them: a last move that is bounded, not made, then does not exist. Here

    sum_i s_i x_ij theta_ik = 0   for all tied (j, k)

is solved in integers (doubles are integers times powers of two) for as many rows as there are independent equations, all
other rows left as they are; equations that no row can change have to hold as they are. What comes out is in the domain and
allowed, exactly, or there is nothing.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lineal.algebra import lapack
from lineal.algebra.digits import PRIME, pivots, solved
from lineal.algebra.integers import Whole, whole
from lineal.certify import domain
from lineal.designs.design import columns_of
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.deadline import Deadline
from lineal.losses.loss import Loss
from lineal.losses.sparsemax import hot
from lineal.problem.problem import EPS, Problem
from lineal.sources.rowwise import Scored
from lineal.sources.source import Block


class _Rows(NamedTuple):
    """The rows that count: cells of the tied columns, weights, targets, and the domain where it is an interval."""

    place: Index
    x: Array
    weight: Array
    y: Array
    box: tuple[Array, Array] | None


class _Ways(NamedTuple):
    """Ways to move a point: in ``row``, up in the output ``to``, down in ``back`` (-1: in none), by up to ``room``."""

    row: Index
    to: Index
    back: Index
    room: Array


def settled(problem: Problem, tied: Mask, theta: Array) -> Array | None:
    """Return a dual point near ``theta``, each entry rounded once, of which the exact one has gradient zero where tied.

    None where none was found, or there are too many equations.
    """
    equations = np.argwhere(tied)
    if not len(equations):
        return theta
    # integers of as many digits as there are equations are solved for
    if len(equations) > 100 or problem.moments.rows * len(equations) > 20_000:
        return None
    rows, columns = _rows(problem, np.flatnonzero(tied.any(axis=1)))
    equations[:, 0] = np.searchsorted(columns, equations[:, 0])
    for cut in (1e-6, 1e-9, 0.0):  # shares of the domain: a theta so near to an end is put there
        point = _near(problem, rows, theta[rows.place], equations, cut)
        if point is not None:
            settled_theta = np.zeros_like(theta)
            settled_theta[rows.place] = point
            return settled_theta
    return None


def lost(problem: Problem, coef: Array, theta: Array) -> float:
    """Return what rounding every entry of a dual point may hide: EPS |theta| times the slope of a mismatch in theta."""
    return 4.0 * EPS * sum(domain.over(problem, partial(_lost, problem.loss, coef), theta))


def _lost(loss: Loss, coef: Array, block: Block, weight: Array, theta: Array) -> float:
    """Return the share of one block."""
    y, eta, _ = Scored(coef)(block)
    lean = loss.lean(y, theta)
    if lean is not None:
        apart = lean - eta
        reach = 1.0 + np.max(apart, axis=1) - np.min(apart, axis=1)
    else:
        # a conjugate's slope is the score with slope theta: a corner, or as far beyond it as theta is
        width = 2.0 + sum(loss.parameters().values())
        reach = np.abs(eta - y)[:, 0] + np.abs(theta)[:, 0] + width
    return float(np.sum(weight * reach * np.sum(np.abs(theta), axis=1)))


def _rows(problem: Problem, columns: Index) -> tuple[_Rows, Index]:
    """Return the rows of positive weight, and the columns that their cells are of."""
    parts = zip(*problem.source.collect(partial(_picked, columns)), strict=True)
    place, cells, weight, y = (np.concatenate(part) for part in parts)
    box = None if problem.loss.coupled else problem.loss.box(y)
    return _Rows(place, cells, weight, y, box), columns


def _picked(columns: Index, block: Block) -> tuple[Index, Array, Array, Array]:
    """Return places, cells, weights and targets of the rows of one block that have a weight."""
    present = np.flatnonzero(block.weights > 0.0)
    cells = columns_of(block.design, columns)[present]
    return block.start + present, cells, block.weights[present], block.y[present]


def _near(problem: Problem, rows: _Rows, theta: Array, equations: Index, cut: float) -> Array | None:
    """Return the allowed point near ``theta``, what is within ``cut`` of an end of its domain put there first.

    What the equations would move to an end or beyond is put there as well, as long as it is near.
    """
    while cut <= 1e-2:  # nothing farther from an end is put there
        point, ways = _snapped(problem, rows, theta, cut)
        matrix = _matrix(rows, equations, ways)
        scale = np.max(np.abs(matrix), axis=1, initial=0.0)
        scale = np.where(scale > 0.0, scale, 1.0)
        scaled = matrix * (ways.room / scale[:, None])
        for _ in range(3 if len(ways.row) else 0):  # after the first, rounding is left; integers take over
            left = np.einsum("ij,i,ik->jk", rows.x, rows.weight, point)[equations[:, 0], equations[:, 1]]
            share = np.linalg.lstsq(scaled, -left / scale, rcond=1e-12)[0]
            blocked = ways.room[~(np.abs(share) < 0.9)]
            if len(blocked):
                break
            point = _moved(problem, rows, point, ways, share * ways.room)
        else:
            order = lapack.qr(scaled, mode="r", pivoting=True)[1] if len(ways.row) else ways.row
            return _exact(
                problem,
                rows,
                point,
                equations,
                _Ways(ways.row[order], ways.to[order], ways.back[order], ways.room[order]),
            )
        cut = 1.01 * float(np.max(blocked))
    return None


def _snapped(problem: Problem, rows: _Rows, theta: Array, cut: float) -> tuple[Array, _Ways]:
    """Return the point with what is near an end of its domain there, and the ways that the rest may move."""
    if rows.box is None:
        mine = hot(rows.y, problem.shape[1])
        q = np.where(theta + mine > cut, theta + mine, 0.0)
        q /= np.sum(q, axis=1, keepdims=True)
        top = np.argmax(q, axis=1)
        free = (q > 0.0) & (np.arange(problem.shape[1]) != top[:, None])
        row, to = np.nonzero(free)
        others = q * (1.0 - mine)
        return others - mine * others.sum(axis=1, keepdims=True), _Ways(row, to, top[row], q[row, to])
    low, high = rows.box
    unit = cut * max(1.0, float(np.max(np.abs(theta), initial=0.0)))
    # a theta between the corners of a row that has two is as much at an end as one beyond them
    ends = [low, high, np.zeros_like(low)] if len(problem.loss.kinks(rows.y[:1])) > 1 else [low, high]
    room = np.full_like(theta, np.inf)
    for end in ends:
        theta = np.where(np.abs(theta - end) <= unit, end, theta)
    for end in ends:
        room = np.minimum(room, np.abs(theta - end))
    row = np.flatnonzero(room[:, 0] > 0.0)
    still = np.full_like(row, -1)
    return theta, _Ways(row, np.zeros_like(row), still, np.minimum(room[row, 0], 1.0 + np.abs(theta[row, 0])))


def _matrix(rows: _Rows, equations: Index, ways: _Ways) -> Array:
    """Return how much every equation changes with every way."""
    sign = _sign(equations, ways)
    return np.asarray(sign * (rows.x * rows.weight[:, None])[np.ix_(ways.row, equations[:, 0])].T)


def _sign(equations: Index, ways: _Ways) -> npt.NDArray[np.int64]:
    output = equations[:, 1][:, None]
    return np.asarray((ways.to == output).astype(np.int64) - (ways.back == output))


def _moved(problem: Problem, rows: _Rows, point: Array, ways: _Ways, step: Array) -> Array:
    """Return the point moved by so much of every way, within its domain."""
    moved = point.copy()
    np.add.at(moved, (ways.row, ways.to), step)
    down = ways.back >= 0
    np.add.at(moved, (ways.row[down], ways.back[down]), -step[down])
    return np.clip(moved, *rows.box) if rows.box is not None else domain.put(problem.loss, rows.y, moved)


def _exact(problem: Problem, rows: _Rows, point: Array, equations: Index, ways: _Ways) -> Array | None:
    """Return the point that solves all equations by the first independent ways; None if that leaves its domain."""
    cells = np.stack([whole(column) for column in rows.x.T], axis=1) * whole(rows.weight)[:, None]
    theta, ends, one = _whole(problem, rows, point)
    left = np.array([cells[:, j] @ theta[:, k] for j, k in equations.tolist()], dtype=object)
    matrix = _sign(equations, ways).astype(object) * cells[np.ix_(ways.row, equations[:, 0])].T
    kept, taken = pivots((matrix % PRIME).astype(np.int64))
    share: Whole = np.zeros(len(ways.row), dtype=object)
    common = 1
    if kept:
        solution = solved(matrix[np.ix_(kept, taken)], -left[kept][:, None], Deadline.after(math.inf))
        if solution is None:
            return None
        share[taken], common = solution[0][:, 0], solution[1]
    if common < 0:
        share, common = -share, -common
    if np.any(matrix @ share + left * common):
        return None
    theta = theta * common
    np.add.at(theta, (ways.row, ways.to), share)
    down = ways.back >= 0
    np.add.at(theta, (ways.row[down], ways.back[down]), -share[down])
    if np.any(theta < ends[0] * common) or np.any(theta > ends[1] * common):
        return None
    return np.array([value / (common * one) for value in theta.ravel().tolist()]).reshape(point.shape)


def _whole(problem: Problem, rows: _Rows, point: Array) -> tuple[Whole, tuple[Whole, Whole], int]:
    """Return the point, the ends of its domain and the number one, all in the same unit of which they are multiples."""
    if rows.box is None:
        mine = hot(rows.y, problem.shape[1])
        flat = whole(np.append(point + mine, 1.0))
        q, one = flat[:-1].reshape(point.shape), int(flat[-1])
        # the largest is what the others leave of one, exactly
        top = np.arange(problem.shape[1]) == np.argmax(point + mine, axis=1)[:, None]
        q[top] = one - np.sum(np.where(top, 0, q), axis=1)
        ends = -one * mine.astype(int).astype(object)
        return q + ends, (ends, ends + one), one
    # beyond what bounds it nowhere
    far = 2.0 * np.max(np.abs(point), initial=1.0)
    low, high = (np.clip(end, -far, far) for end in rows.box)
    flat = whole(np.concatenate([point[:, 0], low[:, 0], high[:, 0], [1.0]]))
    theta, least, most = (part[:, None] for part in np.split(flat[:-1], 3))
    return theta, (least, most), int(flat[-1])
