"""The certificate of the squared loss from residuals alone: many points of a path, one pass over the rows for all of them.

With r = eta - y - c, c any number where there is an intercept (near the mean of eta - y) and 0 otherwise, h the weighted
mean of r that is left, and 0 < a <= 1, theta = a (r - h) is a dual point that the intercept allows, with gradient
g = a (X' S r / S - h mean). It proves

    F(b) - F* <= (1/S) sum_i s_i (theta_i - r_i - c)^2 / 2 + penalty(b) + penalty*(-g) + b.g,

and by Minkowski the first term is at most ((1 - a) |r| + a |h| + |c| + |score errors|)^2 / 2, |r| the root of the mean square.
A charged column whose coefficient is zero and whose gradient is within its charge adds nothing to the rest: only the
columns in use, and those beyond their charge, are looked at.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.certify.baseline import null
from lineal.certify.directions import Directions
from lineal.certify.proof import Proof
from lineal.ground.records import dataclass
from lineal.penalties import Separable
from lineal.penalties.penalty import Penalty
from lineal.penalties.separable import soft
from lineal.problem.problem import EPS, Problem

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

SUMS = 256 * EPS
"""More than the relative error of a sum of squares, added in pairs, and of the few operations around it."""

SLIGHT = 1e-10
"""Columns are suspected of being beyond their charge from this share below it."""


@dataclass(frozen=True)
class Residuals:
    """What one pass shows of some points, a row or an entry for each: X'(s r)/S, |h|, means of r^2 and |r|, |c|, mean (r + c)^2.

    ``slopes`` are those of some charged ``columns``, increasing; all others are within their charge at every point.
    """

    columns: Index
    slopes: Array
    left: Array
    square: Array
    size: Array
    moved: Array
    loss: Array


class Prover:
    """Proofs of points of one problem: squared loss of one output, nothing uncharged but the intercept."""

    def __init__(self, problem: Problem, family: Separable) -> None:
        """Hold the problem and its penalty, which every point has at its own strength."""
        unit = family.at(1.0)
        assert isinstance(unit, Separable)
        self.problem, self.family, self.rate = problem, unit, unit.linear
        self.baseline = null(problem).value
        self.mean = np.abs(problem.moments.mean)
        rows = problem.moments.rows
        self.chain = 16 + min(rows, 1000 + rows / 16384)

    def prove(self, strengths: Array, used: Index, coef: Array, residuals: Residuals) -> list[Proof]:
        """Bound ``F(b) - F*`` at every strength, ``b`` a row of ``coef`` on the columns ``used`` and zero elsewhere.

        The intercept, where there is one, is the first of the columns used, which the residuals show.
        """
        problem, moments, ones = self.problem, self.problem.moments, int(self.problem.intercept)
        root = np.sqrt(residuals.square) * (1.0 + SUMS)
        span = np.abs(coef) @ moments.largest[used] + moments.offset
        blur = (problem.shape[0] + 4) * EPS * span + 4 * EPS * (root + residuals.moved)
        grain = self.chain * EPS * residuals.size
        lean = (residuals.left + grain) * ones
        columns = residuals.columns
        error = np.multiply.outer(grain, moments.largest[columns])
        if ones:
            error += np.multiply.outer(lean, self.mean[columns])
        b = np.zeros((len(strengths), len(columns)))
        b[:, np.searchsorted(columns, used[ones:])] = coef[:, ones:]
        charges = _Charges.of(self.family.take(columns), strengths)
        slope, off = residuals.slopes, error
        scale = charges.shrink(slope + np.copysign(2.0 * off, slope))
        slope, off = scale[:, None] * slope, scale[:, None] * off
        apart = (1.0 - scale) * root + scale * lean + residuals.moved + blur
        gaps = (0.5 * apart**2 + charges.mismatch(b, slope)) * (1.0 + SUMS) + charges.blur(b, slope, off)
        values = 0.5 * residuals.loss + charges.value(b)
        units = (32.0 * blur) ** 2 + 8.0 * (1024 * EPS) ** 2 * abs(self.baseline)
        return [
            Proof(float(value), self.baseline, float(gap), unit=float(unit))
            if np.isfinite(gap)
            else Proof(float(value), self.baseline, None, "rounding errors are too large for a proof")
            for value, gap, unit in zip(values, gaps, units, strict=True)
        ]

    def suspects(self, strengths: Array, slopes: Array, ways: Directions, left: Array) -> npt.NDArray[np.bool_]:
        """Return which columns may be beyond their charge at any strength, from their products with some directions."""
        grain = self.chain * EPS * ways.size
        lean = (left + grain) * int(self.problem.intercept)
        margins = np.vstack([2.0 * grain, 2.0 * lean + ways.drift, ways.rest, (SLIGHT - 1.0) * strengths])
        return _core.beyond(slopes, ways.turns, self.sizes, margins)

    @cached_property
    def sizes(self) -> Array:
        """Largest |x|, |mean|, a bound on the spread that a mean left out leaves, and the charge of every column."""
        moments = self.problem.moments
        square = moments.sd**2 + self.chain * EPS * moments.largest**2
        square = square if self.problem.intercept else square + moments.mean**2
        return np.column_stack([moments.largest, self.mean, np.sqrt(square) * (1.0 + SUMS), self.rate])


@dataclass(frozen=True)
class _Charges:
    """A separable penalty at many strengths, a row each: the formulas of ``Separable``, summed point by point."""

    linear: Array
    curvature: Array
    least: Array
    most: Array

    @staticmethod
    def of(family: Penalty, strengths: Array) -> _Charges:
        """Return the charges of a penalty given at strength one."""
        assert isinstance(family, Separable)
        rows = strengths[:, None]
        return _Charges(rows * family.linear, rows * family.curvature(), family.least, family.most)

    def value(self, b: Array) -> Array:
        """Return sum_j linear_j |b_j| + (curvature_j / 2) b_j^2 (b is within its bounds)."""
        return np.asarray(np.sum(self.linear * np.abs(b) + 0.5 * self.curvature * b**2, axis=1))

    def _best(self, slope: Array) -> Array:
        """Return the coefficient that a slope makes best, infinite where nothing stops it."""
        pull = soft(slope, self.linear)
        far = np.where(pull == 0.0, 0.0, np.copysign(np.inf, pull))
        bent = pull / np.where(self.curvature > 0.0, self.curvature, 1.0)
        return np.clip(np.where(self.curvature > 0.0, bent, far), self.least, self.most)

    def shrink(self, gradient: Array) -> Array:
        """Return the largest a <= 1 with a |gradient_j| <= linear_j where only that keeps the best coefficient finite."""
        size = np.where(np.isinf(self._best(-gradient)), np.abs(gradient), 0.0)
        share = np.where(size > 0.0, self.linear / np.where(size > 0.0, size, 1.0), 1.0)
        return np.asarray(np.min(share, axis=1, initial=1.0))

    def mismatch(self, b: Array, gradient: Array) -> Array:
        """Return penalty(b) + penalty*(-gradient) + b.gradient as a sum of terms >= 0."""
        best = self._best(-gradient)
        sign = np.where(best == 0.0, np.sign(b), np.sign(best))
        cut = (best == self.least) | (best == self.most) | (best == 0.0)
        finite = np.where(np.isfinite(best), best, 0.0)
        slope = np.where(cut, self.curvature * finite + gradient + sign * self.linear, 0.0)
        terms = 0.5 * self.curvature * (b - finite) ** 2 + np.maximum(slope * (b - finite), 0.0)
        terms = np.where(np.isfinite(best), terms + self.linear * (np.abs(b) - sign * b), np.inf)
        return np.asarray(np.sum(terms, axis=1))

    def blur(self, b: Array, gradient: Array, error: Array) -> Array:
        """Return by how much the mismatch may grow where every gradient is off by up to ``error``."""
        far = np.maximum(np.abs(b - self._best(-gradient - error)), np.abs(b - self._best(-gradient + error)))
        return np.asarray(np.sum(np.where(error > 0.0, error * far, 0.0), axis=1))
