"""The curvature that a few steps reveal: products with the inverse that L-BFGS builds from them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from lineal.ground.arrays import Array


def product(pairs: deque[tuple[Array, Array]], gradient: Array, base: Callable[[Array], Array] | None = None) -> Array:
    """Return the two-loop product of the inverse curvature with the gradient.

    ``base`` multiplies by the inverse curvature known before any step; without it that is the scale of the last one.
    """
    result = gradient.copy()
    factors = []
    for moved, turned in reversed(pairs):
        factor = float(np.sum(moved * result) / np.sum(moved * turned))
        result -= factor * turned
        factors.append(factor)
    if base is not None:
        result = base(result)
    elif pairs:
        moved, turned = pairs[-1]
        result *= float(np.sum(moved * turned) / np.sum(turned * turned))
    for (moved, turned), factor in zip(pairs, reversed(factors), strict=True):
        result += (factor - float(np.sum(turned * result) / np.sum(moved * turned))) * moved
    return result
