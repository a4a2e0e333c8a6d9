"""The zero-one loss: one for a mistake. Not convex, flat almost everywhere: no solver follows it (perceptron/mistakes.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss, Targets


@dataclass(frozen=True)
class ZeroOne(Loss):
    """``loss = 1`` for a mistake, 0 otherwise; a score of exactly zero speaks for class 0.

    It is not convex, so that its conjugate says nothing; minimising it exactly is an integer program.

    >>> ZeroOne().value(np.array([[1.0], [0.0]]), np.array([[2.0], [2.0]]))
    array([0., 1.])
    """

    name: ClassVar[str] = "zero-one"
    targets: ClassVar[Targets] = "two classes"
    models: ClassVar[tuple[str, ...]] = ("zero-one",)
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    decides: ClassVar[bool] = True

    def check(self, y: Array) -> None:
        """Refuse anything but the class numbers 0 and 1."""
        if y.shape[1] != 1 or not np.all((y == 0.0) | (y == 1.0)):
            raise InputError("zero-one loss needs class numbers 0 and 1 as targets.")

    def value(self, y: Array, eta: Array) -> Array:
        """Return 1 where the class of the score is not y."""
        return np.asarray(((eta > 0.0) != (y > 0.5)).astype(np.float64)[:, 0])

    def slope(self, y: Array, eta: Array) -> Array:
        """Return 0: it is flat but for the jump."""
        return np.zeros_like(eta)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 0."""
        return np.zeros_like(eta)

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return 0 at theta = 0, infinity elsewhere: the loss is bounded."""
        return np.asarray(np.where(theta == 0.0, 0.0, np.inf)[:, 0])

    def mean(self, eta: Array) -> Array:
        """Return the class the score speaks for, 0 or 1; there are no probabilities."""
        return (eta > 0.0).astype(np.float64)

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return loss(y, eta) + loss*(y, theta) - theta eta."""
        return self.value(y, eta) + self.conjugate(y, theta)

    def statistic(self, y: Array, weight: Array) -> Array:
        """Return the weight of the second class."""
        return np.asarray(weight @ y)

    def constant(self, mean: Array) -> Array:
        """Return a score that speaks for the more frequent class."""
        return np.where(mean > 0.5, 1.0, -1.0)

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return "halfspace of fewest mistakes"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return "[z <= 0]"

    def letters(self, classes: Sequence[object]) -> str:
        """Return what z is."""
        return f"z = score for {classes[-1]}, -score for {classes[0]}"
