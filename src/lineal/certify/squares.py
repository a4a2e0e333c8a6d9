"""The certificate of the squared loss from residuals alone: many points of a path, one pass over the rows for all of them.

With r = eta - y - c, c any number where there is an intercept (near the mean of eta - y) and 0 otherwise, h the weighted
mean of r that is left, and 0 < a <= 1, theta = a (r - h) is a dual point that the intercept allows, with gradient
g = a (X' S r / S - h mean). It proves

    F(b) - F* <= (1/S) sum_i s_i (theta_i - r_i - c)^2 / 2 + penalty(b) + penalty*(-g) + b.g,

and by Minkowski the first term is at most ((1 - a) |r| + a |h| + |c| + |score errors|)^2 / 2, |r| the root of the mean square.
A penalized column whose coefficient is zero and whose gradient is within its penalty factor adds nothing to the rest: only the
columns in use, and those beyond their penalty factor, are looked at.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lineal import _core
from lineal.certify.baseline import baseline_fit
from lineal.certify.directions import Directions
from lineal.certify.proof import Proof
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import dataclass
from lineal.penalties.costs import CoordinateCosts
from lineal.penalties.penalty import Penalty
from lineal.problem.problem import EPS, Problem

SUM_ERROR = 256 * EPS
"""More than the relative error of a sum of squares, added in pairs, and of the few operations around it."""


@dataclass(frozen=True)
class Residuals:
    """What one pass shows of some points, a row or an entry for each: X'(s r)/S, |h|, means of r^2 and |r|, |c|, mean (r + c)^2.

    ``slopes`` are those of some penalized ``columns``, increasing; all others are within their penalty factor at every point.
    """

    columns: Index
    slopes: Array
    left: Array
    square: Array
    size: Array
    moved: Array
    loss: Array


class Prover:
    """Proofs of points of one problem: squared loss of one output, nothing unpenalized but the intercept."""

    def __init__(self, problem: Problem, family: Penalty) -> None:
        """Hold the problem and its penalty, which every point has at its own strength."""
        unit = family.at(1.0)
        self.problem, self.family, self.rate = problem, unit, unit.linear
        self.baseline = baseline_fit(problem).value
        self.mean = np.abs(problem.moments.mean)
        rows = problem.moments.rows
        self.chain = 16 + min(rows, 1000 + rows / 16384)

    def prove(self, strengths: Array, used: Index, coef: Array, residuals: Residuals) -> list[Proof]:
        """Bound ``F(b) - F*`` at every strength, ``b`` a row of ``coef`` on the columns ``used`` and zero elsewhere.

        The intercept, where there is one, is the first of the columns used, which the residuals show.
        """
        problem, moments, ones = self.problem, self.problem.moments, int(self.problem.intercept)
        root = np.sqrt(residuals.square) * (1.0 + SUM_ERROR)
        span = np.abs(coef) @ moments.largest[used] + moments.offset
        score_error = (problem.shape[0] + 4) * EPS * span + 4 * EPS * (root + residuals.moved)
        gradient_error = self.chain * EPS * residuals.size
        lean = (residuals.left + gradient_error) * ones
        columns = residuals.columns
        error = np.multiply.outer(gradient_error, moments.largest[columns])
        if ones:
            error += np.multiply.outer(lean, self.mean[columns])
        b = np.zeros((len(strengths), len(columns)))
        b[:, np.searchsorted(columns, used[ones:])] = coef[:, ones:]
        costs = self.costs(columns).at(strengths)
        slope, off = residuals.slopes, error
        scale = np.min(costs.shrink(slope + np.copysign(2.0 * off, slope)), axis=1, initial=1.0)
        slope, off = scale[:, None] * slope, scale[:, None] * off
        apart = (1.0 - scale) * root + scale * lean + residuals.moved + score_error
        mismatch, worse = costs.mismatch(b, slope).sum(axis=1), costs.mismatch_error(b, slope, off).sum(axis=1)
        gaps = (0.5 * apart**2 + mismatch) * (1.0 + SUM_ERROR) + worse
        values = 0.5 * residuals.loss + costs.value(b).sum(axis=1)
        units = (32.0 * score_error) ** 2 + 8.0 * (1024 * EPS) ** 2 * abs(self.baseline)
        return [
            Proof(float(value), self.baseline, float(gap), unit=float(unit))
            if np.isfinite(gap)
            else Proof(float(value), self.baseline, None, "rounding errors are too large for a proof")
            for value, gap, unit in zip(values, gaps, units, strict=True)
        ]

    def costs(self, columns: Index) -> CoordinateCosts:
        """Return what the coefficients of some columns cost at strength one."""
        costs = self.family.take(columns).costs(1)
        assert costs is not None
        return costs

    def suspects(self, strengths: Array, slopes: Array, ways: Directions, left: Array) -> Mask:
        """Return which columns may be beyond their penalty factor at any strength, from their products with some directions."""
        gradient_error = self.chain * EPS * ways.size
        lean = (left + gradient_error) * int(self.problem.intercept)
        # from 1e-10 of the penalty factor below it
        margins = np.vstack([2.0 * gradient_error, 2.0 * lean + ways.drift, ways.rest, (1e-10 - 1.0) * strengths])
        return _core.beyond(slopes, ways.turns, self.sizes, margins)

    @cached_property
    def sizes(self) -> Array:
        """Largest |x|, |mean|, a bound on the spread that a mean left out leaves, and the penalty factor of every column."""
        moments = self.problem.moments
        square = moments.sd**2 + self.chain * EPS * moments.largest**2
        square = square if self.problem.intercept else square + moments.mean**2
        return np.column_stack([moments.largest, self.mean, np.sqrt(square) * (1.0 + SUM_ERROR), self.rate])
