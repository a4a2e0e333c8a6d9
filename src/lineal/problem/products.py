"""All that a quadratic loss needs of the rows: the products of columns and targets, summed once, in doubles."""

from __future__ import annotations

import numpy as np

from lineal.algebra.normal import EPS
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.passes import Sums


@dataclass(frozen=True)
class Products:
    """``[X y]' S [X y]`` over all rows, and the scatter of every target, ``sum s (y - mean)^2``.

    >>> rows = np.array([[1.0, 1.0], [1.0, 3.0]])
    >>> at = Products(rows.T @ rows, np.array([2.0]), np.array([2.0]), 2.0, 2).quadratic(np.array([[1.0]]))
    >>> at.high, at.gradient.tolist()
    (2.0, [[-2.0]])
    """

    gram: Array
    mean: Array
    scatter: Array
    weight_sum: float
    rows: int

    def __add__(self, other: Products) -> Products:
        total = self.weight_sum + other.weight_sum
        share = other.weight_sum / total if total > 0.0 else 0.0
        step = other.mean - self.mean
        return Products(
            self.gram + other.gram,
            self.mean + share * step,
            self.scatter + other.scatter + step**2 * self.weight_sum * share,
            total,
            self.rows + other.rows,
        )

    @property
    def columns(self) -> int:
        """Number of columns of X."""
        return len(self.gram) - len(self.mean)

    @property
    def hessian(self) -> Array:
        """The second derivative of the summed loss, as passes lay it out, where it lies."""
        return self.gram[None, : self.columns, : self.columns]

    def quadratic(self, coef: Array) -> Sums | None:
        """Return summed squared loss at ``coef`` and its gradient; None where the loss would have fewer than 11 digits.

        Every product is off by at most ``chain EPS |x_j| |x_k|`` in the norms of the columns, as
        ``Problem.gradient_error`` has it.
        """
        p = self.columns
        size = np.sqrt(np.maximum(np.diagonal(self.gram), 0.0))
        reach = size[:p] @ np.abs(coef) + size[p:]
        bent, target = self.gram[:p, :p] @ coef, self.gram[:p, p:]
        squares = np.einsum("jk,jk->k", coef, bent - 2.0 * target) + np.diagonal(self.gram)[p:]
        if not np.all(EPS * reach**2 <= 1e-11 * squares):
            return None
        chain = 16 + min(self.rows, 1000 + self.rows / 16384) + 2 * p
        return Sums(
            high=0.5 * float(np.sum(squares)),
            low=0.0,
            weight_sum=self.weight_sum,
            slope_sum=np.sqrt(squares * self.weight_sum),  # at least sum s |slope|
            gradient=bent - target,
            hessian=None,
            gradient_error=chain * EPS * np.outer(size[:p], reach),
            value_error=chain * EPS * float(np.sum(reach**2)),
        )
