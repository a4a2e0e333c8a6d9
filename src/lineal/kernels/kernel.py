"""The contract of a kernel: a symmetric function of two points, and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Final, Literal, Self, cast

import numpy as np

from lineal.errors import InputError, ModelFileError
from lineal.ground.arrays import Array
from lineal.kernels.mercer import MercerTest, constructed, judged
from lineal.kernels.points import Points, read_points
from lineal.kernels.words import numbers

Takes = Literal["rows", "sequences", "trees", "entries", "objects"]

UNIT: Final = 2.0**-53
"""The largest relative error of one rounding."""
DEEPEST: Final = 20
"""Layers of a kernel that is made of kernels."""
SMALLEST: Final = 2.0**-500
"""Added to factors of error bounds, whose squares then cover what underflows."""


class Kernel(ABC):
    """How alike two points are: ``k(x, z) = phi(x).phi(z)`` for some map ``phi`` if the kernel is Mercer's.

    One class is all that a kernel is. ``name`` stands in model files and before the colon on the command line,
    ``spelling`` is how a person types it, ``label`` its name in sentences. Its fields are its parameters, which
    ``__post_init__`` checks. ``takes`` says what a point is: a row of numbers ("rows"), a text or list of tokens
    ("sequences"), a tree in brackets ("trees"), a row of a matrix that holds the entries themselves ("entries").
    ``saved`` says that a model file can hold it.

    Every method takes points as a person has them, or the ``Points`` that ``points`` made of them, which are checked
    and prepared once: hand those in where a method is called more than once.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    spelling: ClassVar[str]
    takes: ClassVar[Takes] = "rows"
    saved: ClassVar[bool] = True

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return some kernels of this class for laws to be tested with: by default the one of no parameters."""
        return (cls(),)

    @classmethod
    def parse(cls, words: tuple[str, ...], named: Mapping[str, str]) -> Kernel:
        """Return the kernel from what follows the colon of its spelling: words by place, and words by name.

        They are its fields, in their order, unless a kernel says otherwise.
        """
        kinds = {item.name: type(item.default) for item in fields(cast("Any", cls))}
        return cls(**numbers(cls, words, named, kinds))

    @property
    def mercer(self) -> bool:
        """Whether every Gram matrix is positive semi-definite by construction, but for rounding."""
        return True

    @property
    def bounded(self) -> bool:
        """Whether the rounding of its entries is known (``entry_error``)."""
        return True

    @property
    def normal(self) -> bool:
        """Whether ``k(x, x) = 1`` for every point."""
        return False

    @abstractmethod
    def formula(self) -> str:
        """Return the kernel in letters, its numbers filled in."""

    @abstractmethod
    def spelled(self) -> str:
        """Return the words that `lineal.kernels.read` reads this kernel from."""

    def points(self, X: Any, name: str = "X") -> Points:
        """Return points checked and prepared; ``name`` is what sentences call them."""
        return read_points(X, self.takes, name)

    def gram(self, X: Any, Z: Any = None) -> Array:
        """Return the matrix of ``k(x_i, z_j)``, float64 in C order; of ``k(x_i, x_j)``, symmetric to the bit, without Z."""
        left = self.points(X)
        right = None if Z is None else self.points(Z, "Z")
        if right is not None:
            left.fits(right)
            if not len(left) * len(right):  # the core takes no second set for none given
                return np.zeros((len(left), len(right)))
        with np.errstate(all="ignore"):
            return self.finite(self._gram(left, right))

    def diagonal(self, X: Any) -> Array:
        """Return ``k(x_i, x_i)`` of every point: the same bits as on the diagonal of ``gram(X)``."""
        with np.errstate(all="ignore"):
            return self.finite(self._diagonal(self.points(X)))

    def finite(self, entries: Array) -> Array:
        """Return entries that are finite, or refuse them."""
        if entries.size and not np.isfinite([entries.max(), entries.min()]).all():
            raise InputError(
                f"the {self.label} of some points is beyond what a double holds; scale the columns (standardize them), "
                "or choose smaller parameters."
            )
        return entries

    def entry_error(self, X: Any, Z: Any = None) -> Array:
        """Return a number ``e_i >= 0`` for every point of X that bounds the rounding of entries, on the diagonal or not.

        ``|computed k(x_i, x_j) - k(x_i, x_j)| <= e_i e_j``; of ``gram(X, Z)``, the product of ``entry_error(X, Z)[i]`` and
        ``entry_error(Z, X)[j]``. So rounding moves ``v' K v`` by at most ``(sum_i |v_i| e_i)^2``. Numbers and parameters
        count as the doubles they are.
        """
        points = self.points(X)
        with np.errstate(all="ignore"):
            return self._entry_error(points, points if Z is None else self.points(Z, "Z"))

    def check(self, X: Any) -> MercerTest:
        """Return whether the Gram matrix of X is positive semi-definite, up to the rounding of its entries: Mercer's test."""
        points = self.points(X)
        if self.mercer:
            return constructed(self.label, self.entry_error(points))
        return judged(self.label, self.gram(points), self.rounding(points))

    def rounding(self, X: Any) -> Array:
        """Return what ``check`` takes for the rounding of entries, as ``entry_error`` does."""
        return self.entry_error(X)

    @abstractmethod
    def _gram(self, left: Points, right: Points | None) -> Array: ...

    @abstractmethod
    def _diagonal(self, points: Points) -> Array: ...

    @abstractmethod
    def _entry_error(self, points: Points, partners: Points) -> Array: ...

    def to_dict(self) -> dict[str, Any]:
        """Return the kernel as plain data: its name and its fields."""
        return {"kernel": self.name} | {item.name: _plain(getattr(self, item.name)) for item in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the kernel of a model file, every member checked."""
        names = [item.name for item in fields(cls)]  # type: ignore[arg-type]
        expect(set(data) == {"kernel", *names}, f"must have the members {['kernel', *names]} for {cls.name!r}")
        try:
            return cls(**{name: cls.member(name, data[name]) for name in names})
        except InputError as error:
            raise ModelFileError(f"the kernel in the model file is refused: {error}") from None

    @classmethod
    def member(cls, name: str, value: Any) -> Any:
        """Return the value of one field from a file: a finite number, unless a class has others."""
        expect(isinstance(value, int | float) and not isinstance(value, bool), f"has no number for {name!r}")
        expect(bool(np.isfinite(value)), f"has no finite number for {name!r}")
        return value


def from_file(data: Any) -> Kernel:
    """Return the kernel of a model file, whatever kind it names.

    >>> from lineal.kernels import Linear
    >>> from_file(Linear().to_dict())
    Linear()
    """
    expect(isinstance(data, Mapping), "is not an object")
    expect(_depth(data) <= DEEPEST, f"is made of kernels in more than {DEEPEST} layers")
    known, waiting = {}, [Kernel]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.saved is not False and "name" in vars(kind):
            known[kind.name] = kind
    name = data.get("kernel")
    expect(isinstance(name, str) and name in known, f"is of unknown kind {name!r}")
    return known[str(name)].from_dict(data)


def _depth(data: Any) -> int:
    """Return how many layers of objects and lists there are."""
    layer, depth = [data], 0
    while layer:
        inner = [one.values() if isinstance(one, Mapping) else one for one in layer if isinstance(one, Mapping | list)]
        layer = [value for values in inner for value in values]
        depth += bool(inner)
    return depth


def expect(holds: bool, sentence: str) -> None:
    """Refuse a model file unless something holds."""
    if not holds:
        raise ModelFileError(f"the kernel in the model file {sentence}.")


def _plain(value: Any) -> Any:
    """Return the value of a field as a file holds it."""
    if isinstance(value, Kernel):
        return value.to_dict()
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def number(kernel: str, name: str, value: Any, *, least: float = 0.0, zero: bool = False) -> None:
    """Refuse a parameter that is no finite number above ``least`` (or at least that, with ``zero``)."""
    good = isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))
    if not good or value < least or (value == least and not zero):
        word = "at least" if zero else "above"
        raise InputError(f"{name} of the {kernel} is {value!r}; it must be a finite number {word} {least:g}.")


def whole(kernel: str, name: str, value: Any, *, least: int = 1, most: int = 1000) -> None:
    """Refuse a parameter that is no whole number between ``least`` and ``most``."""
    good = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not good or not least <= value <= most:
        raise InputError(f"{name} of the {kernel} is {value!r}; it must be a whole number from {least} to {most}.")
