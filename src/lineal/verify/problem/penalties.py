"""Every penalty as linear, square and bounds of each column, and its part in a duality gap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lineal.verify.arithmetic import Array, Mask, total


@dataclass(frozen=True)
class Penalty:
    """``sum_jk linear_j |b_jk| + (square_j / 2) b_jk^2`` with ``lower_j <= b_jk <= upper_j``.

    With ``group`` the first part is ``sum_j linear_j |b_j|``, the Euclidean norm of a column's coefficients over outputs.
    """

    linear: Array
    square: Array
    lower: Array
    upper: Array
    group: bool = False

    @staticmethod
    def ridge(square: Array) -> Penalty:
        """Return squares alone: ridge, or nothing at all."""
        free = np.full(len(square), np.inf)
        return Penalty(np.zeros(len(square)), square, -free, free)

    @property
    def smooth(self) -> bool:
        """Whether there are squares only."""
        return not (np.any(self.linear > 0.0) or self.bounded.any())

    @property
    def bounded(self) -> Mask:
        """Columns with a bound on any side."""
        return np.isfinite(self.lower) | np.isfinite(self.upper)

    @property
    def seen(self) -> Mask:
        """Columns that are penalized or bounded."""
        return (self.linear > 0.0) | (self.square > 0.0) | self.bounded

    def within(self, coef: Array) -> bool:
        """Return whether every coefficient is between its bounds."""
        return bool(np.all((coef >= self.lower[:, None]) & (coef <= self.upper[:, None])))

    def terms(self, coef: Array) -> Array:
        """Return numbers >= 0 whose sum is the penalty of coefficients within their bounds."""
        size = np.linalg.norm(coef, axis=1, keepdims=True) if self.group else np.abs(coef)
        return np.concatenate([(self.linear[:, None] * size).ravel(), (0.5 * self.square[:, None] * coef**2).ravel()])

    def moving(self, coef: Array) -> Mask:
        """Return the coefficients that are inside their bounds and not at the kink at zero: a Newton step may move them."""
        zero = np.all(coef == 0.0, axis=1, keepdims=True) if self.group else coef == 0.0
        inside = (coef > self.lower[:, None]) & (coef < self.upper[:, None])
        return np.asarray(inside & ~((self.linear > 0.0)[:, None] & zero))

    def gradient(self, coef: Array) -> Array:
        """Return the derivative by the coefficients that move."""
        norm = np.linalg.norm(coef, axis=1, keepdims=True)
        unit = coef / np.where(norm > 0.0, norm, 1.0) if self.group else np.sign(coef)
        return np.asarray(self.square[:, None] * coef + self.linear[:, None] * unit)

    def inside(self, coef: Array, *, both: bool) -> Mask:
        """Return bounded coefficients that cost nothing and are off their bounds; without ``both`` only one-sided ones."""
        free = self.bounded & (self.linear == 0.0) & (self.square == 0.0)
        one = np.isinf(self.lower) | np.isinf(self.upper)
        return np.asarray(self.moving(coef) & (free if both else free & one)[:, None])

    def open(self, g: Array, e: Array) -> Mask:
        """Return coefficients that cost nothing and would run off to the side that has no bound, g known to e."""
        free = (self.linear == 0.0) & (self.square == 0.0) & self.bounded
        up, down = np.isinf(self.upper)[:, None] & (g - e < 0.0), np.isinf(self.lower)[:, None] & (g + e > 0.0)
        return np.asarray(free[:, None] & (up | down))

    def shrink(self, g: Array, e: Array, chosen: Mask) -> float:
        """Return a factor a <= 1 that brings a g into the ball in which the conjugate is finite, twice e as room."""
        if self.group:
            size = np.linalg.norm(np.where(chosen, np.abs(g) + 2.0 * e, 0.0), axis=1, keepdims=True)
        else:
            up = np.where(np.isinf(self.upper)[:, None], 2.0 * e - g, 0.0)
            down = np.where(np.isinf(self.lower)[:, None], 2.0 * e + g, 0.0)
            size = np.where(chosen, np.maximum(up, down), 0.0)
        over = (self.square == 0.0)[:, None] & (size > self.linear[:, None])
        ratio = np.where(over, self.linear[:, None] / np.where(over, size, 1.0), 1.0)
        return float(np.min(ratio, initial=1.0))

    def mismatch(self, coef: Array, g: Array, e: Array, chosen: Mask) -> float:
        """Return sum of penalty(b) + penalty*(-g) + b g over the chosen coefficients, at its largest for g up to e off.

        It is convex in g, so largest at an end; infinite outside the ball.
        """
        if self.group:
            return self._group(np.where(chosen, coef, 0.0), np.where(chosen, g, 0.0), np.where(chosen, e, 0.0))
        terms = np.maximum(self._terms(coef, g - e), self._terms(coef, g + e))
        return total(terms[chosen])

    def _terms(self, b: Array, g: Array) -> Array:
        """Return phi(b) - min phi, phi(z) = g z + linear |z| + (square / 2) z^2 within the bounds: each >= 0.

        With z the minimizer and s in the slopes of |.| at z, it is (square / 2)(b - z)^2
        + (square z + g + linear s)(b - z) + linear (|b| - s b), and the middle factor is zero where z is smooth.
        """
        linear, square = self.linear[:, None], self.square[:, None]
        lower, upper = self.lower[:, None], self.upper[:, None]
        pull = np.copysign(np.maximum(np.abs(g) - linear, 0.0), -g)
        far = np.where(pull == 0.0, 0.0, np.copysign(np.inf, pull))
        z = np.where(square > 0.0, pull / np.where(square > 0.0, square, 1.0), far)
        z = np.minimum(np.maximum(z, lower), upper)
        lost = np.isinf(z)
        z = np.where(lost, 0.0, z)
        s = np.where(z == 0.0, np.sign(b), np.sign(z))
        corner = (z == 0.0) | (z == lower) | (z == upper)
        slope = np.where(corner, square * z + g + linear * s, 0.0)
        terms = 0.5 * square * (b - z) ** 2 + np.maximum(slope * (b - z), 0.0) + linear * (np.abs(b) - s * b)
        return np.where(lost, np.inf, terms)

    def _group(self, b: Array, g: Array, e: Array) -> float:
        """Return sum_j linear_j |b_j| + g_j.b_j as (linear - |g|) |b| + ||b| g + |g| b|^2 / (2 |g| |b|), and |e| |b|."""
        size, pull, off = (np.linalg.norm(rows, axis=1) for rows in (b, g, e))
        if np.any(pull + off > self.linear):
            return float("inf")
        both = np.where(size * pull > 0.0, size * pull, 1.0)
        turn = np.sum((size[:, None] * g + pull[:, None] * b) ** 2, axis=1) / (2.0 * both)
        return total((self.linear - pull + off) * size + turn)


Costs = Callable[..., tuple[Array, Array]]
"""From the penalty factors of a file and the numbers beside them to the linear and the square part of a penalty."""


@dataclass(frozen=True)
class Kind:
    """A penalty of a model file: the numbers it has there, and what it costs."""

    fields: tuple[str, ...]
    costs: Costs
    group: bool = False


def _none(factors: Array) -> tuple[Array, Array]:
    return np.zeros(len(factors)), np.zeros(len(factors))


def _ridge(factors: Array, strength: float) -> tuple[Array, Array]:
    return np.zeros(len(factors)), strength * factors


def _l1(factors: Array, strength: float) -> tuple[Array, Array]:
    return strength * factors, np.zeros(len(factors))


def _elastic(factors: Array, strength: float, l1_ratio: float) -> tuple[Array, Array]:
    linear, square = strength * l1_ratio * factors, np.zeros(len(factors))
    return linear, strength * (1.0 - l1_ratio) * factors**2 if l1_ratio < 1.0 else square


KINDS: Mapping[str, Kind] = {
    "none": Kind((), _none),
    "ridge": Kind(("strength",), _ridge),
    "l1": Kind(("strength",), _l1),
    "elastic": Kind(("strength", "l1_ratio"), _elastic),
    "group": Kind(("strength",), _l1, group=True),
}
"""Every penalty that the checker knows; bounds may be put on those that look at one coefficient at a time."""
