"""Losses to draw beside the others: values only, nothing can be fitted with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lineal.loss import Array
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
class ZeroOne:
    """``loss = 1`` for a mistake, 0 otherwise; a score of exactly zero speaks for class 0.

    It is not convex, so there is no conjugate and no gap; minimising it exactly is an integer program.

    >>> ZeroOne().value(np.array([[1.0], [0.0]]), np.array([[2.0], [2.0]]))
    array([0., 1.])
    """

    name: ClassVar[str] = "zero-one"

    def value(self, y: Array, eta: Array) -> Array:
        """Return 1 where the class of the score is not y."""
        return np.asarray(((eta > 0.0) != (y > 0.5)).astype(np.float64)[:, 0])
