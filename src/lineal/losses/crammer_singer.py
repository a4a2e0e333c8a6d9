"""The multi-class hinge loss of Crammer and Singer (2001)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import DualStep
from lineal.losses.sparsemax import Sparsemax, hot, on_simplex


@dataclass(frozen=True)
class CrammerSinger(Sparsemax):
    """``loss = max_k (eta_k + [k != y]) - eta_y``: every other class must stay below by one.

    >>> CrammerSinger(3).value(np.array([[2.0]]), np.array([[0.0, 0.5, 1.0]]))
    array([0.5])
    """

    name: ClassVar[str] = "crammer-singer"
    models: ClassVar[tuple[str, ...]] = ("svm",)
    row_kernel: ClassVar[str | None] = "crammer-singer"
    smooth: ClassVar[bool] = False
    curvature_bound: ClassVar[float] = 0.0
    decides: ClassVar[bool] = True

    def value(self, y: Array, eta: Array) -> Array:
        """Return max_k (eta_k + [k != y]) - eta_y."""
        own = np.take_along_axis(eta, y.astype(np.intp), axis=1)
        return np.asarray(np.max((eta - own) + (1.0 - hot(y, self.classes)), axis=1))

    def slope(self, y: Array, eta: Array) -> Array:
        """Return e_k - e_y, k the class that comes closest (y itself where the loss is zero)."""
        mine = hot(y, self.classes)
        cost = eta + (1.0 - mine)
        own = np.take_along_axis(cost, y.astype(np.intp), axis=1)
        worst = np.where(np.max(cost, axis=1, keepdims=True) > own, np.argmax(cost, axis=1)[:, None], y)
        return hot(worst, self.classes) - mine

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 0: all the bending is in the corners."""
        return np.zeros((*eta.shape, self.classes))

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return -(sum of q_k over k != y) with q = theta + e_y on the simplex."""
        mine = hot(y, self.classes)
        q = theta + mine
        return np.where(on_simplex(q, theta), -np.sum(q * (1.0 - mine), axis=1), np.inf)

    def lean(self, y: Array, theta: Array) -> Array:
        """Return the slope of the conjugate in q = theta + e_y: -[k != y]."""
        return hot(y, self.classes) - 1.0

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return sum_k q_k (max_j c_j - c_k) with c_k = eta_k + [k != y]."""
        mine = hot(y, self.classes)
        q = theta + mine
        cost = eta + (1.0 - mine)
        below = np.max(cost, axis=1, keepdims=True) - cost
        return np.where(on_simplex(q, theta), np.sum(np.maximum(q, 0.0) * below, axis=1), np.inf)

    def mean(self, eta: Array) -> Array:
        """Return the class with the largest score as a row of zeros and a one; there are no probabilities."""
        return hot(np.argmax(eta, axis=1)[:, None].astype(np.float64), self.classes)

    def constant(self, mean: Array) -> Array:
        """Return the best constant scores: one for a class with more than half of the weight, else all zero."""
        scores = (mean > 0.5).astype(np.float64)
        return np.asarray(scores - np.mean(scores))

    def dual_step(self) -> DualStep:
        """Return a straight conjugate, other classes one below."""
        return DualStep(cost=1.0)

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return "support vector machine of Crammer and Singer"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return "(max_k (score_k + [k is not y]) - score_y)"

    def letters(self, classes: Sequence[object]) -> str:
        """Return nothing: there is no letter to explain."""
        return ""
