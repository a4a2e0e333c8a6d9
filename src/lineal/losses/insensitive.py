"""Losses that do not feel small residuals: epsilon-insensitive, and its square."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import DualStep, Kink, Loss
from lineal.losses.scalar import Scalar, positive


@dataclass(frozen=True)
class EpsilonInsensitive(Scalar):
    """``loss = max(|eta - y| - epsilon, 0)``.

    >>> EpsilonInsensitive(0.5).value(np.array([[1.0]]), np.array([[3.0]]))
    array([1.5])
    """

    epsilon: float = 0.1
    name: ClassVar[str] = "epsilon-insensitive"
    row_kernel: ClassVar[str | None] = "epsilon-insensitive"
    smooth: ClassVar[bool] = False
    curvature_bound: ClassVar[float] = 0.0
    dual_margin: ClassVar[float] = 0.0
    has_mean_statistic: ClassVar[bool] = False

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Return it with a tube, and without."""
        return cls(0.2), cls(0.0)

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon, zero=True)

    def value(self, y: Array, eta: Array) -> Array:
        """Return max(|r| - epsilon, 0)."""
        return np.asarray(np.maximum(np.abs(eta - y) - self.epsilon, 0.0)[:, 0])

    def slope(self, y: Array, eta: Array) -> Array:
        """Return the sign of r where |r| > epsilon, else 0."""
        r = eta - y
        return np.where(np.abs(r) > self.epsilon, np.sign(r), 0.0)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 0: all the bending is in the corners."""
        return np.zeros_like(eta)

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return theta y + epsilon |theta| for |theta| <= 1."""
        inside = np.abs(theta) <= 1.0
        return np.asarray(np.where(inside, theta * y + self.epsilon * np.abs(theta), np.inf)[:, 0])

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return e (1 - t) + epsilon (|t| - t) beyond epsilon, |t| epsilon - t |r| within; t = theta sign(r)."""
        size, along = _along(y, eta, theta)
        inside = np.abs(along) <= 1.0
        along = np.where(inside, along, 0.0)
        beyond = (size - self.epsilon) * (1.0 - along)
        return np.asarray(np.where(inside, _fold(self.epsilon, size, along, beyond, 0.0), np.inf)[:, 0])

    def box(self, y: Array) -> tuple[Array, Array]:
        """Return -1 and 1."""
        return np.full((len(y), 1), -1.0), np.full((len(y), 1), 1.0)

    def kinks(self, y: Array) -> list[Kink]:
        """Return the corners at y - epsilon and y + epsilon."""
        zero, one = np.zeros_like(y), np.ones_like(y)
        return [Kink(y + self.epsilon, zero, one), Kink(y - self.epsilon, -one, zero)]

    def dual_step(self) -> DualStep:
        """Return a conjugate that pays epsilon."""
        return DualStep(epsilon=self.epsilon)

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return f"max(|residual| - {self.epsilon:g}, 0)"


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Scalar):
    """``loss = max(|eta - y| - epsilon, 0)^2 / 2``.

    >>> SquaredEpsilonInsensitive(0.5).value(np.array([[1.0]]), np.array([[3.5]]))
    array([2.])
    """

    epsilon: float = 0.1
    name: ClassVar[str] = "squared-epsilon-insensitive"
    row_kernel: ClassVar[str | None] = "squared-epsilon-insensitive"
    dual_margin: ClassVar[float] = 0.0
    has_mean_statistic: ClassVar[bool] = False

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Return it with a tube, and without."""
        return cls(0.2), cls(0.0)

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon, zero=True)

    def value(self, y: Array, eta: Array) -> Array:
        """Return max(|r| - epsilon, 0)^2 / 2."""
        return np.asarray(0.5 * (np.maximum(np.abs(eta - y) - self.epsilon, 0.0) ** 2)[:, 0])

    def slope(self, y: Array, eta: Array) -> Array:
        """Return sign(r) max(|r| - epsilon, 0)."""
        r = eta - y
        return np.copysign(np.maximum(np.abs(r) - self.epsilon, 0.0), r)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 1 where |r| > epsilon, else 0."""
        return (np.abs(eta - y) > self.epsilon).astype(np.float64)

    def majorant(self) -> SquaredEpsilonInsensitive:
        """Return the loss with curvature 1 everywhere."""
        return _Above(self.epsilon)

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return theta y + epsilon |theta| + theta^2 / 2."""
        return np.asarray((theta * y + self.epsilon * np.abs(theta) + 0.5 * theta**2)[:, 0])

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return (e - t)^2 / 2 + epsilon (|t| - t) beyond epsilon, t^2 / 2 + |t| epsilon - t |r| within."""
        size, along = _along(y, eta, theta)
        beyond = 0.5 * (size - self.epsilon - along) ** 2
        return np.asarray(_fold(self.epsilon, size, along, beyond, 0.5 * along**2)[:, 0])

    def box(self, y: Array) -> tuple[Array, Array]:
        """Return no bounds."""
        far = np.full((len(y), 1), np.inf)
        return -far, far

    def dual_step(self) -> DualStep:
        """Return a conjugate that pays epsilon and bends by one."""
        return DualStep(bend=1.0, epsilon=self.epsilon)

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return f"max(|residual| - {self.epsilon:g}, 0)^2 / 2"


class _Above(SquaredEpsilonInsensitive):
    """The squared loss without a dead zone in its curvature."""

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 1."""
        return np.ones_like(eta)


def _along(y: Array, eta: Array, theta: Array) -> tuple[Array, Array]:
    """Return |r| and theta sign(r)."""
    return np.abs(eta - y), np.copysign(1.0, eta - y) * theta


def _fold(epsilon: float, size: Array, along: Array, beyond: Array, within: Array | float) -> Array:
    """Return the mismatch beyond epsilon and within, both with what theta pays for epsilon."""
    outside = beyond + epsilon * (np.abs(along) - along)
    return np.where(size > epsilon, outside, within + np.abs(along) * (epsilon - np.sign(along) * size))
