"""Where to look for a better point, or a better dual point. Nothing that is proven depends on how well this is done."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lineal.verify.arithmetic import EPS, Array, added, double_sums, summed, total
from lineal.verify.problem.dependence import NotProvenError
from lineal.verify.problem.formulas import Point

DENSE_HESSIAN_MAX_COEFFICIENTS = 2000
"""32 MB; beyond, conjugate gradients do without the matrix."""

WELL_CONDITIONED = 1e10
"""A scaled second derivative of at most this condition leaves a Newton step six digits."""
MAX_REFINEMENTS = 4
"""Times a Newton step is solved for where columns are nearly dependent, what rounding left of it added."""


def descend(point: Point) -> Point:
    """Return a point with a lower objective, the best on several lines; NotProvenError where none is found."""
    best = point
    for step in _steps(point):
        length, lowest = 1.0, _along(point, step, 1.0)
        while length > 1e-9 and not lowest.objective < point.objective:
            length *= 0.5
            lowest = _along(point, step, length)
        while length >= 1.0 and (further := _along(point, step, 2.0 * length)).objective < lowest.objective:
            lowest, length = further, 2.0 * length
        best = lowest if lowest.objective < best.objective else best
    if best is point:
        raise NotProvenError("no better point was found from which to prove a bound")
    return best


def walk(point: Point) -> Point:
    """Return the lowest point along the part of the gradient that no row bends; NotProvenError where nothing is gained.

    Rows of next to no weight pull less than the last digit of F shows, but for as long as no other row objects: the slope
    along the way, which rises, is zero at the lowest point.
    """
    gradient = _gradient(point)
    h = _hessian(point) + np.diag(np.tile(point.problem.penalty.square, point.problem.outputs))
    size = np.sqrt(np.where(np.diag(h) > 0.0, np.diag(h), 1.0))
    values, vectors = np.linalg.eigh(h / np.outer(size, size))
    bent = vectors[:, values > 1e-14 * max(float(values[-1]), 0.0)]
    pull = gradient.T.ravel() / size
    way = np.asarray(((pull - bent @ (bent.T @ pull)) / size).reshape(gradient.T.shape).T)
    if not _falling(point, way):
        raise NotProvenError("no row pulls where none bends")
    low, high = 0.0, 1.0
    while _falling(_along(point, way, high), way) and high < 1e60:
        low, high = high, 2.0 * high
    while low < (middle := 0.5 * (low + high)) < high and high - low > 1e-12 * high:
        low, high = (middle, high) if _falling(_along(point, way, middle), way) else (low, middle)
    lowest = _along(point, way, high)
    if not lowest.objective < point.objective:
        raise NotProvenError("no better point was found where no row bends")
    return lowest


def _falling(point: Point, way: Array) -> bool:
    """Return whether F falls along ``-way`` at a point, by more than rounding."""
    falls, sizes = [], []
    for at in point.blocks():
        fall = at.block.q[:, None] * at.rows.slope * (at.block.x @ way)
        falls.append(total(fall))
        sizes.append(total(np.abs(fall)))
    return summed(falls) > 16.0 * EPS * summed(sizes)


def _along(point: Point, step: Array, length: float) -> Point:
    """Return the point after a step, each coefficient held by its bounds."""
    penalty = point.problem.penalty
    moved = point.coef - length * step
    return point.problem.at(np.clip(moved, penalty.lower[:, None], penalty.upper[:, None]))


def _steps(point: Point) -> Iterator[Array]:
    """Yield directions: Newton's; with kinks and bounds also that of the whole model; and one for rows without curvature."""
    yield newton_step(point)
    p = point.problem
    if point.coef.size > DENSE_HESSIAN_MAX_COEFFICIENTS:
        return
    h = _hessian(point)
    if not p.penalty.smooth and not p.penalty.group:
        yield _model_step(point, h)
    if not (p.loss.quadratic or p.loss.exponential or p.loss.cornered):  # W is at most 1, wherever the scores are
        steep: Array = sum(block.x.T @ (block.q[:, None] * block.x) for block in p.blocks()) + np.diag(p.penalty.square)
        steep = np.asarray(np.kron(np.eye(p.outputs), steep))
        gradient = _gradient(point)
        size = np.sqrt(np.where(np.diag(steep) > 0.0, np.diag(steep), 1.0))  # columns of any unit
        flat = np.linalg.lstsq(steep / np.outer(size, size), gradient.T.ravel() / size, rcond=1e-15)[0] / size
        yield np.asarray(flat.reshape(gradient.T.shape).T, dtype=np.float64)


def _gradient(point: Point) -> Array:
    """Return the gradient of F by the coefficients that move, else 0."""
    penalty = point.problem.penalty
    return np.where(penalty.moving(point.coef), _slope(point) + penalty.gradient(point.coef), 0.0)


def _slope(point: Point) -> Array:
    """Return the gradient of the loss, X'Q slope, with twice the digits, then rounded."""
    shape = point.coef.shape
    sums = np.zeros(shape), np.zeros(shape)
    for at in point.blocks():
        sums = added(sums, double_sums(at.block.x, at.block.q[:, None] * at.rows.slope))
    return np.asarray(sums[0] + sums[1])


def _model_step(point: Point, h: Array, sweeps: int = 200) -> Array:
    """Return -t that minimizes ``g't + t'Ht/2 + penalty(b + t)`` within the bounds, coefficient by coefficient."""
    p = point.problem
    gradient = _slope(point).T.ravel()
    linear, square, lower, upper = (
        np.tile(part, p.outputs) for part in (p.penalty.linear, p.penalty.square, p.penalty.lower, p.penalty.upper)
    )
    b, curve = point.coef.T.ravel(), np.diag(h) + square
    c = b.copy()
    for _ in range(sweeps):
        before = c.copy()
        for j in np.flatnonzero(curve > 0.0):
            # the model's slope at c_j = 0 of this coefficient
            pull = gradient[j] + h[j] @ (c - b) - h[j, j] * c[j]
            free = -np.copysign(max(abs(pull) - linear[j], 0.0), pull) / curve[j]
            c[j] = min(max(free, lower[j]), upper[j])
        if np.all(np.abs(c - before) <= 1e-12 * np.abs(c)):
            break
    return (b - c).reshape(p.outputs, -1).T


def newton_step(point: Point, room: Array | None = None) -> Array:
    """Return roughly the t with (X'QWX + diag(square)) t = gradient of F, 0 where a coefficient does not move.

    Nothing depends on how roughly. With ``room`` it aims that far inside of the ball that an l1 part leaves a gradient, so that
    rounding does not force all of a dual point to be scaled down.
    """
    p = point.problem
    moving = p.penalty.moving(point.coef)
    square = p.penalty.square[:, None]
    gradient = _gradient(point)
    if room is not None:
        edge = np.where(moving, p.penalty.gradient(point.coef) - square * point.coef, 0.0)
        gradient = gradient - np.copysign(np.minimum(room, 0.5 * np.abs(edge)), edge)
    diagonal = sum((at.block.x**2).T @ (at.block.q[:, None] * at.rows.weight) for at in point.blocks()) + square
    scale = np.where(moving & (diagonal > 0.0), 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)), 0.0)

    def curve(t: Array) -> Array:
        parts = (at.block.x.T @ (at.block.q[:, None] * at.rows.curved(at.block.x @ t)) for at in point.blocks())
        return np.where(moving, sum(parts) + square * t, 0.0)

    if gradient.size <= DENSE_HESSIAN_MAX_COEFFICIENTS:
        flat = scale.T.ravel()
        h = (_hessian(point) + np.diag(np.tile(p.penalty.square, p.outputs))) * flat[:, None] * flat
        t = np.linalg.lstsq(h, gradient.T.ravel() * flat, rcond=1e-15)[0] * flat
        moved = np.flatnonzero(flat)
        if p.outputs == 1 and len(moved) > 1 and np.linalg.cond(h[np.ix_(moved, moved)]) > WELL_CONDITIONED:
            return _refined(point, np.where(moving, gradient, 0.0), scale)
        return np.asarray(t.reshape(gradient.T.shape).T)
    t, left = np.zeros_like(gradient), gradient
    direction = scale**2 * left
    size = first = float(np.sum(left * direction))
    for _ in range(1000):  # conjugate gradients
        if not size > 1e-24 * first:
            break
        image = curve(direction)
        length = size / float(np.sum(direction * image))
        t, left = t + length * direction, left - length * image
        size, before = float(np.sum(left * scale**2 * left)), size
        direction = scale**2 * left + size / before * direction
    return np.asarray(t, dtype=np.float64)


def _refined(point: Point, gradient: Array, scale: Array) -> Array:
    """Return the Newton step of one output in columns that are nearly dependent, from the root R of ``X'QWX = R'R``.

    R is half as ill-conditioned as its square. What rounding left of a step is solved for again: it is summed with twice the
    digits, of scores as they are rounded, since these are what a dual point is made of.
    """
    square = point.problem.penalty.square[:, None]
    root = np.diag((np.sqrt(square) * scale)[:, 0])
    for at in point.blocks():
        rows = np.sqrt(at.block.q[:, None] * at.rows.weight) * at.block.x * scale[:, 0]
        root = np.asarray(np.linalg.qr(np.vstack([root, rows]), mode="r"))
    t = np.zeros_like(gradient)
    for _ in range(MAX_REFINEMENTS):
        sums = np.zeros_like(t), np.zeros_like(t)
        for at in point.blocks():
            sums = added(sums, double_sums(at.block.x, at.block.q[:, None] * at.rows.curved(at.block.x @ t)))
        left = scale * (gradient - (sums[0] + sums[1]) - square * t)
        inner = np.linalg.lstsq(root.T, left, rcond=1e-15)[0]
        t = t + scale * np.linalg.lstsq(root, inner, rcond=1e-15)[0]
    return t


def _hessian(point: Point) -> Array:
    """Return X' Q W X, output-major; softmax and its kin do not see what all outputs share."""
    k, m = point.problem.outputs, point.problem.columns
    h = np.zeros((m * k, m * k))
    for at in point.blocks():
        x, q = at.block.x, at.block.q
        for b in range(k):
            image = at.rows.curved(np.eye(k)[np.full(len(q), b)])
            for a in range(b + 1) if at.rows.coupled else [b]:
                tile = x.T @ ((q * image[:, a])[:, None] * x)
                h[a * m : (a + 1) * m, b * m : (b + 1) * m] += tile
                if a != b:
                    h[b * m : (b + 1) * m, a * m : (a + 1) * m] += tile.T
    return h
