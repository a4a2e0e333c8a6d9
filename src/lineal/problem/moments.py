"""A first look at the rows: what columns and targets are like, and whether a fit can use them."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.problem.blas import alone
from lineal.problem.products import Products
from lineal.sources.source import Block, Source

MAX_MAGNITUDE = 1e100
"""Squares and sums of larger columns and weights overflow, those of numbers below its inverse vanish: no proof would hold."""


@dataclass(frozen=True)
class Moments:
    """What the columns look like: weighted mean, scatter = sum s (x - mean)^2, largest |x|; and the target's statistic.

    ``products`` are those of a quadratic loss, where ``survey`` was asked for them.
    """

    rows: int
    weight_sum: float
    mean: Array
    scatter: Array
    largest: Array
    statistic: Array
    offset: float
    products: Products | None = None

    @cached_property
    def square(self) -> Array:
        """Mean square of each column."""
        return np.asarray(self.mean**2 + self.sd**2)

    @property
    def sd(self) -> Array:
        """Standard deviation of each column, sqrt(scatter / S)."""
        return np.sqrt(self.scatter / self.weight_sum) if self.weight_sum > 0 else np.zeros_like(self.scatter)

    def __add__(self, other: Moments) -> Moments:
        total = self.weight_sum + other.weight_sum
        share = other.weight_sum / total if total > 0 else 0.0
        step = other.mean - self.mean
        return Moments(
            rows=self.rows + other.rows,
            weight_sum=total,
            mean=self.mean + share * step,
            scatter=self.scatter + other.scatter + step**2 * self.weight_sum * share,
            largest=np.maximum(self.largest, other.largest),
            statistic=self.statistic + other.statistic,
            offset=max(self.offset, other.offset),
            products=None if self.products is None or other.products is None else self.products + other.products,
        )


@dataclass(frozen=True)
class Survey:
    """The task that makes Moments, and refuses targets, weights and offsets that no fit can use."""

    loss: Loss
    products: bool = False

    def __call__(self, block: Block) -> Moments:
        """Look at one block."""
        rows = block.n_rows
        if block.weight is not None:
            if not np.all(np.isfinite(block.weight)) or np.any(block.weight < 0.0):
                raise InputError(
                    "the weights hold a negative number, NaN or infinity; weights must be finite numbers >= 0."
                )
            rows = int(np.count_nonzero(block.weight))
        offset = 0.0
        if block.offset is not None and block.offset.size:
            offset = self._farthest(block)
        if self.products and block.design.rows is not None and block.offset is None:
            return self._with_products(block, rows)
        weight, y = np.broadcast_to(1.0, block.n_rows), block.y  # takes no memory
        if block.weight is not None:
            present = block.weight > 0.0
            weight, y = block.weight[present], y[present]
        self.loss.check(y)
        total, mean, scatter, largest = block.design.moments(block.weight)
        return Moments(
            rows=rows,
            weight_sum=total,
            mean=mean,
            scatter=scatter,
            largest=largest,
            statistic=self.loss.statistic(y, weight),
            offset=offset,
        )

    @staticmethod
    def _farthest(block: Block) -> float:
        """Return the largest |offset| of a row that has a weight."""
        assert block.offset is not None
        size = np.abs(block.offset)
        if not np.isfinite(np.max(size)):
            raise InputError("the offset holds NaN or infinity; offsets must be finite numbers.")
        largest = float(np.max(size if block.weight is None else size[block.weight > 0.0], initial=0.0))
        if largest > MAX_MAGNITUDE:
            raise InputError(
                f"the offset reaches {largest:.2g} in size, whose square doubles cannot hold; change its unit."
            )
        return largest

    def _with_products(self, block: Block, rows: int) -> Moments:
        """Look at the targets as at columns, in the same pass."""
        assert block.design.rows is not None
        p = block.design.shape[1]
        total, mean, scatter, largest, gram = block.design.rows.products(block.weight, block.y)
        if not (np.all(np.isfinite(mean[p:])) and np.all(largest[p:] <= MAX_MAGNITUDE)):
            self.loss.check(block.y if block.weight is None else block.y[block.weight > 0.0])
        return Moments(
            rows=rows,
            weight_sum=total,
            mean=mean[:p],
            scatter=scatter[:p],
            largest=largest[:p],
            statistic=mean[p:] * total,
            offset=0.0,
            products=Products(gram, mean[p:], scatter[p:], total, rows),
        )


@alone
def survey(source: Source, loss: Loss, *, products: bool = False) -> Moments:
    """Return the moments of a source's columns in one pass, refusing what no fit can use.

    ``products`` asks for the products of a quadratic loss in the same pass.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # the refusals below say so in words
        moments = source.sum(Survey(loss, products))
    if moments.weight_sum > MAX_MAGNITUDE:  # which may make means of columns infinite
        total = f"{moments.weight_sum:.2g}" if math.isfinite(moments.weight_sum) else "more than a double holds"
        raise InputError(f"the weights sum to {total}, which is too large; divide them by their mean.")
    largest = moments.largest
    usual = len(largest) and largest.min() >= 1.0 / MAX_MAGNITUDE and largest.max() <= MAX_MAGNITUDE
    if not (usual and math.isfinite(moments.mean.sum())):
        _refuse_columns(source, moments)
    if not moments.weight_sum > 0.0:
        raise InputError("there are no rows with a weight above zero; nothing can be fitted.")
    if moments.weight_sum < 1.0 / MAX_MAGNITUDE:
        raise InputError(f"the weights sum to {moments.weight_sum:.2g}, which is too small; divide them by their mean.")
    return moments


def _refuse_columns(source: Source, moments: Moments) -> None:
    """Refuse columns with NaN or infinity, and those whose squares are no doubles."""
    bad = ~(np.isfinite(moments.mean) & np.isfinite(moments.largest))
    if np.any(bad):
        columns = source.columns
        quoted = [repr(columns[j]) for j in np.flatnonzero(bad)]
        names = ", ".join(quoted[:3]) + (f" and {len(quoted) - 3} more" if len(quoted) > 3 else "")
        who = f"column {names} holds" if len(quoted) == 1 else f"columns {names} hold"
        raise InputError(f"{who} NaN or infinity; remove or replace such cells.")
    far = (moments.largest > MAX_MAGNITUDE) | ((moments.largest > 0.0) & (moments.largest < 1.0 / MAX_MAGNITUDE))
    if np.any(far):
        j = int(np.flatnonzero(far)[0])
        raise InputError(
            f"column {source.columns[j]!r} has numbers up to {moments.largest[j]:.2g}, whose squares doubles cannot hold; "
            "change its unit."
        )
