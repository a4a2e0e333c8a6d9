"""The explicit map of the quadratic kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lineal.verify.arithmetic import Array


def names(factors: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of squares and of products of two.

    >>> names([["a"], ["b"]])
    ['a^2', 'b^2', 'sqrt(2) a:b']
    """
    single = [factor[0] for factor in factors]
    products = [f"sqrt(2) {a}:{b}" for k, a in enumerate(single) for b in single[k + 1 :]]
    return [*(f"{name}^2" for name in single), *products]


def values(factors: Sequence[Sequence[Array]]) -> list[Array]:
    """Return squares, and products of two times the root of two, of single columns.

    >>> import numpy as np
    >>> [column.tolist() for column in values([[np.array([3.0])], [np.array([2.0])]])]
    [[9.0], [4.0], [8.485281374238571]]
    """
    single = [factor[0] for factor in factors]
    return [*(x * x for x in single), *(x * z * math.sqrt(2.0) for k, x in enumerate(single) for z in single[k + 1 :])]
