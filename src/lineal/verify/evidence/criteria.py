"""What is maximized where nothing convex is minimized: Firth's likelihood, and the evidence of a ridge. Value and slope."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from lineal.verify.arithmetic import DOUBLED, EPS, Array, added, double_sums, sums, total, two_product
from lineal.verify.claims.ground import figure
from lineal.verify.problem.formulas import Point

WEIGHT_UNIT = 1e7
"""The slope by the noise counts per this weight where there is more: rounding the noise alone makes a slope of EPS S."""


@dataclass(frozen=True)
class Stationary:
    """The norm of the slope, how well it is known, and the value where the evidence states one under ``name``.

    A stated norm, itself rounded, may differ by ``allowance``.
    """

    norm: float
    norm_error: float
    allowance: float
    name: str
    value: float


def firth(point: Point, weight_sum: float) -> Stationary:
    """Return the slope of log L + 1/2 log det X'SWX in standard errors, and -1/S of its value.

    The slope is ``g = sum_i s_i x_i (y_i - p_i + h_i (1/2 - p_i))``, h the leverages; its norm ``sqrt(g' (X'SWX)^-1 g)``.
    """
    at, p = point.whole, point.whole.block
    scale = np.max(np.abs(p.x), axis=0)
    x, s = p.x / np.where(scale > 0.0, scale, 1.0), weight_sum * p.q
    mean = 1.0 / (1.0 + np.exp(-at.eta))
    weight = at.rows.weight[:, 0]
    root = np.sqrt(s * weight)[:, None] * x
    orthonormal, factor = np.linalg.qr(root)
    # an observation of weight s counts s times: its leverage per unit of weight
    h = np.sum(orthonormal**2, axis=1) / s
    gradient = sums(x, s[:, None] * (h[:, None] * (0.5 - mean) - at.rows.slope))
    norm = float(np.linalg.norm(np.linalg.solve(factor.T, gradient)))
    determinant = 2.0 * (float(np.sum(np.log(np.abs(np.diag(factor))))) + float(np.sum(np.log(scale))))
    value = weight_sum * total(p.q * at.rows.value) - 0.5 * determinant
    spread = np.linalg.norm(np.linalg.solve(factor.T, np.abs(x).T @ (s * (np.abs(at.rows.slope[:, 0]) + h))))
    norm_error = 1e-13 * float(spread)
    return Stationary(norm, norm_error, norm_error, "objective", value / weight_sum)


def evidence(point: Point, weight_sum: float, factors: Array, stated: dict[str, Any]) -> Stationary:
    """Return the slope of the log-evidence of a ridge by log 1/noise and log 1/prior, over those that were estimated.

    That by log 1/noise is divided by S / 1e7 where S, the sum of the weights, is above 1e7.
    """
    at, p = point.whole, point.whole.block
    alpha, lam = 1.0 / float(stated["noise"]), 1.0 / float(stated["prior"])
    a1, a2, l1, l2 = (float(value) for value in stated["hyper"])
    free = [name in stated["free"] for name in ("noise", "prior")]
    s, penalized = weight_sum * p.q, factors > 0.0
    scale = np.exp2(np.round(0.5 * np.log2(np.max(np.abs(p.x), axis=0) ** 2 + factors)))
    x, ridge = p.x / scale, lam / alpha * factors / scale**2
    gamma, norm_error, reach = _degrees(x, s, ridge, factors * point.coef[:, 0] / scale)
    squares = weight_sum * total(p.q * at.rows.slope[:, 0] ** 2)
    size = total(factors * point.coef[:, 0] ** 2)
    units = max(1.0, weight_sum / WEIGHT_UNIT)
    slope = np.array(
        [
            (0.5 * (weight_sum - gamma - alpha * squares) + a1 - a2 * alpha) / units,
            0.5 * (gamma - lam * size) + l1 - l2 * lam,
        ]
    )
    value = a1 * math.log(alpha) - a2 * alpha + l1 * math.log(lam) - l2 * lam
    count = int(np.sum(penalized))
    value += 0.5 * (count * math.log(lam) + weight_sum * math.log(alpha) - alpha * squares - lam * size)
    value -= 0.5 * (_precision(x, s, alpha, lam, factors, scale) + weight_sum * math.log(2.0 * math.pi))
    # the best coefficients are within the radius of these by the penalty alone, and lam size has the slope 2 lam b; with the
    # rows, (b - b*)'(X'SX + ridge)(b - b*) is at most twice the gap, ridge radius^2
    radius = _radius(stated["ridge"], lam / (alpha * weight_sum))
    along = min(math.sqrt(size), math.sqrt(lam / alpha) * reach)
    sizes = (weight_sum + alpha * squares + a2 * alpha) / units + count + lam * size + l2 * lam
    norm_error += 2.0 * lam * radius * (along + radius) + 16.0 * EPS * sizes
    allowance = norm_error + 1e-11 * (weight_sum / units + count)
    return Stationary(float(np.linalg.norm(slope[free])), norm_error, allowance, "log_evidence", value)


def _radius(ridge: dict[str, Any], strength: float) -> float:
    """Return how far the best coefficients of the ridge are at most, as it states itself; that is proven beside this."""
    radius, objective, lower = (figure(ridge, name) for name in ("radius", "objective", "lower_bound"))
    if radius is not None:
        return abs(radius)
    return 0.0 if objective is None or lower is None else math.sqrt(2.0 * max(objective - lower, 0.0) / strength)


def _degrees(x: Array, s: Array, ridge: Array, pull: Array) -> tuple[float, float, float]:
    """Return ``sum_j 1 - ridge_j [H^-1]_jj`` over the penalized columns, ``H = X'SX + ridge``, and a bound on its error.

    The third is ``sqrt(pull' H^-1 pull)``, or a bound on it.

    A change of H by at most a share e of itself, as a quadratic form, changes it by at most e times the number of columns.
    Rounding the rows changes H by ``EPS |C^-1|`` of itself where C is a factor of H in columns of length 1.
    """
    penalized, count = ridge > 0.0, len(ridge)
    orthonormal, factor = np.linalg.qr(np.vstack([np.sqrt(s)[:, None] * x, np.diag(np.sqrt(ridge))[penalized]]))
    gamma = float(np.sum(orthonormal[: len(x)] ** 2)) - int(np.sum(~penalized))
    length = np.linalg.norm(factor, axis=0)
    if not np.all(np.abs(np.diag(factor)) > 0.0) or len(factor) < count:
        return gamma, math.inf, math.inf
    inverse = float(np.linalg.norm(np.linalg.inv(factor / length)))
    error = 8.0 * EPS * count**1.5 * inverse
    reach = 1.1 * float(np.linalg.norm(np.linalg.solve(factor.T, pull))) if error <= 0.01 else math.inf
    if error <= 1e-9 or count > 60:  # fifty digits are slow, and needed for nearly dependent columns only
        return gamma, error, reach
    high, low = two_product(s[:, None], x)
    gram = added(double_sums(x, high), double_sums(x, low))
    return _with_digits(gram, ridge), 8.0 * (EPS + DOUBLED * inverse**2) * count**2, reach


def _with_digits(gram: tuple[Array, Array], ridge: Array) -> float:
    """Return the same sum by Gauss-Jordan elimination with fifty digits."""
    count = len(ridge)
    with localcontext() as context:
        context.prec = 50
        cells = [
            [Decimal(high) + Decimal(low) for high, low in zip(*rows, strict=True)] for rows in zip(*gram, strict=True)
        ]
        held = [Decimal(value) for value in ridge]
        table = [[*row, *(Decimal(int(j == k)) for k in range(count))] for j, row in enumerate(cells)]
        for j in range(count):
            table[j][j] += held[j]
        for j in range(count):  # H is positive definite: any order of pivots will do
            pivot = table[j][j]
            table[j] = [value / pivot for value in table[j]]
            for k in range(count):
                if k != j and table[k][j]:
                    share = table[k][j]
                    table[k] = [value - share * other for value, other in zip(table[k], table[j], strict=True)]
        kept = (1 - held[j] * table[j][count + j] for j in range(count) if held[j])
        return float(sum(kept, Decimal(0)))


def _precision(x: Array, s: Array, alpha: float, lam: float, factors: Array, scale: Array) -> float:
    """Return log det of the posterior precision of factor_j^(1/2) b_j, the unpenalized columns projected out."""
    penalized = factors > 0.0
    root = np.sqrt(s)[:, None] * x
    free = np.linalg.qr(root[:, ~penalized])[0]
    left = root[:, penalized] - free @ (free.T @ root[:, penalized])
    left = left * (scale[penalized] / np.sqrt(factors[penalized]))
    values = np.linalg.svd(left, compute_uv=False) ** 2
    values = np.concatenate([values, np.zeros(int(np.sum(penalized)) - len(values))])
    return float(np.sum(np.log(alpha * values + lam)))
