"""Rows as a perceptron learns well from them: columns of numbers less their mean, in units of their standard deviation.

An update adds a whole row to the weights, so that a column in large units is all that is learned. Columns stored sparsely, the
0 and 1 of categories and the words of texts, stay as they are: shifted they would fill up, and scaled, rare words would rule.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lineal.designs import Dense, HStack, Ones
from lineal.designs.design import Design
from lineal.designs.standardization import Standardization
from lineal.ground.records import dataclass
from lineal.problem.moments import Moments
from lineal.sources.source import Block, Source


@dataclass(frozen=True)
class Scaled(Standardization):
    """The change of a block's stored columns ``x_j -> (x_j - shift_j) / scale_j``, written out: kernels read the cells."""

    def __call__(self, block: Block) -> Block:
        """Return the block in other columns."""
        parts: list[Design] = []
        at = 0
        for part in block.design.designs:
            some = slice(at, at + part.shape[1])
            at += part.shape[1]
            if _stored(part):
                cells = part.dense_rows(slice(None))
                parts.append(Dense((cells - self.shift[some]) / self.scale[some]))
            else:
                parts.append(part)
        return replace(block, design=parts[0] if len(parts) == 1 else HStack(parts))


def scaled(source: Source, moments: Moments) -> Scaled:
    """Return the change that standardizes the stored columns; without an intercept nothing is shifted.

    >>> from lineal.designs import as_design
    >>> from lineal.losses import Perceptron
    >>> from lineal.problem.moments import survey
    >>> from lineal.sources.memory import Memory
    >>> rows = Memory(as_design(np.array([[2.0], [4.0]])), np.array([0.0, 1.0]))
    >>> change = scaled(rows, survey(rows, Perceptron(1, 0.0)))
    >>> change.shift.tolist(), change.scale.tolist()
    ([0.0, 3.0], [1.0, 1.0])
    """
    intercept = source.columns[:1] == ("(intercept)",)
    mean = moments.mean if intercept else np.zeros(len(moments.mean))
    spread = np.sqrt(moments.sd**2 + (moments.mean - mean) ** 2)
    # A column that hardly varies is not scaled up: only rounding errors would be left of it.
    spread = np.where(spread > 1e-8 * moments.largest, spread, np.where(moments.largest > 0.0, moments.largest, 1.0))
    stored = np.concatenate([np.full(part.shape[1], _stored(part)) for part in source.head().design.designs])
    if intercept:
        stored[0] = False
    return Scaled(np.where(stored, mean, 0.0), np.where(stored, spread, 1.0))


def _stored(part: Design) -> bool:
    return part.plain and not isinstance(part, Ones)
