"""The residuals of many points of a path as combinations of a few of them: what a look at all columns has to see.

Neighbouring points differ little, so ``r_k = sum_q r_q t_qk + e_k`` with few points ``q`` and short rests ``e``. Products
of all columns with the few tell those with every ``r_k`` up to ``|e_k|`` times the spread of a column. And how the products
go on from the last two points tells when a column may come into use.
"""

from __future__ import annotations

import numpy as np

from lineal import _core
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.penalties.costs import CoordinateCosts
from lineal.problem.problem import EPS

MAX_TURN = 0.2
"""By so much the slope of a gradient along the path is expected to change within a stretch; a strength is the unit."""


@dataclass(frozen=True)
class Directions:
    """The points ``chosen``, ``turns`` t, (chosen, points), and bounds: on |e_k|, on its mean, on sum_q |t_qk| mean |r_q|.

    Lengths are roots of weighted mean squares. ``whole`` says that all points are chosen.
    """

    chosen: list[int]
    turns: Array
    rest: Array
    drift: Array
    size: Array
    whole: bool

    @staticmethod
    def all(size: Array) -> Directions:
        """Return all points, whose residuals have these mean sizes."""
        none = np.zeros(len(size))
        return Directions(list(range(len(size))), np.eye(len(size)), none, none, size, whole=True)

    @staticmethod
    def of(products: Array, rows: int, left: Array, size: Array, reach: Array) -> Directions:
        """Return points that leave at most about ``reach_k`` of residual k, and nothing of the last two.

        ``products`` are weighted means of products of residuals, summed over so many rows, ``left`` and ``size`` the means
        of residuals and of their sizes without signs. Where more than half of all points would be needed it is not worth it.

        >>> line = np.outer([1.0, 2.0, 2.0], np.ones(6)) + np.outer([0.0, 1.0, -1.0], np.arange(6))
        >>> few = Directions.of(line.T @ line / 3, 3, np.abs(line.mean(axis=0)), np.ones(6), np.full(6, 1e-3))
        >>> few.chosen, few.turns[:, 0].round(6), bool(few.rest.max() < 1e-5)
        ([5, 4], array([-4.,  5.]), True)
        """
        count = len(products)
        chosen = _chosen(products, reach, count // 2)
        if not chosen or len(chosen) > count // 2:
            return Directions.all(size)
        turns = np.linalg.solve(products[np.ix_(chosen, chosen)], products[chosen])
        turns[:, chosen] = np.eye(len(chosen))
        # e = R z; its square is z'Mz, and every entry of M is off by that many roundings of the lengths it comes from.
        z = np.eye(count)
        z[chosen] -= turns
        length = np.sqrt(np.diagonal(products)) @ np.abs(z)
        square = np.einsum("ak,ak->k", z, products @ z)
        rest = np.sqrt(np.maximum(square, 0.0) + (rows + 2 * count + 16) * EPS * length**2)
        rest[chosen] = 0.0
        return Directions(chosen, np.asarray(turns), rest, left @ np.abs(z), size[chosen] @ np.abs(turns), whole=False)


def _chosen(products: Array, reach: Array, most: int) -> list[int]:
    """Return the last two points, then always the one of which most is left beside those chosen; one too many: give it up."""
    count, own = len(products), np.diagonal(products)
    chosen: list[int] = []
    left, rows = own.copy(), np.zeros((0, count))
    for turn in range(count):
        over = left / np.maximum(reach, 1e-150) ** 2
        point = count - 1 - turn if turn < 2 else int(np.argmax(over))
        # a residual whose square falls to 1e-12 of it beside the points chosen says nothing new
        if left[point] <= 1e-12 * own[point] or (turn >= 2 and over[point] <= 1.0):
            if turn < 2:
                continue
            break
        chosen.append(point)
        if len(chosen) > most:
            break
        row = (products[point] - rows[:, point] @ rows) / np.sqrt(left[point])
        rows = np.vstack([rows, row])
        left = np.maximum(left - row**2, 0.0)
        left[point] = 0.0
    return chosen


@dataclass(frozen=True)
class Place:
    """The last point that is known, its strength and the gradients there, and the point before it, if there is one."""

    strength: float
    slopes: Array
    before: tuple[float, Array] | None

    def due(self, rates: CoordinateCosts) -> Array:
        """Return for every column the strength at which it may come into use, the intercept never.

        Gradients are expected to go on as they went between the two points, g - t d at strength s - t, or to turn away
        from that by up to ``MAX_TURN`` t a unit of the strength. Without a point before this one it is the strong rule: d = 0,
        and they change by up to t.
        """
        turn, apart, slopes = 1.0, 1.0, None
        if self.before is not None:
            turn, apart, slopes = MAX_TURN, self.before[0] - self.strength, self.before[1]
        return _core.due(self.slopes, slopes, rates.linear, rates.least, rates.most, self.strength, apart, turn)
