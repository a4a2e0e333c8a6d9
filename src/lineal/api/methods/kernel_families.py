"""Kernels to choose from where ``auto`` was typed: a family of widths or degrees, made for some rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from lineal.ground.arrays import Array
from lineal.kernels import Gaussian, Kernel, Laplacian, Polynomial

WIDTHS: Final = (0.25, 0.5, 1.0, 2.0)
"""Widths that are tried, as multiples of the median distance of two rows."""

DEGREES: Final = (1, 2, 3, 4)
"""Degrees that are tried."""

RBF: Final = "rbf"
"""The family that is meant where none is named."""


def gaussian(x: Array) -> list[Kernel]:
    """Return Gaussian kernels of several widths around the median distance of two rows."""
    median = _median(np.sqrt(np.sum(_apart(x) ** 2, axis=1)))
    return [Gaussian.of_width(float(f"{share * median:.3g}")) for share in WIDTHS]


def laplacian(x: Array) -> list[Kernel]:
    """Return Laplacian kernels that fall by e at several multiples of the median distance.

    >>> laplacian(np.array([[0.0], [2.0]]))[2]
    Laplacian(gamma=0.5)
    """
    median = _median(np.sum(np.abs(_apart(x)), axis=1))
    return [Laplacian(float(f"{1.0 / (share * median):.3g}")) for share in WIDTHS]


def polynomial(x: Array) -> list[Kernel]:
    """Return ``(x.z / p + 1)^D`` of several degrees, p columns: standardized rows have x.x / p near 1.

    >>> polynomial(np.zeros((3, 4)))[1]
    Polynomial(degree=2, coef0=1.0, gamma=0.25)
    """
    return [Polynomial(degree, 1.0, 1.0 / max(1, x.shape[1])) for degree in DEGREES]


FAMILIES: Final[Mapping[str, Callable[[Array], list[Kernel]]]] = {
    RBF: gaussian,
    "poly": polynomial,
    "laplacian": laplacian,
}
"""The families by the word before ``:auto``."""


def _apart(x: Array) -> Array:
    half = len(x) // 2
    return np.asarray(x[:half] - x[half : 2 * half])


def _median(apart: Array) -> float:
    return float(np.median(apart[apart > 0.0])) if np.any(apart > 0.0) else 1.0
