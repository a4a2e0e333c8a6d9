"""Points as kernels take them: read and checked once, handed out again as people have them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lineal.designs.sound import is_sparse, sound
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.inputs import real, shown

Chosen = npt.NDArray[np.integer[Any]]
Index = npt.NDArray[np.int64]


class Points(ABC):
    """Some points of one kind. ``values`` are what they were made of: an array, a sparse matrix, a list of texts."""

    values: Any

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, index: Chosen) -> Self:
        """Return some of the points, in this order."""

    def fits(self, other: Points) -> None:
        """Refuse points that cannot be compared with these."""
        if type(self) is not type(other):
            raise InputError(f"X are {type(self).__name__.lower()}, but Z are {type(other).__name__.lower()}.")


class Rows(Points):
    """Rows of finite numbers, dense (C order, float64) or compressed sparse rows with increasing columns.

    >>> len(Rows([[1, 2], [3, 4]]))
    2
    """

    def __init__(self, X: Any, name: str = "X") -> None:
        self.values = _sparse(X, name) if is_sparse(X) else _dense(X, name)
        cells = self.values.data if self.sparse else self.values
        if not np.isfinite(cells).all():
            raise InputError(f"{name} holds NaN or infinity; fill such cells, or leave their rows out.")

    @classmethod
    def _of(cls, values: Any) -> Self:
        rows = object.__new__(cls)
        rows.values = values
        return rows

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def sparse(self) -> bool:
        """Whether the rows are compressed."""
        return is_sparse(self.values)

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return int(self.values.shape[1])

    def take(self, index: Chosen) -> Self:
        """Return some of the rows, in this order."""
        return self._of(self.values[index])

    def fits(self, other: Points) -> None:
        """Refuse rows of another width."""
        super().fits(other)
        assert isinstance(other, Rows)
        if self.width != other.width:
            raise InputError(f"X has {self.width} columns and Z has {other.width}; give both the same.")

    def compressed(self) -> Rows:
        """Return the rows, compressed."""
        return self if self.sparse else Rows(_compressed(self.values))

    @cached_property
    def squares(self) -> Array:
        """The squared length of every row."""
        if self.sparse:
            return np.asarray(self.values.multiply(self.values).sum(axis=1), dtype=np.float64).reshape(-1)
        return np.asarray(np.einsum("ij,ij->i", self.values, self.values))

    def lengths(self) -> Array:
        """Return an upper bound on the length of every row, rounding included."""
        return np.sqrt(self.squares) * (1.0 + 2.0**-50 * (self.terms + 4)) + 2.0**-500

    @cached_property
    def sums(self) -> Array:
        """The sum of absolute numbers of every row."""
        return np.asarray(abs(self.values).sum(axis=1), dtype=np.float64).reshape(-1)

    @cached_property
    def terms(self) -> int:
        """How many numbers a row has at most that are not zero by their storage: so many terms has a sum over columns."""
        return int(np.diff(self.values.indptr).max(initial=0)) if self.sparse else self.width


def compressed(left: Rows, right: Rows | None) -> tuple[Index, Index, Array, int, int]:
    """Return rows, and those behind them that they are compared with, as `_core.sparse_gram` takes them."""
    if right is None:
        rows = left.values
    else:
        from scipy.sparse import vstack

        rows = vstack([left.values, right.values], format="csr")
    whole = [np.ascontiguousarray(part, dtype=np.int64) for part in (rows.indptr, rows.indices)]
    return whole[0], whole[1], np.ascontiguousarray(rows.data), left.width, -1 if right is None else len(left)


def in_blocks(entries: Array, change: Callable[[Array], Array]) -> Array:
    """Return entries changed in place, some rows at a time, so that what is needed meanwhile stays small.

    >>> in_blocks(np.array([[1.0], [4.0]]), np.sqrt)
    array([[1.],
           [2.]])
    """
    lines = max(1, 2**16 // max(1, entries.shape[1]))
    for start in range(0, len(entries), lines):
        entries[start : start + lines] = change(entries[start : start + lines])
    return entries


class Entries(Points):
    """Rows of a matrix that holds the entries of a kernel themselves.

    >>> len(Entries(np.eye(3)))
    3
    """

    def __init__(self, X: Any, name: str = "X") -> None:
        self.values = _dense(X, name)
        if not np.isfinite(self.values).all():
            raise InputError(f"{name} holds NaN or infinity; entries of a kernel are finite numbers.")

    def __len__(self) -> int:
        return len(self.values)

    def take(self, index: Chosen) -> Self:
        """Return some of the rows, with all their entries."""
        return type(self)(self.values[index])


class Objects(Points):
    """Points of any kind, for a function that knows what they are: rows of an array, or entries of a list.

    >>> len(Objects(["a", "b", "c"]))
    3
    """

    def __init__(self, X: Any, name: str = "X") -> None:
        if X is None or isinstance(X, str | bytes | dict) or not (hasattr(X, "__len__") or hasattr(X, "shape")):
            raise InputError(f"{name} is {shown(X)}; give a list or an array of points.")
        self.values = X

    def __len__(self) -> int:
        return int(self.values.shape[0]) if hasattr(self.values, "shape") else len(self.values)

    def take(self, index: Chosen) -> Self:
        """Return some of the points, in this order."""
        if hasattr(self.values, "shape"):
            return type(self)(self.values[index])
        return type(self)([self.values[i] for i in index])


def read_points(X: Any, takes: str, name: str) -> Points:
    """Return points as a kernel takes them; what was prepared before is kept.

    >>> read_points([[1.0]], "rows", "X").values
    array([[1.]])
    """
    kinds: dict[str, type[Points]] = {"rows": Rows, "entries": Entries, "objects": Objects}
    kind = kinds[takes]
    return X if isinstance(X, kind) else kind(X.values if isinstance(X, Points) else X, name)  # type: ignore[call-arg]


def _dense(X: Any, name: str) -> Array:
    """Return a matrix of doubles in C order."""
    values = np.ascontiguousarray(real(X, name), dtype=np.float64)
    if values.ndim != 2:
        raise InputError(f"{name} has shape {values.shape}; give two dimensions, a row for every point.")
    return values if values.flags.aligned else values.copy()


def _compressed(values: Array) -> Any:
    from scipy.sparse import csr_array

    return csr_array(values)


def _sparse(X: Any, name: str) -> Any:
    """Return compressed rows of doubles with increasing columns."""
    from scipy.sparse import csr_array

    rows = csr_array(sound(X, name))
    if rows.data.dtype != np.float64:
        rows = csr_array((real(rows.data, name).astype(np.float64), rows.indices, rows.indptr), shape=rows.shape)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows
