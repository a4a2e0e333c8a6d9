"""Losses to draw beside the others: values only, nothing can be fitted with them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.hinge import sides


@dataclass(frozen=True)
class Exponential:
    """``loss = e^-z``, z = eta for class 1 and -eta for class 0: AdaBoost's loss.

    It has no slope, curvature or conjugate here, so no fit and no verdict: use logistic loss, which bends like it near
    the boundary and does not let one outlier rule.

    >>> Exponential().value(np.array([[1.0]]), np.array([[0.0]]))
    array([1.])
    """

    name: ClassVar[str] = "exponential"

    def value(self, y: Array, eta: Array) -> Array:
        """Return e^-z."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(-sides(y) * eta)[:, 0])


@dataclass(frozen=True)
class SquaredSigmoid:
    """``loss = (y - sigma(eta))^2``, sigma the logistic function: squared error of a probability.

    It is not convex in eta: it bends down where ``sigma(eta)`` is more than 2/3 away from y, so that a row far on the wrong
    side has hardly any slope, and a descent may stay there. Logistic loss is convex, which is why it is fitted instead.

    >>> SquaredSigmoid().value(np.array([[1.0]]), np.array([[0.0]]))
    array([0.25])
    """

    name: ClassVar[str] = "squared-sigmoid"

    def value(self, y: Array, eta: Array) -> Array:
        """Return (y - sigma(eta))^2."""
        with np.errstate(over="ignore"):
            return np.asarray(((y - 1.0 / (1.0 + np.exp(-eta))) ** 2)[:, 0])
