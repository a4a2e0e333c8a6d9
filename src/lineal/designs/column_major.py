"""Designs that are stored by columns: what looks at every column is read in one piece, and single columns are cheap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs.dense import Dense
from lineal.designs.design import Array, Design
from lineal.designs.hstack import Stack
from lineal.designs.sparse import Sparse
from lineal.errors import InputError

Index = npt.NDArray[np.intp]

MOST_ENTRIES = 4_000_000
"""So many entries of designs side by side are written out at once at most."""


class Turned(Design):
    """A matrix given by its columns, each a row of an array or of a sparse matrix, side by side with other designs.

    >>> x = Turned.of(Dense(np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])))
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

    @staticmethod
    def of(design: Design) -> Design:
        """Return the same rows by columns where they are stored so, or sparse; a design of another kind as it is."""
        if isinstance(design, Dense) and design.array.flags.f_contiguous and not design.array.flags.c_contiguous:
            return Turned(design.array.T)
        if isinstance(design, Sparse):
            return Turned(design.by_column.T, design.lengthwise)
        if isinstance(design, Stack):
            parts = [Turned.of(part) for part in design.designs]
            return Beside(parts) if any(isinstance(part, Turned) for part in parts) else design
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
        return self.part.lengthwise_spread(np.ascontiguousarray(coef))

    def transpose_times(self, values: Array) -> Array:
        """Return ``X' values``, shape ``(columns, outputs)``."""
        if self.inner is not None:
            return self.inner.times(values)
        return self.part.lengthwise_times(np.ascontiguousarray(values))

    def gram(self, weight: Array | None = None) -> Array:
        """Return ``X' diag(weight) X``, shape ``(columns, columns)``."""
        kind = Sparse if self.sparse else Dense
        return kind(self.columns.T).gram(weight)

    def slice(self, start: int, stop: int) -> Turned:
        """Return rows ``start`` to ``stop``."""
        return Turned(self.columns[:, start:stop])

    def take(self, columns: Index) -> Turned:
        """Return some columns, copied."""
        if not self.sparse:
            return Turned(self.columns[columns])
        few = self.columns[columns]
        return Turned(few, _core.Sparse(few.indptr, few.indices, few.data, few.shape[1]))

    def dense(self) -> Array:
        """Return the design as a plain array."""
        whole = self.columns.toarray() if self.sparse else self.columns
        return np.asarray(whole.T, dtype=np.float64)


class Beside(Design):
    """Designs side by side, with or without a compiled view.

    >>> x = Beside([Turned(np.array([[1.0, 2.0]])), Turned(np.array([[3.0, 4.0]]))])
    >>> x.times(np.array([[1.0], [2.0]]))
    array([[ 7.],
           [10.]])
    """

    def __init__(self, designs: Sequence[Design]) -> None:
        if not designs:
            raise InputError("designs side by side: at least one is needed.")
        self.designs = tuple(designs)
        self.edges = np.cumsum([0, *(part.shape[1] for part in designs)])

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
        total, height = np.zeros((self.shape[1],) * 2), max(1, MOST_ENTRIES // max(self.shape[1], 1))
        for first in range(0, self.shape[0], height):
            share = None if weight is None else np.ascontiguousarray(weight[first : first + height])
            total += Dense(np.ascontiguousarray(self.slice(first, first + height).dense())).gram(share)
        return total

    def slice(self, start: int, stop: int) -> Beside:
        """Return rows ``start`` to ``stop``."""
        return Beside([part.slice(start, stop) for part in self.designs])

    def dense(self) -> Array:
        """Return the design as a plain array."""
        return np.hstack([part.dense() for part in self.designs])
