"""Products of terms: every product of one column of each factor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import prod

from lineal.verify.arithmetic import Array


def names(factors: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of the products of named columns; a name that repeats is a power.

    >>> names([["a"], ["a"], ["b=1", "b=2"]])
    ['a^2:b=1', 'a^2:b=2']
    """
    return [
        ":".join(name if times == 1 else f"{name}^{times}" for name, times in Counter(chosen).items())
        for chosen in product(*factors)
    ]


def values(factors: Sequence[Sequence[Array]]) -> list[Array]:
    """Return the products of columns, the last factor's running fastest.

    >>> import numpy as np
    >>> [column.tolist() for column in values([[np.array([1.0, 2.0])], [np.array([3.0, 4.0]), np.array([5.0, 6.0])]])]
    [[3.0, 8.0], [5.0, 12.0]]
    """
    return [prod(chosen[1:], start=chosen[0]) for chosen in product(*factors)]
