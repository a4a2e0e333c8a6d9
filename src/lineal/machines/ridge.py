"""Kernel ridge regression: ``(K + (alpha / s) 1) a = y`` by a Cholesky factor, with refinement."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lineal.algebra import lapack
from lineal.ground.records import dataclass
from lineal.problem.problem import EPS
from lineal.problem.span import SpanProblem

Array = npt.NDArray[np.float64]

MAX_REFINEMENTS = 4
"""Solves with the residual for a right side; each takes about as many digits off it as the factor has."""


@dataclass(frozen=True)
class Solution:
    """Coefficients (rows, targets), how they were found, and the intercept of each target, zero where there is none."""

    coef: Array
    how: str
    intercept: Array


def solve(problem: SpanProblem, matrix: Array) -> Solution:
    """Return the coefficients of least squares with the square of the norm, given all of K.

    With ``D = sqrt(s)`` and ``a = D c``, ``(D K D + alpha 1) c = D y``, alpha = strength S. Where no factor exists, as of a
    singular K without a penalty, the solution of least norm is taken from the eigenvalues. An intercept b takes the place of y
    by y - b such that the coefficients sum to zero.
    """
    alpha = problem.strength * problem.weight_sum
    root = np.sqrt(problem.weight)[:, None]
    inner = matrix * root * root.T if np.any(root != 1.0) else matrix.copy()
    inner[np.diag_indices(len(inner))] += alpha
    upper, info = lapack.dpotrf(inner, lower=0, clean=0)
    sound = info == 0 and _reciprocal_condition(inner, upper) > 4.0 * EPS
    targets = problem.y.shape[1]
    right = np.hstack([root * problem.y, root]) if problem.intercept else root * problem.y
    if sound:
        c, how = _refined(problem, matrix, root, upper, right), "cholesky"
    else:
        c, how = _least_norm(inner, right), "eigenvalues"
    intercept = np.zeros(targets)
    if problem.intercept:
        sums = root[:, 0] @ c
        intercept = sums[:targets] / sums[targets]
        c = c[:, :targets] - c[:, targets:] * intercept
    return Solution(root * c, how, intercept)


def _refined(problem: SpanProblem, matrix: Array, root: Array, upper: Array, right: Array) -> Array:
    """Return the solution by a factor, with the residuals solved for as long as they fall by half."""
    alpha = problem.strength * problem.weight_sum
    c, _ = lapack.dpotrs(upper, right, lower=0)
    best, least = c, np.inf
    for _ in range(MAX_REFINEMENTS):
        rest = right - root * (matrix @ (root * c)) - alpha * c
        size = float(np.linalg.norm(rest))
        if not size < 0.5 * least:
            break
        best, least = c, size
        more, _ = lapack.dpotrs(upper, rest, lower=0)
        c = c + more
    return np.asarray(best)


def _reciprocal_condition(matrix: Array, upper: Array) -> float:
    condition, _ = lapack.dpocon(upper, float(np.max(np.sum(np.abs(matrix), axis=0), initial=0.0)), uplo="U")
    return float(condition)


def _least_norm(matrix: Array, right: Array) -> Array:
    """Return the solution of least norm, what is within rounding of zero among the eigenvalues left out."""
    values, vectors = np.linalg.eigh(matrix)
    keep = np.abs(values) > len(matrix) * EPS * float(np.max(np.abs(values), initial=0.0))
    inverse = np.where(keep, 1.0 / np.where(keep, values, 1.0), 0.0)
    return np.asarray(vectors @ (inverse[:, None] * (vectors.T @ right)))
