"""Measuring labels, of which a row has any number: the sums of each, and those of whole rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.designs.center import scores
from lineal.designs.design import Design
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.metrics import metric
from lineal.metrics.decision import Rule
from lineal.metrics.metrics import ClassFigures
from lineal.metrics.scoring import Score
from lineal.sources.source import Block

Answers = npt.NDArray[np.int64]


def decisions(loss: Loss, eta: Array, rule: Rule | None = None) -> Answers:
    """Return 1 where a label's score says yes and 0 where no, by a rule where there is one; of shares, where one is not zero.

    >>> from lineal.losses import Logistic
    >>> decisions(Logistic(), np.array([[0.5, -2.0]])).tolist()
    [[1, 0]]
    """
    if loss.coupled:
        return (loss.mean(eta) > 0.0).astype(np.int64)
    own = Score(loss, None, True, rule=rule)
    nothing = np.zeros((len(eta), 1))
    columns = [own.decided(nothing, eta[:, k : k + 1])[2] for k in range(eta.shape[1])]
    return np.column_stack(columns).astype(np.int64)


@dataclass(frozen=True)
class LabelFigures:
    """Sums over rows that may have any of several labels; of a row only the labels that are known count.

    ``each`` has the sums of every label; ``exact`` is the weight of rows whose labels are all right, ``overlap`` that times
    the F1 of the row's own labels. Figures of all labels are called micro where they count all cells at once, macro where
    they are the mean over the labels that occur or are predicted, samples where they are the mean over rows.
    """

    rows: int
    weight: float
    exact: float
    overlap: float
    each: tuple[ClassFigures, ...]

    def __add__(self, other: LabelFigures) -> LabelFigures:
        return LabelFigures(
            self.rows + other.rows,
            self.weight + other.weight,
            self.exact + other.exact,
            self.overlap + other.overlap,
            tuple(mine + its for mine, its in zip(self.each, other.each, strict=True)),
        )

    @cached_property
    def counts(self) -> tuple[Array, Array, Array]:
        """For every label how often it was rightly predicted, how often it was there, and how often it was predicted."""
        hits = np.array([one.right[1] for one in self.each])
        there = np.array([one.weights[1] for one in self.each])
        taken = np.array([np.nan if one.taken is None else one.taken[1] for one in self.each])
        return hits, there, taken

    @cached_property
    def cells(self) -> tuple[float, float]:
        """The weight of all known cells, and of those that are wrong."""
        known = math.fsum(one.weight for one in self.each)
        return known, known - math.fsum(float(np.sum(one.right)) for one in self.each)

    def figures(self) -> dict[str, float]:
        """Return every metric of labels that the sums tell, by name."""
        metrics = [one for one in metric.ALL if one.of_labels]
        if self.weight <= 0.0:
            return {one.name: math.nan for one in metrics}
        return {one.name: one.value(self) for one in metrics}

    def of_each(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the metrics of every label, and of all: their macro and micro averages."""
        lines: list[dict[str, Any]] = []
        for name, one in zip(names, self.each, strict=True):
            figures = {key: value if math.isfinite(value) else None for key, value in one.figures().items()}
            lines.append({"label": name, "rows": one.weight, "with": float(one.weights[1]), **figures})
        there, whole = float(np.sum(self.counts[1])), self.figures()
        for average in ("macro", "micro"):
            own = {figure: whole[f"{average}_{figure}"] for figure in ("precision", "recall", "f1")}
            lines.append({"label": None, "average": average, "rows": self.weight, "with": there, **own})
        return lines


@dataclass(frozen=True)
class LabelScore:
    """The task that measures coefficients, a column for each label, over a source; without ``coef`` the ``level`` alone.

    The targets are 1, 0, or NaN where it is not known whether a row has a label; ``rule`` decides every label alike.
    """

    loss: Loss
    coef: Array | None
    level: Array | None = None
    rule: Rule | None = None
    center: Array | None = None

    def __call__(self, block: Block) -> LabelFigures:
        """Return the figures of one block."""
        eta = np.zeros(block.y.shape)
        if self.coef is not None:
            eta = self.scores(block.design, self.coef)
            eta = eta if block.offset is None else eta + block.offset
        eta = eta if self.level is None else eta + self.level
        return self.rows(block.y, eta)(np.ones(block.n_rows) if block.weight is None else block.weight)

    def scores(self, design: Design, coef: Array) -> Array:
        """Return the scores of a design, a column for each label."""
        return scores(design, coef, self.center)

    def rows(self, y: Array, eta: Array) -> Callable[[Array], LabelFigures]:
        """Return what tells the figures of rows with these targets and scores by their weights."""
        known = ~np.isnan(y)
        there, said = known & (y == 1.0), known & (decisions(self.loss, eta, self.rule) == 1)
        asked = self._shared(there, said, eta) if self.loss.coupled else self._single(there, eta)
        sizes = there.sum(axis=1) + said.sum(axis=1)
        both = 2.0 * (there & said).sum(axis=1)
        overlap = np.divide(both, sizes, out=np.ones(len(y)), where=sizes > 0)
        return partial(_summed, known, (there == said).all(axis=1), overlap, asked)

    def _single(self, there: Mask, eta: Array) -> list[Callable[[Array], Any]]:
        """Return what tells the figures of every label from scores of its own."""
        own = Score(self.loss, None, True, rule=self.rule, closely=True)
        y = there.astype(np.float64)
        return [own.rows(y[:, k : k + 1], eta[:, k : k + 1]) for k in range(y.shape[1])]

    def _shared(self, there: Mask, said: Mask, eta: Array) -> list[Callable[[Array], Any]]:
        """Return what tells the figures of every label from the shares of a row."""
        shares = self.loss.mean(eta)
        return [
            partial(ClassFigures.of, own.astype(np.intp), taken.astype(np.intp), kinds=2, score=share, closely=True)
            for own, taken, share in zip(there.T, said.T, shares.T, strict=True)
        ]


def _summed(
    known: Mask,
    exact: Mask,
    overlap: Array,
    asked: Sequence[Callable[[Array], Any]],
    s: Array,
) -> LabelFigures:
    """Return the sums of rows with these weights."""
    s = np.where(known.any(axis=1), s, 0.0)
    each = tuple(figures(np.where(known[:, k], s, 0.0)) for k, figures in enumerate(asked))
    return LabelFigures(int(np.count_nonzero(s)), float(np.sum(s)), float(np.sum(s[exact])), float(s @ overlap), each)
