"""Quantile and absolute loss: piecewise linear in the residual, with one corner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import DualStep, Kink, Loss
from lineal.losses.scalar import Scalar


def ramp(r: Array, low: Array | float, high: Array | float) -> Array:
    """Return max(low r, high r)."""
    return np.maximum(low * r, high * r)


def ramp_mismatch(r: Array, theta: Array, low: Array | float, high: Array | float) -> Array:
    """Return max(low r, high r) - theta r as a sum of terms >= 0, infinite for theta outside [low, high]."""
    inside = (theta >= low) & (theta <= high)
    safe = np.where(inside, theta, low)
    up, down = np.maximum(r, 0.0), np.maximum(-r, 0.0)
    return np.where(inside, up * (high - safe) + down * (safe - low), np.inf)


class _Corner(Scalar):
    """``max(low (eta - y), high (eta - y))``."""

    smooth: ClassVar[bool] = False
    curvature_bound: ClassVar[float] = 0.0
    dual_margin: ClassVar[float] = 0.0
    has_mean_statistic: ClassVar[bool] = False
    low: float
    high: float

    def value(self, y: Array, eta: Array) -> Array:
        """Return max(low r, high r), r = eta - y."""
        return np.asarray(ramp(eta - y, self.low, self.high)[:, 0])

    def slope(self, y: Array, eta: Array) -> Array:
        """Return high above the target, low below, 0 on it."""
        return np.where(eta > y, self.high, np.where(eta < y, self.low, 0.0))

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 0: all the bending is in the corner."""
        return np.zeros_like(eta)

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return theta y for theta in [low, high]."""
        inside = (theta >= self.low) & (theta <= self.high)
        return np.asarray(np.where(inside, theta * y, np.inf)[:, 0])

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return r+ (high - theta) + r- (theta - low), r = eta - y."""
        return np.asarray(ramp_mismatch(eta - y, theta, self.low, self.high)[:, 0])

    def box(self, y: Array) -> tuple[Array, Array]:
        """Return low and high."""
        return np.full((len(y), 1), self.low), np.full((len(y), 1), self.high)

    def kinks(self, y: Array) -> list[Kink]:
        """Return the corner at y."""
        return [Kink(y, *self.box(y))]

    def dual_step(self) -> DualStep:
        """Return a straight conjugate."""
        return DualStep()


@dataclass(frozen=True)
class Absolute(_Corner):
    """``loss = |eta - y|``: the median.

    >>> Absolute().value(np.array([[1.0]]), np.array([[3.0]]))
    array([2.])
    """

    name: ClassVar[str] = "absolute"
    models: ClassVar[tuple[str, ...]] = ("absolute",)
    row_kernel: ClassVar[str | None] = "epsilon-insensitive"
    low: ClassVar[float] = -1.0  # type: ignore[misc]
    high: ClassVar[float] = 1.0  # type: ignore[misc]

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return "least absolute deviations"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return "|residual|"


@dataclass(frozen=True)
class Quantile(_Corner):
    """``loss = q (y - eta)`` below the target, ``(1 - q) (eta - y)`` above it: the q-th quantile.

    >>> Quantile(0.9).value(np.array([[1.0], [1.0]]), np.array([[0.0], [2.0]])).round(2)
    array([0.9, 0.1])
    """

    q: float
    name: ClassVar[str] = "quantile"
    models: ClassVar[tuple[str, ...]] = ("quantile:Q",)
    aliases: ClassVar[Mapping[str, str]] = MappingProxyType({"median": "quantile:0.5"})
    argument: ClassVar[str] = "give the quantile, a number between 0 and 1, such as quantile:0.5."
    row_kernel: ClassVar[str | None] = "quantile"

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Return a low and a high quantile."""
        return cls(0.3), cls(0.9)

    def __post_init__(self) -> None:
        if not 0.0 < self.q < 1.0:
            raise InputError(f"the quantile is {self.q}; it must be a number between 0 and 1, both excluded.")

    @property
    def low(self) -> float:  # type: ignore[override]
        """Slope below the target."""
        return -self.q

    @property
    def high(self) -> float:  # type: ignore[override]
        """Slope above the target."""
        return 1.0 - self.q

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return "regression of the median" if self.q == 0.5 else f"regression of the {self.q:g} quantile"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return f"max({self.q:g} r, {self.q - 1.0:g} r)"

    def letters(self, classes: Sequence[object]) -> str:
        """Return what r is."""
        return "r = y - score"
