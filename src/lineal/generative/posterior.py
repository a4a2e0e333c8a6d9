"""Bayes' theorem in logarithms: ``p(k | x) = p(k) p(x | k) / sum_l p(l) p(x | l)``.

Counts without smoothing make probabilities of zero. They are read as the limit of ``alpha -> 0``: of every class it is known
how often a row asks for what its rows never had (``misses``), each time a factor of ``alpha``, and the logarithm of the other
factors. The classes with the fewest misses share the probability, as their other factors say; others have none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


def in_range(scores: Callable[[Any], Any], x: Array) -> Array:
    """Return the scores of rows, of which each class has one.

    Where rows are so far away that a square is no double, they are found in a wider format, and given beside the largest of
    the row, to the ends of doubles.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        values = scores(x)
        far = ~np.isfinite(values).all(axis=1)
        if far.any():
            wide = scores(x[far].astype(np.longdouble))
            least = -np.finfo(np.float64).max
            values[far] = np.maximum(wide - np.max(wide, axis=1, keepdims=True), least)
    return np.asarray(values, dtype=np.float64)


@dataclass(frozen=True)
class Joint:
    """``score`` (n, K) is ``log p(k) + log p(x | k)`` without the factors of zero, of which ``misses`` (n, K) are the number.

    >>> joint = Joint(np.array([[-1.0, -9.0]]), np.array([[1.0, 0.0]]))
    >>> joint.log_joint().tolist(), joint.best().tolist(), joint.probabilities().tolist()
    ([[-inf, -9.0]], [1], [[0.0, 1.0]])
    """

    score: Array
    misses: Array | None = None

    def log_joint(self) -> Array:
        """Return ``log p(k, x)``, minus infinity where a factor is zero, plus infinity where its inverse is."""
        if self.misses is None:
            return self.score
        return np.where(self.misses > 0.0, -np.inf, np.where(self.misses < 0.0, np.inf, self.score))

    def ranked(self) -> Array:
        """Return the scores that share the probability; those of all other classes are minus infinity."""
        if self.misses is None:
            return self.score
        possible = np.where(
            np.isneginf(self.score), np.inf, self.misses
        )  # a class of prior zero is out of the question
        return np.where(possible > np.min(possible, axis=1, keepdims=True), -np.inf, self.score)

    def best(self) -> npt.NDArray[np.intp]:
        """Return the class of the largest probability, of equal ones the first."""
        return np.asarray(np.argmax(self.ranked(), axis=1))

    def log_probabilities(self) -> Array:
        """Return ``log p(k | x)``."""
        scores = self.ranked()
        top = np.max(scores, axis=1, keepdims=True)
        below = scores - top
        with np.errstate(divide="ignore"):
            return np.asarray(below - np.log(np.sum(np.exp(below), axis=1, keepdims=True)))

    def probabilities(self) -> Array:
        """Return ``p(k | x)``."""
        return np.exp(self.log_probabilities())
