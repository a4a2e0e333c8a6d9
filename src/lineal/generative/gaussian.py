"""Normal densities of the classes with a variance for every column: ``p(x | k) = prod_j N(x_j; mean_kj, variance_kj)``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.generative.posterior import in_range
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Gaussians:
    """``mean + low`` and ``variance`` (K, p); a column of variance zero in every class is left out of the product.

    >>> Gaussians(np.array([[0.0], [1e9]]), np.array([[1.0], [1.0]])).log_density(np.array([[1e9 + 2.0]])).round(4)
    array([[-5.00000002e+17, -2.91890000e+00]])
    """

    mean: Array
    variance: Array
    low: Array | None = None

    @property
    def used(self) -> npt.NDArray[np.bool_]:
        """Which columns the product is over."""
        return np.asarray(np.any(self.variance > 0.0, axis=0))

    def log_density(self, x: Array, absent: Mask | None = None) -> Array:
        """Return ``-1/2 sum_j [log (2 pi variance_kj) + (x_j - mean_kj)^2 / variance_kj]``, shape (n, K).

        Cells that are ``absent`` (n, p) are left out of the sum.
        """
        used = self.used
        x = x if used.all() else x[:, used]
        low = np.zeros_like(self.mean) if self.low is None else self.low
        mean, low, sd = self.mean[:, used], low[:, used], np.sqrt(self.variance[:, used])
        level = -np.sum(np.log(sd), axis=1) - 0.5 * math.log(2.0 * math.pi) * sd.shape[1]

        def scores(x: Any) -> Any:
            values = np.empty((len(x), len(mean)), dtype=x.dtype)
            for k in range(len(mean)):
                units = ((x - mean[k]) - low[k]) / sd[k]
                values[:, k] = level[k] - 0.5 * np.einsum("ij,ij->i", units, units)
            return values

        density = in_range(scores, x if absent is None else np.where(gone := absent[:, used], mean[0], x))
        if absent is None:
            return density
        for k in range(len(mean)):  # what the cells in the place of absent ones have put in
            units = ((mean[0] - mean[k]) - low[k]) / sd[k]
            density[:, k] -= gone @ (-np.log(sd[k]) - 0.5 * math.log(2.0 * math.pi) - 0.5 * units**2)
        return density
