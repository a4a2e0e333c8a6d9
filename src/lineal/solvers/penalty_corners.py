"""l1 and bounds as rows with a corner, for interior points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import dataclass
from lineal.problem.problem import Problem

CORNER_MAX_DISTANCE = 1e-3
"""Distance over the dual point's own, in units of the mean score, below which the path ends in the corner."""


@dataclass(frozen=True)
class PenaltyCorners:
    """``weight max(low r, high r)``, ``r = unit b_place - at``: one row for each corner.

    >>> from lineal.designs import as_design
    >>> from lineal.losses import Absolute
    >>> from lineal.penalties import L1
    >>> from lineal.sources.memory import Memory
    >>> rows = Memory(as_design([[3.0], [-3.0]], intercept=False), np.zeros((2, 1)))
    >>> problem = Problem.of(rows, Absolute(), L1(0.6, np.ones(1)))
    >>> PenaltyCorners.of(problem, 1.0, np.zeros(1)).weight.round(3)
    array([0.2])
    """

    places: Index
    unit: Array
    at: Array
    low: Array
    high: Array
    weight: Array

    @staticmethod
    def of(problem: Problem, slope: float, pull: Array) -> PenaltyCorners:
        """Lay out l1 and bounds; no gradient of the loss is above ``slope`` times the size of a column plus ``|pull|``.

        A corner of the penalty is a row like any other if its score is as large as the column's. No penalty factor above the
        largest gradient keeps a coefficient at zero any better, and a bound is a penalty factor as large as that.
        """
        penalty = problem.penalty
        columns = problem.shape[0]
        none, linear = np.zeros(columns), penalty.linear
        least, most = (none - np.inf, none + np.inf) if penalty.bounds is None else penalty.bounds
        square = problem.moments.mean**2 + problem.moments.sd**2
        unit = np.sqrt(np.where(square > 0.0, square, 1.0))
        steepest = 2.0 * (slope + np.abs(pull) / unit)
        weight = np.minimum(linear / unit, steepest)
        parts = [(np.flatnonzero(linear > 0.0), none, -1.0, 1.0, weight)]
        for bound, low, high in (
            (least, -1.0, 0.0),
            (most, 0.0, 1.0),
        ):
            at = np.where(np.isfinite(bound), bound, 0.0)
            force = steepest + 2.0 * (weight + penalty.curvature() * np.abs(at) / unit)
            parts.append((np.flatnonzero(np.isfinite(bound)), at * unit, low, high, force))
        return PenaltyCorners(
            places=np.concatenate([on for on, *_ in parts]),
            unit=np.concatenate([unit[on] for on, *_ in parts]),
            at=np.concatenate([at[on] for on, at, *_ in parts]),
            low=np.concatenate([np.full(len(on), low) for on, _, low, _, _ in parts]),
            high=np.concatenate([np.full(len(on), high) for on, _, _, high, _ in parts]),
            weight=np.concatenate([weight[on] for on, *_, weight in parts]),
        )

    @property
    def bounded(self) -> bool:
        """Whether any of the corners is a bound."""
        return bool(np.any((self.low == 0.0) | (self.high == 0.0)))

    def bounds_as_rows(self, weight: float) -> PenaltyCorners:
        """Return the same corners with those of bounds as light as a row, and as much steeper.

        The path keeps as far from a corner as its weight asks for. A bound that weighs as much as thousands of rows would
        hold coefficients in the middle of what it allows until the very end.
        """
        bound = (self.low == 0.0) | (self.high == 0.0)
        steep = np.where(bound, np.maximum(self.weight / weight, 1.0), 1.0)
        return replace(self, low=self.low * steep, high=self.high * steep, weight=self.weight / steep)

    def put(self, coef: Array, active: Mask) -> Array:
        """Return the coefficients with those whose corner is active exactly in it."""
        moved = coef.copy()
        for corner, output in zip(*np.nonzero(active), strict=True):
            moved[self.places[corner], output] = self.at[corner] / self.unit[corner]
        return moved
