"""Group lasso over outputs: a column is used by all outputs or by none."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

import numpy as np

from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.penalties.costs import CoordinateCosts
from lineal.penalties.penalty import Penalty, checked


@dataclass(frozen=True)
class Group(Penalty):
    """``penalty(b) = strength sum_j factor_j |b_j|``, ``|b_j|`` the Euclidean norm of a column's coefficients over outputs.

    With one output it is the lasso.

    >>> Group(0.5, np.array([0.0, 1.0])).value(np.array([[10.0, 10.0], [3.0, 4.0]]))
    2.5
    """

    strength: float
    penalty_factors: Array = field(repr=False)
    name: ClassVar[str] = "group"
    label: ClassVar[str] = "group"
    smooth: ClassVar[bool] = False
    grouped: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked(self.label, self.strength, self.penalty_factors)

    @property
    def rate(self) -> Array:
        """factor_j."""
        return self.penalty_factors

    @property
    def linear(self) -> Array:
        """Strength factor_j."""
        return self.strength * self.penalty_factors

    def formula(self, strength: str, scale: str, outputs: int) -> str:
        """Return strength sum_j factor_j |b_j| in letters."""
        norm = "the root of the sum of b_jk^2 over k" if outputs > 1 else "its absolute value"
        return f"{strength} * sum {scale}|b_j|, |b_j| {norm}"

    def costs(self, outputs: int) -> CoordinateCosts | None:
        """Return those of the lasso, which it is with one output."""
        if outputs > 1:
            return None
        free = np.full(len(self.penalty_factors), np.inf)
        return CoordinateCosts(self.linear, self.curvature(), -free, free)

    @property
    def penalized(self) -> Mask:
        """Columns whose penalty factor times strength is above zero."""
        return self.linear > 0.0

    def value(self, coef: Array) -> float:
        """Return strength sum_j factor_j |b_j|."""
        return float(self.linear @ _norm(coef))

    def moving(self, coef: Array) -> Mask:
        """Return the columns that are not penalized, or not zero."""
        return np.broadcast_to((~self.penalized | np.any(coef != 0.0, axis=1))[:, None], coef.shape)

    def gradient(self, coef: Array) -> Array:
        """Return strength factor_j b_j / |b_j|, 0 where b_j is."""
        norm = _norm(coef)
        return np.asarray((self.linear / np.where(norm > 0.0, norm, 1.0))[:, None] * coef)

    def curvature(self) -> Array:
        """Return 0: nothing of it is a square."""
        return np.zeros(len(self.penalty_factors))

    def shrink(self, gradient: Array) -> float:
        """Return min_j strength factor_j / |gradient_j|, at most 1."""
        size, rate = _norm(gradient)[self.penalized], self.linear[self.penalized]
        return float(np.min(rate / np.maximum(size, rate), initial=1.0))

    def critical(self, gradient: Array) -> float:
        """Return max_j |gradient_j| / factor_j."""
        return float(np.max(self.entry_strengths(gradient), initial=0.0))

    def entry_strengths(self, gradient: Array) -> Array:
        """Return |gradient_j| / factor_j, 0 without a penalty factor."""
        factors = self.penalty_factors
        return np.where(factors > 0.0, _norm(gradient) / np.where(factors > 0.0, factors, 1.0), 0.0)

    def prox(self, coef: Array, step: Array) -> Array:
        """Return b_j max(0, 1 - step_j strength factor_j / |b_j|)."""
        norm, cut = _norm(coef), step * self.linear
        keep = np.where(norm > cut, 1.0 - cut / np.where(norm > 0.0, norm, 1.0), np.where(cut > 0.0, 0.0, 1.0))
        return np.asarray(keep[:, None] * coef)

    def conjugate(self, slope: Array) -> float:
        """Return 0 where |slope_j| <= strength factor_j for all columns, else infinity."""
        return 0.0 if np.all(_norm(slope) <= self.linear) else float("inf")

    def mismatch(self, coef: Array, gradient: Array) -> float:
        """Return sum_j (rate_j - |g_j|) |b_j| + ||b_j| g_j + |g_j| b_j|^2 / (2 |g_j| |b_j|), infinity where |g_j| > rate_j."""
        b, g, rate = coef[self.penalized], gradient[self.penalized], self.linear[self.penalized]
        size, pull = _norm(b), _norm(g)
        if np.any(pull > rate):
            return float("inf")
        both = size * pull
        turn = np.sum((size[:, None] * g + pull[:, None] * b) ** 2, axis=1) / (2.0 * np.where(both > 0.0, both, 1.0))
        return float(np.sum((rate - pull) * size + np.where(both > 0.0, turn, 0.0)))

    def mismatch_error(self, coef: Array, gradient: Array, error: Array) -> float:
        """Return sum |b| error, infinity where the error may bring a gradient out of its ball."""
        seen = self.penalized
        if np.any((_norm(gradient) + _norm(error) > self.linear)[seen & np.any(error > 0.0, axis=1)]):
            return float("inf")
        return float(np.sum(np.abs(coef[seen]) * error[seen]))

    def slack(self, coef: Array, gradient: Array) -> Array:
        """Return |gradient_j + rate_j b_j / |b_j||; at zero what of |gradient_j| exceeds rate_j."""
        zero = ~np.any(coef != 0.0, axis=1)
        size = _norm(gradient)
        over = np.maximum(0.0, 1.0 - self.linear / np.where(size > 0.0, size, 1.0)) * (size > 0.0)
        return np.where(zero[:, None], np.abs(gradient) * over[:, None], np.abs(gradient + self.gradient(coef)))


def _norm(rows: Array) -> Array:
    """Return the Euclidean norm of every row, safe from under- and overflow."""
    top = np.max(np.abs(rows), axis=1, initial=0.0)
    safe = np.where((top > 0.0) & np.isfinite(top), top, 1.0)
    return np.asarray(safe * np.sqrt(np.sum((rows / safe[:, None]) ** 2, axis=1)))
