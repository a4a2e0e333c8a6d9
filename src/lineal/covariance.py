"""Standard errors: the covariance of the coefficients of an unpenalised fit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lineal.problem import Problem
from lineal.solvers.direct import wants_digits

Array = npt.NDArray[np.float64]

MOST_COEFFICIENTS = 1000
"""Larger covariance matrices are not kept."""


def covariance(problem: Problem, coef: Array) -> Array | None:
    """Return the covariance of the coefficients, output-major, or None where it is too large to keep.

    Squared loss: ``RSS / (S - p) (X'SX)^-1`` for each output; otherwise ``(S H)^-1``, H the second derivative of F.
    Weights count rows: a weight of 3 is a row seen three times.
    """
    columns, outputs = problem.shape
    if columns * outputs > MOST_COEFFICIENTS:
        return None
    total = problem.moments.weight_sum
    here = problem.evaluate(coef, hessian=columns)
    factor = problem.factor(here, np.arange(columns))
    if not problem.loss.quadratic:
        inverse = factor.inverse() / total
        return _within_gauge(inverse, columns, outputs) if problem.loss.coupled else inverse
    if total <= columns:
        return None
    if wants_digits(problem, factor.condition) and problem.normal is not None:
        inverse, squares = problem.normal.inverse(), problem.normal.residual_squares()
    else:
        inverse, squares = factor.parts[0].inverse() / total, _squares(problem, coef)
    noise = np.maximum(squares, 0.0) / (total - columns)
    return np.asarray(np.kron(np.diag(noise), inverse))


def _squares(problem: Problem, coef: Array) -> Array:
    """Return the residual sum of squares of each output."""
    if problem.shape[1] == 1:
        return np.array([2.0 * problem.evaluate(coef).value * problem.moments.weight_sum])
    total = np.zeros(problem.shape[1])
    for block in problem.source.blocks():
        residual = block.design.times(coef) - block.y
        residual = residual if block.offset is None else residual + block.offset
        weight = np.ones(block.n_rows) if block.weight is None else block.weight
        total += weight @ residual**2
    return total


def _within_gauge(inverse: Array, columns: int, outputs: int) -> Array:
    """Return the covariance of coefficients kept with zero sum over classes."""
    centre = np.kron(np.eye(outputs) - 1.0 / outputs, np.eye(columns))
    return np.asarray(centre @ inverse @ centre)
