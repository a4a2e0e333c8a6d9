"""What a posterior, or a least-squares fit, says about new rows: a mean, a standard deviation and an interval."""

from __future__ import annotations

import numpy as np

from lineal.algebra.spectrum import root
from lineal.designs.design import Design
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.summary import Row, check_level, quantile


@dataclass(frozen=True)
class Interval:
    """Where the target of every row is expected: ``mean -+ q sd``, which covers it with probability ``level``.

    ``sd^2 = sigma^2 + x' covariance x``: the noise of a row, and what is not known about the coefficients.
    """

    mean: Array
    sd: Array
    lower: Array
    upper: Array
    level: float


def predictive(
    mean: Array, design: Design, covariance: Array, noise: float, level: float, freedom: float | None = None
) -> Interval:
    """Return the interval of every row, normal or Student's with ``freedom`` degrees.

    >>> from lineal.designs import as_design
    >>> predicted = predictive(np.array([5.0]), as_design([[2.0]], intercept=False), np.array([[1.0]]), 5.0, 0.95)
    >>> float(predicted.sd[0]), round(float(predicted.upper[0]), 3)
    (3.0, 10.88)
    """
    return normal(mean, noise + np.sum(design.times(root(covariance)) ** 2, axis=1), level, freedom)


def normal(mean: Array, variance: Array, level: float, freedom: float | None = None) -> Interval:
    """Return the interval of every row whose target has this mean and variance.

    >>> normal(np.array([0.0]), np.array([4.0]), 0.95).upper.round(2)
    array([3.92])
    """
    reach, sd = quantile(check_level(level), freedom), np.sqrt(variance)
    return Interval(mean, sd, mean - reach * sd, mean + reach * sd, level)


def posterior_rows(
    coef: Array, covariance: Array, columns: tuple[str, ...], output: str, level: float
) -> tuple[Row, ...]:
    """Return mean, standard deviation and interval of every coefficient; a posterior tests nothing."""
    reach = quantile(check_level(level))
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0)).tolist()
    return tuple(
        Row(column, output, mean, sd, float("nan"), float("nan"), mean - reach * sd, mean + reach * sd)
        for column, mean, sd in zip(columns, coef[:, 0].tolist(), errors, strict=True)
    )
