"""The catalogue of metrics: name, formula, direction and needs of each. They follow from sums over blocks of rows.

``s`` are weights and S their sum, y what happened and p what was predicted, ``[...]`` is 1 where it holds and 0 elsewhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from lineal.metrics.metrics import ClassFigures, NumberFigures


class Metric(ABC):
    """One figure that says how good predictions are.

    ``name`` is its key in reports. ``of_classes`` and ``of_numbers`` say for which targets it has a meaning, ``needs`` which
    sum must be there for it, "" for none. ``ranks`` says that the score of every row is kept for it, so it is worked out
    last. ``compared`` says that tables of several models show it.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    larger_is_better: ClassVar[bool] = False
    of_classes: ClassVar[bool] = False
    of_numbers: ClassVar[bool] = False
    needs: ClassVar[str] = ""
    ranks: ClassVar[bool] = False
    compared: ClassVar[bool] = True

    @classmethod
    def available(cls, sums: Any) -> bool:
        """Whether the sums hold what it needs."""
        return not cls.needs or getattr(sums, cls.needs) not in (None, ())

    @classmethod
    @abstractmethod
    def value(cls, sums: Any) -> float:
        """Return the metric of rows with these sums, whose weight is above zero."""


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


class MeanCost(Metric):
    """What the decisions cost, where costs were given."""

    name = "mean_cost"
    formula = "(1/S) sum s cost(y, p)"
    of_classes = True
    needs = "spent"

    @classmethod
    def value(cls, sums: ClassFigures) -> float:
        """Return the mean."""
        return _mean(sums.spent, sums.weight)


class LogLoss(Metric):
    """The surprise at what happened."""

    name = "log_loss"
    formula = "-(1/S) sum s log P(y)"
    of_classes = True
    needs = "surprise"

    @classmethod
    def value(cls, sums: ClassFigures) -> float:
        """Return the mean."""
        return _mean(sums.surprise, sums.weight)


class Brier(Metric):
    """The squared distance of the probabilities from what happened, halved for two classes."""

    name = "brier"
    formula = "(1/S) sum s sum_k (P(k) - [y = k])^2"
    of_classes = True
    needs = "squares"
    compared = False

    @classmethod
    def value(cls, sums: ClassFigures) -> float:
        """Return the mean."""
        return _mean(sums.squares, sums.weight)


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


class MeanLoss(Metric):
    """The loss the model was fitted by, where no other metric is a function of it."""

    name = "mean_loss"
    formula = "(1/S) sum s loss(y, eta)"
    of_classes = True
    of_numbers = True
    needs = "loss"
    compared = False

    @classmethod
    def value(cls, sums: ClassFigures | NumberFigures) -> float:
        """Return the mean."""
        return _mean(sums.loss, sums.weight)


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


ALL: tuple[type[Metric], ...] = (
    Accuracy, BalancedAccuracy, MeanCost, LogLoss, Brier, Auc, AveragePrecision, MeanLoss, Rmse, Mae, R2,
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


def _mean(total: float | None, weight: float) -> float:
    if total is None:
        raise ValueError("there is no such sum; ask whether the metric is available first")
    return total / weight
