"""The cost of one coefficient, the form in which coordinate sweeps and certificates take penalties.

    cost(b) = linear |b| + (square / 2) b^2   where least <= b <= most, else infinity

Every formula follows from one: the best answer ``b*(s) = argmax_b s b - cost(b)`` to a slope ``s`` is
``soft(s, linear) / square``, cut to the bounds; it is infinite where nothing stops it.
"""

from __future__ import annotations

import numpy as np

from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import dataclass


def soft(values: Array, rate: Array) -> Array:
    """Return the values moved towards zero by ``rate``, at most to zero.

    >>> soft(np.array([3.0, -0.5]), np.array([1.0, 1.0]))
    array([ 2., -0.])
    """
    return np.copysign(np.maximum(np.abs(values) - rate, 0.0), values)


@dataclass(frozen=True)
class CoordinateCosts:
    """Four numbers per column, or in any other shape that broadcasts to that of the coefficients.

    >>> costs = CoordinateCosts(np.array([1.0]), np.array([2.0]), np.array([-np.inf]), np.array([0.5]))
    >>> costs.best(np.array([-5.0, 0.5, 5.0]))
    array([-2. ,  0. ,  0.5])
    """

    linear: Array
    square: Array
    least: Array
    most: Array

    def columns(self, chosen: Index | Mask | slice = slice(None)) -> CoordinateCosts:
        """Return the costs of some columns for coefficients of shape ``(columns, outputs)``."""
        parts = (self.linear, self.square, self.least, self.most)
        return CoordinateCosts(*(part[chosen, None] for part in parts))

    def output_major(self, outputs: int) -> CoordinateCosts:
        """Return the costs for coefficients of shape ``(outputs, columns)``, every output contiguous."""
        parts = (self.linear, self.square, self.least, self.most)
        return CoordinateCosts(*(part[None] if outputs == 1 else np.tile(part, (outputs, 1)) for part in parts))

    def at(self, strengths: Array) -> CoordinateCosts:
        """Return the costs of a penalty of strength one at many strengths, a row for each; bounds stay."""
        rows = strengths[:, None]
        return CoordinateCosts(rows * self.linear, rows * self.square, self.least, self.most)

    def inside(self, b: Array) -> bool:
        """Whether all coefficients are within their bounds."""
        return bool(np.all((b >= self.least) & (b <= self.most)))

    def resting(self, b: Array) -> Mask:
        """Return which coefficients are at a kink or a bound, where no derivative says what to do."""
        kink = (b == 0.0) & (self.linear > 0.0)
        return np.asarray(kink | (b <= self.least) | (b >= self.most))

    def value(self, b: Array) -> Array:
        """Return linear |b| + (square / 2) b^2 of coefficients within their bounds."""
        return np.asarray(self.linear * np.abs(b) + 0.5 * self.square * b**2)

    def best(self, slope: Array) -> Array:
        """Return b*(slope), where a slope of zero is answered by the allowed coefficient nearest to zero."""
        pull = soft(slope, self.linear)
        far = np.where(pull == 0.0, 0.0, np.copysign(np.inf, pull))
        bent = pull / np.where(self.square > 0.0, self.square, 1.0)
        return np.clip(np.where(self.square > 0.0, bent, far), self.least, self.most)

    def shrink(self, gradient: Array) -> Array:
        """Return the largest a <= 1 with a |gradient| <= linear where only that keeps b* finite."""
        size = np.where(np.isinf(self.best(-gradient)), np.abs(gradient), 0.0)
        share = np.where(size > 0.0, self.linear / np.where(size > 0.0, size, 1.0), 1.0)
        return np.asarray(np.minimum(share, 1.0))

    def mismatch(self, b: Array, gradient: Array) -> Array:
        """Return phi(b) - phi(b*) >= 0, phi(z) = gradient z + cost(z), b* its minimizer; infinity where b* is infinite.

        With z the sign of b*, phi(b) - phi(b*) = (square / 2) (b - b*)^2 + (square b* + gradient + z linear)(b - b*)
        + linear (|b| - z b): no term is negative. The middle one vanishes where b* is not cut.
        """
        best = self.best(-gradient)
        finite = np.isfinite(best)
        sign = np.where(best == 0.0, np.sign(b), np.sign(best))
        cut = (best == self.least) | (best == self.most) | (best == 0.0)
        best = np.where(finite, best, 0.0)
        slope = np.where(cut, self.square * best + gradient + sign * self.linear, 0.0)
        terms = 0.5 * self.square * (b - best) ** 2 + np.maximum(slope * (b - best), 0.0)
        return np.where(finite, terms + self.linear * (np.abs(b) - sign * b), np.inf)

    def mismatch_error(self, b: Array, gradient: Array, error: Array) -> Array:
        """Return error max |b - b*(s)| over s = -gradient +- error: phi is convex in the gradient, with slope b - b*."""
        far = np.maximum(np.abs(b - self.best(-gradient - error)), np.abs(b - self.best(-gradient + error)))
        return np.asarray(error * np.where(error > 0.0, far, 0.0))
