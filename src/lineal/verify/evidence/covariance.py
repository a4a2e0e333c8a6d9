"""The covariance of the coefficients of a unique fit without a penalty."""

from __future__ import annotations

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.problem.formulas import Point
from lineal.verify.proof.basis import basis
from lineal.verify.proof.plan import Plan


def covariance(point: Point, weight_sum: float) -> Array:
    """Return the covariance of unpenalized coefficients, output-major: sigma^2 (X'SX)^-1, or the inverse information."""
    p, k = point.problem, point.problem.outputs
    columns = p.columns
    base = basis(Plan(point), np.ones((columns, k), dtype=bool))
    change = np.zeros((k * columns, k * columns))
    for output, part in enumerate(base.parts):
        place = slice(output * columns, (output + 1) * columns)
        change[place, place] = part.change
    matrix = change @ base.inverse @ change.T / weight_sum
    if p.loss.quadratic:
        freedom = weight_sum - columns
        spread = weight_sum * np.asarray(sum(at.block.q @ at.rows.slope**2 for at in point.blocks())) / freedom
        matrix = matrix * np.repeat(spread, columns)[:, None]
    return np.asarray(matrix)
