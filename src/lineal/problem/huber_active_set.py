"""Losses that bend in some rows and not in others: from one point to the next few rows change side, and only they count.

Huber's loss has curvature 1 where |eta - y| < T and 0 beyond. A pass that leaves a byte of every row behind, on which side it is
and how close to the other one, then needs no second derivative: X'SWX is that of the point before, with the rows that came
within T and without those that left.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lineal.designs import Dense, Ones, Stack
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.sources.source import Block

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint8]

LARGE = 50_000_000
"""Rows times columns squared from which a second derivative costs more than to look for the rows that changed side."""

FEW = 50
"""Where more than one row in so many changed side, all are summed anew."""


def sided(block: Block, loss: Loss) -> bool:
    """Whether to keep track of sides: of a loss that has them, on a long table of plain columns."""
    n, p = block.design.shape
    parts = block.design.designs if isinstance(block.design, Stack) else (block.design,)
    return loss.within is not None and n * p * p >= LARGE and all(isinstance(part, Dense | Ones) for part in parts)


INSIDE, CLOSE = 128, 127
"""The bit of a code that says which side a row is on, and the bits that say how close to the threshold it is."""


@dataclass(frozen=True)
class Sides:
    """Which rows bend at ``coef``, and how close each is to the threshold T; ``hessian`` is that of F.

    A code has the bit ``INSIDE`` where |eta - y| < T; the others are L with 2^(E - L) <= ||eta - y| - T| < 2^(E - L + 1), T in
    [2^E, 2^(E + 1)), 0 for all that are farther and 127 for all that are closer.
    """

    block: Block
    within: float
    coef: Array
    codes: Codes
    hessian: Array

    def _level(self, width: float) -> int:
        """Return the least L that rows no farther than ``width`` from the threshold may have."""
        exponent = math.frexp(self.within)[1] - 1
        return min(max(math.ceil(exponent - math.log2(width) - 1e-9), 0), CLOSE) if width > 0.0 else CLOSE

    def near(self, coef: Array) -> bool:
        """Whether few rows are likely to change side on the way to ``coef``."""
        step, bent = (coef - self.coef)[:, 0], int(np.count_nonzero(self.codes >= INSIDE))
        if not bent:
            return False
        size = math.sqrt(max(float(step @ self.hessian[0] @ step), 0.0) * len(self.codes) / bent)
        close = int(np.count_nonzero((self.codes & CLOSE) >= self._level(size)))
        return FEW * close <= 4 * len(self.codes)  # those at twice the distance are among them

    def moved(self, coef: Array, codes: Codes, total: float) -> Sides | None:
        """Return the sides at another point, from the codes there; None where too many rows changed."""
        changed = np.flatnonzero((codes ^ self.codes) >= INSIDE)
        if FEW * len(changed) > len(codes):
            return None
        came = codes[changed] >= INSIDE
        hessian = self.hessian + (self.gram(changed[came]) - self.gram(changed[~came])) / total
        return Sides(self.block, self.within, coef, codes, hessian)

    def edge(self, width: float) -> Index | None:
        """Return the rows that bend, but may not after moving by ``width``; None where they are many."""
        rows = np.flatnonzero(self.codes >= INSIDE + self._level(width))
        return rows if FEW * len(rows) <= len(self.codes) else None

    def beyond(self) -> Mask:
        """Return the rows with |eta - y| > T; those exactly at T are as close as can be."""
        return self.codes < CLOSE

    def gram(self, rows: Index) -> Array:
        """Return X' S X of some rows."""
        design = self.block.design
        parts = design.designs if isinstance(design, Stack) else (design,)
        some = np.hstack([part.array[rows] if isinstance(part, Dense) else np.ones((len(rows), 1)) for part in parts])
        some = some.astype(np.float64, copy=False)
        return np.asarray(some.T @ (some if self.block.weight is None else self.block.weight[rows, None] * some))


Found = tuple[float, float, Array, Array, Array | None]


def look(
    before: Sides | None,
    block: Block,
    loss: Loss,
    coef: Array,
    hessian: int,
    charges: tuple[Array, Array, float],
    total: float,
) -> tuple[Found, Sides | None, int]:
    """Return F with its derivatives at ``coef``, the sides there and how many passes that took.

    Where ``before`` is near, its second derivative is brought up to date.
    ``charges`` are those of the compiled objective, ``total`` is S.
    """
    rows = block.design.rows
    if rows is None or loss.native is None or loss.within is None:
        raise ValueError("only compiled rows of a loss with sides can be looked at")
    brief = before is not None and before.near(coef)
    codes = np.zeros(block.n_rows, dtype=np.uint8)
    given = (loss.native, block.y, block.weight, block.offset, coef, 0 if brief else hessian)
    found = rows.objective(*given, *charges, loss.parameter, codes)
    second = found[4]
    if before is None or not brief:
        after = None if second is None else Sides(block, loss.within, coef, codes, second)
    else:
        after = before.moved(coef, codes, total)
        if after is None and hessian:  # more rows changed side than were foreseen
            again, after, passes = look(None, block, loss, coef, hessian, charges, total)
            return again, after, passes + 1
    return (*found[:4], second if after is None else after.hessian), after, 1
