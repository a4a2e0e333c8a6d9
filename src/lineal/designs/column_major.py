"""Designs that are stored by columns: what looks at every column is read in one piece, and single columns are cheap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lineal import _core
from lineal.designs.dense import Dense
from lineal.designs.design import Design, Picker, side_by_side
from lineal.designs.hstack import HStack
from lineal.designs.ones import Ones
from lineal.designs.sparse import Sparse
from lineal.errors import InputError
from lineal.ground.arrays import Array, Index


class ColumnMajor(Design):
    """A matrix given by its columns, each a row of an array or of a sparse matrix, side by side with other designs.

    >>> x = ColumnMajor.of(Dense(np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])))
    >>> x.transpose_times(np.array([[1.0], [1.0]]))
    array([[4.],
           [6.]])
    >>> x.take(np.array([1])).dense()
    array([[2.],
           [4.]])
    """

    def __init__(self, columns: Any, part: _core.Sparse | None = None) -> None:
        """Hold the columns; ``part`` is their compiled view where they are sparse and in order."""
        self.columns = columns
        self.sparse = hasattr(columns, "tocsr")
        self.inner = None if self.sparse else Dense(columns)
        if self.sparse:
            self.part = Sparse(columns).part if part is None else part

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it again from its columns."""
        return ColumnMajor, (self.columns,)

    @classmethod
    def example(cls, rows: int) -> ColumnMajor:
        """Return a matrix held by columns."""
        return ColumnMajor(np.ascontiguousarray(Dense.example(rows).array.T))

    @staticmethod
    def of(design: Design) -> Design:
        """Return the same rows by columns where they are stored so, or sparse; a design of another kind as it is."""
        if isinstance(design, Dense) and design.array.flags.f_contiguous and not design.array.flags.c_contiguous:
            return ColumnMajor(design.array.T)
        if isinstance(design, Sparse):
            return ColumnMajor(design.by_column.T, design.csc_part)
        if isinstance(design, HStack):
            parts = [ColumnMajor.of(part) for part in design.designs]
            return MixedHStack(parts) if any(isinstance(part, ColumnMajor) for part in parts) else design
        return design

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        columns, rows = self.columns.shape
        return rows, columns

    def times(self, coef: Array) -> Array:
        """Return ``X coef``, shape ``(rows, outputs)``."""
        if self.inner is not None:
            return self.inner.transpose_times(coef)
        return self.part.spread_columns(np.ascontiguousarray(coef))

    def transpose_times(self, values: Array) -> Array:
        """Return ``X' values``, shape ``(columns, outputs)``."""
        if self.inner is not None:
            return self.inner.times(values)
        return self.part.times_columns(np.ascontiguousarray(values))

    def gram(self, weight: Array | None = None) -> Array:
        """Return ``X' diag(weight) X``, shape ``(columns, columns)``."""
        kind = Sparse if self.sparse else Dense
        return kind(self.columns.T).gram(weight)

    def take_rows(self, rows: Index) -> ColumnMajor:
        """Return some rows."""
        return ColumnMajor(self.columns[:, rows])

    def slice(self, start: int, stop: int) -> ColumnMajor:
        """Return rows ``start`` to ``stop``."""
        return ColumnMajor(self.columns[:, start:stop])

    def take(self, columns: Index) -> ColumnMajor:
        """Return some columns, copied."""
        if not self.sparse:
            return ColumnMajor(self.columns[columns])
        few = self.columns[columns]
        return ColumnMajor(few, _core.Sparse(few.indptr, few.indices, few.data, few.shape[1]))

    def picker(self) -> Picker:
        """Return ``take``."""
        return self.take

    def dense(self) -> Array:
        """Return the design as a plain array."""
        whole = self.columns.toarray() if self.sparse else self.columns
        return np.asarray(whole.T, dtype=np.float64)


class MixedHStack(Design):
    """Designs side by side, with or without a compiled view.

    >>> x = MixedHStack([ColumnMajor(np.array([[1.0, 2.0]])), ColumnMajor(np.array([[3.0, 4.0]]))])
    >>> x.times(np.array([[1.0], [2.0]]))
    array([[ 7.],
           [10.]])
    """

    def __init__(self, designs: Sequence[Design]) -> None:
        if not designs:
            raise InputError("designs side by side: at least one is needed.")
        self._designs = tuple(designs)
        self.edges = np.cumsum([0, *(part.shape[1] for part in designs)])

    @classmethod
    def example(cls, rows: int) -> MixedHStack:
        """Return ones beside a matrix held by columns."""
        return MixedHStack([Ones.example(rows), ColumnMajor.example(rows)])

    @property
    def designs(self) -> tuple[Design, ...]:
        """The designs that stand side by side."""
        return self._designs

    def picker(self) -> Picker:
        """Return a function that picks from every design."""
        return side_by_side(self.designs, MixedHStack)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.designs[0].shape[0], int(self.edges[-1])

    def times(self, coef: Array) -> Array:
        """Return ``X coef``, shape ``(rows, outputs)``."""
        total = np.zeros((self.shape[0], coef.shape[1]))
        for part, first, last in zip(self.designs, self.edges[:-1], self.edges[1:], strict=True):
            total += part.times(np.ascontiguousarray(coef[first:last]))
        return total

    def transpose_times(self, values: Array) -> Array:
        """Return ``X' values``, shape ``(columns, outputs)``."""
        return np.vstack([part.transpose_times(values) for part in self.designs])

    def gram(self, weight: Array | None = None) -> Array:
        """Return ``X' diag(weight) X``, shape ``(columns, columns)``."""
        total, height = np.zeros((self.shape[1],) * 2), max(1, 4_000_000 // max(self.shape[1], 1))  # 32 MB at a time
        for first in range(0, self.shape[0], height):
            share = None if weight is None else np.ascontiguousarray(weight[first : first + height])
            total += Dense(np.ascontiguousarray(self.slice(first, first + height).dense())).gram(share)
        return total

    def take_rows(self, rows: Index) -> MixedHStack:
        """Return some rows of all designs."""
        return MixedHStack([part.take_rows(rows) for part in self.designs])

    def slice(self, start: int, stop: int) -> MixedHStack:
        """Return rows ``start`` to ``stop``."""
        return MixedHStack([part.slice(start, stop) for part in self.designs])

    def dense(self) -> Array:
        """Return the design as a plain array."""
        return np.hstack([part.dense() for part in self.designs])
