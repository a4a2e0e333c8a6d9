"""The voted perceptron: every weight vector it ever held votes, with as many votes as rows it survived.

Freund and Schapire (1999): the class of x is that with most votes, sum over k of c_k [x is of the class by w_k]. The weights
w_k are a start plus a running sum of mistaken rows, so only those rows are kept, and x.w_k is a running sum of x.x_i.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.designs.design import Design
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.losses.loss import chosen
from lineal.separation.gathering import matrix
from lineal.sources.source import Block, Source

MAX_PRODUCTS_HELD: Final = 2**22
"""Products held at once."""


@dataclass(frozen=True)
class Voters:
    """Weight vectors ``start``, ``start`` + first update, ...: update u adds ``rate rows[place[u]]`` to the weights of class
    ``own[u]`` and subtracts it from those of ``rival[u]`` (one output: adds it for class 1, subtracts it for class 0).

    ``votes`` has one entry more than there are updates. ``upward`` sends ties to the later class.
    """  # noqa: D205

    start: Array
    rows: Any
    place: Index
    own: Index
    rival: Index
    votes: Array
    rate: float = 1.0
    upward: bool = False

    @staticmethod
    def of(source: Source, log: npt.NDArray[np.int64], presented: int, start: Array, tie: int, rate: float) -> Voters:
        """Return the voters of a run from its log: (row, rival, presentation) of every mistake."""
        distinct, place = np.unique(log[:, 0], return_inverse=True)
        parts, own = zip(*source.collect(Picked(distinct)), strict=True)
        times = np.concatenate([[1], log[:, 2], [presented + 1]])
        rows: Any = parts[0] if len(parts) == 1 else np.vstack([_dense(part) for part in parts])
        return Voters(
            start=start,
            rows=rows,
            place=place.astype(np.intp),
            own=np.concatenate(own)[place],
            rival=log[:, 1].astype(np.intp),
            votes=np.diff(times).astype(np.float64),
            rate=rate,
            upward=tie > 0,
        )

    def tally(self, design: Design) -> Array:
        """Return the votes of every row: for the second class less those against it, or for each of several classes."""
        n, outputs = design.shape[0], self.start.shape[1]
        total = np.zeros((n, outputs))
        step = max(1, MAX_PRODUCTS_HELD // max(design.shape[1], n))
        score = design.times(np.ascontiguousarray(self.start))
        for first in range(0, len(self.place) + 1, step):
            some = slice(first, min(first + step, len(self.place)))
            products = self.rate * design.times(np.ascontiguousarray(_dense(self.rows[self.place[some]]).T))
            if outputs == 1:
                sign = np.where(self.own[some] == 1, 1.0, -1.0)
                scores = np.hstack([score, score + np.cumsum(products * sign, axis=1)])
                ends = first + step > len(self.place)
                voting = scores if ends else scores[:, :-1]
                up = voting >= 0.0 if self.upward else voting > 0.0
                total += (np.where(up, 1.0, -1.0) @ self.votes[first : first + voting.shape[1]])[:, None]
                score = np.ascontiguousarray(scores[:, -1:])
                continue
            for u in range(some.start, some.stop):
                total[np.arange(n), chosen(score, upward=self.upward)] += self.votes[u]
                score[:, self.own[u]] += products[:, u - first]
                score[:, self.rival[u]] -= products[:, u - first]
        if outputs > 1:
            total[np.arange(n), chosen(score, upward=self.upward)] += self.votes[-1]
        return total


def _dense(part: Any) -> Array:
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)


@dataclass(frozen=True)
class Picked:
    """Some rows of a block and their classes, by their places among all rows of the source."""

    numbers: npt.NDArray[np.int64]

    def __call__(self, block: Block) -> tuple[Any, Index]:
        """Return those that are in the block."""
        at = self.numbers[(self.numbers >= block.rows.start) & (self.numbers < block.rows.stop)] - block.start
        return matrix(block.design)[at], block.y[at, 0].astype(np.intp)
