"""Columns whose mean is far from zero, with it taken off: the intercept makes up for it, and the objective is the same.

    eta = b_0 + x b = (b_0 + m b) + (x - m) b

m is a double for which every x - m is one too, so that nothing is rounded but b_0 + m b; what rounding leaves of that goes to the
offset. In columns such as 1e9 +- 1 the gradients of a dual point would otherwise be known to few digits.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lineal.verify.arithmetic import two_product
from lineal.verify.formulas import Index, Point

FAR = 100.0
"""A mean of more than so many standard deviations is far from zero."""


def centred(point: Point, columns: Index) -> Point:
    """Return a point in centred columns, if the intercept is among the free ``columns``."""
    p = point.problem
    if not p.intercept or 0 not in columns:
        return point
    mean = p.q @ p.x
    spread = np.sqrt(p.q @ (p.x - mean) ** 2)
    mean = np.where((np.abs(mean) > FAR * spread) & (np.ptp(p.x, axis=0) > 0.0), mean, 0.0)
    moved = p.x - mean
    # x - m is a double if both ways back are exact
    mean = np.where(np.all((moved + mean == p.x) & (p.x - moved == mean), axis=0), mean, 0.0)
    if not np.any(mean):
        return point
    coef = point.coef.copy()
    offset = np.array(np.broadcast_to(p.offset, (len(p.x), coef.shape[1])))  # (one column may serve several outputs)
    for output, column in enumerate(point.coef.T):
        parts = [float(column[0]), *np.concatenate(two_product(mean, column)).tolist()]
        coef[0, output] = math.fsum(parts)
        offset[:, output] += math.fsum([*parts, -float(coef[0, output])])
    return replace(p, x=np.where(mean == 0.0, p.x, moved), offset=offset).at(coef)
