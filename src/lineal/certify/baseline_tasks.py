"""What the null fit asks of the rows: changes of blocks, and tasks over targets, weights and offsets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lineal.designs import Ones
from lineal.ground.arrays import Array
from lineal.ground.records import Added, dataclass
from lineal.losses.loss import Loss
from lineal.problem.part import raised
from lineal.sources.source import Block

SAMPLE_ROWS = 10_000
"""Of more rows than a few times this, a sample says first where the best constant is."""


def present(block: Block) -> tuple[Array, Array, Array | None]:
    """Return targets, weights and offsets of the rows that have a weight."""
    if block.weight is None:
        return block.y, np.broadcast_to(1.0, block.n_rows), block.offset
    if np.all(some := block.weight > 0.0):
        return block.y, block.weight, block.offset
    offset = None if block.offset is None else block.offset[some]
    return block.y[some], block.weight[some], offset


@dataclass(frozen=True)
class InterceptOnly:
    """The change that leaves a column of ones; scores at ``rest``, if given, become part of the offset."""

    rest: Array | None

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        return replace(block, design=Ones(block.n_rows), offset=raised(block, self.rest))


@dataclass(frozen=True)
class Cooler:
    """The change that divides offsets by a temperature."""

    heat: float

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        return block if block.offset is None else replace(block, offset=block.offset / self.heat)


@dataclass(frozen=True)
class Maxima:
    """Numbers whose sums are their maxima."""

    values: Array

    def __add__(self, other: Maxima) -> Maxima:
        return Maxima(np.maximum(self.values, other.values))


@dataclass(frozen=True)
class Height:
    """The task that finds the largest score of rows that have a weight, without its sign, per output."""

    coef: Array

    def __call__(self, block: Block) -> Maxima:
        """Look at one block."""
        scores = np.abs(block.design.times(self.coef))
        some = slice(None) if block.weight is None else block.weight > 0.0
        return Maxima(scores[some].max(axis=0, initial=0.0))


@dataclass(frozen=True)
class Offsets:
    """Least and largest offset, summed offsets and weights."""

    low: Array
    high: Array
    total: Array
    weight: float

    def __add__(self, other: Offsets) -> Offsets:
        return Offsets(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.total + other.total,
            self.weight + other.weight,
        )


@dataclass(frozen=True)
class Spread:
    """The task that finds how offsets of rows that have a weight spread."""

    outputs: int

    def __call__(self, block: Block) -> Offsets:
        """Look at one block."""
        _, weight, offset = present(block)
        offset = np.zeros((len(weight), self.outputs)) if offset is None else offset
        low, high = offset.min(axis=0, initial=np.inf), offset.max(axis=0, initial=-np.inf)
        return Offsets(low, high, np.einsum("i,ik->k", weight, offset), float(np.sum(weight)))


@dataclass(frozen=True)
class Others:
    """The task that sums ``s (1 - y)``, in which few digits are lost where nearly all y are one."""

    def __call__(self, block: Block) -> float:
        """Sum over one block."""
        y, weight, _ = present(block)
        return float(np.sum(weight * (1.0 - y[:, 0])))


@dataclass(frozen=True)
class ConstantLoss:
    """The task that sums losses and |slopes| of a constant score, where the loss has one score and corners."""

    loss: Loss
    constant: Array

    def __call__(self, block: Block) -> Array:
        """Return both sums over one block."""
        y, weight, offset = present(block)
        eta = np.broadcast_to(self.constant, y.shape) if offset is None else self.constant + offset
        rows, slopes = self.loss.value(y, eta), np.abs(self.loss.slope(y, eta))[:, 0]
        return np.array([np.sum(weight * rows), np.sum(weight * slopes)])


@dataclass(frozen=True)
class Places(Added):
    """Where rows would have a constant score: their corners, how far the slope jumps there and the slope left of all.

    Of a loss without corners: least, middle and largest best score of the rows of each block instead.
    """

    corners: tuple[Array, ...] = ()
    jumps: tuple[Array, ...] = ()
    slope: float = 0.0
    sides: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True)
class ConstantPlaces:
    """The task that finds where rows would have a constant score; corners take memory for every row."""

    loss: Loss
    start: float

    def __call__(self, block: Block) -> Places:
        """Look at one block."""
        y, weight, offset = present(block)
        corners, jumps, slope = list[Array](), list[Array](), 0.0
        for at, low, high in self.loss.kinks(y):
            corners.append((at if offset is None else at - offset)[:, 0])
            jumps.append(weight * (high - low)[:, 0])
            slope += float(weight @ low[:, 0])
        if corners or not len(y):
            return Places(tuple(corners), tuple(jumps), slope)
        # No row is better with a score beyond its own best, nor are all with one beyond ``start`` where that is known.
        best = np.full_like(y, self.start) if self.loss.has_mean_statistic else y
        aim = best if offset is None else best - offset
        some = aim[:: 1 + len(aim) // SAMPLE_ROWS, 0]
        return Places(sides=((float(np.min(aim)), float(np.median(some)), float(np.max(aim))),))
