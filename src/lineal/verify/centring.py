"""Columns and targets whose mean is far from zero, with it taken off: the intercept makes up for it, the objective is the same.

    eta - y = b_0 + x b - y = (b_0 + m b - c) + (x - m) b - (y - c)

m and c are doubles for which every x - m and y - c is one too, so that nothing is rounded but b_0 + m b - c; what rounding leaves
of that goes to the offset. In columns such as 1e9 +- 1 the gradients of a dual point would otherwise be known to few digits, and
the residuals of such targets, too.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lineal.verify.arithmetic import Array, two_product
from lineal.verify.formulas import RESIDUAL, Index, Point

FAR = 100.0
"""A mean of more than so many standard deviations is far from zero."""


def centred(point: Point, columns: Index) -> Point:
    """Return a point in centred columns and targets, if the intercept is among the free ``columns``."""
    p = point.problem
    if not p.intercept or 0 not in columns:
        return point
    mean, level = _centres(p.x, p.q), _centres(p.y, p.q)
    level = np.broadcast_to(level if p.loss in RESIDUAL else 0.0, p.y.shape[1])
    if not (np.any(mean) or np.any(level)):
        return point
    coef = point.coef.copy()
    offset = np.array(np.broadcast_to(p.offset, (len(p.x), coef.shape[1])))  # (one column may serve several outputs)
    for output, column in enumerate(point.coef.T):
        parts = [float(column[0]), -float(level[output]), *np.concatenate(two_product(mean, column)).tolist()]
        coef[0, output] = math.fsum(parts)
        offset[:, output] += math.fsum([*parts, -float(coef[0, output])])
    return replace(p, x=p.x - mean, y=p.y - level, offset=offset).at(coef)


def _centres(x: Array, q: Array) -> Array:
    """Return the mean of each column that is far from zero and can be taken off exactly, else 0."""
    mean = q @ x
    spread = np.sqrt(q @ (x - mean) ** 2)
    mean = np.where((np.abs(mean) > FAR * spread) & (np.ptp(x, axis=0) > 0.0), mean, 0.0)
    moved = x - mean
    # x - m is a double if both ways back are exact
    return np.where(np.all((moved + mean == x) & (x - moved == mean), axis=0), mean, 0.0)
