"""What all penalties that look at one coefficient at a time share."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.penalties.penalty import Array, Penalty

Mask = npt.NDArray[np.bool_]


def soft(values: Array, rate: Array) -> Array:
    """Return the values moved towards zero by ``rate``, at most to zero.

    >>> soft(np.array([3.0, -0.5]), np.array([1.0, 1.0]))
    array([ 2., -0.])
    """
    return np.copysign(np.maximum(np.abs(values) - rate, 0.0), values)


class Separable(Penalty):
    """``penalty(b) = sum_jk linear_j |b_jk| + (curvature_j / 2) b_jk^2``, with ``least_j <= b_jk <= most_j``.

    Every formula below follows from one: the best answer ``b*(s) = argmax_b s b - penalty(b)`` to a slope ``s`` of one
    coefficient is ``soft(s, linear) / curvature``, cut to the bounds; it is infinite where nothing stops it.
    """

    smooth: ClassVar[bool] = False
    even: ClassVar[bool] = False

    @property
    @abstractmethod
    def rate(self) -> Array:
        """What ``|b_j|`` costs at strength one, per column."""

    @property
    @abstractmethod
    def linear(self) -> Array:
        """What ``|b_j|`` costs, per column."""

    @cached_property
    def least(self) -> Array:
        """Smallest coefficient allowed, per column."""
        return np.full(len(self.rate), -np.inf)

    @cached_property
    def most(self) -> Array:
        """Largest coefficient allowed, per column."""
        return np.full(len(self.rate), np.inf)

    @cached_property
    def _charged(self) -> Mask:
        return (self.linear > 0.0) | (self.curvature() > 0.0) | (self.least > -np.inf) | (self.most < np.inf)

    @property
    def charged(self) -> Mask:
        """Columns that cost anything, or are bounded."""
        return self._charged

    @cached_property
    def _one_sided(self) -> Mask:
        """Columns without any cost that have one bound."""
        return np.asarray((self.linear + self.curvature() == 0.0) & (np.isinf(self.least) ^ np.isinf(self.most)))

    def _inside(self, coef: Array) -> bool:
        return bool(np.all((coef >= self.least[:, None]) & (coef <= self.most[:, None])))

    def value(self, coef: Array) -> float:
        """Return sum_jk linear_j |b_jk| + (curvature_j / 2) b_jk^2, infinity outside the bounds."""
        if not self._inside(coef):
            return float("inf")
        return float(self.linear @ np.abs(coef).sum(axis=1) + 0.5 * self.curvature() @ (coef**2).sum(axis=1))

    def moving(self, coef: Array) -> Mask:
        """Return the coefficients strictly between their bounds and away from the kink at zero."""
        kink = (self.linear[:, None] > 0.0) & (coef == 0.0)
        return np.asarray((coef > self.least[:, None]) & (coef < self.most[:, None]) & ~kink)

    def gradient(self, coef: Array) -> Array:
        """Return curvature_j b_j + linear_j sign(b_j); without the second where the coefficient does not move."""
        rate = np.where(self.moving(coef), self.linear[:, None], 0.0)
        return np.asarray(self.curvature()[:, None] * coef + rate * np.sign(coef))

    def prox(self, coef: Array, step: Array) -> Array:
        """Return soft(b_j, step_j linear_j) / (1 + step_j curvature_j), cut to the bounds."""
        inner = soft(coef, (step * self.linear)[:, None]) / (1.0 + step * self.curvature())[:, None]
        return np.clip(inner, self.least[:, None], self.most[:, None])

    def _best(self, slope: Array) -> Array:
        """Return b*(slope), where a slope of zero is answered by the allowed coefficient nearest to zero."""
        pull = soft(slope, self.linear[:, None])
        curvature = self.curvature()[:, None]
        far = np.where(pull == 0.0, 0.0, np.copysign(np.inf, pull))
        best = np.where(curvature > 0.0, pull / np.where(curvature > 0.0, curvature, 1.0), far)
        return np.clip(best, self.least[:, None], self.most[:, None])

    def conjugate(self, slope: Array) -> float:
        """Return sum slope b* - penalty(b*), infinity where b* is."""
        best = self._best(slope)
        if not np.all(np.isfinite(best)):
            return float("inf")
        return float(np.sum(slope * best)) - self.value(best)

    def shrink(self, gradient: Array) -> float:
        """Return the largest a <= 1 with a |gradient_j| <= linear_j where only that keeps b* finite."""
        size = np.where(np.isinf(self._best(-gradient)), np.abs(gradient), 0.0)[self.charged]
        over = size > 0.0
        rate = np.broadcast_to(self.linear[self.charged][:, None], size.shape)
        return float(min(1.0, np.min(rate[over] / size[over], initial=1.0)))

    def open(self, coef: Array, gradient: Array) -> Mask:
        """Return one-sided coefficients without any cost that are off their bound, or whose gradient pulls them to infinity."""
        free = self._one_sided
        if not free.any():
            return np.zeros(coef.shape, dtype=bool)
        edge = np.where(np.isinf(self.least), self.most, self.least)
        away = (coef != edge[:, None]) | np.isinf(self._best(-gradient))
        return np.asarray(free[:, None] & away)

    def recession(self) -> tuple[Mask, Mask]:
        """Return the columns without any cost that have no lower bound, and those that have no upper one."""
        free = self.linear + self.curvature() == 0.0
        return np.asarray(free & np.isinf(self.least)), np.asarray(free & np.isinf(self.most))

    def critical(self, gradient: Array) -> float:
        """Return max_j |gradient_j| / rate_j over the charged coefficients that their bounds let go where it pulls."""
        charged = self.charged | (self.rate > 0.0)
        pull, rate = -gradient[charged], self.rate[charged][:, None]
        lower, upper = self.least[charged][:, None], self.most[charged][:, None]
        if np.any((lower > 0.0) | (upper < 0.0)):
            return float("inf")
        size = np.where(((pull > 0.0) & (upper > 0.0)) | ((pull < 0.0) & (lower < 0.0)), np.abs(pull), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.max(np.where(size > 0.0, size / rate, 0.0), initial=0.0))

    def mismatch(self, coef: Array, gradient: Array) -> float:
        """Return sum phi(b) - phi(b*), phi(z) = gradient z + penalty(z), b* its minimiser, over the charged columns.

        With z the sign of b*, phi(b) - phi(b*) = (curvature / 2) (b - b*)^2 + (curvature b* + gradient + z linear)(b - b*)
        + linear (|b| - z b): no term is negative. The middle one vanishes where b* is not cut.
        """
        if not self._inside(coef):
            return float("inf")
        seen = self.charged
        best = self._best(-gradient)[seen]
        if not np.all(np.isfinite(best)):
            return float("inf")
        b, g = coef[seen], gradient[seen]
        linear, curvature = self.linear[seen][:, None], self.curvature()[seen][:, None]
        cut = (best == self.least[seen][:, None]) | (best == self.most[seen][:, None])
        sign = np.where(best == 0.0, np.sign(b), np.sign(best))
        slope = np.where(cut | (best == 0.0), curvature * best + g + sign * linear, 0.0)
        terms = (
            0.5 * curvature * (b - best) ** 2 + np.maximum(slope * (b - best), 0.0) + linear * (np.abs(b) - sign * b)
        )
        return float(np.sum(terms))

    def blur(self, coef: Array, gradient: Array, error: Array) -> float:
        """Return sum error max |b - b*(s)| over s = -gradient +- error: phi is convex in the gradient, with slope b - b*."""
        seen = self.charged[:, None] & (error > 0.0)
        far = np.maximum(np.abs(coef - self._best(-gradient - error)), np.abs(coef - self._best(-gradient + error)))
        return float(np.sum(error[seen] * far[seen]))

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
    def _charged(self) -> Mask:
        return np.asarray((self.linear > 0.0) | (self.curvature() > 0.0))

    def _inside(self, coef: Array) -> bool:
        return True

    def moving(self, coef: Array) -> Mask:
        """Return the coefficients away from the kink at zero."""
        return np.asarray((coef != 0.0) | (self.linear == 0.0)[:, None])

    def gradient(self, coef: Array) -> Array:
        """Return curvature_j b_j + linear_j sign(b_j)."""
        return np.asarray(self.curvature()[:, None] * coef + self.linear[:, None] * np.sign(coef))

    def open(self, coef: Array, gradient: Array) -> Mask:
        """Return none: no column has one bound."""
        return np.zeros(coef.shape, dtype=bool)

    def prox(self, coef: Array, step: Array) -> Array:
        """Return soft(b_j, step_j linear_j) / (1 + step_j curvature_j)."""
        return soft(coef, (step * self.linear)[:, None]) / (1.0 + step * self.curvature())[:, None]


def checked(name: str, strength: float, charges: Array) -> None:
    """Refuse strengths and charges that mean nothing."""
    if not (np.isfinite(strength) and strength >= 0.0):
        raise InputError(f"the {name} strength is {strength}; it must be a finite number >= 0.")
    if not np.all(np.isfinite(charges)) or np.any(charges < 0.0):
        raise InputError(f"the charges of a {name} penalty must be finite numbers >= 0, one per column.")
