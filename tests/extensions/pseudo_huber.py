"""The pseudo-Huber loss, as an extension would add it: one file, numpy only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lineal.ground.records import dataclass
from lineal.losses.loss import Array, Loss
from lineal.losses.scalar import Scalar, positive


@dataclass(frozen=True)
class PseudoHuber(Scalar):
    """``loss = T^2 (c - 1)``, ``c = sqrt(1 + (r / T)^2)``, ``r = eta - y``: smooth everywhere, linear far out.

    With s = r / (T c) and t = theta / T, both slopes in units of T, ``w = sqrt(1 - t^2)`` is 1 / c of the dual point.
    """

    threshold: float = 1.0
    name: ClassVar[str] = "pseudo-huber"
    models: ClassVar[tuple[str, ...]] = ("pseudo-huber:T",)
    argument: ClassVar[str] = "give the threshold, a number above 0, such as pseudo-huber:1.5."
    has_mean_statistic: ClassVar[bool] = False
    dual_margin: ClassVar[float] = 0.0

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Return a wide and a narrow one."""
        return cls(1.0), cls(0.2)

    def __post_init__(self) -> None:
        positive("the threshold", self.threshold)

    @property
    def max_shift(self) -> float:  # type: ignore[override]
        """Half a threshold: 1 - s >= 1 / (2 c^2), and the curvature is 1 / c^3."""
        return 0.5 * self.threshold

    def _root(self, y: Array, eta: Array) -> Array:
        return np.hypot(1.0, (eta - y) / self.threshold)

    def value(self, y: Array, eta: Array) -> Array:
        """Return r^2 / (c + 1), which is T^2 (c - 1)."""
        return np.asarray(((eta - y) ** 2 / (self._root(y, eta) + 1.0))[:, 0])

    def slope(self, y: Array, eta: Array) -> Array:
        """Return r / c."""
        return (eta - y) / self._root(y, eta)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 1 / c^3."""
        return self._root(y, eta) ** -3

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return T^2 (1 - w) + theta y for |theta| <= T."""
        t = theta / self.threshold
        inside = np.abs(t) <= 1.0
        w = np.sqrt(1.0 - np.where(inside, t, 0.0) ** 2)
        return np.asarray(np.where(inside, self.threshold**2 * (1.0 - w) + theta * y, np.inf)[:, 0])

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return T^2 c (s - t)^2 / (1 - s t + w / c)."""
        c, t = self._root(y, eta), theta / self.threshold
        s, inside = self.slope(y, eta) / self.threshold, np.abs(t) <= 1.0
        t = np.where(inside, t, 0.0)
        below = 1.0 - s * t + np.sqrt(1.0 - t**2) / c
        terms = self.threshold**2 * c * (s - t) ** 2 / np.where(below > 0.0, below, 1.0)
        return np.asarray(np.where(inside, terms, np.inf)[:, 0])

    def box(self, y: Array) -> tuple[Array, Array]:
        """Return -T and T."""
        return np.full((len(y), 1), -self.threshold), np.full((len(y), 1), self.threshold)

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return f"pseudo-Huber regression, threshold {self.threshold:.4g}"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return f"{self.threshold**2:g} (c - 1)"

    def letters(self, classes: Sequence[object]) -> str:
        """Return what c is."""
        return f"c = sqrt(1 + (residual / {self.threshold:g})^2)"
