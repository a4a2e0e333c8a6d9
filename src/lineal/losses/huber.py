"""Huber loss: squared up to a threshold, linear beyond."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import DualStep, Loss
from lineal.losses.scalar import Scalar, positive

THRESHOLD_RATIO = 8.0
"""By this factor thresholds fall; the minimizer of one is a good start for the next (3 steps each as a rule)."""


@dataclass(frozen=True)
class Huber(Scalar):
    """``loss = r^2 / 2`` for ``|r| <= T``, ``T |r| - T^2 / 2`` beyond; ``r = eta - y``, T the threshold in units of y.

    >>> Huber(1.0).value(np.array([[0.0], [0.0]]), np.array([[0.5], [3.0]]))
    array([0.125, 2.5  ])
    """

    threshold: float = 1.0
    name: ClassVar[str] = "huber"
    models: ClassVar[tuple[str, ...]] = ("huber", "huber:T")
    argument: ClassVar[str] = "the threshold of huber is a number above 0 in units of the target, such as huber:1.5."
    native: ClassVar[int | None] = 3
    row_kernel: ClassVar[str | None] = "huber"
    has_mean_statistic: ClassVar[bool] = False

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Return a wide and a narrow one."""
        return cls(0.7), cls(0.01)

    def __post_init__(self) -> None:
        positive("the threshold of Huber's loss", self.threshold)

    @property
    def dual_margin(self) -> float:  # type: ignore[override]
        """Rows on the quadratic part stay that far from the threshold, or the kernels refuse the dual point."""
        return 1e-7 * self.threshold

    def value(self, y: Array, eta: Array) -> Array:
        """Return c (|r| - c / 2) with c = min(|r|, T)."""
        size = np.abs(eta - y)
        near = np.minimum(size, self.threshold)
        return np.asarray((near * (size - 0.5 * near))[:, 0])

    def slope(self, y: Array, eta: Array) -> Array:
        """Return r, cut off at -T and T."""
        return np.clip(eta - y, -self.threshold, self.threshold)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 1 for |r| < T, else 0."""
        return (np.abs(eta - y) < self.threshold).astype(np.float64)

    def majorant(self) -> Huber:
        """Return Huber's loss with curvature T / max(|r|, T)."""
        return _Above(self.threshold)

    def quadratic_core(self, margin: float) -> Huber | None:
        """Return Huber's loss of a threshold that is smaller by the margin, at most by a half."""
        return Huber(self.threshold - margin) if margin <= 0.5 * self.threshold else None

    @property
    def narrowest(self) -> float:
        """The threshold."""
        return self.threshold

    def wider(self, value: float) -> tuple[Loss, ...]:
        """Return Huber's losses of falling thresholds, where residuals of T^2 / 2 + value = T |r| are far beyond T."""
        ratio = value / self.threshold / self.threshold  # whose square may underflow
        # residuals of 1e3 thresholds leave too few rows that bend: thousands of Newton steps led nowhere
        if not 1e3 < ratio < math.inf:
            return ()
        stages = math.ceil(math.log(ratio, THRESHOLD_RATIO))
        return tuple(Huber(self.threshold * THRESHOLD_RATIO**stage) for stage in range(stages, 0, -1))

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return theta^2 / 2 + theta y for |theta| <= T."""
        inside = np.abs(theta) <= self.threshold
        return np.asarray(np.where(inside, 0.5 * theta**2 + theta * y, np.inf)[:, 0])

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return (c - t)^2 / 2 + (|r| - c) (T - t), with c = min(|r|, T) and t = theta sign(r)."""
        size = np.abs(eta - y)
        near, along = np.minimum(size, self.threshold), np.copysign(1.0, eta - y) * theta
        inside = np.abs(theta) <= self.threshold
        along = np.where(inside, along, 0.0)
        terms = 0.5 * (near - along) ** 2 + (size - near) * (self.threshold - along)
        return np.asarray(np.where(inside, terms, np.inf)[:, 0])

    def box(self, y: Array) -> tuple[Array, Array]:
        """Return -T and T."""
        return np.full((len(y), 1), -self.threshold), np.full((len(y), 1), self.threshold)

    @property
    def parameter(self) -> float:
        """The threshold."""
        return self.threshold

    def dual_step(self) -> DualStep:
        """Return a conjugate that bends by one."""
        return DualStep(bend=1.0)

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return f"Huber regression, threshold {self.threshold:.4g}"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return "c (|residual| - c/2)"

    def letters(self, classes: Sequence[object]) -> str:
        """Return what c is."""
        return f"c = the smaller of |residual| and {self.threshold!r}"


class _Above(Huber):
    """Huber's loss, with the curvature of the parabola that touches it at r and -r."""

    native: ClassVar[int | None] = None

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return T / max(|r|, T)."""
        return self.threshold / np.maximum(np.abs(eta - y), self.threshold)
