"""Covariances of the classes, about means that are known to 32 digits: nothing cancels far from zero."""

from __future__ import annotations

from typing import Final

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import Added, dataclass
from lineal.sources.source import Block, Source

CHUNK_CELLS: Final = 2**20
"""Cells of centered rows that are held at a time."""


@dataclass(frozen=True)
class Scatter(Added):
    """``matrix`` (K, p, p) is ``sum s z z'`` of centered rows z, ``quartic`` (K,) is ``sum s |z / sd|^4``."""

    matrix: Array
    quartic: Array


@dataclass(frozen=True)
class SumScatter:
    """The task that makes Scatter, about ``mean + low`` (K, p), in units of ``sd`` (K, p) where powers of four are summed.

    With one mean, all rows are of one class.
    """

    mean: Array
    low: Array
    sd: Array

    def __call__(self, block: Block) -> Scatter:
        """Add up one block."""
        classes, p = self.mean.shape
        codes = block.y[:, 0].astype(np.intp) if classes > 1 else np.zeros(block.n_rows, np.intp)
        weight = block.weights
        matrix, quartic = np.zeros((classes, p, p)), np.zeros(classes)
        height = max(64, CHUNK_CELLS // max(1, p))
        for first in range(0, block.n_rows, height):
            chunk = slice(first, min(first + height, block.n_rows))
            cells = block.design.dense_rows(chunk)
            for k in np.unique(codes[chunk][weight[chunk] > 0.0]):
                own = np.flatnonzero((codes[chunk] == k) & (weight[chunk] > 0.0))
                rows = (cells[own].astype(np.float64, copy=False) - self.mean[k]) - self.low[k]
                heavy = weight[chunk][own]
                matrix[k] += rows.T @ (rows * heavy[:, None])
                quartic[k] += heavy @ np.sum((rows / self.sd[k]) ** 2, axis=1) ** 2
        return Scatter(matrix, quartic)


def scatter(source: Source, mean: Array, low: Array, variance: Array) -> Scatter:
    """Return the scatter of every class, or of all rows about one mean."""
    sd = np.sqrt(variance)
    return source.sum(SumScatter(mean, low, np.where(sd > 0.0, sd, 1.0)))


def covariances(scatter: Scatter, weight: Array, shrinkage: float | str | None) -> Array:
    """Return the covariance matrix of every class, of maximum likelihood, shrunk as asked.

    ``shrinkage`` r gives ``(1 - r) C + r (tr C / p) I``; "auto" is that of Ledoit and Wolf (2004) on columns of variance 1.
    """
    matrix = scatter.matrix / np.where(weight > 0.0, weight, 1.0)[:, None, None]
    if shrinkage is None:
        return np.asarray(matrix)
    if not isinstance(shrinkage, str):
        return np.array([shrunk(one, shrinkage) for one in matrix])
    return np.array([_ledoit_wolf(*parts) for parts in zip(matrix, scatter.quartic, weight, strict=True)])


def shrunk(covariance: Array, share: float) -> Array:
    """Return a covariance matrix of which a share is replaced by a multiple of the identity of the same trace.

    >>> shrunk(np.array([[3.0, 1.0], [1.0, 1.0]]), 0.5)
    array([[2.5, 0.5],
           [0.5, 1.5]])
    """
    level = float(np.trace(covariance)) / len(covariance)
    return np.asarray((1.0 - share) * covariance + share * level * np.eye(len(covariance)))


def _ledoit_wolf(covariance: Array, quartic: float, weight: float) -> Array:
    """Shrink the correlations by ``min(1, beta / delta)``: their uncertainty over their distance from a multiple of I."""
    p = len(covariance)
    sd = np.sqrt(np.diag(covariance))
    sd = np.where(sd > 0.0, sd, 1.0)
    correlation = covariance / sd / sd[:, None]
    squares = float(np.sum(correlation**2))
    level = float(np.trace(correlation)) / p
    beta = (quartic / weight - squares) / (p * weight) if weight > 0.0 else 0.0
    delta = (squares - p * level**2) / p
    share = 0.0 if p == 1 or min(beta, delta) <= 0.0 else min(beta, delta) / delta
    return np.asarray(shrunk(correlation, share) * sd * sd[:, None])
