"""The kernels lineal knows, one class each; ``ALL`` is the catalogue that everybody else asks."""

from __future__ import annotations

from typing import Any

from lineal.kernels.composed import Normalized, Product, Sum
from lineal.kernels.distance import Gaussian, Laplacian
from lineal.kernels.dot import Linear, Polynomial, Sigmoid
from lineal.kernels.function import FromFunction
from lineal.kernels.kernel import Kernel, from_file
from lineal.kernels.mercer import MercerTest
from lineal.kernels.points import Points
from lineal.kernels.precomputed import Precomputed
from lineal.kernels.spelling import parse
from lineal.kernels.texts import Spectrum, Subsequence
from lineal.kernels.trees import SubsetTree, Trees

ALL: tuple[type[Kernel], ...] = (
    Linear,
    Polynomial,
    Gaussian,
    Laplacian,
    Sigmoid,
    Subsequence,
    Spectrum,
    SubsetTree,
    Precomputed,
    Sum,
    Product,
    Normalized,
)
"""Every kernel that a model file may name."""


def by_name() -> dict[str, type[Kernel]]:
    """Return every kernel by the name it has in a model file.

    >>> list(by_name())[:3]
    ['linear', 'poly', 'rbf']
    """
    return {kernel.name: kernel for kernel in ALL}


def read(text: str) -> Kernel:
    """Return the kernel that a text spells, such as ``rbf:2`` (width 2), ``poly:3`` or ``normalized(spectrum:3)``.

    Kernels are added and multiplied with ``+`` and ``*``; what follows a colon may be named: ``sigmoid:gamma=0.1,coef0=-1``.

    >>> read("rbf:2"), read("poly:2,coef0=0")
    (Gaussian(gamma=0.125), Polynomial(degree=2, coef0=0.0, gamma=1.0))
    """
    return parse(text, by_name())


def from_dict(data: Any) -> Kernel:
    """Return the kernel of a model file, or refuse the file naming what is wrong.

    >>> from_dict({"kernel": "rbf", "gamma": 0.5})
    Gaussian(gamma=0.5)
    """
    return from_file(data)


__all__ = [
    "ALL",
    "FromFunction",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "MercerTest",
    "Normalized",
    "Points",
    "Polynomial",
    "Precomputed",
    "Product",
    "Sigmoid",
    "Spectrum",
    "Subsequence",
    "SubsetTree",
    "Sum",
    "Trees",
    "by_name",
    "from_dict",
    "read",
]
