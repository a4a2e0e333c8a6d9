"""Columns and targets whose mean is far from zero, with it taken off: the intercept makes up for it, the objective is the same.

    eta - y = b_0 + x b - y = (b_0 + m b - c) + (x - m) b - (y - c)

m and c are doubles for which every x - m and y - c is one too, so that nothing is rounded but b_0 + m b - c; what rounding leaves
of that goes to the offset. In columns such as 1e9 +- 1 the gradients of a dual point would otherwise be known to few digits, and
the residuals of such targets, too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lineal.verify.arithmetic import Array, Index, summed, two_product
from lineal.verify.problem.formulas import Point, Problem, Training


def centered(point: Point, columns: Index) -> Point:
    """Return a point in centered columns and targets, if the intercept is among the free ``columns``."""
    p = point.problem
    if not p.intercept or 0 not in columns:
        return point
    mean, level = _centers(p, "x"), _centers(p, "y")
    level = np.broadcast_to(level if p.loss.residual else 0.0, p.outputs)
    if not (np.any(mean) or np.any(level)):
        return point
    coef, rest = point.coef.copy(), np.zeros(p.outputs)
    parts = [[float(b[0]), *np.concatenate(two_product(mean, b)).tolist()] for b in point.coef.T]
    # what the scores of all classes share changes no loss of classes, but costs digits
    shared = summed(map(summed, parts)) / p.outputs if p.loss.coupled else 0.0
    for output, terms in enumerate(parts):
        every = [*terms, -float(level[output]), -shared]
        coef[0, output] = summed(every)
        rest[output] = summed([*every, -float(coef[0, output])])

    def moved(block: Problem) -> Problem:  # (one column of offsets may serve several outputs)
        return replace(block, x=block.x - mean, y=block.y - level, offset=block.offset + rest)

    return p.changed(moved, p.penalty).at(coef)


def _centers(problem: Training, name: str) -> Array:
    """Return the mean of each column that is far from zero and can be taken off exactly, else 0."""
    mean = moments(problem, name)[0]
    variance, exact = np.zeros_like(mean), np.ones(len(mean), dtype=bool)
    low, high = np.full_like(mean, np.inf), np.full_like(mean, -np.inf)
    for block in problem.blocks():
        x = getattr(block, name)
        away = x - mean
        variance = variance + block.q @ away**2
        low, high = np.minimum(low, x.min(axis=0)), np.maximum(high, x.max(axis=0))
        # x - m is a double if both ways back are exact
        exact &= np.all((away + mean == x) & (x - away == mean), axis=0)
    # a mean of a hundred standard deviations costs two digits of a gradient
    return np.where((np.abs(mean) > 100.0 * np.sqrt(variance)) & (high > low) & exact, mean, 0.0)


def moments(problem: Training, name: str) -> tuple[Array, Array]:
    """Return mean and variance of every column of ``x`` or ``y``, each from a pass of its own."""
    mean = np.asarray(sum(block.q @ getattr(block, name) for block in problem.blocks()))
    return mean, np.asarray(sum(block.q @ (getattr(block, name) - mean) ** 2 for block in problem.blocks()))
