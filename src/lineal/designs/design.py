"""The contract of a design: a block of rows that can be multiplied."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.ground.arrays import Array, Index

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from lineal import _core

Chosen = Index | slice
"""Some rows: their numbers, or a range of them."""
Picker = Callable[[Index], "Design"]
"""From sorted columns to the design that has only these."""


class Design(ABC):
    """Rows times columns, stored as suits them; it knows neither targets nor losses.

    ``rows`` is the compiled view of it, on which whole fused passes run; None for a design that has none
    (then passes use the verbs below). ``compiled`` says that there is one. ``plain`` says that every cell is stored:
    no column is sparse, and centring fills nothing. ``compact`` says that the rows are much smaller as a sparse matrix.
    """

    compiled: ClassVar[bool] = False
    plain: bool = False
    compact: bool = False

    @property
    def rows(self) -> _core.Rows | None:
        """The compiled view."""
        return None

    @classmethod
    @abstractmethod
    def example(cls, rows: int) -> Design:
        """Return some design of this kind, for laws that hold for all of them."""

    @property
    def parts(self) -> tuple[_core.Part, ...]:
        """The compiled parts side by side."""
        return ()

    @property
    def designs(self) -> tuple[Design, ...]:
        """The designs that stand side by side: this one."""
        return (self,)

    @property
    def starts_with_ones(self) -> bool:
        """Whether the first column is one of ones."""
        return False

    @property
    def entries(self) -> int:
        """How many numbers a product looks at."""
        return self.shape[0] * self.row_entries

    @property
    def row_entries(self) -> int:
        """How many numbers a row has, about."""
        return self.shape[1]

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @abstractmethod
    def times(self, coef: Array) -> Array:
        """Return ``X coef``, shape ``(rows, outputs)``."""

    @abstractmethod
    def transpose_times(self, values: Array) -> Array:
        """Return ``X' values``, shape ``(columns, outputs)``."""

    @abstractmethod
    def gram(self, weight: Array | None = None) -> Array:
        """Return ``X' diag(weight) X``, shape ``(columns, columns)``."""

    def moments(self, weight: Array | None) -> tuple[float, Array, Array, Array]:
        """Return the sum of the weights, and mean, scatter and largest ``|x|`` of every column; rows of weight 0 do not count."""
        dense = self.dense()
        weights = np.ones(len(dense)) if weight is None else weight
        dense = dense[weights > 0.0]
        weights = weights[weights > 0.0]
        total = float(weights.sum())
        mean = weights @ dense / total if total > 0 else np.zeros(dense.shape[1])
        largest = np.max(np.abs(dense), axis=0, initial=0.0)
        return total, mean, weights @ (dense - mean) ** 2, largest

    @abstractmethod
    def slice(self, start: int, stop: int) -> Design:
        """Return rows ``start`` to ``stop`` without copying them."""

    def dense(self) -> Array:
        """Return the design as a plain array, for tests and small problems."""
        rows, columns = self.shape
        return self.transpose_times(np.eye(rows)).T.copy() if rows < columns else self.times(np.eye(columns))

    def dense_rows(self, rows: Chosen) -> Array:
        """Return some rows as a plain array, which may be a view."""
        if isinstance(rows, slice):
            first, last, _ = rows.indices(self.shape[0])
            return self.slice(first, last).dense()
        cells = np.empty((len(rows), self.shape[1]))
        height = 8192
        for first in range(0, self.shape[0], height):
            last = min(first + height, self.shape[0])
            inside = np.flatnonzero((rows >= first) & (rows < last))
            if len(inside):
                cells[inside] = self.slice(first, last).dense()[rows[inside] - first]
        return cells

    def take_rows(self, rows: Index) -> Design:
        """Return a copy of some rows as a design of their own."""
        raise TypeError(f"a design of kind {type(self).__name__} does not hand out single rows")

    def sparse_rows(self, rows: Chosen) -> csr_array:
        """Return some rows of a compact design as a sparse matrix."""
        from scipy.sparse import csr_array

        return csr_array(self.dense_rows(rows))

    def picker(self) -> Picker:
        """Return a function from sorted columns to the design that has only these."""
        raise InputError(f"a design of kind {type(self).__name__} does not hand out single columns")

    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """Return the arrays from which ``of_arrays`` makes the design again."""
        raise TypeError(f"a {type(self).__name__} cannot be kept on disk")

    @classmethod
    def of_arrays(cls, arrays: Sequence[npt.NDArray[Any]], shape: tuple[int, int]) -> Design:
        """Return the design that has these ``arrays``."""
        raise TypeError(f"a {cls.__name__} cannot be kept on disk")


def side_by_side(designs: Sequence[Design], join: Callable[[list[Design]], Design]) -> Picker:
    """Return the picker of designs side by side; ``join`` puts together what is left of them."""
    pickers = [part.picker() for part in designs]
    edges = np.cumsum([0, *(part.shape[1] for part in designs)])

    def pick(columns: Index) -> Design:
        cuts = np.searchsorted(columns, edges)
        kept = [
            picker(columns[a:b] - first)
            for picker, a, b, first in zip(pickers, cuts[:-1], cuts[1:], edges[:-1], strict=True)
            if b > a
        ]
        return join(kept)

    return pick


def columns_of(design: Design, columns: Index) -> Array:
    """Return some columns of a design as a plain array; no matrix of all columns is made on the way.

    >>> from lineal.designs import Ones
    >>> columns_of(Ones(2), np.array([0, 0]))
    array([[1., 1.],
           [1., 1.]])
    """
    selected = np.zeros((design.shape[1], len(columns)))
    selected[columns, np.arange(len(columns))] = 1.0
    return design.times(selected)
