"""Sums over blocks of rows from which every metric follows, weights respected."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Final, Protocol, Self

import numpy as np

from lineal import _core
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import Added, dataclass
from lineal.metrics import metric

TWO_THREAD_SCORES: Final = 50_000
"""From this many scores on, those of the two classes are sorted in two threads."""


def _ranked(score: Array, *weights: Array) -> list[Array]:
    """Return sums of weights over the rows of every different score, the lowest score first."""
    sorted_ = bool(np.all(score[1:] >= score[:-1]))  # as they are where many weights are tried on the same rows
    order = slice(None) if sorted_ else np.argsort(score)
    values = score[order]
    new = (values[1:] != values[:-1]) & ~np.isnan(values[:-1])  # what is no number ties with its like
    if new.all():
        return [weight[order] for weight in weights]
    starts = np.flatnonzero(np.concatenate([[True], new]))
    return [np.add.reduceat(weight[order], starts) for weight in weights]


def _ranks(scored: Sequence[tuple[Index | Array, Array, Array | None]]) -> tuple[float, float]:
    """Return auc and average precision of rows of two classes: their classes, scores and weights (None: all one)."""
    y, score = (np.concatenate(part) if len(part) > 1 else part[0] for part in list(zip(*scored, strict=True))[:2])
    if all(s is None for _, _, s in scored):
        first = y == 1
        if len(score) < TWO_THREAD_SCORES:
            ones, zeros = _sorted(score, first), _sorted(score, ~first)
        else:
            with ThreadPoolExecutor(1) as beside:
                later = beside.submit(_sorted, score, first)
                zeros = _sorted(score, ~first)
                ones = later.result()
        if not (np.isnan(ones[-1:]).any() or np.isnan(zeros[-1:]).any()):
            pairs, shares = _core.ranks(ones, zeros)
            both = float(len(ones)) * float(len(zeros))
            return pairs / both if both else math.nan, shares / len(ones) if len(ones) else math.nan
    s = np.concatenate([np.ones(len(values)) if s is None else s for _, values, s in scored])
    ones = s * y  # two classes: y is 0 or 1
    ranked = _ranked(score, ones, s - ones)
    return _auc(*ranked), _average_precision(*ranked)


def _sorted(score: Array, chosen: Mask) -> Array:
    ordered = score[chosen]
    ordered.sort()  # where it lies
    return ordered


def _auc(ones: Array, zeros: Array) -> float:
    """Return the chance that a row of class 1 scores above one of class 0, a tie counting one half; NaN without both."""
    below = np.cumsum(zeros) - zeros
    pairs = np.sum(ones) * np.sum(zeros)
    return float(np.sum(ones * (below + zeros / 2)) / pairs) if pairs > 0 else math.nan


def _average_precision(ones: Array, others: Array) -> float:
    """Return the mean, over the rows of class 1, of the share of class 1 among the rows that score at least as high."""
    ones, others = ones[::-1], others[::-1]
    total = float(np.sum(ones))
    # where nothing is above, nothing is hit either
    share = np.cumsum(ones) / np.maximum(np.cumsum(ones + others), np.finfo(float).tiny)
    return float(np.sum(ones * share) / total) if total > 0 else math.nan


class Figures(Protocol):
    """Addable sums from which the metrics of any number of blocks follow."""

    def __add__(self, other: Self, /) -> Self:
        """Return the sums of both sets of rows."""

    def figures(self) -> dict[str, float]:
        """Return the metrics by name."""


@dataclass(frozen=True)
class NumberFigures:
    """Sums for rmse, mae and r2, over one or several number targets (averaged over targets).

    >>> whole = NumberFigures.of(np.array([[1.0], [2.0]]), np.array([[1.0], [4.0]]), np.ones(2))
    >>> whole.figures()["mae"], whole.rows
    (1.0, 2)
    """

    rows: int
    weight: float
    squares: Array
    absolutes: Array
    mean: Array
    scatter: Array
    loss: float | None = None
    scored: tuple[tuple[Array, Array, Array], ...] = ()

    @staticmethod
    def of(
        y: Array, predicted: Array, s: Array, losses: Array | None = None, *, closely: bool = False
    ) -> NumberFigures:
        """Return the sums of some rows: ``y`` and ``predicted`` are ``(n, targets)``, ``losses`` is ``(n,)``.

        ``closely`` keeps the rows for figures that rank them.
        """
        error, total = y - predicted, float(np.sum(s))
        mean = _sums(s, y) / total if total > 0 else np.zeros(y.shape[1])
        return NumberFigures(
            rows=int(np.count_nonzero(s)),
            weight=total,
            squares=_sums(s, error**2),
            absolutes=_sums(s, np.abs(error)),
            mean=mean,
            scatter=_sums(s, (y - mean) ** 2),
            loss=_sum(losses, s),
            scored=((y, predicted, s),) if closely else (),
        )

    def __add__(self, other: NumberFigures) -> NumberFigures:
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        apart = other.mean - self.mean
        return NumberFigures(
            self.rows + other.rows,
            weight,
            self.squares + other.squares,
            self.absolutes + other.absolutes,
            self.mean + share * apart,
            self.scatter + other.scatter + self.weight * share * apart**2,
            _both(self.loss, other.loss),
            self.scored + other.scored,
        )

    def ranked(self, figure: Callable[[Array, Array, Array], float]) -> float:
        """Return a figure of targets, predictions and weights of all rows, averaged over targets."""
        y, predicted, s = (np.concatenate(parts) for parts in zip(*self.scored, strict=True))
        there = s > 0.0
        return float(np.mean([figure(y[there, k], predicted[there, k], s[there]) for k in range(y.shape[1])]))

    def figures(self) -> dict[str, float]:
        """Return every metric of numbers that the sums tell, by name."""
        metrics = [one for one in metric.ALL if one.of_numbers and one.available(self)]
        if self.weight <= 0:
            return {one.name: math.nan for one in metrics if not one.needs}
        return {one.name: one.value(self) for one in metrics}


@dataclass(frozen=True)
class ClassFigures(Added):
    """Sums for accuracy and, where they have a meaning, log loss, brier and mean loss; for auc every score is kept.

    >>> ClassFigures.of(np.array([0, 1]), np.array([0, 0]), np.ones(2), 2).figures()["accuracy"]
    0.5
    """

    rows: int
    weights: Array
    right: Array
    surprise: float | None = None
    squares: float | None = None
    loss: float | None = None
    scored: tuple[tuple[Index | Array, Array, Array | None], ...] = ()
    spent: float | None = None
    taken: Array | None = None

    @staticmethod
    def of(
        y: Index,
        predicted: Index,
        s: Array,
        kinds: int,
        *,
        proba: Array | None = None,
        squares: Array | None = None,
        surprise: Array | None = None,
        losses: Array | None = None,
        score: Array | None = None,
        costs: Array | None = None,
        closely: bool = False,
    ) -> ClassFigures:
        """Return the sums of some rows.

        ``surprise`` is ``-log p`` of what happened, ``score`` ranks two classes, ``costs`` are those of the decisions;
        ``squares`` are those that ``proba`` says, where they are known already; ``closely`` counts what was predicted, too.
        """
        squares = squares if proba is None else squared(y, proba)
        return ClassFigures(
            rows=int(np.count_nonzero(s)),
            weights=_tally(y, s, kinds),
            right=_tally(y, s * (y == predicted), kinds),
            surprise=_sum(surprise, s),
            squares=None if squares is None else float(np.einsum("i,i->", s, squares)),
            loss=_sum(losses, s),
            scored=() if score is None else ((y, score, s),),
            spent=_sum(costs, s),
            taken=_tally(predicted, s, kinds) if closely else None,
        )

    @cached_property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(np.sum(self.weights))

    @cached_property
    def ranked(self) -> tuple[float, float]:
        """The auc and the average precision, which one sort of the scores tells."""
        return _ranks(self.scored)

    def figures(self) -> dict[str, float]:
        """Return every metric of classes that the sums tell, by name; those that sort all scores come last."""
        metrics = [one for one in metric.ALL if one.of_classes and one.available(self)]
        if self.weight <= 0:
            return {one.name: math.nan for one in metrics if not one.ranks}
        return {one.name: one.value(self) for one in sorted(metrics, key=lambda one: one.ranks)}


def _tally(index: Index, s: Array, kinds: int) -> Array:
    return np.bincount(index, s, minlength=kinds).astype(np.float64)


def _sum(values: Array | None, s: Array) -> float | None:
    """Return the weighted sum of what is there; 0 * inf is not 0, and a row of weight 0 is absent whatever its value."""
    if values is None:
        return None
    with np.errstate(invalid="ignore"):
        terms = s * values
    total = float(np.sum(terms))
    return total if math.isfinite(total) else float(np.sum(terms[s > 0]))


def _sums(s: Array, values: Array) -> Array:
    """Return s'values without BLAS, whose threads wait for each other on columns this thin."""
    return np.array([float(np.einsum("i,i->", s, column)) for column in values.T])


def _both(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def squared(y: Index, proba: Array) -> Array:
    """Return ``sum_k (p_k - [class is k])^2`` of every row, halved for two classes.

    >>> squared(np.array([0, 1]), np.array([[1.0, 0.0], [0.5, 0.5]]))
    array([0.  , 0.25])
    """
    if proba.shape[1] == 2:
        off: Array = np.where(y == 1, proba[:, 0], proba[:, 1])
        return off**2
    happened = np.zeros_like(proba)
    happened[np.arange(len(y)), y] = 1
    rows: Array = np.sum((proba - happened) ** 2, axis=1)
    return rows
