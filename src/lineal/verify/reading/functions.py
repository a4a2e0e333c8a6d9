"""The functions of a number that formulas and names of columns have."""

from __future__ import annotations

from typing import Final

import numpy as np

from lineal.verify.arithmetic import Array

FUNCTIONS: Final = ("log", "log2", "log10", "log1p", "sqrt", "exp", "abs", "square", "cube")


def applied(function: str, x: Array) -> Array:
    """Return a function of numbers; ValueError where it has none.

    >>> applied("cube", np.array([2.0]))
    array([8.])
    """
    if function not in FUNCTIONS:
        raise ValueError(f"there is no function {function!r}")
    with np.errstate(all="ignore"):
        x = x * x * x if function == "cube" else getattr(np, function)(x)
    if not np.all(np.isfinite(x)):
        raise ValueError(f"{function} has no finite value in row {int(np.argmin(np.isfinite(x))) + 1}")
    return x
