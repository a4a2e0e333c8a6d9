"""Squared loss: |eta - y|^2 / 2."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss


@dataclass(frozen=True)
class Squared(Loss):
    """``loss = |eta - y|^2 / 2``, one target per output.

    >>> Squared().value(np.array([[1.0]]), np.array([[3.0]]))
    array([2.])
    """

    width: int = 1
    name: ClassVar[str] = "squared"
    outputs_field: ClassVar[str | None] = "width"
    models: ClassVar[tuple[str, ...]] = ("linear", "ridge", "bayes", "bayes:noise=V,prior=V")
    native: ClassVar[int | None] = 0
    row_kernel: ClassVar[str | None] = "squared"
    quadratic: ClassVar[bool] = True
    strictly_convex: ClassVar[bool] = True
    likelihood: ClassVar[bool] = True
    estimates_noise: ClassVar[bool] = True
    figure: ClassVar[str] = "rmse"

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Return it with one target and with two."""
        return cls(1), cls(2)

    def check(self, y: Array) -> None:
        """Refuse anything but finite numbers."""
        if not np.vdot(y, y) <= 1e200 and not np.max(np.abs(y), initial=0.0) <= 1e100:
            if not np.all(np.isfinite(y)):
                raise InputError("the target holds NaN or infinity; squared loss needs finite numbers.")
            raise InputError(
                "the target holds numbers beyond 1e100, whose squares doubles cannot hold; change its unit."
            )

    def value(self, y: Array, eta: Array) -> Array:
        """Return |eta - y|^2 / 2."""
        return np.asarray(0.5 * np.sum((eta - y) ** 2, axis=1))

    def slope(self, y: Array, eta: Array) -> Array:
        """Return eta - y."""
        return eta - y

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 1."""
        return np.ones_like(eta)

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return |theta|^2 / 2 + theta.y."""
        return np.asarray(0.5 * np.sum(theta**2, axis=1) + np.sum(theta * y, axis=1))

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return |eta - y - theta|^2 / 2."""
        return np.asarray(0.5 * np.sum((eta - y - theta) ** 2, axis=1))

    def mean(self, eta: Array) -> Array:
        """Return eta."""
        return eta

    def statistic(self, y: Array, weight: Array) -> Array:
        """Return the weighted sum of y."""
        return np.asarray(weight @ y)

    def constant(self, mean: Array) -> Array:
        """Return the best constant score, the mean."""
        return mean

    def chances(self, y: Array, eta: Array, dispersion: float, trials: Array) -> tuple[Array, Array, Array]:
        """Return those of a normal target."""
        from scipy import special  # slow to load: only for likelihoods

        z = (y - eta)[:, 0] / np.sqrt(dispersion)
        return special.ndtr(z), np.zeros_like(z), special.ndtr(-z)

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return "linear regression"

    def summary_title(self) -> str:
        """Return what a summary calls a fit."""
        return "least squares"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return "(residual^2) / 2"
