"""How well predictions put rows in order: Spearman's correlation, and DeltaAvg of quality estimation."""

from __future__ import annotations

import math

import numpy as np

from lineal.ground.arrays import Array


def spearman(y: Array, p: Array, s: Array) -> float:
    """Return the correlation of the ranks of y and p, equal values sharing their mean rank; NaN where either is constant.

    A row of weight 3 is three rows.

    >>> spearman(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 4.0, 3.0]), np.ones(4))
    0.8
    """
    a, b = _ranks(y, s), _ranks(p, s)
    total = float(np.sum(s))
    a, b = a - np.sum(s * a) / total, b - np.sum(s * b) / total
    spread = float(np.sum(s * a * a)) * float(np.sum(s * b * b))
    return float(np.sum(s * a * b)) / math.sqrt(spread) if spread > 0.0 else math.nan


def delta_avg(y: Array, p: Array, s: Array) -> float:
    """Return how much better than all rows those are that the predictions put first (Callison-Burch and others, WMT 2012).

    With rows sorted by p, the largest first, and V(S) the mean of y over S: for n parts of ``floor(|S| / n)`` rows (the last has
    the rest) ``D[n] = mean over k < n of V(first k parts) - V(S)``, and DeltaAvg is the mean of D[n] over n = 2 ... |S| / 2.
    Rows of one prediction count with their mean y. NaN for fewer than four rows.

    >>> delta_avg(np.array([4.0, 3.0, 2.0, 1.0]), np.array([9.0, 8.0, 7.0, 6.0]), np.ones(4))
    1.0
    """
    if not float(np.sum(s)) >= 4.0:
        return math.nan
    y = y - np.sum(s * y) / np.sum(s)  # so that V(S) is 0
    order = np.argsort(-p, kind="stable")
    values, weights = p[order], s[order]
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    ends = np.concatenate([[0.0], np.cumsum(np.add.reduceat(weights, starts))])
    sums = np.concatenate([[0.0], np.cumsum(np.add.reduceat(weights * y[order], starts))])
    whole = float(ends[-1])
    parts = np.arange(2, int(whole / 2) + 1)
    sizes = np.floor(whole / parts)
    total = 0.0
    for size in np.unique(sizes):  # many numbers of parts have parts of one size, and share their first ones
        some = parts[sizes == size]
        firsts = size * np.arange(1, some[-1])
        means = np.cumsum(np.interp(firsts, ends, sums) / firsts)
        total += float(np.sum(means[some - 2] / (some - 1)))
    return total / len(parts)


def _ranks(values: Array, s: Array) -> Array:
    """Return the rank of every row, from 1, equal values sharing the mean of theirs."""
    distinct, place = np.unique(values, return_inverse=True)
    weight = np.bincount(place, s, minlength=len(distinct))
    ranks: Array = (np.cumsum(weight) - weight + (weight + 1.0) / 2.0)[place]
    return ranks
