"""Which columns move the score of a row most: the largest contributions, row by row."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lineal.designs.design import Design
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass

MAX_CELLS: Final = 1 << 22
"""Numbers of a design that are unpacked at a time."""


@dataclass(frozen=True)
class Explained:
    """Of every row the ``names`` of the columns that move its score most, and by how much (``moves``), the largest first.

    Both have a row for every row; where there are fewer columns than were asked for, the last names are empty.
    """

    names: npt.NDArray[np.object_]
    moves: Array


def largest(design: Design, coef: Array, mean: Array, groups: tuple[str, ...], wanted: int, chosen: Index) -> Explained:
    """Return the largest contributions to the score of the output that is ``chosen`` for each row.

        eta - eta(mean row) = sum of all contributions;    of a column: sum_j (x_j - mean_j) b_jk

    j runs over the design columns of one group, such as the levels of a category, the intercept apart; k is the output. Of
    several outputs b_k is taken less the mean of them all, since what they share decides nothing.
    """
    from scipy.sparse import csr_array  # what explains nothing never pays for it

    first = int(groups[:1] == ("(intercept)",))
    groups, coef, mean = groups[first:], coef[first:], mean[first:]
    places = {name: k for k, name in enumerate(dict.fromkeys(groups))}
    of = csr_array((np.ones(len(groups)), ([places[group] for group in groups], range(len(groups)))))
    slopes = coef - coef.mean(axis=1, keepdims=True) if coef.shape[1] > 1 else coef
    titles, wide = np.array([*places, ""], object), min(wanted, len(places))
    names = np.full((len(chosen), wanted), "", object)
    moves = np.full((len(chosen), wanted), np.nan)
    step = max(1, MAX_CELLS // max(len(groups), 1))
    for start in range(0, len(chosen), step):
        rows = slice(start, min(start + step, len(chosen)))
        away = design.slice(rows.start, rows.stop).dense()[:, first:] - mean
        each = (of @ (away * slopes[:, chosen[rows]].T).T).T
        order = np.argsort(-np.abs(each), axis=1, kind="stable")[:, :wide]
        names[rows, :wide] = titles[order]
        moves[rows, :wide] = np.take_along_axis(each, order, axis=1)
    return Explained(names, moves)
