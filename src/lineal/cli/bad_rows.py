"""Rows that no prediction can be made for, found one by one in a batch that holds some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Mask


def readable(batch: Any, read: Callable[[Any], object]) -> Mask:
    """Return which rows of a batch can be read: halves of what cannot are tried until single rows are left.

    ``read`` takes a batch and raises an InputError where a row of it cannot be read.
    """
    good = np.ones(batch.num_rows, bool)
    spans = [(0, batch.num_rows)]
    while spans:
        start, stop = spans.pop()
        try:
            read(batch.slice(start, stop - start))
        except InputError:
            if stop - start == 1:
                good[start] = False
            else:
                middle = (start + stop) // 2
                spans += [(middle, stop), (start, middle)]
    return good
