"""A metric in one file: the share of rows whose class was mistaken."""

from __future__ import annotations

import numpy as np

from lineal.metrics.contract import Metric


class ErrorRate(Metric):
    """One less the accuracy."""

    name = "error_rate"
    formula = "(1/S) sum s [p != y]"
    of_classes = True

    @classmethod
    def value(cls, sums):
        return float(np.sum(sums.weights - sums.right)) / sums.weight
