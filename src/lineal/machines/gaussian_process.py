"""Gaussian processes: the posterior given a Gram matrix, and the likelihood of its hyperparameters with its gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.algebra import lapack
from lineal.errors import InputError
from lineal.ground.records import dataclass

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Posterior:
    """``K + diag(noise) = L L'`` and ``coef = (K + diag(noise))^-1 y``, from which all of the posterior follows."""

    lower: Array
    coef: Array

    @staticmethod
    def of(matrix: Array, noise: Array, y: Array, what: str) -> Posterior:
        """Factor the covariance of the targets; ``what`` names the kernel where that fails."""
        covariance = matrix.copy()
        covariance[np.diag_indices(len(covariance))] += noise
        lower, info = lapack.dpotrf(covariance, lower=1, clean=1)
        if info != 0:
            raise InputError(
                f"the covariance of the targets under {what} is not positive definite to rounding; raise alpha, the variance of "
                "the noise."
            )
        coef, _ = lapack.dpotrs(lower, y, lower=1)
        rest = y - matrix @ coef - noise[:, None] * coef
        more, _ = lapack.dpotrs(lower, rest, lower=1)
        better = coef + more
        after = y - matrix @ better - noise[:, None] * better
        return Posterior(lower, better if np.linalg.norm(after) < np.linalg.norm(rest) else coef)

    def halves(self, cross: Array) -> Array:
        """Return ``L^-1 k(X, x)`` for columns x: their squares are what the rows take off the prior variance."""
        return np.asarray(lapack.dtrtrs(self.lower, cross, lower=1)[0])

    def log_likelihood(self, y: Array) -> float:
        """Return the log density of the targets, added over their columns.

        ``-y'coef / 2 - sum log L_ii - (n / 2) log 2 pi``
        """
        n, targets = y.shape
        logs = float(np.sum(np.log(np.diagonal(self.lower))))
        return float(-0.5 * np.sum(y * self.coef) - targets * (logs + 0.5 * n * math.log(2.0 * math.pi)))

    def gradient(self, slopes: Array) -> Array:
        """Return the derivative of the log-likelihood by hyperparameters, of which ``slopes`` are those of K, (n, n, m).

        ``tr((coef coef' - (K + noise)^-1) dK) / 2``, added over the targets
        """
        inverse, _ = lapack.dpotri(self.lower, lower=1)
        whole = np.tril(inverse) + np.tril(inverse, -1).T
        inner = self.coef @ self.coef.T - self.coef.shape[1] * whole
        return np.asarray(0.5 * np.einsum("ij,ijk->k", inner, slopes))


def climb(
    value: Callable[[Array], tuple[float, Array]], start: Array, bounds: Array, **limits: float
) -> tuple[Array, float, Array]:
    """Maximise a function within bounds from a start, and return the place, the value and the gradient that bounds leave.

    ``limits`` are those of L-BFGS-B.
    """
    from scipy import optimize

    def down(theta: Array) -> tuple[float, Array]:
        likelihood, gradient = value(theta)
        return -likelihood, -gradient

    low, high = bounds.T
    search: Any = optimize.minimize
    result = search(down, np.clip(start, low, high), jac=True, method="L-BFGS-B", bounds=bounds, options=limits)
    likelihood, gradient = value(result.x)
    left = np.where((result.x <= low) & (gradient < 0.0), 0.0, gradient)
    return result.x, likelihood, np.where((result.x >= high) & (left > 0.0), 0.0, left)
