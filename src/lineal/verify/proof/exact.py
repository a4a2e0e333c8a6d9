"""A dual point whose g is exactly zero: where too few rows can be moved for a move that is only bounded.

At a corner of F most rows are at an end of their domain, and V moves none of them. What is left to do is solved in integers:

    sum_i s_i x_ij (theta_ik + delta_ik) = 0   for every free coefficient (j, k),     delta zero but in few rows,

with as many unknowns as equations are independent (doubles are integers times powers of two). Equations that no row can change
must hold as they are; the solution must be in the domain. Nothing is rounded but the solution itself, once, to doubles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from lineal.verify.arithmetic import Array, Index, Mask, Whole, whole
from lineal.verify.losses.corners import Boxed
from lineal.verify.losses.dual import Dual
from lineal.verify.losses.simplex import Mixed
from lineal.verify.problem.dependence import NotProvenError
from lineal.verify.problem.formulas import Point

MAX_STEPS: Final = 200_000
"""Products of integers up to which unknowns are chosen in integers where floats choose too few."""


@dataclass(frozen=True)
class Moves:
    """Unknowns: in ``row``, theta of the output ``up`` grows, and that of ``down`` falls (-1: of none), by less than ``room``."""

    row: Index
    up: Index
    down: Index
    room: Array

    def signs(self, outputs: Index) -> Array:
        """Return by what theta of some outputs (one for each equation) changes, equations by unknowns."""
        return np.asarray((self.up == outputs[:, None]) * 1.0 - (self.down == outputs[:, None]))

    def only(self, chosen: Index) -> Moves:
        """Return some of them."""
        return Moves(self.row[chosen], self.up[chosen], self.down[chosen], self.room[chosen])


def balanced(point: Point, dual: Dual, free: Mask) -> Dual:
    """Return a dual point near the given one that is zero, exactly but for rounding theta once, on the free coefficients."""
    if not isinstance(dual, Boxed | Mixed) or free.sum() * point.problem.rows > 200_000:  # cells of integers
        raise NotProvenError("too few rows are between the corners of the loss")
    for cut in (0.0, 1e-9, 1e-6, 1e-4, 1e-2):  # a theta within this share of the domain from an end is put there
        exact = _near(point, dual, free, cut)
        if exact is not None:
            return exact
    raise NotProvenError("too few rows are between the corners of the loss, and no dual point was found that is exact")


def _near(point: Point, dual: Boxed | Mixed, free: Mask, cut: float) -> Dual | None:
    """Return an exact dual point, every theta within ``cut`` of an end of its domain put there; None if that has no solution."""
    columns, outputs = np.nonzero(free)
    dual, moves = _boxed(dual, cut) if isinstance(dual, Boxed) else _mixed(dual, cut)
    problem = point.whole.block
    s = problem.q if problem.weight is None else problem.weight
    cells = moves.signs(outputs) * (problem.x * s[:, None])[moves.row][:, columns].T
    size = np.maximum(np.max(np.abs(cells), axis=1, initial=0.0), 1e-300)
    scaled = cells * (moves.room / size[:, None])
    for _ in range(3 if len(moves.row) else 0):  # after the first only rounding is left
        left = np.einsum("ie,ie->e", problem.x[:, columns] * s[:, None], dual.theta[:, outputs])
        step = np.linalg.lstsq(scaled, -left / size, rcond=1e-12)[0]
        if not np.max(np.abs(step)) < 0.9:
            return None
        dual = _moved(dual, moves, step * moves.room)
    theta, low, high, one = _integers(dual)
    weights = whole(s[None])[0]
    exact = whole(problem.x.T)[columns] * weights
    right = -np.array([exact[e] @ theta[:, k] for e, k in enumerate(outputs.tolist())], dtype=object)
    every = moves.signs(outputs).astype(int).astype(object) * exact[:, moves.row]
    chosen = _independent(scaled)
    solution = _solved(every[:, chosen], right)
    if solution is None and every.size * len(every) <= MAX_STEPS:
        chosen = _spanning(every, moves.room)
        solution = _solved(every[:, chosen], right)
    if solution is None:
        return None
    moves = moves.only(chosen)
    delta, common = solution
    theta = theta * common
    np.add.at(theta, (moves.row, moves.up), delta)
    paired = moves.down >= 0
    np.add.at(theta, (moves.row[paired], moves.down[paired]), -delta[paired])
    if np.any(theta < low * common) or np.any(theta > high * common):
        return None
    return _floats(dual, theta, common * one)


def _boxed(dual: Boxed, cut: float) -> tuple[Boxed, Moves]:
    """Return an interval's dual point with ends taken, and its unknowns; where epsilon is above zero, zero is an end, too."""
    ends = [*dual.rows.box, *([np.zeros_like(dual.theta)] if dual.rows.epsilon > 0.0 else [])]
    theta, unit = dual.theta, cut * max(1.0, float(np.max(np.abs(dual.theta), initial=0.0)))
    for end in ends:
        theta = np.where(np.abs(theta - end) <= unit, end, theta)
    room = np.min([np.abs(theta - end) for end in ends], axis=0)[:, 0]
    row = np.flatnonzero(room > 0.0)
    room = np.minimum(room[row], 1.0 + np.abs(theta[row, 0]))
    return replace(dual, theta=theta), Moves(row, np.zeros_like(row), np.full_like(row, -1), room)


def _mixed(dual: Mixed, cut: float) -> tuple[Mixed, Moves]:
    """Return probabilities with small ones zero, and their unknowns: each but the largest, which makes up for it."""
    q = np.where(dual.q > cut, dual.q, 0.0)
    q = q / q.sum(axis=1, keepdims=True)
    top = np.argmax(q, axis=1)
    row, up = np.nonzero((q > 0.0) & (np.arange(q.shape[1]) != top[:, None]))
    return replace(dual, q=q), Moves(row, up, top[row], q[row, up])


def _moved(dual: Boxed | Mixed, moves: Moves, step: Array) -> Boxed | Mixed:
    """Return the dual point moved, in floats."""
    point = (dual.q if isinstance(dual, Mixed) else dual.theta).copy()
    np.add.at(point, (moves.row, moves.up), step)
    paired = moves.down >= 0
    np.add.at(point, (moves.row[paired], moves.down[paired]), -step[paired])
    if isinstance(dual, Mixed):
        point = np.maximum(point, 0.0)
        return replace(dual, q=point / point.sum(axis=1, keepdims=True))
    return replace(dual, theta=np.clip(point, *dual.rows.box))


def _independent(matrix: Array) -> Index:
    """Return columns that span all, best first: by pivoting, in floats."""
    left, chosen = matrix.copy(), []
    for _ in range(min(matrix.shape)):
        size = np.linalg.norm(left, axis=0)
        pivot = int(np.argmax(size))
        if not size[pivot] > 1e-10 * np.linalg.norm(matrix[:, pivot]):
            break
        chosen.append(pivot)
        unit = left[:, pivot] / size[pivot]
        left -= np.outer(unit, unit @ left)
        left -= np.outer(unit, unit @ left)
        left[:, chosen] = 0.0
    return np.array(chosen, dtype=np.intp)


def _spanning(matrix: Whole, room: Array) -> Index:
    """Return columns that span all, by pivoting in integers: equations far from zero may differ in their last digits alone."""
    left, before, chosen = matrix, 1, []
    for _ in range(len(matrix)):
        line, left = left[0], left[1:]
        largest = max(map(abs, line.tolist()), default=0)
        if largest == 0:
            continue
        pivot = int(np.argmax([abs(value) / largest * free for value, free in zip(line.tolist(), room, strict=True)]))
        left = (left * line[pivot] - left[:, [pivot]] * line) // before
        before = line[pivot]
        chosen.append(pivot)
    return np.array(chosen, dtype=np.intp)


def _integers(dual: Boxed | Mixed) -> tuple[Whole, Whole, Whole, int]:
    """Return theta, the ends of its domain and the number one as multiples of one power of two."""
    if isinstance(dual, Mixed):
        flat = whole(np.append(dual.q, 1.0)[None])[0]
        q, one = flat[:-1].reshape(dual.q.shape), int(flat[-1])
        top = np.arange(q.shape[1]) == np.argmax(dual.q, axis=1)[:, None]
        q[top] = one - np.sum(np.where(top, 0, q), axis=1)  # the largest is what the others leave
        mine = one * dual.rows.y.astype(int).astype(object)
        return q - mine, -mine, one - mine, one
    far = 2.0 * float(np.max(np.abs(dual.theta), initial=1.0))
    low, high = (np.clip(end, -far, far) for end in dual.rows.box)
    flat = whole(np.concatenate([dual.theta[:, 0], low[:, 0], high[:, 0], [1.0]])[None])[0]
    theta, least, most = (part[:, None] for part in np.split(flat[:-1], 3))
    return theta, least, most, int(flat[-1])


def _floats(dual: Boxed | Mixed, theta: Whole, one: int) -> Dual:
    """Return the dual point that is theta / one, every entry rounded once."""
    mixed = isinstance(dual, Mixed)
    whole_ = theta + one * dual.rows.y.astype(int).astype(object) if mixed else theta
    values = np.array([value / one for value in whole_.ravel().tolist()]).reshape(theta.shape)
    return replace(dual, q=values) if isinstance(dual, Mixed) else replace(dual, theta=values)


def _solved(matrix: Whole, right: Whole) -> tuple[Whole, int] | None:
    """Return integers z and a denominator d > 0 with matrix z = d right, exactly; None without a unique solution (Bareiss)."""
    count, before = matrix.shape[1], 1
    work = np.hstack([matrix, right[:, None]])
    for at in range(count):
        below = np.flatnonzero(work[at:, at])
        if not len(below):
            return None
        work[[at, at + below[0]]] = work[[at + below[0], at]]
        line = work[at].copy()
        work = (work * line[at] - work[:, [at]] * line) // before
        work[at], before = line, line[at]
    if np.any(work[count:, count]):
        return None
    solution = work[:count, count]
    return (-solution, -before) if before < 0 else (solution, before)
