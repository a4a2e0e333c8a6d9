"""The perceptron's criterion: how far a mistaken score is on the wrong side."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.hinge import sides
from lineal.losses.loss import Kink, Loss, Targets
from lineal.losses.sparsemax import hot, on_simplex


@dataclass(frozen=True)
class Perceptron(Loss):
    """``loss = max_k eta_k - eta_y``; with one output (two classes) ``max(-z, 0)``, z = eta for class 1, -eta for class 0.

    ``tie`` says what a score of 0, or a shared best one, is: 1 the later class, -1 the earlier one, 0 a mistake while
    training and the earlier class otherwise.

    >>> Perceptron(1).value(np.array([[1.0], [0.0]]), np.array([[0.25], [0.25]]))
    array([0.  , 0.25])
    >>> Perceptron(3).value(np.array([[2.0]]), np.array([[0.0, 1.5, 1.0]]))
    array([0.5])
    """

    scores: int
    tie: float = 0.0
    name: ClassVar[str] = "perceptron"
    targets: ClassVar[Targets] = "classes"
    outputs_field: ClassVar[str | None] = "scores"
    models: ClassVar[tuple[str, ...]] = ("perceptron", "perceptron:VARIANT")
    smooth: ClassVar[bool] = False
    curvature_bound: ClassVar[float] = 0.0
    dual_margin: ClassVar[float] = 0.0
    decides: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.tie not in (-1.0, 0.0, 1.0):
            raise InputError(f"the tie of perceptron loss is {self.tie}; it must be 1, 0 or -1.")

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Return it for two classes, and for four of which ties go to the later one."""
        return cls(1), cls(4, 1.0)

    @classmethod
    def outputs_for(cls, classes: int) -> int:
        """Return one score for two classes, one for each of several."""
        return 1 if classes == 2 else classes

    @property
    def upward(self) -> bool:
        """Whether ties go to the later class."""
        return self.tie > 0.0

    @property
    def coupled(self) -> bool:  # type: ignore[override]
        """Whether there are several scores."""
        return self.scores > 1

    def check(self, y: Array) -> None:
        """Refuse anything but class numbers."""
        if y.shape[1] != 1 or not np.all((y >= 0) & (y < max(self.scores, 2)) & (y == np.floor(y))):
            raise InputError(f"perceptron loss needs class numbers 0 to {max(self.scores, 2) - 1} as targets.")

    def value(self, y: Array, eta: Array) -> Array:
        """Return by how much the best score exceeds that of the class."""
        if self.scores == 1:
            return np.asarray(np.maximum(-sides(y) * eta, 0.0)[:, 0])
        own = np.take_along_axis(eta, y.astype(np.intp), axis=1)
        return np.asarray(np.max(eta - own, axis=1))

    def slope(self, y: Array, eta: Array) -> Array:
        """Return e_k - e_y, k the class of the best score (y itself where it shares it)."""
        if self.scores == 1:
            side = sides(y)
            return np.where(side * eta < 0.0, -side, 0.0)
        own = np.take_along_axis(eta, y.astype(np.intp), axis=1)
        best = np.where(np.max(eta, axis=1, keepdims=True) > own, np.argmax(eta, axis=1)[:, None], y)
        return hot(best, self.scores) - hot(y, self.scores)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 0: all the bending is in the corners."""
        return np.zeros_like(eta) if self.scores == 1 else np.zeros((*eta.shape, self.scores))

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return 0 where theta + e_y is on the simplex (one output: -theta for class 1, theta for class 0, in [0, 1])."""
        return np.where(self._inside(y, theta), 0.0, np.inf)

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return sum_k q_k (max_j eta_j - eta_k), q = theta + e_y; one output: u max(z, 0) + (1 - u) max(-z, 0)."""
        if self.scores == 1:
            z, u = sides(y) * eta, -sides(y) * theta
            terms = (u * np.maximum(z, 0.0) + (1.0 - u) * np.maximum(-z, 0.0))[:, 0]
        else:
            q = np.maximum(theta + hot(y, self.scores), 0.0)
            terms = np.sum(q * (np.max(eta, axis=1, keepdims=True) - eta), axis=1)
        return np.where(self._inside(y, theta), terms, np.inf)

    def box(self, y: Array) -> tuple[Array, Array] | None:
        """Return [-1, 0] for class 1, [0, 1] for class 0; none for several scores."""
        side = sides(y)
        return (np.minimum(-side, 0.0), np.maximum(-side, 0.0)) if self.scores == 1 else None

    def kinks(self, y: Array) -> list[Kink]:
        """Return the corner at 0 of one score."""
        box = self.box(y)
        return [] if box is None else [Kink(np.zeros_like(y), *box)]

    def mean(self, eta: Array) -> Array:
        """Return the class the scores speak for, 0 or 1, or a row of zeros and a one."""
        if self.scores == 1:
            return ((eta >= 0.0) if self.upward else (eta > 0.0)).astype(np.float64)
        best = self.scores - 1 - np.argmax(eta[:, ::-1], axis=1) if self.upward else np.argmax(eta, axis=1)
        return hot(best[:, None].astype(np.float64), self.scores)

    def statistic(self, y: Array, weight: Array) -> Array:
        """Return the weight of each class, of the second one where there are two."""
        if self.scores == 1:
            return np.asarray(weight @ y)
        return np.bincount(y[:, 0].astype(np.intp), weights=weight, minlength=self.scores).astype(np.float64)

    def constant(self, mean: Array) -> Array:
        """Return zero scores, which cost nothing."""
        return np.zeros_like(mean)

    def procedure(self) -> str:
        """Return what a perceptron does."""
        tie = {1.0: "the later class", -1.0: "the earlier class", 0.0: "a mistake"}[self.tie]
        return f"a mistaken row is added to the weights of its class; a score of 0 is {tie}"

    def _inside(self, y: Array, theta: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        if self.scores == 1:
            u = -sides(y) * theta
            return np.asarray(np.all((u >= 0.0) & (u <= 1.0), axis=1))
        return on_simplex(theta + hot(y, self.scores), theta)
