"""Lengths of weights and of rows, also where their squares are too large or too small for doubles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lineal.ground.arrays import Array
from lineal.separation import gathering
from lineal.sources.source import Block, Source


def length(values: Array) -> float:
    """Return the Euclidean length of all numbers together, whose squares may be too large or too small for doubles.

    >>> length(np.array([3.0, 4.0]) * 2.0**700) == 5.0 * 2.0**700
    True
    """
    power = int(np.frexp(np.max(np.abs(values), initial=0.0))[1])
    scaled = values * math.ldexp(1.0, -power) if power > -1000 else np.ldexp(values, -power)
    # not BLAS: its threads wait for each other and spin after a long vector
    return math.ldexp(math.sqrt(float(np.sum(scaled * scaled))), power)


def radius(source: Source) -> float:
    """Return the largest length of a row of positive weight of any size; NaN where a row holds NaN or infinity."""
    return float(np.max(source.collect(longest)))  # NaN if any is


def longest(block: Block) -> float:
    """Return the largest length of a block's rows of positive weight, some rows at a time where they are many cells."""
    rows = np.arange(block.n_rows) if block.weight is None else np.flatnonzero(block.weight > 0.0)
    step = max(gathering.MAX_CELLS // block.design.shape[1], 1)
    pieces = (rows[at : at + step] for at in range(0, len(rows), step))
    return float(np.max([_longest(gathering.matrix(block.design, piece)) for piece in pieces], initial=0.0))


def _longest(x: Any) -> float:
    """Return the largest length of the rows of a matrix; NaN where a row holds NaN or infinity."""
    size = float(abs(x).max())
    if not 0.0 < size < math.inf:
        return 0.0 if size == 0.0 else math.nan
    x = x * (1.0 / size)
    squares = x.multiply(x).sum(axis=1) if hasattr(x, "multiply") else np.einsum("ij,ij->i", x, x)
    return size * math.sqrt(float(np.max(squares)))
