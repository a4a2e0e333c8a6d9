"""The certificate of Huber's loss with a scale of its own, from a dual point of Huber's loss at that scale.

    G(b, sigma) = F(b) / sigma + sigma / 2,   F Huber's loss with threshold epsilon sigma and a ridge of strength times sigma.

With t = theta / sigma, theta a dual point of F, and m = (1/S) sum s t^2,

    G >= (1/S) sum s [t r + sigma (1 - t^2) / 2] + ...,   whose least value over sigma >= 0 is finite where m <= 1.

What is missing to that bound is ``gap / sigma + sigma (1 - m) / 2``, gap that of F; where m > 1, a t with a = 1 / sqrt(m)
is allowed, and the bound is concave in t and zero at zero, so that it is at least a times as high.
"""

from __future__ import annotations

import math

import numpy as np

from lineal.certify.rows import bound
from lineal.ground.arrays import Array, Mask
from lineal.problem.problem import Problem


def gap_of_slopes(value: float, scale: float, gap: float, square: float, error: float) -> float:
    """Return what G may fall by from ``value``, by the dual point that proves the ``gap`` of F.

    ``square`` is m of the slopes, known to ``error``. Mismatches of Huber's loss are at least (slope - theta)^2 / 2, so the
    roots of m of both differ by at most sqrt(2 gap) / sigma.
    """
    apart = math.sqrt(2.0 * gap) / scale
    low = max(math.sqrt(max(square - error, 0.0)) - apart, 0.0) ** 2
    return _total(value, scale, gap, low, (math.sqrt(square + error) + apart) ** 2)


def gap_of_rows(
    problem: Problem, coef: Array, theta: Array | None, value: float, scale: float, weight: Array, present: Mask
) -> float | None:
    """Return what G may fall by from ``value``, by a dual point given row by row or made of the slopes; None without one.

    ``weight`` are the weights over their sum, of the rows that are ``present``.
    """
    shown = bound(problem, coef, theta)
    if shown.gap is None or shown.theta is None:
        return None
    square = float(weight @ (shown.theta[present, 0] / scale) ** 2)
    return _total(value, scale, shown.gap, square * (1.0 - 1e-12), square * (1.0 + 1e-12))


def _total(value: float, scale: float, gap: float, low: float, high: float) -> float:
    """Return what is missing to the bound of a dual point with this gap, whose m is between ``low`` and ``high``.

    It is a bound for all scales above zero, also for those that the search leaves out.
    """
    missing = gap / scale + 0.5 * scale * (1.0 - low)
    if high <= 1.0:
        return max(missing, 0.0)
    share = 1.0 / math.sqrt(high)
    return max((1.0 - share) * value + share * missing, 0.0)


def least_dual(x: Array, residuals: Array, weight: Array, edge: float, gradient: Array) -> Array:
    """Return the dual point of least square that is the slope of every row beyond ``edge``, with ``X'(weight theta) = gradient``.

    Where the best scale is zero, rows that are met have residuals of nothing but rounding, and so have their slopes.

    >>> least_dual(np.ones((3, 1)), np.array([5.0, 0.0, 0.0]), np.ones(3), 1.0, np.zeros(1))
    array([ 1. , -0.5, -0.5])
    """
    met = np.abs(residuals) < edge
    theta = np.where(met, 0.0, np.copysign(edge, residuals))
    root = np.sqrt(weight[met])
    asked = gradient - x.T @ (weight * theta)
    theta[met] = np.linalg.lstsq((x[met] * root[:, None]).T, asked, rcond=None)[0] / root
    return np.clip(theta, -edge, edge)
