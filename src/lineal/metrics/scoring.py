"""Measuring coefficients over a source: the task that turns blocks into figures."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import Final, cast

import numpy as np

from lineal import _core
from lineal.designs.center import scores
from lineal.designs.design import Design
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.metrics.decision import Rule
from lineal.metrics.metrics import ClassFigures, NumberFigures, squared
from lineal.sources.source import Block

CHUNK_ROWS: Final = 16384
"""Rows of number targets that are measured at a time."""


@dataclass(frozen=True)
class Score:
    """The task that measures coefficients over a source; without ``coef`` it measures the constant ``level`` alone.

    ``eta = level + (X - center) coef + offset``; ``classes`` says that the targets are class numbers; ``rule`` decides them.
    Of a model with a feature map ``through`` makes scores of a design and coefficients.
    ``closely`` asks for the figures that cost more: ranks of numbers, precision and recall of classes.
    """

    loss: Loss
    coef: Array | None
    classes: bool
    level: Array | None = None
    rule: Rule | None = None
    center: Array | None = None
    closely: bool = False
    through: Callable[[Design, Array], Array] | None = None

    def __call__(self, block: Block) -> NumberFigures | ClassFigures:
        """Return the figures of one block."""
        eta: Array | None = None
        if self.coef is not None:
            eta = self.scores(block.design, self.coef)
            if block.offset is not None:
                eta = eta + block.offset
            if self.level is not None:
                eta = eta + self.level
        if not self.classes:
            return self._numbers(block, eta)
        if eta is not None and block.weight is None and (quick := self._quick(block.y, eta)) is not None:
            return quick
        if eta is None:
            return self._constant(block.y, block.weight)
        return self.of(block.y, eta, np.ones(block.n_rows) if block.weight is None else block.weight)

    def scores(self, design: Design, coef: Array) -> Array:
        """Return the scores of a design, offsets left aside."""
        return scores(design, coef, self.center) if self.through is None else self.through(design, coef)

    def _quick(self, targets: Array, eta: Array) -> ClassFigures | None:
        """Return the figures of unweighted rows of two classes in one native pass; None where another way is needed."""
        if not self.loss.logit or self.rule is not None or targets.shape[1] > 1:
            return None
        y, score = np.ascontiguousarray(targets[:, 0]), np.ascontiguousarray(eta[:, 0])
        counted = _core.two_classes(y, score)
        if counted is None:
            return None
        surprise, squares, weights, right = counted
        sums = np.array(weights, dtype=np.float64), np.array(right, dtype=np.float64)
        taken = np.array([right[0] + weights[1] - right[1], right[1] + weights[0] - right[0]]) if self.closely else None
        return ClassFigures(len(y), *sums, surprise, squares, scored=((y, score, None),), taken=taken)

    def _numbers(self, block: Block, eta: Array | None) -> NumberFigures:
        """Return the figures of number targets, some rows at a time: those that a cache holds."""
        parts = []
        for start in range(0, max(block.n_rows, 1), CHUNK_ROWS):
            y = block.y[start : start + CHUNK_ROWS]
            s = np.ones(len(y)) if block.weight is None else block.weight[start : start + CHUNK_ROWS]
            if eta is None:
                score = np.zeros((len(y), self.loss.outputs))
                score = score if self.level is None else score + self.level
            else:
                score = eta[start : start + CHUNK_ROWS]
            parts.append(cast("NumberFigures", self.of(y, score, s)))
        return reduce(operator.add, parts)

    def _constant(self, targets: Array, weight: Array | None) -> ClassFigures:
        """Return the figures of one score for all rows: those of a class are then one row with their weight."""
        count = len(targets) if weight is None else int(np.count_nonzero(weight))
        if weight is None:
            s = _counts(targets[:, 0]).astype(np.float64)
        else:
            s = np.bincount(targets[:, 0].astype(np.intp), weight).astype(np.float64)
        targets = np.arange(len(s), dtype=np.float64)[:, None]
        eta = np.zeros((len(targets), self.loss.outputs))
        figures = self.of(targets, eta if self.level is None else eta + self.level, s)
        return replace(cast("ClassFigures", figures), rows=count)

    def of(self, targets: Array, eta: Array, s: Array) -> NumberFigures | ClassFigures:
        """Return the figures of rows with these targets, scores and weights."""
        return self.rows(targets, eta)(s)

    def rows(self, targets: Array, eta: Array) -> Callable[[Array], NumberFigures | ClassFigures]:
        """Return what tells the figures of rows with these targets and scores by their weights."""
        own = self.loss.figure == "mean_loss"  # otherwise rmse or log loss tells it already
        losses = self.loss.value(targets, eta) if self.classes or own else None
        if not self.classes:
            return partial(NumberFigures.of, targets, self.loss.mean(eta), losses=losses, closely=self.closely)
        y, proba, predicted = self.decided(targets, eta)
        return partial(
            ClassFigures.of,
            y,
            predicted,
            kinds=proba.shape[1],
            squares=None if self.loss.decides else squared(y, proba),
            surprise=None if own else losses,
            losses=losses if own else None,
            score=eta[:, 0] if eta.shape[1] == 1 else None,
            closely=self.closely,
            costs=None if self.rule is None or self.rule.given != "costs" else self.rule.costs[y, predicted],
        )

    def decided(self, targets: Array, eta: Array) -> tuple[Index, Array, Index]:
        """Return the class number of every row, the probability of every class, and the class decided for."""
        y, means = targets[:, 0].astype(np.intp), self.loss.mean(eta)
        two = means.shape[1] == 1
        proba = np.column_stack([1 - means, means]) if two else means
        predicted = self.loss.decide(eta)
        if self.rule is not None:
            predicted = self.rule.decide(proba, eta[:, 0] if self.rule.logit else None)
        return y, proba, predicted


def _counts(y: Array) -> Index:
    """Return how many rows each class has, some rows at a time: those that a cache holds."""
    counts = np.zeros(0, np.intp)
    for start in range(0, len(y), CHUNK_ROWS):
        more = np.bincount(y[start : start + CHUNK_ROWS].astype(np.intp), minlength=len(counts))
        more[: len(counts)] += counts
        counts = more
    return counts
