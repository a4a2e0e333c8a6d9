"""Rows as observations: what each of them was, what the fit says of it, and how they disagree, in small pieces."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final

import numpy as np

from lineal.ground.arrays import Array, Index
from lineal.ground.records import Added, dataclass
from lineal.inference.triangle import Triangle
from lineal.losses.loss import Loss
from lineal.sources.rowwise import Scored
from lineal.sources.source import Block

PIECE_CELLS: Final = 2**20
"""Cells that are multiplied out at a time: 8 MB."""


@dataclass(frozen=True)
class Observations:
    """Some rows: their cells, targets and scores; ``count`` times the same one, the mean of ``trials``.

    Rows of weight zero count zero times. The score of a row is a number: fits with several are not looked at here.
    """

    loss: Loss
    cells: Array
    y: Array
    eta: Array
    count: Array
    trials: Array
    start: int

    @cached_property
    def mean(self) -> Array:
        """What the fit expects."""
        return self.loss.mean(self.eta[:, None])[:, 0]

    @cached_property
    def information(self) -> Array:
        """The expected curvature of a row's loss: of one observation."""
        return self.trials * self.loss.information(self.y[:, None], self.eta[:, None])[:, 0]

    @cached_property
    def pull(self) -> Array:
        """Minus the slope of a row's loss by its score: of one observation."""
        return -self.trials * self.loss.slope(self.y[:, None], self.eta[:, None])[:, 0]

    @cached_property
    def pearson(self) -> Array:
        """``(y - mean) / sqrt(V)``, V the variance of a target with this mean, but for the dispersion."""
        root = np.sqrt(self.information)
        return np.divide(self.pull, root, out=np.zeros_like(root), where=root > 0.0)

    @cached_property
    def deviance(self) -> Array:
        """``sign(y - mean) sqrt(2 (loss - least loss that any score would have))``."""
        y, eta = self.y[:, None], self.eta[:, None]
        excess = self.loss.mismatch(y, eta, np.zeros_like(eta))
        return np.asarray(np.sign(self.pull) * np.sqrt(np.maximum(2.0 * self.trials * excess, 0.0)))


@dataclass(frozen=True)
class Observing:
    """From a block to its observations. ``paired`` says that two rows, successes and failures, are one observation."""

    loss: Loss
    coef: Array
    paired: bool = False

    def pieces(self, block: Block) -> Iterator[Observations]:
        """Yield the observations of a block, few enough at a time to be multiplied out."""
        y, eta, weight = Scored(self.coef)(block)
        y, eta, step = y[:, 0], eta[:, 0], 2 if self.paired else 1
        size = step * max(1, PIECE_CELLS // max(block.design.shape[1], 1))
        for start in range(0, block.n_rows, size):
            at = slice(start, min(start + size, block.n_rows))
            cells = block.design.slice(at.start, at.stop).dense()
            first = (block.start + start) // step
            if self.paired:
                yield self._pairs(cells[::2], y[at], eta[at], weight[at], first)
                continue
            ones = np.ones(len(cells))
            yield Observations(self.loss, cells, y[at], eta[at], weight[at], ones, first)

    def _pairs(self, cells: Array, y: Array, eta: Array, weight: Array, start: int) -> Observations:
        """Return counts as shares of trials."""
        trials = weight[::2] + weight[1::2]
        eta = np.where(weight[::2] > 0.0, eta[::2], eta[1::2])  # (rows of weight zero have no score here)
        share = (weight * y).reshape(-1, 2).sum(axis=1) / np.where(trials > 0.0, trials, 1.0)
        return Observations(self.loss, cells, share, eta, (trials > 0.0).astype(np.float64), trials, start)


@dataclass(frozen=True)
class Curved:
    """The task that makes the triangle of the columns, rows weighted by their information."""

    observing: Observing

    def __call__(self, block: Block) -> Triangle:
        """Make that of one block."""
        total = Triangle(np.zeros((0, block.design.shape[1])))
        for rows in self.observing.pieces(block):
            total = total + Triangle.of(np.sqrt(rows.count * rows.information)[:, None] * rows.cells)
        return total


@dataclass(frozen=True)
class Sums(Added):
    """Sums over observations: of ones, squared Pearson and deviance residuals, and those that tell overdispersion.

    With ``z = ((y - mean)^2 - y) / mean``: of ``z``, ``z^2``, ``z mean`` and ``mean^2``.
    """

    observations: float
    pearson: float
    deviance: float
    dispersion: Array


@dataclass(frozen=True)
class Summing:
    """The task that sums over observations; ``counts`` says that targets are counts."""

    observing: Observing
    counts: bool

    def __call__(self, block: Block) -> Sums:
        """Sum over one block."""
        total = Sums(0.0, 0.0, 0.0, np.zeros(4))
        for rows in self.observing.pieces(block):
            n, extra = rows.count, np.zeros(4)
            if self.counts:
                mean = np.where(n > 0.0, rows.mean, 1.0)
                z = ((rows.y - mean) ** 2 - rows.y) / mean
                extra = np.array([n @ z, n @ z**2, n @ (z * mean), n @ mean**2])
            total = total + Sums(float(n.sum()), float(n @ rows.pearson**2), float(n @ rows.deviance**2), extra)
        return total


@dataclass(frozen=True)
class Squares:
    """The task that makes the triangle of ones, standardized columns, products of some pairs, and squared residuals.

    It holds the regressions that ask whether the spread of residuals depends on the columns: ``live`` are those that are
    not constant, ``left`` and ``right`` the pairs among them.
    """

    observing: Observing
    mean: Array
    sd: Array
    live: Index
    left: Index
    right: Index

    def __call__(self, block: Block) -> Triangle:
        """Make that of one block."""
        total = Triangle(np.zeros((0, 2 + len(self.live) + len(self.left))))
        for rows in self.observing.pieces(block):
            z = (rows.cells[:, self.live] - self.mean[self.live]) / self.sd[self.live]
            whole = np.column_stack([np.ones(len(z)), z, z[:, self.left] * z[:, self.right], rows.pull**2])
            present = rows.count > 0.0
            total = total + Triangle.of(np.sqrt(rows.count[present])[:, None] * whole[present])
        return total
