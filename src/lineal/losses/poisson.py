"""Poisson loss: e^eta - y eta."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.losses.logistic import excess
from lineal.losses.loss import Loss, Targets


@dataclass(frozen=True)
class Poisson(Loss):
    """``loss = e^eta - y eta`` for counts (or rates) y >= 0; ``mean = e^eta``.

    Rows with y = 0 may be fitted ever better by a score that falls for ever: then no finite optimum exists.

    >>> Poisson().value(np.array([[2.0]]), np.array([[0.0]]))
    array([1.])
    """

    name: ClassVar[str] = "poisson"
    targets: ClassVar[Targets] = "counts"
    models: ClassVar[tuple[str, ...]] = ("poisson",)
    native: ClassVar[int | None] = 4
    row_kernel: ClassVar[str | None] = "poisson"
    curvature_bound: ClassVar[float] = float("inf")
    strictly_convex: ClassVar[bool] = True
    max_shift: ClassVar[float] = 0.5
    dual_margin: ClassVar[float] = 0.01
    unbounded: ClassVar[bool] = True
    likelihood: ClassVar[bool] = True
    ratio: ClassVar[str] = "rate ratio"
    has_base: ClassVar[bool] = True

    def check(self, y: Array) -> None:
        """Refuse negative and non-finite targets."""
        if y.shape[1] != 1 or not np.all((y >= 0.0) & np.isfinite(y)):
            raise InputError("poisson loss needs finite targets >= 0, one a row.")
        if np.max(y, initial=0.0) > 1e100:
            raise InputError(
                "the target holds counts beyond 1e100, whose squares doubles cannot hold; change its unit."
            )

    def value(self, y: Array, eta: Array) -> Array:
        """Return e^eta - y eta."""
        return np.asarray((self.mean(eta) - y * eta)[:, 0])

    def slope(self, y: Array, eta: Array) -> Array:
        """Return e^eta - y."""
        return self.mean(eta) - y

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return e^eta."""
        return self.mean(eta)

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return q log q - q with q = y + theta >= 0."""
        q = (y + theta)[:, 0]
        safe = np.where(q > 0.0, q, 1.0)
        return np.where(q > 0.0, safe * np.log(safe) - safe, np.where(q == 0.0, 0.0, np.inf))

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return m excess(q / m - 1) with m = e^eta, q = y + theta."""
        m, delta = self.mean(eta), theta - self.slope(y, eta)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(m > 0.0, m * excess(delta / m), np.where(delta == 0.0, 0.0, np.inf))
        return np.asarray(terms[:, 0])

    def mean(self, eta: Array) -> Array:
        """Return e^eta."""
        with np.errstate(over="ignore"):
            return np.exp(eta)

    def statistic(self, y: Array, weight: Array) -> Array:
        """Return the weighted sum of y."""
        return np.asarray(weight @ y)

    def constant(self, mean: Array) -> Array:
        """Return the best constant score, log of the mean; minus infinity if all counts are zero."""
        with np.errstate(divide="ignore"):
            return np.log(mean)

    def recession(self, y: Array) -> tuple[Mask, Mask]:
        """Return that no count pulls the score up, and that every count above 0 holds it."""
        return np.zeros(y.shape, dtype=bool), y > 0.0

    def base(self, y: Array, weight: Array) -> float:
        """Return ``-sum s log y!``."""
        from scipy import special  # slow to load: only for likelihoods

        return -float(weight @ special.gammaln(y[:, 0] + 1.0))

    def chances(self, y: Array, eta: Array, dispersion: float, trials: Array) -> tuple[Array, Array, Array] | None:
        """Return those of a count; None for rates, which are no counts."""
        from scipy import special  # slow to load: only for likelihoods

        k, mean = y[:, 0], self.mean(eta)[:, 0]
        if np.any(k != np.floor(k)):
            return None
        same = np.exp(special.xlogy(k, mean) - mean - special.gammaln(k + 1.0))
        return np.where(k > 0.0, special.pdtr(np.maximum(k - 1.0, 0.0), mean), 0.0), same, special.pdtrc(k, mean)

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return "Poisson regression"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return "(e^score - y score)"

    def at_infinity(self, columns: int, strict: int, total: int) -> str:
        """Return which rows have a score that falls for ever."""
        return f"{'singles' if columns == 1 else 'single'} out {strict} of {total} rows, all with count zero"
