"""Figures of two classes at every threshold: the points of ROC and precision-recall curves, and costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.inputs import real
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Thresholds:
    """What deciding the second class above each threshold gives: weights of rows by what happened and what was decided.

    ``thresholds`` fall, the first is infinite: nothing is decided the second class there. At each, a row of score
    ``>= threshold`` is taken for the second class; ``hits`` are those it is true of, ``false`` those it is not;
    ``positive`` and ``negative`` the weights of the two classes.
    """

    thresholds: Array
    hits: Array
    false: Array
    positive: float
    negative: float

    @property
    def recall(self) -> Array:
        """The share of the second class that is found: the true positive rate."""
        return self.hits / self.positive

    @property
    def fallout(self) -> Array:
        """The share of the first class that is taken for the second: the false positive rate."""
        return self.false / self.negative

    @property
    def precision(self) -> Array:
        """The share of what is taken for the second class that is of it; 1 where nothing is taken."""
        taken = self.hits + self.false
        return np.divide(self.hits, taken, out=np.ones_like(taken), where=taken > 0.0)

    @property
    def area(self) -> float:
        """The area under the ROC curve, by trapezoids."""
        return float(np.sum(np.diff(self.fallout) * (self.recall[1:] + self.recall[:-1]) / 2.0))

    @property
    def average_precision(self) -> float:
        """The mean precision over recall, by steps: ``sum (R_i - R_(i-1)) P_i``."""
        return float(np.sum(np.diff(self.recall) * self.precision[1:]))

    def costs(self, costs: Array) -> Array:
        """Return the mean cost of a row at each threshold; ``costs[k, l]``: class l is decided, class k is true."""
        missed, right = self.positive - self.hits, self.negative - self.false
        total = right * costs[0, 0] + self.false * costs[0, 1] + missed * costs[1, 0] + self.hits * costs[1, 1]
        return np.asarray(total / (self.positive + self.negative))


def at_thresholds(y: npt.ArrayLike, score: npt.ArrayLike, weight: Any = None) -> Thresholds:
    """Return what every threshold on a score decides; rows of equal score are decided together.

    ``y`` says which rows are of the second class, ``weight`` how many rows each stands for.

    >>> points = at_thresholds([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> points.recall.tolist(), points.fallout.tolist(), points.area
    ([0.0, 0.5, 0.5, 1.0, 1.0], [0.0, 0.0, 0.5, 0.5, 1.0], 0.75)
    """
    score = real(score, "score").reshape(-1).astype(np.float64)
    of_second = real(y, "y").reshape(-1).astype(np.float64)
    s = np.ones(len(score)) if weight is None else real(weight, "weight").reshape(-1).astype(np.float64)
    if not len(score) == len(of_second) == len(s):
        raise InputError(f"there are {len(of_second)} targets, {len(score)} scores and {len(s)} weights; give one of each "
                         "for every row.")  # fmt: skip
    if not np.isin(of_second, (0.0, 1.0)).all() or np.isnan(score).any():
        raise InputError("targets are 0 or 1 (of the second class or not), scores are numbers; one of them is neither.")
    order = np.argsort(-score, kind="stable")
    score, hits, false = score[order], np.cumsum((s * of_second)[order]), np.cumsum((s * (1.0 - of_second))[order])
    if not len(score) or not hits[-1] > 0.0 or not false[-1] > 0.0:
        raise InputError("a threshold parts two classes, and these rows are all of one; give rows of both.")
    last = np.flatnonzero(np.append(score[1:] != score[:-1], True))
    return Thresholds(
        np.concatenate([[np.inf], score[last]]),
        np.concatenate([[0.0], hits[last]]),
        np.concatenate([[0.0], false[last]]),
        float(hits[-1]),
        float(false[-1]),
    )
