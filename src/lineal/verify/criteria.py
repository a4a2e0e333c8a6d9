"""What is maximised where nothing convex is minimised: Firth's likelihood, and the evidence of a ridge. Value and slope."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.verify.arithmetic import Array, sums, total
from lineal.verify.formulas import Point


@dataclass(frozen=True)
class Stationary:
    """The norm of the slope, what rounding may add to it, and the value where the evidence states one under ``name``."""

    norm: float
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
    return Stationary(norm, 1e-13 * float(spread), "objective", value / weight_sum)


def evidence(point: Point, weight_sum: float, charges: Array, stated: dict[str, Any]) -> Stationary:
    """Return the slope of the log-evidence of a ridge by log 1/noise and log 1/prior, over those that were estimated."""
    at, p = point.whole, point.whole.block
    alpha, lam = 1.0 / float(stated["noise"]), 1.0 / float(stated["prior"])
    a1, a2, l1, l2 = (float(value) for value in stated["hyper"])
    free = [name in stated["free"] for name in ("noise", "prior")]
    s, charged = weight_sum * p.q, charges > 0.0
    scale = np.sqrt(np.max(np.abs(p.x), axis=0) ** 2 + charges)
    x = p.x / scale
    ridge = np.vstack([np.sqrt(s)[:, None] * x, np.diag(np.sqrt(lam / alpha * charges) / scale)[charged]])
    orthonormal = np.linalg.qr(ridge)[0]
    gamma = float(np.sum(orthonormal[: len(x)] ** 2)) - int(np.sum(~charged))
    squares = weight_sum * total(p.q * at.rows.slope[:, 0] ** 2)
    size = total(charges * point.coef[:, 0] ** 2)
    slope = np.array(
        [
            0.5 * (weight_sum - gamma - alpha * squares) + a1 - a2 * alpha,
            0.5 * (gamma - lam * size) + l1 - l2 * lam,
        ]
    )
    value = a1 * math.log(alpha) - a2 * alpha + l1 * math.log(lam) - l2 * lam
    count = int(np.sum(charged))
    value += 0.5 * (count * math.log(lam) + weight_sum * math.log(alpha) - alpha * squares - lam * size)
    value -= 0.5 * (_precision(x, s, alpha, lam, charges, scale) + weight_sum * math.log(2.0 * math.pi))
    return Stationary(float(np.linalg.norm(slope[free])), 1e-11 * (weight_sum + count), "log_evidence", value)


def _precision(x: Array, s: Array, alpha: float, lam: float, charges: Array, scale: Array) -> float:
    """Return log det of the posterior precision of charge_j^(1/2) b_j, the uncharged columns projected out."""
    charged = charges > 0.0
    root = np.sqrt(s)[:, None] * x
    free = np.linalg.qr(root[:, ~charged])[0]
    left = root[:, charged] - free @ (free.T @ root[:, charged])
    left = left * (scale[charged] / np.sqrt(charges[charged]))
    values = np.linalg.svd(left, compute_uv=False) ** 2
    values = np.concatenate([values, np.zeros(int(np.sum(charged)) - len(values))])
    return float(np.sum(np.log(alpha * values + lam)))
