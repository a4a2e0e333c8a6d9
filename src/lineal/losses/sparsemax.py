"""Sparsemax loss: class probabilities with exact zeros (Martins and Astudillo 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import DualStep, Loss, Targets


def project(scores: Array) -> tuple[Array, Array]:
    """Return the nearest point of the simplex to each row, and the threshold tau: p = max(scores - tau, 0).

    >>> project(np.array([[0.5, 0.4, -3.0]]))[0].round(2)
    array([[0.55, 0.45, 0.  ]])
    """
    k = scores.shape[1]
    top = np.max(scores, axis=1, keepdims=True)
    falling = -np.sort(top - scores, axis=1)  # from the largest, which is zero: nothing cancels far out
    size = np.arange(1, k + 1)
    sums = np.cumsum(falling, axis=1)
    support = np.count_nonzero(1.0 + size * falling > sums, axis=1)[:, None]
    tau = (np.take_along_axis(sums, support - 1, axis=1) - 1.0) / support
    return np.maximum((scores - top) - tau, 0.0), tau + top


@dataclass(frozen=True)
class Sparsemax(Loss):
    """``loss = max_p [p.eta - |p|^2 / 2] + 1 / 2 - eta_y`` over the simplex; ``mean`` is the p that attains it.

    >>> Sparsemax(3).mean(np.array([[2.0, 0.0, 1.5]]))
    array([[0.75, 0.  , 0.25]])
    """

    classes: int
    name: ClassVar[str] = "sparsemax"
    targets: ClassVar[Targets] = "classes"
    outputs_field: ClassVar[str | None] = "classes"
    models: ClassVar[tuple[str, ...]] = ("sparsemax",)
    coupled: ClassVar[bool] = True
    dual_margin: ClassVar[float] = 0.0

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Return it for three classes and for two."""
        return cls(3), cls(2)

    def check(self, y: Array) -> None:
        """Refuse anything but class numbers."""
        if y.shape[1] != 1 or not np.all((y >= 0) & (y < self.classes) & (y == np.floor(y))):
            raise InputError(f"{self.name} loss needs class numbers 0 to {self.classes - 1} as targets.")

    def value(self, y: Array, eta: Array) -> Array:
        """Return |e_y - eta|^2 / 2 - |p - eta|^2 / 2 as |e_y - p|^2 / 2 + sum over k of (e_y - p)_k (p - eta)_k."""
        return self.mismatch(y, eta, np.zeros_like(eta))

    def slope(self, y: Array, eta: Array) -> Array:
        """Return p - e_y."""
        return project(eta)[0] - hot(y, self.classes)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return diag(m) - m m' / |m|, m marking the classes with p > 0."""
        m = (project(eta)[0] > 0.0).astype(np.float64)
        size = m.sum(axis=1)[:, None, None]
        return np.asarray(m[:, :, None] * (np.eye(self.classes) - m[:, None, :] / size))

    def majorant(self) -> Sparsemax:
        """Return sparsemax with the curvature it has where no probability is zero, which is nowhere larger."""
        return _Above(self.classes)

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return |q|^2 / 2 - 1 / 2 with q = theta + e_y on the simplex."""
        q = theta + hot(y, self.classes)
        return np.where(on_simplex(q, theta), 0.5 * np.sum(q**2, axis=1) - 0.5, np.inf)

    def lean(self, y: Array, theta: Array) -> Array:
        """Return the slope of the conjugate in q = theta + e_y: q itself."""
        return theta + hot(y, self.classes)

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return |q - p|^2 / 2 + sum over k with p_k = 0 of q_k (tau - eta_k)."""
        q = theta + hot(y, self.classes)
        p, tau = project(eta)
        inside = on_simplex(q, theta)
        away = np.where(p == 0.0, np.maximum(q, 0.0) * np.maximum(tau - eta, 0.0), 0.0)
        return np.where(inside, 0.5 * np.sum((q - p) ** 2, axis=1) + np.sum(away, axis=1), np.inf)

    def mean(self, eta: Array) -> Array:
        """Return the probability of each class, exactly zero for scores far below the best."""
        return project(eta)[0]

    def statistic(self, y: Array, weight: Array) -> Array:
        """Return the weight of each class."""
        return np.bincount(y[:, 0].astype(np.intp), weights=weight, minlength=self.classes).astype(np.float64)

    def constant(self, mean: Array) -> Array:
        """Return the best constant scores: the class shares, with zero sum."""
        return np.asarray(mean - np.mean(mean))

    def dual_step(self) -> DualStep:
        """Return a conjugate that bends by one."""
        return DualStep(bend=1.0)

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return "sparsemax classification"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return "(max_p (p.score - |p|^2/2) + 1/2 - score_y)"

    def letters(self, classes: Sequence[object]) -> str:
        """Return what p is."""
        return "p over the probabilities of all classes"


class _Above(Sparsemax):
    """Sparsemax with the curvature ``I - 1 1' / k``: the projection on a simplex moves no farther than on its plane."""

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return I - 1 1' / k for every row."""
        return np.broadcast_to(np.eye(self.classes) - 1.0 / self.classes, (len(y), self.classes, self.classes))


def hot(y: Array, classes: int) -> Array:
    """Return e_y for each row."""
    return np.asarray(y == np.arange(classes), dtype=np.float64)


def on_simplex(q: Array, theta: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return which rows of q are probabilities, up to the rounding of theta = q - e_y."""
    return np.asarray(np.all(q >= -1e-15, axis=1) & (np.abs(np.sum(theta, axis=1)) <= 1e-12))
