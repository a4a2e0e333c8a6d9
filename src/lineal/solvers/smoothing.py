"""Corners rounded off: a loss made of corners is the limit of piecewise quadratic ones, which Newton's method walks down.

    max(low r, high r) = (high - low) |r| / 2 + (high + low) r / 2,    |r| ~ h_T(r) / T,

h_T Huber's loss with threshold T: a pass of Huber's loss for every corner of a row, and a linear term. As T falls, fewer and
fewer rows are within T of their corner; the minimum is then near that of the corners (Madsen and Nielsen 1993).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lineal.algebra.factor import Cholesky
from lineal.ground.records import dataclass
from lineal.losses import Huber
from lineal.problem.passes import Evaluate
from lineal.problem.problem import Problem
from lineal.solvers.solver import Array
from lineal.sources.memory import Blocks
from lineal.sources.source import Block, Source

FIRST = 0.5
"""Share of a sample's corners that are rounded off at first."""

SAMPLED = 0.15
"""Share at which a sample has said what it can."""

FALL = 4.0
"""From one threshold to the next it falls by this factor."""

STEPS = 3
"""Newton steps at most for each threshold: the next one asks for another minimum anyway."""


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
        width, linear = np.nan, np.zeros(problem.shape)
        for block in problem.source.blocks():
            present = np.ones(block.n_rows, dtype=bool) if block.weight is None else block.weight > 0.0
            if not present.any():
                continue
            lean = np.zeros(block.n_rows)
            for _, low, high in problem.loss.kinks(_targets(block)):
                wide, lean = (high - low)[:, 0], lean + 0.5 * (high + low)[:, 0]
                width = float(wide[0]) if np.isnan(width) else width
                if np.any(wide != width):
                    return None
            if lean.any():
                weight = lean if block.weight is None else np.where(present, block.weight * lean, 0.0)
                linear += block.design.transpose_times(np.ascontiguousarray(weight[:, None]))
        if not width > 0.0:
            return None
        count = len(problem.loss.kinks(np.zeros((1, 1))))
        corners = tuple(_cornered(problem, m) for m in range(count))
        return Rounded(problem, corners, width, linear / problem.moments.weight_sum)

    def distances(self, coef: Array) -> npt.NDArray[np.float64]:
        """Return the distances of the scores from all corners."""
        return np.concatenate([np.abs(_residuals(block, coef)) for source in self.corners for block in source.blocks()])

    def at(self, coef: Array, threshold: float) -> tuple[float, Array, Array]:
        """Return value, gradient and second derivative."""
        p, problem = len(coef), self.problem
        self.problem.passes += len(self.corners)
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
        for _ in range(STEPS):
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
                there = self.at(coef - step * shift, threshold)
                if there[0] <= value - 1e-4 * step * fall:
                    break
                step *= 0.5
            else:
                break
            coef, (value, slope, bend) = coef - step * shift, there
        return coef


def approach(problem: Problem, sample: Problem, start: Array, rows: int) -> tuple[Array, float] | None:
    """Return coefficients near the minimum and the last threshold: about ``rows`` corners are within it, ties aside.

    A sample comes first, then all rows. None where rounding leads nowhere.
    """
    small, whole = Rounded.of(sample), Rounded.of(problem)
    if small is None or whole is None:
        return None
    coef: Array | None = start
    for share in (FIRST, SAMPLED):
        assert coef is not None
        distances = small.distances(coef)
        # Many rows may be at one distance, all of those of a class or none: the threshold is beyond it.
        threshold = 1.1 * (float(np.quantile(distances, share)) or float(np.mean(distances)))
        coef = small.descend(coef, threshold) if threshold > 0.0 else None
        if coef is None:
            return None
    least = threshold * rows / (SAMPLED * problem.moments.rows)
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
        threshold = max(threshold / FALL, least)
    yield least


def _targets(block: Block) -> Array:
    """Return the targets; rows of weight zero are absent, whatever they hold."""
    return block.y if block.weight is None else np.where((block.weight > 0.0)[:, None], block.y, 0.0)


def _cornered(problem: Problem, m: int) -> Source:
    """Return the source whose targets are the corners numbered m."""

    def change(block: Block) -> Block:
        return replace(block, y=np.ascontiguousarray(problem.loss.kinks(_targets(block))[m].at))

    mapped = problem.source.map(change)
    return Blocks(list(mapped.blocks()), problem.source.columns) if problem.source.resident else mapped


def _residuals(block: Block, coef: Array) -> Array:
    eta = block.design.times(coef)
    eta = eta if block.offset is None else eta + block.offset
    return np.asarray((eta - block.y)[:, 0] if block.weight is None else (eta - block.y)[block.weight > 0.0, 0])
