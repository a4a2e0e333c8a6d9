"""One machine for each pair of classes: their rows, their votes, and their coefficients as scikit-learn lays them out."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lineal.estimators.labels import Codes

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


class Pair(NamedTuple):
    """Two classes, the rows of either with a weight, and which of them are of the second (1) or the first (0)."""

    first: int
    second: int
    rows: Index
    y: Array


class Layout(NamedTuple):
    """Support vectors by class; ``dual``, (classes - 1, vectors), and ``machines``, (pairs, vectors), their coefficients."""

    support: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    dual: Array
    machines: Array


def pairs_of(codes: Codes, weight: Array, classes: int) -> list[Pair]:
    """Return every pair of classes in the order (0, 1), (0, 2), ..., (1, 2), ...

    >>> [(p.first, p.second, p.rows.tolist()) for p in pairs_of(np.array([0, 1, 2]), np.ones(3), 3)]
    [(0, 1, [0, 1]), (0, 2, [0, 2]), (1, 2, [1, 2])]
    """
    made = []
    for first, second in combinations(range(classes), 2):
        rows = np.flatnonzero(((codes == first) | (codes == second)) & (weight > 0.0))
        made.append(Pair(first, second, rows, (codes[rows] == second).astype(np.float64)))
    return made


def laid_out(codes: Codes, pairs: list[Pair], coefs: list[Array], classes: int) -> Layout:
    """Return the coefficients of all machines, as scikit-learn lays them out.

    A support vector is one of any machine; they stand class by class. Row ``k`` of ``dual`` holds for a vector of class i its
    coefficient against the k-th of the other classes. Several machines have positive scores for the first class of their pair.
    """
    sign = 1.0 if len(pairs) == 1 else -1.0
    table = np.zeros((len(pairs), len(codes)))
    for row, (pair, coef) in enumerate(zip(pairs, coefs, strict=True)):
        table[row, pair.rows] = sign * coef
    used = np.flatnonzero(np.any(table != 0.0, axis=0))
    support = used[np.argsort(codes[used], kind="stable")]
    machines = np.ascontiguousarray(table[:, support])
    own = codes[support]
    dual = np.zeros((classes - 1, len(support)))
    for row, pair in enumerate(pairs):
        dual[pair.second - 1, own == pair.first] = machines[row, own == pair.first]
        dual[pair.first, own == pair.second] = machines[row, own == pair.second]
    counts = np.bincount(own, minlength=classes).astype(np.int32)
    return Layout(support.astype(np.int32), counts, dual, machines)


def voted(scores: Array, classes: int) -> Array:
    """Return how many machines vote for each class; a score of 0 is a vote for the second class of its pair.

    >>> voted(np.array([[1.0, -2.0, 0.0]]), 3)
    array([[1., 0., 2.]])
    """
    votes = np.zeros((len(scores), classes))
    for row, (first, second) in enumerate(combinations(range(classes), 2)):
        won = scores[:, row] > 0.0
        votes[won, first] += 1.0
        votes[~won, second] += 1.0
    return votes


def shared_scores(scores: Array, classes: int) -> Array:
    """Return a score for each class: its votes, and the sum of its machines' scores squeezed into (-1/3, 1/3)."""
    sums = np.zeros((len(scores), classes))
    votes = np.zeros((len(scores), classes))
    for row, (first, second) in enumerate(combinations(range(classes), 2)):
        sums[:, first] += scores[:, row]
        sums[:, second] -= scores[:, row]
        lost = scores[:, row] < 0.0
        votes[lost, second] += 1.0
        votes[~lost, first] += 1.0
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))
