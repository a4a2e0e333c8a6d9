"""A penalty in one file: coefficients below zero cost twice as much as those above."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

import numpy as np

from lineal.ground.records import dataclass
from lineal.penalties.penalty import Array, Penalty, checked, letter


@dataclass(frozen=True)
class Tilted(Penalty):
    """``penalty(b) = strength sum_jk factor_j max(b_jk, -2 b_jk)``."""

    strength: float
    penalty_factors: Array = field(repr=False)
    name: ClassVar[str] = "tilted"
    label: ClassVar[str] = "tilted"
    smooth: ClassVar[bool] = False
    even: ClassVar[bool] = False

    def __post_init__(self):
        checked(self.label, self.strength, self.penalty_factors)

    def formula(self, strength, scale, outputs):
        b = letter(outputs)
        return f"{strength} * sum {scale}max({b}, -2 {b})"

    @property
    def rate(self):
        return self.penalty_factors

    @property
    def linear(self):
        return self.strength * self.penalty_factors

    @property
    def penalized(self):
        return self.linear > 0.0

    @property
    def _cost(self):
        return self.linear[:, None]

    def value(self, coef):
        return float(np.sum(self._cost * np.maximum(coef, -2.0 * coef)))

    def moving(self, coef):
        return (coef != 0.0) | ~self.penalized[:, None]

    def gradient(self, coef):
        return self._cost * np.select([coef > 0.0, coef < 0.0], [1.0, -2.0], 0.0)

    def curvature(self):
        return np.zeros(len(self.penalty_factors))

    def _excess(self, gradient):
        """Return how many costs a gradient is, on the side it pulls to: a dual point allows one."""
        cost = self._cost[self.penalized]
        return np.maximum(-gradient[self.penalized] / cost, gradient[self.penalized] / (2.0 * cost))

    def shrink(self, gradient):
        return 1.0 / float(np.max(self._excess(gradient), initial=1.0))

    def entry_strengths(self, gradient):
        pull = np.max(np.maximum(-gradient, 0.5 * gradient), axis=1)
        return np.where(self.rate > 0.0, pull / np.where(self.rate > 0.0, self.rate, 1.0), 0.0)

    def critical(self, gradient):
        return float(np.max(self.entry_strengths(gradient), initial=0.0))

    def prox(self, coef, step):
        cut = step[:, None] * self._cost
        return np.maximum(coef - cut, 0.0) + np.minimum(coef + 2.0 * cut, 0.0)

    def conjugate(self, slope):
        inside = (slope <= self._cost) & (slope >= -2.0 * self._cost)
        return 0.0 if inside.all() else float("inf")

    def mismatch(self, coef, gradient):
        seen = self.penalized
        if np.any(self._excess(gradient) > 1.0):
            return float("inf")
        room = np.where(coef > 0.0, self._cost + gradient, 2.0 * self._cost - gradient)
        return float(np.sum((np.abs(coef) * room)[seen]))

    def mismatch_error(self, coef, gradient, error):
        wrong = np.where(error > 0.0, gradient + np.copysign(error, gradient), 0.0)
        if np.any(self._excess(wrong) > 1.0):
            return float("inf")
        return float(np.sum((np.abs(coef) * error)[self.penalized]))

    def slack(self, coef, gradient):
        above, below = np.abs(self._cost + gradient), np.abs(2.0 * self._cost - gradient)
        zero = np.maximum(0.0, np.maximum(-gradient - self._cost, gradient - 2.0 * self._cost))
        return np.select([coef > 0.0, coef < 0.0], [above, below], zero)
