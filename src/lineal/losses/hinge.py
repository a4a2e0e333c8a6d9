"""Hinge losses: rows beyond the margin cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import DualStep, Kink, Loss, Targets
from lineal.losses.quantile import ramp_mismatch


def sides(y: Array) -> Array:
    """Return -1 for class 0 and 1 for class 1."""
    return np.asarray(2.0 * (y > 0.5) - 1.0)


class _Margin(Loss):
    """A function of the margin ``z = eta`` for class 1, ``-eta`` for class 0."""

    targets: ClassVar[Targets] = "two classes"
    decides: ClassVar[bool] = True
    even: ClassVar[bool] = True

    def check(self, y: Array) -> None:
        """Refuse anything but the class numbers 0 and 1."""
        if y.shape[1] != 1 or not np.all((y == 0.0) | (y == 1.0)):
            raise InputError(f"{self.name} loss needs class numbers 0 and 1 as targets.")

    def mean(self, eta: Array) -> Array:
        """Return the class the score speaks for, 0 or 1; there are no probabilities."""
        return (eta > 0.0).astype(np.float64)

    def statistic(self, y: Array, weight: Array) -> Array:
        """Return the weight of the second class."""
        return np.asarray(weight @ y)

    def letters(self, classes: Sequence[object]) -> str:
        """Return what z is."""
        return f"z = score for {classes[-1]}, -score for {classes[0]}"


@dataclass(frozen=True)
class Hinge(_Margin):
    """``loss = max(1 - z, 0)``, z = eta for class 1 and -eta for class 0.

    >>> Hinge().value(np.array([[1.0], [0.0]]), np.array([[0.25], [0.25]]))
    array([0.75, 1.25])
    """

    name: ClassVar[str] = "hinge"
    models: ClassVar[tuple[str, ...]] = ("svm",)
    row_kernel: ClassVar[str | None] = "hinge"
    smooth: ClassVar[bool] = False
    curvature_bound: ClassVar[float] = 0.0
    dual_margin: ClassVar[float] = 0.0

    def value(self, y: Array, eta: Array) -> Array:
        """Return max(1 - z, 0)."""
        return np.asarray(np.maximum(1.0 - sides(y) * eta, 0.0)[:, 0])

    def slope(self, y: Array, eta: Array) -> Array:
        """Return -1 (class 1) or 1 (class 0) where z < 1, else 0."""
        side = sides(y)
        return np.where(side * eta < 1.0, -side, 0.0)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 0: all the bending is in the corner."""
        return np.zeros_like(eta)

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return theta for class 1, -theta for class 0, where that is in [-1, 0]."""
        along = sides(y) * theta
        return np.asarray(np.where((along >= -1.0) & (along <= 0.0), along, np.inf)[:, 0])

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return (z - 1)+ u + (1 - z)+ (1 - u), u = -theta for class 1, theta for class 0."""
        side = sides(y)
        return np.asarray(ramp_mismatch(side * eta - 1.0, side * theta, -1.0, 0.0)[:, 0])

    def box(self, y: Array) -> tuple[Array, Array]:
        """Return [-1, 0] for class 1, [0, 1] for class 0."""
        high: Array = 1.0 - (y > 0.5).astype(np.float64)
        return high - 1.0, high

    def kinks(self, y: Array) -> list[Kink]:
        """Return the corner at 1 for class 1, at -1 for class 0."""
        return [Kink(sides(y), *self.box(y))]

    def constant(self, mean: Array) -> Array:
        """Return the best constant score: the side of the heavier class."""
        return np.sign(mean - 0.5)

    def level(self, mean: Array, constant: Array) -> tuple[float, Array]:
        """Return the mean loss and the mean |slope|, which the shares of the classes give.

        >>> Hinge().level(np.array([0.75]), np.array([1.0]))
        (0.5, array([0.25]))
        """
        value = mean * np.maximum(1.0 - constant, 0.0) + (1.0 - mean) * np.maximum(1.0 + constant, 0.0)
        return float(value[0]), mean * (constant < 1.0) + (1.0 - mean) * (constant > -1.0)

    def dual_step(self) -> DualStep:
        """Return a straight conjugate with the side of the class in the place of the target."""
        return DualStep(margin=True)

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return "support vector machine"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return "max(1 - z, 0)"


@dataclass(frozen=True)
class SquaredHinge(_Margin):
    """``loss = max(1 - z, 0)^2 / 2``, z = eta for class 1 and -eta for class 0.

    >>> SquaredHinge().value(np.array([[1.0]]), np.array([[-1.0]]))
    array([2.])
    """

    name: ClassVar[str] = "squared-hinge"
    models: ClassVar[tuple[str, ...]] = ("squared-hinge",)
    instead: ClassVar[str] = "Use logistic, sparsemax or svm; or one model a class, --multiclass ovr."
    row_kernel: ClassVar[str | None] = "squared-hinge"
    native: ClassVar[int | None] = 5
    dual_margin: ClassVar[float] = 1e-7

    def value(self, y: Array, eta: Array) -> Array:
        """Return max(1 - z, 0)^2 / 2."""
        return np.asarray(0.5 * (np.maximum(1.0 - sides(y) * eta, 0.0) ** 2)[:, 0])

    def slope(self, y: Array, eta: Array) -> Array:
        """Return -max(1 - z, 0) for class 1, max(1 - z, 0) for class 0."""
        side = sides(y)
        return -side * np.maximum(1.0 - side * eta, 0.0)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 1 where z < 1, else 0."""
        return (sides(y) * eta < 1.0).astype(np.float64)

    def majorant(self) -> SquaredHinge:
        """Return the loss with curvature 1 everywhere."""
        return _Above()

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return u^2 / 2 - u for u = -theta (class 1), theta (class 0), where u >= 0."""
        u = -sides(y) * theta
        return np.asarray(np.where(u >= 0.0, 0.5 * u**2 - u, np.inf)[:, 0])

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return (max(1 - z, 0) - u)^2 / 2 + u max(z - 1, 0)."""
        side = sides(y)
        d, u = 1.0 - side * eta, -side * theta
        terms = 0.5 * (np.maximum(d, 0.0) - u) ** 2 + u * np.maximum(-d, 0.0)
        return np.asarray(np.where(u >= 0.0, terms, np.inf)[:, 0])

    def box(self, y: Array) -> tuple[Array, Array]:
        """Return no positive numbers for class 1, no negative ones for class 0."""
        first = y > 0.5
        return np.where(first, -np.inf, 0.0), np.where(first, 0.0, np.inf)

    def constant(self, mean: Array) -> Array:
        """Return the best constant score, 2 mean - 1."""
        return 2.0 * mean - 1.0

    def level(self, mean: Array, constant: Array) -> tuple[float, Array]:
        """Return the mean loss and the mean |slope|, which the shares of the classes give.

        >>> SquaredHinge().level(np.array([0.75]), np.array([0.5]))
        (0.375, array([0.75]))
        """
        first, second = np.maximum(1.0 - constant, 0.0), np.maximum(1.0 + constant, 0.0)
        value = 0.5 * (mean * first**2 + (1.0 - mean) * second**2)
        return float(value[0]), mean * first + (1.0 - mean) * second

    def dual_step(self) -> DualStep:
        """Return a conjugate that bends by one, with the side of the class in the place of the target."""
        return DualStep(bend=1.0, margin=True)

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return "support vector machine with squared hinge"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return "max(1 - z, 0)^2 / 2"


class _Above(SquaredHinge):
    """The squared hinge with the curvature of its active rows everywhere."""

    native: ClassVar[int | None] = None

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 1."""
        return np.ones_like(eta)
