"""Normal densities with covariances: one for all classes makes a linear classifier, one for each a quadratic one.

``log p(k) - 1/2 log |C_k| - 1/2 (x - m_k)' C_k^-1 (x - m_k)``, up to what all classes share.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.generative.posterior import in_range
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

EPS = float(np.finfo(np.float64).eps)


def rank_cut(columns: int) -> float:
    """Return the share of the largest eigenvalue of a correlation matrix up to which rounding may have made one."""
    return 64.0 * EPS * columns


@dataclass(frozen=True)
class Whitening:
    """``T`` (p, rank) with ``T' C T = I``; directions without variance are left out. ``log_determinant`` is that of C."""

    matrix: Array
    log_determinant: float
    full: bool

    @property
    def rank(self) -> int:
        """How many directions have variance."""
        return int(self.matrix.shape[1])

    @staticmethod
    def of(covariance: Array, cut: float | None = None) -> Whitening:
        """Return the whitening of a covariance matrix, found in columns of variance 1: units do not matter.

        Directions whose variance is at most ``cut``, in these units, count as having none.

        >>> Whitening.of(np.diag([4.0, 0.0])).matrix.tolist()
        [[0.5], [0.0]]
        """
        sd = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        sd = np.where(sd > 0.0, sd, 1.0)
        values, vectors = np.linalg.eigh(covariance / sd / sd[:, None])
        order = np.argsort(values)[::-1]
        values, vectors = values[order], vectors[:, order]
        least = max(rank_cut(len(sd)) * max(float(values[0]), 0.0), 0.0 if cut is None else cut) if len(sd) else 0.0
        kept = values > least
        roots = np.sqrt(values[kept])
        signs = np.where(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(len(sd))] < 0.0, -1.0, 1.0)[kept]
        matrix = vectors[:, kept] * signs / roots / sd[:, None]
        return Whitening(matrix, float(2.0 * np.sum(np.log(sd)) + 2.0 * np.sum(np.log(roots))), bool(kept.all()))


@dataclass(frozen=True)
class Linear:
    """Scores ``(x - center)' coef_k + intercept_k`` of classes that share a covariance, (p, K) and (K,)."""

    center: Array
    coef: Array
    intercept: Array

    @staticmethod
    def of(offsets: Array, center: Array, transform: Array, prior: Array) -> Linear:
        """Return ``coef_k = T T' d_k``, ``intercept_k = log p(k) - 1/2 |T' d_k|^2``; ``offsets`` d are means less center."""
        inside = offsets @ transform
        with np.errstate(divide="ignore"):
            return Linear(center, transform @ inside.T, np.log(prior) - 0.5 * np.sum(inside**2, axis=1))

    def scores(self, x: Array) -> Array:
        """Return the score of every class."""
        return in_range(lambda x: (x - self.center) @ self.coef + self.intercept, x)


@dataclass(frozen=True)
class Quadratic:
    """Normal densities with a covariance each: ``mean + low`` (K, p), a whitening of every covariance."""

    mean: Array
    low: Array
    whitening: tuple[Whitening, ...]

    def log_density(self, x: Array) -> Array:
        """Return ``-1/2 (log |C_k| + |T_k' (x - m_k)|^2)``, without the factor of 2 pi that all share."""

        def scores(x: Any) -> Any:
            values = np.empty((len(x), len(self.mean)), dtype=x.dtype)
            for k, own in enumerate(self.whitening):
                units = ((x - self.mean[k]) - self.low[k]) @ own.matrix
                values[:, k] = -0.5 * (np.einsum("ij,ij->i", units, units) + own.log_determinant)
            return values

        return in_range(scores, x)


def between(offsets: Array, transform: Array, factor: Array, tol: float) -> tuple[Array, Array]:
    """Return the directions in which whitened means differ, and the squares of how much they do.

    ``factor`` (K,) weighs the means; directions with less than ``tol`` of the largest are left out.
    """
    _, sizes, axes = np.linalg.svd((offsets * factor[:, None]) @ transform, full_matrices=False)
    kept = sizes > tol * (sizes[0] if len(sizes) else 0.0)
    axes = axes.T[:, kept]
    signs = (
        np.where(axes[np.argmax(np.abs(axes), axis=0), np.arange(axes.shape[1])] < 0.0, -1.0, 1.0) if axes.size else 1.0
    )
    return transform @ (axes * signs), sizes**2
