"""Softmax loss: log sum_k e^eta_k - eta_y."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.logistic import excess
from lineal.losses.loss import Loss, Targets


@dataclass(frozen=True)
class Softmax(Loss):
    """``loss = log sum_k e^eta_k - eta_y``, ``y`` the number of the class; ``mean = softmax(eta)``.

    >>> Softmax(3).value(np.array([[2.0]]), np.zeros((1, 3))).round(6)
    array([1.098612])
    """

    classes: int
    name: ClassVar[str] = "softmax"
    targets: ClassVar[Targets] = "classes"
    outputs_field: ClassVar[str | None] = "classes"
    models: ClassVar[tuple[str, ...]] = ("logistic",)
    native: ClassVar[int | None] = 2
    row_kernel: ClassVar[str | None] = "softmax"
    curvature_bound: ClassVar[float] = 0.5
    max_shift: ClassVar[float] = 0.25
    unbounded: ClassVar[bool] = True
    coupled: ClassVar[bool] = True
    multinomial: ClassVar[bool] = True
    dual_margin: ClassVar[float] = 0.01
    likelihood: ClassVar[bool] = True
    ratio: ClassVar[str] = "odds ratio"
    figure: ClassVar[str] = "log_loss"

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Return it for three classes and for two."""
        return cls(3), cls(2)

    def check(self, y: Array) -> None:
        """Refuse anything but class numbers."""
        if not np.all((y >= 0) & (y < self.classes) & (y == np.floor(y))):
            raise InputError(f"softmax loss needs class numbers 0 to {self.classes - 1} as targets.")

    def value(self, y: Array, eta: Array) -> Array:
        """Return log sum_k e^(eta_k - eta_y), from the largest score."""
        top = np.max(eta, axis=1, keepdims=True)
        total = np.log(np.sum(np.exp(eta - top), axis=1))
        return np.asarray(total + top[:, 0] - np.take_along_axis(eta, _index(y), axis=1)[:, 0])

    def slope(self, y: Array, eta: Array) -> Array:
        """Return p - e_y."""
        p = self.mean(eta)
        index = _index(y)
        own = np.take_along_axis(p, index, axis=1)
        others = np.sum(p, axis=1, keepdims=True) - own
        np.put_along_axis(p, index, np.where(own > 0.5, -others, own - 1.0), axis=1)
        return p

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return diag(p) - p p'."""
        p = self.mean(eta)
        return p[:, :, None] * (np.eye(self.classes) - p[:, None, :])

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return sum_k p_k log p_k with p = theta + e_y on the simplex."""
        p = theta + (y == np.arange(self.classes))
        inside = np.all(p >= 0.0, axis=1) & (np.abs(np.sum(theta, axis=1)) <= 1e-12)
        safe = np.where(p > 0.0, p, 1.0)
        return np.where(inside, np.sum(safe * np.log(safe) * (p > 0.0), axis=1), np.inf)

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return KL(theta + e_y | mean(eta)) = sum_k p_k excess(delta_k / p_k)."""
        delta = theta - self.slope(y, eta)
        p = self.mean(eta)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(p > 0.0, p * excess(delta / p), np.where(delta == 0.0, 0.0, np.inf))
        return np.asarray(np.sum(terms, axis=1))

    def mean(self, eta: Array) -> Array:
        """Return the probability of each class."""
        weights = np.exp(eta - np.max(eta, axis=1, keepdims=True))
        return np.asarray(weights / np.sum(weights, axis=1, keepdims=True))

    def statistic(self, y: Array, weight: Array) -> Array:
        """Return the weight of each class."""
        return np.bincount(_index(y)[:, 0], weights=weight, minlength=self.classes).astype(np.float64)

    def constant(self, mean: Array) -> Array:
        """Return the best constant scores, log of the class shares, with zero sum."""
        with np.errstate(divide="ignore"):
            scores = np.log(mean)
        return np.asarray(scores - np.mean(scores)) if np.all(np.isfinite(scores)) else scores

    def level(self, mean: Array, constant: Array) -> tuple[float, Array]:
        """Return the mean loss, which is linear in the shares of the classes, and the mean |p - e_y|.

        >>> value, slope = Softmax(2).level(np.array([0.5, 0.5]), np.zeros(2))
        >>> round(value, 6), slope.tolist()
        (0.693147, [0.5, 0.5])
        """
        largest = int(np.argmax(constant))
        below = constant - constant[largest]
        weights = np.exp(below)
        others = float(np.sum(np.delete(weights, largest)))
        p = weights / (1.0 + others)
        value = math.log1p(others) - float(mean @ below)
        return value, mean * (1.0 - p) + (1.0 - mean) * p

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return "multinomial logistic regression"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return "log-loss"


def _index(y: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
    return y.astype(np.intp)
