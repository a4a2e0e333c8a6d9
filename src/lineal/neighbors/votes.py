"""What the nearest rows say: the shares of classes, or the mean of a target, weighted by distance or not.

``share_c(q) = sum over the k nearest i of w_i [y_i = c] / sum w_i``, ``mean(q) = sum w_i y_i / sum w_i`` with ``w_i = 1`` or
``w_i = 1 / distance``. Where neighbors are at distance zero, they alone count, each with weight 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


def inverse_distances(distances: Array) -> Array:
    """Return ``1 / distance``, scaled row by row so that it never overflows; neighbors at distance zero alone count.

    >>> inverse_distances(np.array([[0.0, 0.0, 3.0], [1.0, 2.0, 4.0]])).tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.5, 0.25]]
    """
    nearest = distances.min(axis=1, keepdims=True, initial=np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(np.isinf(distances), 0.0, nearest / distances)
    zero = distances == 0.0
    return np.asarray(np.where(zero.any(axis=1, keepdims=True), zero.astype(np.float64), weights))


def shares(codes: Numbers, classes: int, weights: Array | None) -> Array:
    """Return the share of every class among neighbors, whose class numbers are ``codes``; each row sums to 1.

    Classes are counted in the order of the neighbors; where no weight is above zero, every class has the same share.

    >>> shares(np.array([[0, 2, 2]]), 3, None).tolist()
    [[0.3333333333333333, 0.0, 0.6666666666666666]]
    """
    votes = np.zeros((len(codes), classes))
    rows = np.arange(len(codes))
    for place in range(codes.shape[1]):
        votes[rows, codes[:, place]] += 1.0 if weights is None else weights[:, place]
    total = votes.sum(axis=1, keepdims=True)
    return np.where(total == 0.0, 1.0 / classes, votes / np.where(total == 0.0, 1.0, total))


def means(targets: Array, weights: Array | None) -> Array:
    """Return the mean of the neighbors' targets, ``(queries, k, outputs)``, in the order of the neighbors.

    >>> means(np.array([[[1.0], [4.0]]]), np.array([[3.0, 1.0]])).tolist()
    [[1.75]]
    """
    totals = np.zeros((targets.shape[0], targets.shape[2]))
    total = np.zeros((targets.shape[0], 1))
    for place in range(targets.shape[1]):
        weight = 1.0 if weights is None else weights[:, place, None]
        totals += weight * targets[:, place]
        total += weight
    with np.errstate(divide="ignore", invalid="ignore"):
        return totals / total


def weights_of(rule: str | Callable[[Array], Any] | None, distances: Array) -> Array | None:
    """Return the weights of neighbors by a rule: "uniform" (None), "distance", or a function of the distances.

    >>> weights_of("uniform", np.ones((1, 2))) is None
    True
    """
    if rule is None or rule == "uniform":
        return None
    if callable(rule):
        return np.asarray(rule(distances), dtype=np.float64)
    return inverse_distances(distances)
