"""The covariance of the coefficients of a unique fit without a penalty."""

from __future__ import annotations

import numpy as np

from lineal.verify.arithmetic import Array, total
from lineal.verify.formulas import Point
from lineal.verify.proof import basis


def covariance(point: Point, weight_sum: float) -> Array:
    """Return the covariance of unpenalised coefficients, output-major: sigma^2 (X'SX)^-1, or the inverse information."""
    p = point.problem
    found = basis(point, np.arange(p.x.shape[1]))
    k = p.outputs
    change = np.kron(np.eye(k), found.change)
    inverse = np.linalg.inv(found.h)
    if p.loss == "softmax":  # remove the curvature that was given to the unseen direction
        seen = np.kron(np.eye(k) - 1.0 / k, np.eye(len(found.columns)))
        inverse = seen @ inverse @ seen
    matrix = change @ inverse @ change.T / weight_sum
    if p.loss == "squared":
        freedom = weight_sum - p.x.shape[1]
        spread = [weight_sum * total(p.q * point.slope[:, output] ** 2) / freedom for output in range(k)]
        matrix = matrix * np.kron(np.diag(spread), np.ones((len(found.columns), len(found.columns))))
    return np.asarray(matrix)
