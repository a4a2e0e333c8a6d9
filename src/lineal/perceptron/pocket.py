"""The pocket: of all weights that a perceptron ever held, the first with the fewest mistakes on all rows (Gallant 1990).

Counting the mistakes of every state would cost a pass each. Most states cannot beat the record, which few rows show: those
mistaken most often are looked at first, and a state that mistakes as many of them as the record is out. Their scores under
all states of a stretch follow from the products x.x_u with the rows x_u of the updates: x.w_s = x.w_0 + sum of +-x.x_u. Only
what remains is counted on all rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.deadline import Deadline
from lineal.ground.records import dataclass
from lineal.losses.loss import chosen
from lineal.separation.gathering import matrix, stacked
from lineal.solvers.presentation import Window
from lineal.sources.rowwise import Weights
from lineal.sources.source import Block, Source

Log = npt.NDArray[np.int64]

STATES_MAX: Final = 256
"""States that are looked at together."""

STATES_MAX_NUMBERS: Final = 2**22
"""Numbers of the rows whose updates are held at once."""

SCORES_MAX: Final = 2**19
"""Scores that are computed at once: they stay in the cache."""

HARD_ROWS_FACTOR: Final = 1.5
"""How many times the record the rows that come first are expected to be mistaken for."""

COUNTS_BETWEEN_CHOICES: Final = 32
"""How many states are counted on all rows before the rows that come first are chosen again."""

DOUBTFUL: Final = 1e-9
"""A row counts as mistaken without a look at its very score if that is beyond this share of |x| |w|."""


class Pocket:
    """The best weights so far, and how many mistakes they make; ``coef`` is None before the first look.

    >>> from lineal.designs import as_design
    >>> from lineal.sources.memory import Memory
    >>> rows = Memory(as_design(np.array([[1.0], [2.0], [-1.0]]), intercept=False), np.array([1.0, 1.0, 1.0]))
    >>> pocket = Pocket(rows, 0, 1.0)
    >>> pocket.look(np.zeros((1, 1)), np.array([[0, 0, 1]]), Window(rows.held()))
    >>> pocket.coef.tolist(), pocket.fewest
    ([[1.0]], 1.0)
    """

    def __init__(self, source: Source, tie: int, rate: float, deadline: Deadline | None = None) -> None:
        """Judge weights on the rows of a source; ``rate`` multiplies updates."""
        self.source, self.tie, self.rate, self.deadline = source, tie, rate, deadline
        self.coef: Array | None = None
        self.fewest = math.inf
        self.weight: Array = np.concatenate([*source.collect(Weights()), np.empty(0)])
        self.hard: _Rows | None = None
        self.often, self.counted, self.since = np.zeros(len(self.weight)), 0, 0

    def room(self, row_entries: int) -> int:
        """Return how many updates are noted between two looks, where a row has that many numbers."""
        return max(1, min(STATES_MAX, STATES_MAX_NUMBERS // max(row_entries, 1)))

    def look(self, base: Array, log: Log, rows: Window) -> None:
        """Judge the weights ``base`` and those after each of some updates: (row of the window, rival, ...)."""
        if self.fewest == 0.0:
            return  # nothing can be better, and the first of equals stays
        stretch = _Stretch(base, log, rows, self.rate)
        if self.coef is None:
            self._count([(0, base)])
        fewest = np.zeros(len(log)) if self.hard is None else self.hard.surely(stretch)
        w, at = np.array(base), 0
        some: list[tuple[int, Array]] = []
        room = max(1, SCORES_MAX // max(1, len(self.weight) * base.shape[1]))
        for s in np.flatnonzero(fewest < self.fewest).tolist():
            if fewest[s] >= self.fewest:
                continue  # the record has fallen since
            if self.deadline is not None and self.deadline.passed:
                return
            stretch.move(w, at, s + 1)
            some.append((s, w.copy()))
            at = s + 1
            if len(some) == room:
                self._count(some)
                some = []
        self._count(some)
        if self.since >= COUNTS_BETWEEN_CHOICES or self.hard is None:
            self._choose()

    def _count(self, states: Sequence[tuple[int, Array]]) -> None:
        """Count what some states mistake, all rows looked at, and keep the first that is below the record."""
        if not states:
            return
        counts = np.zeros(len(states))
        outputs = states[0][1].shape[1]
        together = np.ascontiguousarray(np.hstack([w for _, w in states]))
        for block in self.source.blocks():
            eta, own = block.design.times(together), block.y[:, 0].astype(np.intp)
            weight = block.weights
            for k in range(len(states)):
                wrong = mistaken(eta[:, k * outputs : (k + 1) * outputs], own, self.tie)
                counts[k] += weight[wrong].sum()
                self.often[block.start : block.start + block.n_rows] += wrong
        self.counted, self.since = self.counted + len(states), self.since + len(states)
        best = int(np.argmin(counts))  # the first of equals
        if counts[best] < self.fewest:
            self.coef, self.fewest = states[best][1], float(counts[best])

    def _choose(self) -> None:
        """Gather the rows that come first: those mistaken most often, until they are expected to exceed the record."""
        share = self.often / self.counted
        order = np.argsort(-share, kind="stable")
        expected = np.cumsum((share * self.weight)[order])
        taken = np.sort(order[: int(np.searchsorted(expected, HARD_ROWS_FACTOR * self.fewest)) + 1])
        self.hard = _Rows.picked(self.source.blocks(), taken)
        self.often, self.counted, self.since = 0.5 * self.often, max(1, self.counted // 2), 0


class _Stretch:
    """States one after another: the base, and the weights after each update."""

    def __init__(self, base: Array, log: Log, rows: Window, rate: float) -> None:
        self.base, self.rate = base, rate
        self.x, own = _picked(rows, log[:, 0])
        self.several = base.shape[1] > 1
        self.up = own if self.several else np.zeros(len(log), np.intp)
        self.down = log[:, 1].astype(np.intp)
        self.sign = np.ones(len(log)) if self.several else np.where(own == 1, 1.0, -1.0)

    def move(self, w: Array, first: int, last: int) -> None:
        """Add some updates to weights, one after another as the perceptron did."""
        for u in range(first, last):
            step = self.rate * self.sign[u]
            if isinstance(self.x, np.ndarray):
                place, update = slice(None), step * self.x[u]
            else:
                stored = slice(self.x.indptr[u], self.x.indptr[u + 1])
                place, update = self.x.indices[stored], step * self.x.data[stored]
            w[place, self.up[u]] += update
            if self.several:
                w[place, self.down[u]] -= update

    @property
    def size(self) -> float:
        """At least the length of every weight vector, and of every update before it is added."""
        squares = self.x.multiply(self.x).sum() if hasattr(self.x, "multiply") else np.sum(self.x * self.x)
        return float(np.linalg.norm(self.base) + 2.0 * abs(self.rate) * math.sqrt(len(self.sign) * float(squares)))


@dataclass(frozen=True)
class _Rows:
    """Some rows as a matrix, with their classes, weights and lengths."""

    x: Any
    own: Index
    weight: Array
    length: Array

    @staticmethod
    def picked(blocks: Iterable[Block], places: Index) -> _Rows:
        """Return the rows at some places, in order."""
        parts, own, weight = [], [], []
        for block in blocks:
            at = places[(places >= block.start) & (places < block.start + block.n_rows)] - block.start
            if len(at):
                parts.append(matrix(block.design, at))
                own.append(block.y[at, 0].astype(np.intp))
                weight.append(block.weights[at])
        x = stacked(parts)
        squares = x.multiply(x).sum(axis=1) if hasattr(x, "multiply") else np.einsum("ij,ij->i", x, x)
        return _Rows(x, np.concatenate(own), np.concatenate(weight), np.sqrt(np.asarray(squares).ravel()))

    def surely(self, stretch: _Stretch) -> Array:
        """Return, for the state after each update, the weight of rows that it surely mistakes, whatever ties are."""
        total = np.zeros(len(stretch.sign))
        if not len(total):
            return total
        step = max(1, SCORES_MAX // max(1, len(total)))
        unsure = DOUBTFUL * stretch.size
        with np.errstate(all="ignore"):  # scores may overflow: then nothing is sure
            for first in range(0, len(self.own), step):
                some = slice(first, first + step)
                part = _Rows(self.x[some], self.own[some], self.weight[some], unsure * self.length[some])
                total += part._several(stretch) if stretch.several else part._two(stretch)
        return total

    def _products(self, stretch: _Stretch) -> Array:
        """Return how each update changes the score of each row, update by row."""
        products = stretch.x @ self.x.T
        products = np.asarray(products.toarray() if hasattr(products, "toarray") else products)
        products *= (stretch.rate * stretch.sign)[:, None]
        return products

    def _two(self, stretch: _Stretch) -> Array:
        scores = self._products(stretch)
        scores[0] += (self.x @ stretch.base)[:, 0]
        for u in range(1, len(scores)):  # numpy's cumulative sum goes down column by column, which is slow
            scores[u] += scores[u - 1]
        ones = self.own == 1
        mistaken = np.where(ones, scores < -self.length, scores > self.length)
        if np.all(self.weight == 1.0):
            return np.asarray(np.count_nonzero(mistaken, axis=1), dtype=np.float64)
        return np.asarray(mistaken @ self.weight)

    def _several(self, stretch: _Stretch) -> Array:
        products, scores = self._products(stretch), np.ascontiguousarray((self.x @ stretch.base).T)
        rows, total = np.arange(len(self.own)), np.empty(len(stretch.sign))
        for u, change in enumerate(products):
            scores[stretch.up[u]] += change
            scores[stretch.down[u]] -= change
            total[u] = self.weight[scores.max(axis=0) - scores[self.own, rows] > self.length].sum()
        return total


def mistaken(eta: Array, own: Index, tie: int) -> Mask:
    """Return which rows are mistaken; what is no number is."""
    wrong = chosen(eta, upward=tie > 0) != own
    if tie == 0 and eta.shape[1] == 1:
        wrong |= eta[:, 0] == 0.0
    elif tie == 0:
        mine = np.take_along_axis(eta, own[:, None], axis=1)
        wrong |= np.count_nonzero(eta >= mine, axis=1) > 1
    wrong |= ~np.all(np.isfinite(eta), axis=1)
    return np.asarray(wrong)


def _picked(rows: Window, places: Log) -> tuple[Any, Index]:
    """Return rows of a window as one matrix in the order asked for, and their classes."""
    distinct, back = np.unique(places, return_inverse=True)
    parts: list[Any] = []
    own: list[Index] = []
    first = 0
    for block in rows.blocks:
        at = distinct[(distinct >= first) & (distinct < first + block.n_rows)] - first
        first += block.n_rows
        if len(at) or not parts:
            parts.append(matrix(block.design, at.astype(np.intp)))
            own.append(block.y[at, 0].astype(np.intp))
    return stacked(parts)[back], np.concatenate(own)[back]
