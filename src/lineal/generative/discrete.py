"""From counts to log-probabilities, with Laplace's or Lidstone's smoothing.

``alpha`` is what every count gets in advance: 1 is Laplace's rule of succession, 0 the maximum likelihood. What a class then
never had has probability zero, ``log = -inf``: ``limit`` holds the rest of such a logarithm, less ``log alpha``, as alpha
goes to 0. A class without any count says nothing: everything is as probable as everything else.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

Smoothing = float | Array
"""One number for every count, or one for each column."""


@dataclass(frozen=True)
class LogProbabilities:
    """``log`` (K, p), and what of it is left without factors of zero; ``zero`` says where they are, None if nowhere."""

    log: Array
    limit: Array
    zero: Array | None

    @staticmethod
    def of(count: Array, total: Array, alpha: Smoothing, whole: Array) -> LogProbabilities:
        """Return ``log (count + alpha) / (total + whole)``, shape (K, p); totals and the sums of alpha are (K, 1).

        >>> LogProbabilities.of(np.array([[3.0, 1.0]]), np.array([[4.0]]), 1.0, np.array([[2.0]])).log.round(4).tolist()
        [[-0.4055, -1.0986]]
        """
        above, below = count + alpha, total + whole
        if np.min(above, initial=np.inf) > 0.0 and np.min(below, initial=np.inf) > 0.0:
            np.log(above, out=above)
            above -= np.log(below)
            return LogProbabilities(above, above, None)
        below = np.broadcast_to(below, count.shape)
        silent = below == 0.0
        above, below = np.where(silent, 1.0, above), np.where(silent, float(count.shape[1]), below)
        empty = above == 0.0
        limit = np.log(np.where(empty, 1.0, above)) - np.log(below)
        if not empty.any():
            return LogProbabilities(limit, limit, None)
        return LogProbabilities(np.where(empty, -np.inf, limit), limit, empty.astype(np.float64))


def multinomial(count: Array, alpha: Smoothing) -> LogProbabilities:
    """Return ``log p(word | class)`` of words that are drawn one after another.

    >>> np.exp(multinomial(np.array([[2.0, 0.0], [0.0, 0.0]]), 1.0).log)
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    total = np.sum(count, axis=1, keepdims=True)
    return LogProbabilities.of(count, total, alpha, np.sum(np.broadcast_to(alpha, count.shape), axis=1, keepdims=True))


def bernoulli(count: Array, total: Array, alpha: Smoothing) -> tuple[LogProbabilities, LogProbabilities]:
    """Return ``log p(word is there | class)`` and ``log p(it is not | class)``, for ``total`` (K,) rows of each class.

    >>> there, absent = bernoulli(np.array([[1.0]]), np.array([3.0]), 1.0)
    >>> np.exp(there.log).round(12).tolist(), np.exp(absent.log).round(12).tolist()
    ([[0.4]], [[0.6]])
    """
    rows = total[:, None]
    whole = np.broadcast_to(2.0 * np.asarray(alpha), count.shape)
    pairs = [LogProbabilities.of(part, rows, alpha, whole) for part in (count, rows - count)]
    silent = np.broadcast_to(rows + whole == 0.0, count.shape)  # of two that can be, not of p words
    return tuple(_half(pair, silent) for pair in pairs)  # type: ignore[return-value]


def _half(pair: LogProbabilities, silent: npt.NDArray[np.bool_]) -> LogProbabilities:
    half = np.log(0.5)
    return LogProbabilities(np.where(silent, half, pair.log), np.where(silent, half, pair.limit), pair.zero)


def complement(count: Array, alpha: Smoothing, *, norm: bool) -> LogProbabilities:
    """Return the weights of Rennie et al. (2003): minus the log-probability of a word in all other classes.

    With ``norm`` they are divided by their sum. A word that no other class has votes for its class without limit where alpha
    is 0: such weights are plus infinity.
    """
    rest = np.sum(count, axis=0) - count
    shares = multinomial(rest, alpha)
    if norm:
        whole = np.sum(shares.log, axis=1, keepdims=True)
        scaled = shares.log / np.where(whole == 0.0, 1.0, whole) if shares.zero is None else _shares(shares)
        return LogProbabilities(scaled, scaled, None)
    return LogProbabilities(-shares.log, -shares.limit, None if shares.zero is None else -shares.zero)


def _shares(logs: LogProbabilities) -> Array:
    """Return the limit of the weights by their sum: only those without bound have a share."""
    assert logs.zero is not None
    number = np.sum(logs.zero, axis=1, keepdims=True)
    whole = np.sum(logs.log, axis=1, keepdims=True)
    finite = number == 0.0
    return np.where(
        finite, logs.limit / np.where(finite & (whole != 0.0), whole, 1.0), logs.zero / np.maximum(number, 1.0)
    )


def log_prior(weight: Array) -> Array:
    """Return ``log p(k)`` from the weights of the classes; a class without rows has minus infinity.

    >>> np.exp(log_prior(np.array([1.0, 3.0])))
    array([0.25, 0.75])
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weight) - np.log(np.sum(weight)))
