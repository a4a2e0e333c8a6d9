"""Corners rounded off: a loss made of corners is the limit of piecewise quadratic ones, which Newton's method walks down.

    max(low r, high r) = (high - low) |r| / 2 + (high + low) r / 2,    |r| ~ h_T(r) / T,

h_T Huber's loss with threshold T: a pass of Huber's loss for every corner of a row, and a linear term. As T falls, fewer and
fewer rows are within T of their corner; the minimum is then near that of the corners (Madsen and Nielsen 1993).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lineal.algebra.cholesky import Cholesky
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses import Huber
from lineal.losses.loss import Loss
from lineal.problem.passes import Evaluate
from lineal.problem.problem import Problem
from lineal.sources.source import Block, Source

SAMPLE_SHARES = (0.5, 0.15)
"""Shares of a sample's corners within the thresholds it is solved for; with fewer, its sampling error dominates."""


@dataclass(frozen=True)
class Rounded:
    """A problem of one score a row with its corners rounded off; ``linear`` is the slope of all that is not a corner."""

    problem: Problem
    corners: tuple[Source, ...]
    width: float
    linear: Array

    @staticmethod
    def of(problem: Problem) -> Rounded | None:
        """Return the problem rounded off; None where its penalty has kinks, or its corners are not all alike."""
        if problem.loss.coupled or not problem.penalty.smooth:
            return None
        lean = problem.source.sum(Lean(problem.loss))
        if not 0.0 < lean.least == lean.most:
            return None
        count = len(problem.loss.kinks(np.zeros((1, 1))))
        corners = tuple(problem.source.map(AtCorner(problem.loss, m), keep=True) for m in range(count))
        return Rounded(problem, corners, lean.least, lean.linear / problem.moments.weight_sum)

    def distances(self, coef: Array) -> Array:
        """Return the distances of the scores from all corners."""
        return np.concatenate([part for source in self.corners for part in source.collect(Distances(coef))])

    def at(self, coef: Array, threshold: float) -> tuple[float, Array, Array]:
        """Return value, gradient and second derivative."""
        p, problem = len(coef), self.problem
        scale = 0.5 * self.width / (threshold * problem.moments.weight_sum)
        value = float(np.sum(self.linear * coef)) + problem.penalty.value(coef)
        slope, bend = self.linear + problem.penalty.gradient(coef), np.diag(problem.penalty.curvature())
        for source in self.corners:
            sums = source.sum(Evaluate(Huber(threshold), coef, p))
            assert sums.hessian is not None
            value += scale * (sums.high + sums.low)
            slope, bend = slope + scale * sums.gradient, bend + scale * sums.hessian[0]
        return value, slope, bend

    def descend(self, coef: Array, threshold: float) -> Array | None:
        """Return coefficients a few Newton steps down; None where too few rows are within the threshold for one."""
        value, slope, bend = self.at(coef, threshold)
        for _ in range(3):  # the next threshold has another minimum anyway
            factor = Cholesky.of(bend)
            if factor.singular or not np.isfinite(value):
                return None
            shift = factor.solve(slope)
            fall = float(np.sum(shift * slope))
            # what rounding off itself may be wrong by
            if fall <= 1e-3 * self.width * threshold * len(coef) / self.problem.moments.rows:
                break
            step = 1.0
            for _ in range(20):
                trial = self.at(coef - step * shift, threshold)
                if trial[0] <= value - 1e-4 * step * fall:
                    break
                step *= 0.5
            else:
                break
            coef, (value, slope, bend) = coef - step * shift, trial
        return coef


def approach(problem: Problem, sample: Problem, start: Array, rows: int) -> tuple[Array, float] | None:
    """Return coefficients near the minimum and the last threshold: about ``rows`` corners are within it, ties aside.

    A sample comes first, then all rows. None where rounding leads nowhere.
    """
    small, whole = Rounded.of(sample), Rounded.of(problem)
    if small is None or whole is None:
        return None
    coef: Array | None = start
    for share in SAMPLE_SHARES:
        assert coef is not None
        distances = small.distances(coef)
        # Many rows may be at one distance, all of those of a class or none: the threshold is beyond it.
        threshold = 1.1 * (float(np.quantile(distances, share)) or float(np.mean(distances)))
        coef = small.descend(coef, threshold) if threshold > 0.0 else None
        if coef is None:
            return None
    least = threshold * rows / (SAMPLE_SHARES[-1] * problem.moments.rows)
    for level in _levels(threshold, least):
        assert coef is not None
        better = whole.descend(coef, level)
        if better is None:
            break
        coef, threshold = better, level
    assert coef is not None
    return coef, threshold


def _levels(threshold: float, least: float) -> Iterator[float]:
    while threshold > least:
        yield threshold
        threshold = max(threshold / 4.0, least)
    yield least


def _targets(block: Block) -> Array:
    """Return the targets; rows of weight zero are absent, whatever they hold."""
    return block.y if block.weight is None else np.where((block.weight > 0.0)[:, None], block.y, 0.0)


@dataclass(frozen=True)
class AtCorner:
    """The change of a block whose targets become its corners numbered ``m``."""

    loss: Loss
    m: int

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        return replace(block, y=np.ascontiguousarray(self.loss.kinks(_targets(block))[self.m].at))


@dataclass(frozen=True)
class Leaning:
    """Least and largest jump of a slope at a corner, and the summed slope half way up all of them."""

    least: float
    most: float
    linear: Array

    def __add__(self, other: Leaning) -> Leaning:
        return Leaning(min(self.least, other.least), max(self.most, other.most), self.linear + other.linear)


@dataclass(frozen=True)
class Lean:
    """The task that sums the slopes half way up every corner, ``X' s (low + high) / 2``, and compares the corners' jumps."""

    loss: Loss

    def __call__(self, block: Block) -> Leaning:
        """Sum over one block."""
        present = block.weights > 0.0
        least, most, lean = np.inf, -np.inf, np.zeros(block.n_rows)
        for _, low, high in self.loss.kinks(_targets(block)) if present.any() else ():
            jump, lean = (high - low)[:, 0], lean + 0.5 * (high + low)[:, 0]
            least, most = min(least, float(np.min(jump))), max(most, float(np.max(jump)))
        if not lean.any():
            return Leaning(least, most, np.zeros((block.design.shape[1], 1)))
        weight = lean if block.weight is None else np.where(present, block.weight * lean, 0.0)
        return Leaning(least, most, block.design.transpose_times(np.ascontiguousarray(weight[:, None])))


@dataclass(frozen=True)
class Distances:
    """How far the scores of a block's rows of positive weight are from its targets."""

    coef: Array

    def __call__(self, block: Block) -> Array:
        """Return one number for each of those rows."""
        apart = np.abs((block.scores(self.coef) - block.y)[:, 0])
        return apart if block.weight is None else apart[block.weight > 0.0]
