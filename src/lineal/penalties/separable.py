"""What all penalties that look at one coefficient at a time share."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from lineal.ground.arrays import Array, Mask
from lineal.penalties.costs import CoordinateCosts, soft
from lineal.penalties.penalty import Penalty


class Separable(Penalty):
    """``penalty(b) = sum_jk linear_j |b_jk| + (curvature_j / 2) b_jk^2``, with ``least_j <= b_jk <= most_j``.

    The formulas of one coefficient stand in ``costs.py``; here they are summed.
    """

    smooth: ClassVar[bool] = False
    even: ClassVar[bool] = False

    @cached_property
    def least(self) -> Array:
        """Smallest coefficient allowed, per column."""
        return np.full(len(self.rate), -np.inf)

    @cached_property
    def most(self) -> Array:
        """Largest coefficient allowed, per column."""
        return np.full(len(self.rate), np.inf)

    @cached_property
    def _costs(self) -> CoordinateCosts:
        return CoordinateCosts(self.linear, self.curvature(), self.least, self.most)

    @cached_property
    def _columns(self) -> CoordinateCosts:
        return self._costs.columns()

    def costs(self, outputs: int) -> CoordinateCosts:
        """Return linear, curvature, least and most."""
        return self._costs

    @cached_property
    def _penalized(self) -> Mask:
        return (self.linear > 0.0) | (self.curvature() > 0.0) | (self.least > -np.inf) | (self.most < np.inf)

    @property
    def penalized(self) -> Mask:
        """Columns that cost anything, or are bounded."""
        return self._penalized

    @cached_property
    def _one_sided(self) -> Mask:
        """Columns without any cost that have one bound."""
        return np.asarray((self.linear + self.curvature() == 0.0) & (np.isinf(self.least) ^ np.isinf(self.most)))

    def _inside(self, coef: Array) -> bool:
        return self._columns.inside(coef)

    def value(self, coef: Array) -> float:
        """Return sum_jk linear_j |b_jk| + (curvature_j / 2) b_jk^2, infinity outside the bounds."""
        if not self._inside(coef):
            return float("inf")
        return float(self.linear @ np.abs(coef).sum(axis=1) + 0.5 * self.curvature() @ (coef**2).sum(axis=1))

    def moving(self, coef: Array) -> Mask:
        """Return the coefficients strictly between their bounds and away from the kink at zero."""
        return ~self._columns.resting(coef)

    def gradient(self, coef: Array) -> Array:
        """Return curvature_j b_j + linear_j sign(b_j); without the second where the coefficient does not move."""
        rate = np.where(self.moving(coef), self.linear[:, None], 0.0)
        return np.asarray(self.curvature()[:, None] * coef + rate * np.sign(coef))

    def prox(self, coef: Array, step: Array) -> Array:
        """Return soft(b_j, step_j linear_j) / (1 + step_j curvature_j), cut to the bounds."""
        inner = soft(coef, (step * self.linear)[:, None]) / (1.0 + step * self.curvature())[:, None]
        return np.clip(inner, self.least[:, None], self.most[:, None])

    def conjugate(self, slope: Array) -> float:
        """Return sum slope b* - penalty(b*), infinity where b* is."""
        best = self._columns.best(slope)
        if not np.all(np.isfinite(best)):
            return float("inf")
        return float(np.sum(slope * best)) - self.value(best)

    def shrink(self, gradient: Array) -> float:
        """Return the largest a <= 1 with a |gradient_j| <= linear_j where only that keeps b* finite."""
        return float(np.min(self._costs.columns(self.penalized).shrink(gradient[self.penalized]), initial=1.0))

    def unbounded_dual(self, coef: Array, gradient: Array) -> Mask:
        """Return one-sided coefficients without any cost that are off their bound, or whose gradient pulls them to infinity."""
        free = self._one_sided
        if not free.any():
            return np.zeros(coef.shape, dtype=bool)
        edge = np.where(np.isinf(self.least), self.most, self.least)
        away = (coef != edge[:, None]) | np.isinf(self._columns.best(-gradient))
        return np.asarray(free[:, None] & away)

    def recession(self) -> tuple[Mask, Mask]:
        """Return the columns without any cost that have no lower bound, and those that have no upper one."""
        free = self.linear + self.curvature() == 0.0
        return np.asarray(free & np.isinf(self.least)), np.asarray(free & np.isinf(self.most))

    def critical(self, gradient: Array) -> float:
        """Return max_j |gradient_j| / rate_j over the penalized coefficients that their bounds let go where it pulls."""
        penalized = self.penalized | (self.rate > 0.0)
        pull, rate = -gradient[penalized], self.rate[penalized][:, None]
        lower, upper = self.least[penalized][:, None], self.most[penalized][:, None]
        if np.any((lower > 0.0) | (upper < 0.0)):
            return float("inf")
        size = np.where(((pull > 0.0) & (upper > 0.0)) | ((pull < 0.0) & (lower < 0.0)), np.abs(pull), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.max(np.where(size > 0.0, size / rate, 0.0), initial=0.0))

    def entry_strengths(self, gradient: Array) -> Array:
        """Return max_k |gradient_jk| / rate_j over the coefficients that their bounds let go where it pulls; 0 without a rate."""
        costs, rate = self._columns, self.rate
        free = np.where(gradient > 0.0, costs.least < 0.0, costs.most > 0.0)
        size = np.max(np.where(free, np.abs(gradient), 0.0), axis=1)
        return np.where(rate > 0.0, size / np.where(rate > 0.0, rate, 1.0), 0.0)

    def mismatch(self, coef: Array, gradient: Array) -> float:
        """Return the sum of the mismatches of all coefficients of the penalized columns."""
        if not self._inside(coef):
            return float("inf")
        seen = self.penalized
        return float(np.sum(self._costs.columns(seen).mismatch(coef[seen], gradient[seen])))

    def mismatch_error(self, coef: Array, gradient: Array, error: Array) -> float:
        """Return the sum of what the errors of the penalized columns may add to their mismatches."""
        seen = self.penalized[:, None] & (error > 0.0)
        return float(np.sum(self._columns.mismatch_error(coef, gradient, error)[seen]))

    def slack(self, coef: Array, gradient: Array) -> Array:
        """Return the distance of -gradient to curvature b + linear [sign b] + what the bounds may push."""
        pull = -(gradient + self.curvature()[:, None] * coef)
        rate = self.linear[:, None]
        low = np.where(coef > 0.0, rate, -rate)
        high = np.where(coef < 0.0, -rate, rate)
        low = np.where(coef <= self.least[:, None], -np.inf, low)
        high = np.where(coef >= self.most[:, None], np.inf, high)
        return np.asarray(np.maximum(np.maximum(low - pull, pull - high), 0.0))


class Unbounded(Separable):
    """The same without bounds, where less is to be looked at."""

    @cached_property
    def _penalized(self) -> Mask:
        return np.asarray((self.linear > 0.0) | (self.curvature() > 0.0))

    def _inside(self, coef: Array) -> bool:
        return True

    def moving(self, coef: Array) -> Mask:
        """Return the coefficients away from the kink at zero."""
        return np.asarray((coef != 0.0) | (self.linear == 0.0)[:, None])

    def gradient(self, coef: Array) -> Array:
        """Return curvature_j b_j + linear_j sign(b_j)."""
        return np.asarray(self.curvature()[:, None] * coef + self.linear[:, None] * np.sign(coef))

    def unbounded_dual(self, coef: Array, gradient: Array) -> Mask:
        """Return none: no column has one bound."""
        return np.zeros(coef.shape, dtype=bool)

    def prox(self, coef: Array, step: Array) -> Array:
        """Return soft(b_j, step_j linear_j) / (1 + step_j curvature_j)."""
        return soft(coef, (step * self.linear)[:, None]) / (1.0 + step * self.curvature())[:, None]
