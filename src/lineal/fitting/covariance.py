"""Standard errors: the covariance of the coefficients of an unpenalised fit, classical or robust.

Weights count rows throughout: a weight of 3 is a row seen three times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.algebra.factor import Factor
from lineal.algebra.spectrum import root
from lineal.errors import InputError, near
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.problem.frame import centered, projected
from lineal.problem.problem import Problem
from lineal.solvers.direct import wants_digits
from lineal.sources.rowwise import Scored
from lineal.sources.source import Block

Codes = Index

ROBUST: Final = ("HC0", "HC1", "HC2", "HC3")
"""The robust kinds, after MacKinnon and White (1985)."""


COVARIANCE_MAX_COLUMNS: Final = 1000
"""Coefficients up to which their covariance is kept: 8 MB."""


def covariance(problem: Problem, coef: Array) -> Array | None:
    """Return the covariance of the coefficients, output-major, or None where it is too large to keep.

    Squared loss: ``RSS / (S - p) (X'SX)^-1`` for each output; otherwise ``(S H)^-1``, H the second derivative of F.
    """
    columns, outputs = problem.shape
    if columns * outputs > COVARIANCE_MAX_COLUMNS:
        return None
    spread, squares = inverse(problem, coef)
    if squares is None:
        return spread
    left = problem.moments.weight_sum - columns
    if not left > 0.0:
        return None
    noise = np.maximum(squares, 0.0) / left
    return np.asarray(noise[0] * spread if outputs == 1 else np.kron(np.diag(noise), spread))


def robust(problem: Problem, coef: Array, kind: str) -> Array:
    """Return the covariance that holds also where the spread of the rows is not what the loss assumes.

    ``B (sum_i s_i f_i g_i g_i') B``, B the inverse of the second derivative of the summed loss, g_i the row's gradient;
    ``f = 1`` (HC0), ``S / (S - p)`` (HC1), ``1 / (1 - h_i)`` (HC2), ``1 / (1 - h_i)^2`` (HC3), h_i the leverage of a row.
    """
    if kind not in ROBUST:
        raise InputError(
            f"the standard errors {kind!r} are unknown; known are classical, {', '.join(ROBUST)}.{near(kind, ROBUST)}"
        )
    if problem.loss.coupled and kind in ("HC2", "HC3"):
        raise InputError(
            f"{kind} needs one leverage per row, and {problem.loss.name} loss has a matrix; use HC0, HC1 or clusters."
        )
    bread = _bread(problem, coef)
    columns, outputs = problem.shape
    half = root(bread[:columns, :columns]) if kind in ("HC2", "HC3") else None
    meat = np.zeros((outputs, columns, outputs, columns))
    for block in pieces(problem):
        slope, weight = _slopes(problem, coef, block)
        factor = weight
        if half is not None:
            left = 1.0 - leverage(problem, coef, block, half)
            # A row of leverage one is fitted exactly: its slope is zero, whatever it is divided by.
            factor = weight / np.maximum(left, 1e-10) ** (1 if kind == "HC2" else 2)
        for a in range(outputs):
            for b in range(a + 1):
                part = block.design.gram(factor * slope[:, a] * slope[:, b])
                meat[a, :, b, :] += part
                if a != b:
                    meat[b, :, a, :] += part
    spread = bread @ meat.reshape(bread.shape) @ bread
    total, free = problem.moments.weight_sum, parameters(problem)
    return np.asarray(spread * (total / (total - free) if kind == "HC1" else 1.0))


def clustered(problem: Problem, coef: Array, clusters: Codes) -> tuple[Array, int]:
    """Return the covariance for rows that depend on each other within clusters, and the number of clusters.

    ``c B (sum_g u_g u_g') B``, u_g the gradient summed over a cluster, ``c = G / (G - 1) (S - 1) / (S - p)``.
    ``clusters`` numbers the cluster of every row, in the order of the source.
    """
    from scipy import sparse  # here: no fit needs it

    columns, outputs = problem.shape
    sums = np.zeros((int(clusters.max(initial=-1)) + 1, outputs * columns))
    seen = np.zeros(len(sums), dtype=bool)
    for block in pieces(problem):
        slope, weight = _slopes(problem, coef, block)
        mine = clusters[block.start : block.start + block.n_rows]
        seen[mine[weight > 0.0]] = True
        names, place = np.unique(mine, return_inverse=True)
        pick = sparse.csr_array((np.ones(len(mine)), (place, np.arange(len(mine)))), shape=(len(names), len(mine)))
        rows = block.design.dense()
        for a in range(outputs):
            sums[names, a * columns : (a + 1) * columns] += np.asarray(pick @ (rows * (weight * slope[:, a])[:, None]))
    count, total, free = int(seen.sum()), problem.moments.weight_sum, parameters(problem)
    if count < 2:
        raise InputError(
            f"there is {count} cluster; clustered standard errors need at least two, better thirty or more."
        )
    bread = _bread(problem, coef)
    half = sums @ bread
    return np.asarray(half.T @ half * (count / (count - 1) * (total - 1.0) / (total - free))), count


def parameters(problem: Problem) -> int:
    """Return the number of free coefficients that share one sum of weights: softmax has one class less than outputs."""
    columns, outputs = problem.shape
    return columns * (outputs - 1) if problem.loss.coupled else columns


def inverse(problem: Problem, coef: Array) -> tuple[Array, Array | None]:
    """Return the inverse second derivative of S F, output-major in the gauge, and None.

    For squared loss that of one output, and the residual sum of squares of each.
    """
    columns, outputs = problem.shape
    total = problem.moments.weight_sum
    here = problem.evaluate(coef, hessian=columns)
    factor = problem.factor(here, np.arange(columns))
    if not problem.loss.quadratic:
        # below 1e-4, the digits that other columns keep are worth another look
        spread = _framed(problem, coef, factor) if factor.condition < 1e-4 else factor.inverse()
        spread = spread / total
        return (_within_gauge(spread, columns, outputs) if problem.loss.coupled else spread), None
    if wants_digits(problem, factor.condition) and problem.normal is not None:
        return problem.normal.inverse(), problem.normal.residual_squares()
    return factor.parts[0].inverse() / total, _squares(problem, coef)


def _framed(problem: Problem, coef: Array, factor: Factor) -> Array:
    """Return the inverse second derivative by way of columns that are less like each other, where there are such.

    With ``b = A c`` that of b is ``A V A'``, V that of c: columns far from zero, less their means, keep their digits.
    """
    columns = problem.shape[0]
    for frame in (centered(problem, 1.0), projected(problem)):
        if frame is None:
            continue
        here = frame.problem.evaluate(frame.inward(coef), hessian=columns)
        inner = frame.problem.factor(here, np.arange(columns))
        if inner.condition > factor.condition:
            back = np.kron(np.eye(problem.shape[1]), frame.outward(np.eye(columns)))
            return np.asarray(back @ inner.inverse() @ back.T)
    return factor.inverse()


def _bread(problem: Problem, coef: Array) -> Array:
    spread, squares = inverse(problem, coef)
    return spread if squares is None else np.asarray(np.kron(np.eye(problem.shape[1]), spread))


def pieces(problem: Problem) -> Iterator[Block]:
    """Yield the rows, few enough at a time to be multiplied out."""
    size = max(1, 2**22 // max(problem.shape[0], 1))  # cells of 32 MB
    for block in problem.source.blocks():
        for start in range(0, block.n_rows, size):
            at = slice(start, min(start + size, block.n_rows))
            yield Block(
                block.design.slice(at.start, at.stop),
                block.y[at],
                None if block.weight is None else block.weight[at],
                None if block.offset is None else block.offset[at],
                block.start + start,
            )


def _slopes(problem: Problem, coef: Array, block: Block) -> tuple[Array, Array]:
    y, eta, weight = Scored(coef)(block)
    return problem.loss.slope(y, eta), weight


def leverage(problem: Problem, coef: Array, block: Block, half: Array) -> Array:
    """Return the leverage of each row, once whatever its weight: ``h_i = c_i |x_i' half|^2``, ``half half' = (X'SCX)^-1``."""
    y, eta, _ = Scored(coef)(block)
    curvature: npt.NDArray[Any] = problem.loss.curvature(y, eta)[:, 0]
    return np.asarray(curvature * np.sum(block.design.times(half) ** 2, axis=1))


def _squares(problem: Problem, coef: Array) -> Array:
    """Return the residual sum of squares of each output."""
    if problem.shape[1] == 1:
        return np.array([2.0 * problem.evaluate(coef).value * problem.moments.weight_sum])
    return problem.source.sum(Squares(coef))


@dataclass(frozen=True)
class Squares:
    """The task that sums squared residuals, for each output."""

    coef: Array

    def __call__(self, block: Block) -> Array:
        """Sum over one block."""
        y, eta, weight = Scored(self.coef)(block)
        return np.asarray(weight @ (eta - y) ** 2)


def _within_gauge(inverse: Array, columns: int, outputs: int) -> Array:
    """Return the covariance of coefficients kept with zero sum over classes."""
    centre = np.kron(np.eye(outputs) - 1.0 / outputs, np.eye(columns))
    return np.asarray(centre @ inverse @ centre)
