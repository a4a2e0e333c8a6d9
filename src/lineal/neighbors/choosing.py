"""How many neighbors: by exact leave-one-out, every training row predicted from the nearest others.

One search finds the nearest others of every row; the votes of the first k of them are sums that grow with k, so that all k
are judged by one pass over the neighbors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.neighbors.index import Neighbors, Numbers
from lineal.neighbors.votes import weights_of

MOST: Final = 256
"""No more neighbors than this are tried."""


@dataclass(frozen=True)
class LeaveOneOut:
    """What was tried, from k = 1 on: ``losses[k - 1]`` are the mistakes, or the sum of squared errors; ``k`` is the best.

    Of equally good k the smallest is taken.
    """

    k: int
    losses: tuple[float, ...]
    measure: str

    def words(self) -> str:
        """Return how k was found, in a sentence's part."""
        best = self.losses[self.k - 1]
        shown = f"{best:.0f}" if self.measure == "mistakes" else f"{best:.6g}"
        return (
            f"k = {self.k} of 1 to {len(self.losses)} has the least {self.measure} when each row is left out, {shown}"
        )


def most_tried(rows: int) -> int:
    """Return the largest k that is tried: twice the root of the rows, at least 32, at most 256, and one row is left out.

    >>> most_tried(20), most_tried(400), most_tried(10**6)
    (19, 40, 256)
    """
    return min(rows - 1, max(32, math.ceil(2.0 * math.sqrt(rows))), MOST)


class Searched(Protocol):
    """Training rows that are searched."""

    rows: Any

    @property
    def count(self) -> int:
        """How many rows there are."""

    def nearest(self, asked: Any, k: int, own: Numbers | None = None) -> Neighbors:
        """Return the k nearest rows of every query, none of which finds its own row."""


def choose(
    index: Searched,
    targets: Array,
    classes: Sequence[int] | None,
    rule: str | Callable[[Array], Any] | None,
) -> LeaveOneOut:
    """Return the best k; ``targets`` are class numbers, of so many classes in every column, or numbers.

    Mistakes in several columns are counted together.

    >>> from lineal.neighbors.index import Index
    >>> from lineal.neighbors.metric import named
    >>> index = Index(np.array([[0.0], [1.0], [2.0], [9.0], [10.0]]), named("euclidean"))
    >>> choose(index, np.array([[0.0], [0.0], [0.0], [1.0], [1.0]]), [2], None).k
    1
    """
    n = index.count
    if n < 2:
        raise InputError("n_neighbors 'auto' leaves one row out, and n_samples = 1; give a number of neighbors.")
    most = most_tried(n)
    losses = np.zeros(most)
    step = max(1, 2**21 // most)
    for first in range(0, n, step):
        own = np.arange(first, min(first + step, n))
        neighbors = index.nearest(index.rows[own], most, own)
        if callable(rule):
            losses += _by_prefixes(neighbors, targets, own, classes, rule)
            continue
        weights = weights_of(rule, neighbors.distances)
        weights = np.ones(neighbors.distances.shape) if weights is None else weights
        losses += _by_sums(neighbors.rows, weights, targets, own, classes)
    measure = "mistakes" if classes is not None else "squared error"
    return LeaveOneOut(int(np.argmin(losses)) + 1, tuple(losses.tolist()), measure)


def _by_sums(rows: Numbers, weights: Array, targets: Array, own: Numbers, classes: Sequence[int] | None) -> Array:
    """Return what every k loses on some rows: votes of one more neighbor are added to those before."""
    if classes is None:
        return _squared_errors(rows, weights, targets, targets[own])
    losses = np.zeros(rows.shape[1])
    for column, count in enumerate(classes):
        codes = targets[:, column].astype(np.intp)
        losses += _mistakes(codes[rows], weights, codes[own], count)
    return losses


def _mistakes(codes: npt.NDArray[np.intp], weights: Array, truth: npt.NDArray[np.intp], classes: int) -> Array:
    """Return how many rows the first k neighbors get wrong, for every k."""
    losses, places, votes = np.zeros(codes.shape[1]), np.arange(len(codes)), np.zeros((len(codes), classes))
    for k in range(codes.shape[1]):
        votes[places, codes[:, k]] += weights[:, k]
        losses[k] = np.count_nonzero(votes.argmax(axis=1) != truth)
    return losses


def _squared_errors(rows: Numbers, weights: Array, targets: Array, truth: Array) -> Array:
    """Return the sum of squared errors of the mean of the first k neighbors, for every k."""
    losses, votes, total = np.zeros(rows.shape[1]), np.zeros(truth.shape), np.zeros((len(rows), 1))
    for k in range(rows.shape[1]):
        votes += weights[:, k, None] * targets[rows[:, k]]
        total += weights[:, k, None]
        losses[k] = np.sum((votes / total - truth) ** 2)
    return losses


def _by_prefixes(
    neighbors: Neighbors, targets: Array, own: Numbers, classes: Sequence[int] | None, rule: Callable[[Array], Any]
) -> Array:
    """Return the same where weights are a function of all distances of a row: k by k."""
    losses = np.zeros(neighbors.rows.shape[1])
    for k in range(1, len(losses) + 1):
        weights = np.asarray(rule(neighbors.distances[:, :k]), dtype=np.float64)
        losses[k - 1] = _by_sums(neighbors.rows[:, :k], weights, targets, own, classes)[-1]
    return losses
