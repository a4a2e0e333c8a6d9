"""The catalogue of metrics: name, formula, direction and needs of each. They follow from sums over blocks of rows.

``s`` are weights and S their sum, y what happened and p what was predicted, ``[...]`` is 1 where it holds and 0 elsewhere.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.metrics.contract import Metric
from lineal.metrics.of_labels import (
    HammingLoss,
    MacroAuc,
    MacroF1,
    MacroPrecision,
    MacroRecall,
    MicroF1,
    MicroPrecision,
    MicroRecall,
    SamplesF1,
    SubsetAccuracy,
)
from lineal.metrics.ranks import delta_avg, spearman

if TYPE_CHECKING:
    from lineal.metrics.metrics import ClassFigures, NumberFigures


class Accuracy(Metric):
    """The share of rows whose class was predicted."""

    name = "accuracy"
    formula = "(1/S) sum s [p = y]"
    larger_is_better = True
    of_classes = True

    @classmethod
    def value(cls, sums: ClassFigures) -> float:
        """Return the share."""
        return float(np.sum(sums.right)) / sums.weight


class BalancedAccuracy(Metric):
    """The mean, over the classes that occur, of the share of each that was predicted."""

    name = "balanced_accuracy"
    formula = "mean over k of sum s [p = y = k] / sum s [y = k]"
    larger_is_better = True
    of_classes = True

    @classmethod
    def value(cls, sums: ClassFigures) -> float:
        """Return the mean share."""
        occurs = sums.weights > 0
        return float(np.mean(sums.right[occurs] / sums.weights[occurs]))


class Precision(Metric):
    """The share of rows predicted as the second class that are of it; of several classes the mean over them.

    A class that is never predicted has precision 0. Over all classes at once (micro) it is the accuracy.
    """

    name = "precision"
    formula = "sum s [p = y = k] / sum s [p = k]"
    larger_is_better = True
    of_classes = True
    needs = "taken"
    compared = False

    @classmethod
    def value(cls, sums: ClassFigures) -> float:
        """Return the share."""
        return _of_classes(sums, sums.right, sums.taken)


class Recall(Metric):
    """The share of the rows of the second class that were predicted as it; of several classes the mean over them."""

    name = "recall"
    formula = "sum s [p = y = k] / sum s [y = k]"
    larger_is_better = True
    of_classes = True
    needs = "taken"
    compared = False

    @classmethod
    def value(cls, sums: ClassFigures) -> float:
        """Return the share."""
        return _of_classes(sums, sums.right, sums.weights)


class F1(Metric):
    """The harmonic mean of precision and recall of the second class; of several classes the mean over them."""

    name = "f1"
    formula = "2 sum s [p = y = k] / (sum s [p = k] + sum s [y = k])"
    larger_is_better = True
    of_classes = True
    needs = "taken"
    compared = False

    @classmethod
    def value(cls, sums: ClassFigures) -> float:
        """Return the mean."""
        return _of_classes(sums, 2.0 * sums.right, sums.weights + (0.0 if sums.taken is None else sums.taken))


class _Mean(Metric):
    """The mean of a sum over rows: that which it ``needs``."""

    @classmethod
    def value(cls, sums: ClassFigures | NumberFigures) -> float:
        """Return the mean."""
        total = getattr(sums, cls.needs)
        if total is None:
            raise ValueError("there is no such sum; ask whether the metric is available first")
        return float(total / sums.weight)


class MeanCost(_Mean):
    """What the decisions cost, where costs were given."""

    name = "mean_cost"
    formula = "(1/S) sum s cost(y, p)"
    of_classes = True
    needs = "spent"


class LogLoss(_Mean):
    """The surprise at what happened."""

    name = "log_loss"
    formula = "-(1/S) sum s log P(y)"
    of_classes = True
    needs = "surprise"


class Brier(_Mean):
    """The squared distance of the probabilities from what happened, halved for two classes."""

    name = "brier"
    formula = "(1/S) sum s sum_k (P(k) - [y = k])^2"
    of_classes = True
    needs = "squares"
    compared = False


class Auc(Metric):
    """The chance that a row of class 1 scores above one of class 0, a tie counting one half."""

    name = "auc"
    formula = "P(eta_i > eta_j) + P(eta_i = eta_j) / 2 for y_i = 1, y_j = 0"
    larger_is_better = True
    of_classes = True
    needs = "scored"
    ranks = True

    @classmethod
    def value(cls, sums: ClassFigures) -> float:
        """Return the chance; NaN without both classes."""
        return sums.ranked[0]


class AveragePrecision(Metric):
    """The mean, over the rows of class 1, of the share of class 1 among the rows that score at least as high."""

    name = "average_precision"
    formula = "mean over y_i = 1 of P(y_j = 1 | eta_j >= eta_i)"
    larger_is_better = True
    of_classes = True
    needs = "scored"
    ranks = True

    @classmethod
    def value(cls, sums: ClassFigures) -> float:
        """Return the mean; NaN without a row of class 1."""
        return sums.ranked[1]


class MeanLoss(_Mean):
    """The loss the model was fitted by, where no other metric is a function of it."""

    name = "mean_loss"
    formula = "(1/S) sum s loss(y, eta)"
    of_classes = True
    of_numbers = True
    needs = "loss"
    compared = False


class Rmse(Metric):
    """The root of the mean squared error, averaged over targets."""

    name = "rmse"
    formula = "sqrt((1/S) sum s (y - p)^2)"
    of_numbers = True

    @classmethod
    def value(cls, sums: NumberFigures) -> float:
        """Return the root."""
        return float(np.mean(np.sqrt(sums.squares / sums.weight)))


class Mae(Metric):
    """The mean absolute error, averaged over targets."""

    name = "mae"
    formula = "(1/S) sum s |y - p|"
    of_numbers = True

    @classmethod
    def value(cls, sums: NumberFigures) -> float:
        """Return the mean."""
        return float(np.mean(sums.absolutes) / sums.weight)


class R2(Metric):
    """The share of the targets' scatter that the predictions explain, averaged over targets."""

    name = "r2"
    formula = "1 - sum s (y - p)^2 / sum s (y - mean y)^2"
    larger_is_better = True
    of_numbers = True

    @classmethod
    def value(cls, sums: NumberFigures) -> float:
        """Return the share; NaN where a target does not vary."""
        varies = bool(np.all(sums.scatter > 0))
        return float(np.mean(1 - sums.squares / sums.scatter)) if varies else math.nan


class Spearman(Metric):
    """How well predictions order rows: the correlation of ranks, averaged over targets."""

    name = "spearman"
    formula = "correlation of rank(y) and rank(p)"
    larger_is_better = True
    of_numbers = True
    needs = "scored"
    ranks = True
    compared = False

    @classmethod
    def value(cls, sums: NumberFigures) -> float:
        """Return the correlation; NaN where either does not vary."""
        return sums.ranked(spearman)


class DeltaAvg(Metric):
    """How much larger than on average y is in the rows that the predictions put first (WMT 2012), averaged over targets."""

    name = "delta_avg"
    formula = "mean over n of (mean over k < n of V(first k of n parts) - V(all)), V the mean of y"
    larger_is_better = True
    of_numbers = True
    needs = "scored"
    ranks = True
    compared = False

    @classmethod
    def value(cls, sums: NumberFigures) -> float:
        """Return the difference; NaN for fewer than four rows."""
        return sums.ranked(delta_avg)


ALL: tuple[type[Metric], ...] = (
    Accuracy, BalancedAccuracy, Precision, Recall, F1, MeanCost, LogLoss, Brier, Auc, AveragePrecision, MeanLoss, Rmse, Mae, R2,
    Spearman, DeltaAvg, SubsetAccuracy, HammingLoss, MicroPrecision, MicroRecall, MicroF1, MacroPrecision, MacroRecall, MacroF1,
    SamplesF1, MacroAuc,
)  # fmt: skip
"""Every metric, in the order in which pages print them."""
BEST_OF_CLASSES: type[Metric] = Accuracy
BEST_OF_NUMBERS: type[Metric] = Rmse
"""What models of several kinds are compared by, the best first."""


def place(name: str) -> int:
    """Return where pages print a metric; one that is not known stands last.

    >>> place("accuracy"), place("auc") < place("rmse")
    (0, True)
    """
    return next((k for k, metric in enumerate(ALL) if metric.name == name), len(ALL))


def titled(name: str) -> str:
    """Return what pages call a metric, known or not.

    >>> titled("balanced_accuracy")
    'balanced accuracy'
    """
    return name.replace("_", " ")


def _of_classes(sums: ClassFigures, hits: Any, among: Any) -> float:
    """Return a share of the second of two classes, or the mean over the classes that occur or are predicted."""
    shares = np.divide(hits, among, out=np.zeros(len(hits)), where=among > 0.0)
    if len(shares) == 2:
        return float(shares[1])
    occurs = (sums.weights > 0.0) | (sums.taken > 0.0 if sums.taken is not None else False)
    return float(np.mean(shares[occurs]))
