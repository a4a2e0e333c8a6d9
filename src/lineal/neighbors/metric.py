"""Distances between rows, each a sum over columns in their order whose every step is rounded once.

What is compared is the sum itself (of Euclidean distances, that of squares), never its root: the root of two different
sums may be the same double.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any, Final

import numpy as np

from lineal.errors import InputError, near
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Metric:
    """A distance: the number of its loop in the core, and how its sums become distances.

    ``by_squares``: it is a function of the sum of squared differences; ``by_tree``: no row in a box is nearer than the
    box. ``power`` is that of Minkowski's distance.

    >>> named("manhattan").formula
    'sum |q_j - x_j|'
    """

    name: str
    formula: str
    native: int
    power: float = 2.0
    by_tree: bool = True
    scaled: bool = field(default=True)
    """Whether a unit of the columns is a unit of the distance, so that powers of two may be taken out."""

    @property
    def by_squares(self) -> bool:
        """Whether searches by products answer it."""
        return self.native == 0

    def distances(self, sums: Array, columns: int, exponent: int = 0) -> Array:
        """Return distances from sums over columns that were multiplied by ``2^exponent``."""
        if self.name == "hamming":
            return sums / columns
        if self.name == "cosine":
            return 0.5 * sums
        if self.native == 4:
            return np.asarray(sums ** (1.0 / self.power))
        plain = np.sqrt(sums) if self.name == "euclidean" else sums
        twice = 2 if self.name == "sqeuclidean" else 1
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(plain, -exponent * twice) if exponent else plain

    def to_dict(self) -> dict[str, Any]:
        """Return the metric as plain data."""
        return {"metric": self.name} | ({"power": self.power} if self.native == 4 else {})


EUCLIDEAN: Final = Metric("euclidean", "sqrt(sum (q_j - x_j)^2)", 0)
SQUARED: Final = Metric("sqeuclidean", "sum (q_j - x_j)^2", 0)
MANHATTAN: Final = Metric("manhattan", "sum |q_j - x_j|", 1)
CHEBYSHEV: Final = Metric("chebyshev", "max |q_j - x_j|", 2)
HAMMING: Final = Metric("hamming", "share of the columns in which q_j != x_j", 3, by_tree=False, scaled=False)
COSINE: Final = Metric(
    "cosine", "1 - q'x / (|q| |x|), as half the squared distance of q/|q| and x/|x|", 0, scaled=False
)

ALL: Final = (EUCLIDEAN, SQUARED, MANHATTAN, CHEBYSHEV, HAMMING, COSINE)
"""The metrics with loops in the core, but for Minkowski's powers."""
ALIASES: Final = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan", "infinity": "chebyshev"}
"""What scikit-learn and SciPy call them, too."""


def minkowski(power: float) -> Metric:
    """Return the distance ``(sum |q_j - x_j|^p)^(1/p)``; of p = 1, 2 and infinity, the one with a loop of its own.

    >>> minkowski(2).name, minkowski(3.0).power
    ('euclidean', 3.0)
    """
    for known, metric in ((1.0, MANHATTAN), (2.0, EUCLIDEAN), (math.inf, CHEBYSHEV)):
        if power == known:
            return metric
    if not power > 0.0:
        raise InputError(f"p is {power!r}; it must be a number above 0.")
    return Metric("minkowski", "(sum |q_j - x_j|^p)^(1/p)", 4, float(power), by_tree=False, scaled=False)


def named(name: str, power: float = 2.0) -> Metric:
    """Return the metric of a name; ``power`` is Minkowski's p.

    >>> named("l2").name
    'euclidean'
    """
    if name in ("minkowski", "p"):
        return minkowski(power)
    by_name = {metric.name: metric for metric in ALL}
    spelled = by_name.get(ALIASES.get(name, name))
    if spelled is None:
        known = [*by_name, "minkowski"]
        raise InputError(f"there is no metric {name!r}; known are {', '.join(known)}.{near(name, known)}")
    return spelled
