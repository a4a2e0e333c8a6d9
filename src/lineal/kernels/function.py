"""A kernel that a person writes: any function of two points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from lineal import _core
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.kernels.kernel import Kernel, Takes, number
from lineal.kernels.points import Points
from lineal.kernels.precomputed import symmetric


@dataclass(frozen=True)
class FromFunction(Kernel):
    """``k(x, z) = function(x, z)``, for any function of two points that is symmetric.

    Points are the rows of an array or the entries of a list, handed over as they are. ``error`` is what the function's
    rounding may move an entry by, as a share of the largest entry of its row. Whether it is a Mercer kernel is not known:
    ``check`` asks the entries. A function is not saved in model files.

    >>> FromFunction(lambda x, z: min(x, z)).gram([1.0, 3.0])
    array([[1., 1.],
           [1., 3.]])
    """

    function: Callable[[Any, Any], float]
    error: float = 2.0**-48
    name: ClassVar[str] = "function"
    label: ClassVar[str] = "kernel from a function"
    spelling: ClassVar[str] = "(from Python only)"
    takes: ClassVar[Takes] = "objects"
    saved: ClassVar[bool] = False

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return the smaller of two numbers."""
        return (cls(min),)

    @classmethod
    def parse(cls, words: tuple[str, ...], named: Mapping[str, str]) -> Kernel:
        """Refuse: a function cannot be typed."""
        raise InputError("a kernel from a function is made in Python: lineal.kernels.FromFunction(function).")

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"the function of a kernel is {self.function!r}; give a function of two points.")
        number(self.label, "error", self.error, zero=True)

    @property
    def mercer(self) -> bool:
        """Not known."""
        return False

    def formula(self) -> str:
        """Return the name of the function."""
        return f"{getattr(self.function, '__name__', 'function')}(x, z)"

    def spelled(self) -> str:
        """Return the name of the function, which nothing reads."""
        return self.formula()

    def to_dict(self) -> dict[str, Any]:
        """Refuse: a file holds no code."""
        raise InputError(
            f"the {self.label} {self.formula()} cannot be saved, since model files hold no code; use a kernel of the "
            "catalogue, or save its Gram matrix and fit it as 'precomputed'."
        )

    def _value(self, x: Any, z: Any) -> float:
        try:
            return float(self.function(x, z))
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.formula()} returned no number for two points: {error}.") from error

    def _gram(self, left: Points, right: Points | None) -> Array:
        one = list(left.values)
        other = one if right is None else list(right.values)
        entries = np.empty((len(one), len(other)))
        for i, x in enumerate(one):
            _core.heed()
            entries[i] = [self._value(x, z) for z in other]
        if not np.isfinite(entries).all():
            i, j = np.argwhere(~np.isfinite(entries))[0]
            raise InputError(
                f"{self.formula()} is {entries[i, j]} at ({i}, {j}); entries of a kernel are finite numbers."
            )
        return symmetric(entries, self.formula()) if right is None else entries

    def _diagonal(self, points: Points) -> Array:
        return np.array([self._value(x, x) for x in points.values], dtype=np.float64)

    def _entry_error(self, points: Points, partners: Points) -> Array:
        entries = np.abs(self._gram(points, None if points is partners else partners))
        return np.asarray(np.sqrt(self.error * entries.max(axis=1, initial=0.0)))
