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
