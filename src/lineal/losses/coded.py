"""Several binary scores read as a class: the answer of a committee of halfspaces, by its code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss, Targets

MARGIN_LOSSES: Final[Mapping[str, Callable[[Array], Array]]] = {
    "logistic": lambda z: np.logaddexp(0.0, -z),
    "hinge": lambda z: np.maximum(1.0 - z, 0.0),
    "squared-hinge": lambda z: np.maximum(1.0 - z, 0.0) ** 2 / 2.0,
}
"""Losses of a margin by which a word may be chosen."""


@dataclass(frozen=True)
class Coded(Loss):
    """``loss = 1`` where the class decoded from the scores is not y: the mistakes of a committee.

    ``words`` holds one code word per class (-1, 0, 1; one entry per score). With ``summed`` (one-vs-rest) the class of the
    largest score wins. ``by`` "distance" takes the word that most signs of the scores agree with; the name of a loss takes the
    word with the least sum of it over all questions, ``sum_b loss(word_b eta_b)``, as members were fitted (Allwein, Schapire,
    Singer 2000). Ties go to the larger sum of scores, then to the first class. A score of exactly 0 is a no.

    >>> Coded(((1, -1, -1), (-1, 1, -1), (-1, -1, 1)), summed=True).decide(np.array([[0.5, 2.0, -1.0]]))
    array([1])
    """

    name: ClassVar[str] = "coded"
    targets: ClassVar[Targets] = "classes"
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    decides: ClassVar[bool] = True

    words: tuple[tuple[int, ...], ...]
    summed: bool = False
    by: str = "distance"

    @cached_property
    def matrix(self) -> Array:
        """The code as an array, one row per class."""
        return np.array(self.words, dtype=np.float64)

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Return none: a committee's file holds the code apart from the losses of its members."""
        return ()

    @property
    def outputs(self) -> int:
        """One score per question."""
        return len(self.words[0])

    def decide(self, eta: Array) -> Index:
        """Return the class of each row of scores."""
        agreement, sums = self._support(eta)
        best = agreement == agreement.max(axis=1, keepdims=True)
        winner: Index = np.argmax(np.where(best, sums, -np.inf), axis=1)
        return winner

    def ties(self, eta: Array) -> Mask:
        """Return which rows had to be decided between classes that the answers support equally."""
        agreement, _ = self._support(eta)
        top = agreement.max(axis=1, keepdims=True)
        return np.asarray((agreement == top).sum(axis=1) > 1)

    def _support(self, eta: Array) -> tuple[Array, Array]:
        """Return how far the answers agree with each class's word, and the sum of the scores for it."""
        if self.summed:
            return eta, eta
        if self.by != "distance":
            return self._fits(np.nan_to_num(eta)), np.nan_to_num(eta) @ self.matrix.T
        return np.where(eta > 0.0, 1.0, -1.0) @ self.matrix.T, np.nan_to_num(eta) @ self.matrix.T

    def _fits(self, eta: Array) -> Array:
        """Return minus the loss of each class's word; where a class is not asked about, that of a score of 0."""
        loss = MARGIN_LOSSES[self.by]
        words, nothing = self.matrix, float(loss(np.zeros(1))[0])
        lost = loss(eta) @ (words > 0.0).T + loss(-eta) @ (words < 0.0).T + nothing * (words == 0.0).sum(axis=1)
        return -np.asarray(lost)

    def check(self, y: Array) -> None:
        """Refuse anything but class numbers."""
        if y.shape[1] != 1 or not np.all((y >= 0) & (y < len(self.words)) & (y == np.floor(y))):
            raise InputError(f"a code of {len(self.words)} classes needs class numbers as targets.")

    def value(self, y: Array, eta: Array) -> Array:
        """Return 1 for a mistake."""
        return np.asarray((self.decide(eta) != y[:, 0]).astype(np.float64))

    def slope(self, y: Array, eta: Array) -> Array:
        """Return 0: it is flat but for the jumps."""
        return np.zeros_like(eta)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return 0."""
        return np.zeros_like(eta)

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return 0 at theta = 0, infinity elsewhere: the loss is bounded."""
        return np.asarray(np.where((theta == 0.0).all(axis=1), 0.0, np.inf))

    def mean(self, eta: Array) -> Array:
        """Return 1 for the decoded class, 0 for the others; there are no probabilities."""
        return np.eye(len(self.words))[self.decide(eta)]

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return loss(y, eta) + loss*(y, theta) - theta.eta."""
        return self.value(y, eta) + self.conjugate(y, theta)

    def statistic(self, y: Array, weight: Array) -> Array:
        """Return the weight of every class, in the order of the classes."""
        return np.bincount(y[:, 0].astype(np.intp), weight, minlength=len(self.words)).astype(np.float64)

    def constant(self, mean: Array) -> Array:
        """Return the scores that spell the word of the most frequent class."""
        return np.asarray(self.matrix[int(np.argmax(mean))])
