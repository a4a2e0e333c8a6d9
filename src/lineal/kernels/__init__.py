"""The kernels lineal knows, one class each; ``ALL`` is the catalogue that everybody else asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lineal.errors import InputError, near
from lineal.kernels.distance import Gaussian, Laplacian
from lineal.kernels.dot import Linear, Polynomial, Sigmoid
from lineal.kernels.kernel import Kernel, expect
from lineal.kernels.points import Points
from lineal.kernels.precomputed import Precomputed

ALL: tuple[type[Kernel], ...] = (Linear, Polynomial, Gaussian, Laplacian, Sigmoid, Precomputed)
"""Every kernel that a model file may name."""


def by_name() -> dict[str, type[Kernel]]:
    """Return every kernel by the name it has in a model file.

    >>> list(by_name())[:3]
    ['linear', 'poly', 'rbf']
    """
    return {kernel.name: kernel for kernel in ALL}


def read(text: str) -> Kernel:
    """Return the kernel that a text spells, such as ``rbf:2`` (width 2), ``poly:3`` or ``sigmoid:gamma=0.1,coef0=-1``.

    >>> read("rbf:2"), read("poly:2,coef0=0")
    (Gaussian(gamma=0.125), Polynomial(degree=2, coef0=0.0, gamma=1.0))
    """
    name, _, rest = text.strip().partition(":")
    known = by_name()
    if name not in known:
        spelled = ", ".join(kernel.spelling for kernel in ALL)
        raise InputError(f"there is no kernel {name!r}; known are {spelled}.{near(name, known)}")
    words = [word.strip() for word in rest.split(",")] if rest else []
    if "" in words:
        raise InputError(f"the kernel {text!r} has an empty parameter; it is spelled {known[name].spelling}.")
    placed = tuple(word for word in words if "=" not in word)
    named = {}
    for word in words:
        key, equals, value = word.partition("=")
        if equals:
            named[key.strip()] = value.strip()
    return known[name].parse(placed, named)


def from_dict(data: Any) -> Kernel:
    """Return the kernel of a model file, or refuse the file naming what is wrong.

    >>> from_dict({"kernel": "rbf", "gamma": 0.5})
    Gaussian(gamma=0.5)
    """
    expect(isinstance(data, Mapping), "is not an object")
    known = by_name()
    expect(data.get("kernel") in known, f"is of unknown kind {data.get('kernel')!r}")
    return known[data["kernel"]].from_dict(data)


__all__ = [
    "ALL",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Points",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "by_name",
    "from_dict",
    "read",
]
