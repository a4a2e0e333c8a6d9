"""Metrics of labels, of which a row has any number: of all cells (micro), labels (macro), rows (samples) or whole rows.

``p_k`` says whether label k was predicted and ``y_k`` whether it is there; cells that are not known do not count.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.metrics.contract import Metric

if TYPE_CHECKING:
    from lineal.metrics.labels import LabelFigures


class _Share(Metric):
    """A share of what was right, of labels."""

    larger_is_better = True
    of_labels = True


class SubsetAccuracy(_Share):
    """The share of rows of which every label is right."""

    name = "subset_accuracy"
    formula = "(1/S) sum s [p_k = y_k for every k]"

    @classmethod
    def value(cls, sums: LabelFigures) -> float:
        """Return the share."""
        return sums.exact / sums.weight


class HammingLoss(Metric):
    """The share of wrong answers among all, one for each row and label."""

    name = "hamming_loss"
    formula = "sum s [p_k != y_k] / sum s, over rows and labels"
    of_labels = True

    @classmethod
    def value(cls, sums: LabelFigures) -> float:
        """Return the share."""
        known, wrong = sums.cells
        return max(wrong, 0.0) / known


class MicroPrecision(_Share):
    """The share of right ones among the labels predicted, all counted at once."""

    name = "micro_precision"
    formula = "sum s [p_k = y_k = 1] / sum s [p_k = 1], over rows and labels"
    compared = False

    @classmethod
    def value(cls, sums: LabelFigures) -> float:
        """Return the share."""
        hits, _, taken = sums.counts
        return _share(hits, taken)


class MicroRecall(_Share):
    """The share of predicted ones among the labels that rows have, all counted at once."""

    name = "micro_recall"
    formula = "sum s [p_k = y_k = 1] / sum s [y_k = 1], over rows and labels"
    compared = False

    @classmethod
    def value(cls, sums: LabelFigures) -> float:
        """Return the share."""
        hits, there, _ = sums.counts
        return _share(hits, there)


class MicroF1(_Share):
    """The harmonic mean of precision and recall of all labels at once."""

    name = "micro_f1"
    formula = "2 sum s [p_k = y_k = 1] / sum s ([p_k = 1] + [y_k = 1]), over rows and labels"

    @classmethod
    def value(cls, sums: LabelFigures) -> float:
        """Return the mean."""
        hits, there, taken = sums.counts
        return _share(2.0 * hits, there + taken)


class MacroPrecision(_Share):
    """The mean precision of the labels that occur or are predicted; 0 for one that is never predicted."""

    name = "macro_precision"
    formula = "mean over k of sum s [p_k = y_k = 1] / sum s [p_k = 1]"
    compared = False

    @classmethod
    def value(cls, sums: LabelFigures) -> float:
        """Return the mean."""
        hits, there, taken = sums.counts
        return _mean_share(hits, taken, there + taken)


class MacroRecall(_Share):
    """The mean recall of the labels that occur or are predicted; 0 for one that does not occur."""

    name = "macro_recall"
    formula = "mean over k of sum s [p_k = y_k = 1] / sum s [y_k = 1]"
    compared = False

    @classmethod
    def value(cls, sums: LabelFigures) -> float:
        """Return the mean."""
        hits, there, taken = sums.counts
        return _mean_share(hits, there, there + taken)


class MacroF1(_Share):
    """The mean F1 of the labels that occur or are predicted."""

    name = "macro_f1"
    formula = "mean over k of 2 sum s [p_k = y_k = 1] / sum s ([p_k = 1] + [y_k = 1])"

    @classmethod
    def value(cls, sums: LabelFigures) -> float:
        """Return the mean."""
        hits, there, taken = sums.counts
        return _mean_share(2.0 * hits, there + taken, there + taken)


class SamplesF1(_Share):
    """The mean over rows of the F1 of a row's labels; 1 for a row that has none and is given none."""

    name = "samples_f1"
    formula = "(1/S) sum s 2 |p and y| / (|p| + |y|)"

    @classmethod
    def value(cls, sums: LabelFigures) -> float:
        """Return the mean."""
        return sums.overlap / sums.weight


class MacroAuc(_Share):
    """The mean, over the labels that some rows have and others have not, of the area under the ROC curve."""

    name = "macro_auc"
    formula = "mean over k of P(eta_k of a row with label k > eta_k of one without)"

    @classmethod
    def value(cls, sums: LabelFigures) -> float:
        """Return the mean; NaN where no label tells rows apart, or there are no scores."""
        areas = [one.ranked[0] for one in sums.each if one.scored and one.weight > 0.0]
        known = [area for area in areas if not math.isnan(area)]
        return float(np.mean(known)) if known else math.nan


def _share(part: Any, whole: Any) -> float:
    """Return a share of sums over labels; 0 of nothing."""
    total = float(np.sum(whole))
    return float(np.sum(part)) / total if total > 0.0 else 0.0


def _mean_share(part: Any, whole: Any, occurs: Any) -> float:
    """Return the mean share of the labels that occur or are predicted; 0 of nothing."""
    shares = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0.0)
    return float(np.mean(shares[occurs > 0.0])) if np.any(occurs > 0.0) else 0.0
