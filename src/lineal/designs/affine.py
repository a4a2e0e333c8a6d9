"""Centring and scaling without touching the rows."""

from __future__ import annotations

import numpy as np

from lineal.designs.dense import Dense
from lineal.designs.design import Design
from lineal.designs.hstack import HStack
from lineal.designs.ones import Ones
from lineal.designs.standardization import Standardization
from lineal.errors import InputError
from lineal.ground.arrays import Array, Index


class Affine(Design):
    """Another design seen through ``x_j -> (x_j - shift_j) / scale_j``; sparse stays sparse.

    The view is ``X T``, T its ``Standardization``: a pass runs on ``inner``, whose first column is ones, at
    ``inner_coef(coef)``, and its results are carried over.
    Without a shift the first column may be anything.

    >>> from lineal.designs import as_design
    >>> Affine(as_design([[2.0], [4.0]]), np.array([0.0, 3.0]), np.array([1.0, 0.5])).dense()
    array([[ 1., -2.],
           [ 1.,  2.]])
    """

    def __init__(self, inner: Design, shift: Array, scale: Array) -> None:
        shape = (inner.shape[1],)
        if shift.shape != shape or scale.shape != shape:
            raise InputError(f"shift and scale need shape {shape}, not {shift.shape} and {scale.shape}.")
        if not np.all(np.isfinite(shift)) or not np.all(np.isfinite(scale)) or np.any(scale == 0.0):
            raise InputError("shift and scale of a view must be finite, and no scale zero.")
        if np.any(shift) and (shift[0] != 0.0 or scale[0] != 1.0):
            raise InputError("a view with a shift needs a first column of ones, with shift 0 and scale 1.")
        self.inner, self.shift, self.scale = inner, shift, scale
        self.change = Standardization(shift, scale)

    @classmethod
    def example(cls, rows: int) -> Affine:
        """Return ones and a matrix, of which three columns are moved and scaled."""
        return Affine(
            HStack([Ones(rows), Dense.example(rows)]), np.array([0.0, 1.0, 0.0, -3.0]), np.array([1.0, 2.0, 0.5, 4.0])
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.inner.shape

    def inner_coef(self, coef: Array) -> Array:
        """Return ``T coef``: the same scores on the columns of ``inner``."""
        return self.change.inner_coef(coef)

    def outer_gradient(self, gradient: Array) -> Array:
        """Return ``T' gradient`` for a gradient by the columns of ``inner``."""
        return self.change.outer_gradient(gradient)

    def outer_hessian(self, hessian: Array, outputs: int, columns: int) -> Array:
        """Return ``T' hessian T`` for the first ``columns`` columns.

        ``hessian`` covers all p columns of ``inner``: ``[m, p, p]``, or ``[1, k p, k p]``, output-major, when it
        couples the k ``outputs``.
        """
        blocks, size, p = hessian.shape[0], hessian.shape[1], self.shape[1]
        if size not in (p, outputs * p):
            raise InputError(f"a view needs the hessian of all {p} inner columns, got shape {hessian.shape}.")
        coupled = 1 if size == p else outputs
        tensor = hessian.reshape(blocks, coupled, p, coupled, p)[:, :, :columns, :, :columns]
        shift, scale = self.shift[:columns], self.scale[:columns]
        # both lines subtract the first column's share, which is the column of ones
        tensor = tensor - shift[:, None, None] * tensor[:, :, :1]
        tensor = tensor - shift * tensor[..., :1]
        tensor = tensor / (scale[:, None, None] * scale)
        return np.asarray(tensor.reshape(blocks, coupled * columns, coupled * columns))

    def times(self, coef: Array) -> Array:
        """Return ``X T coef``, shape ``(rows, outputs)``."""
        return self.inner.times(self.inner_coef(coef))

    def transpose_times(self, values: Array) -> Array:
        """Return ``T' X' values``, shape ``(columns, outputs)``."""
        return self.outer_gradient(self.inner.transpose_times(values))

    def gram(self, weight: Array | None = None) -> Array:
        """Return ``T' X' diag(weight) X T``, shape ``(columns, columns)``."""
        columns = self.shape[1]
        return np.asarray(self.outer_hessian(self.inner.gram(weight)[None], 1, columns)[0])

    def take_rows(self, rows: Index) -> Affine:
        """Return some rows of the inner design, seen in the same way."""
        return Affine(self.inner.take_rows(rows), self.shift, self.scale)

    def slice(self, start: int, stop: int) -> Affine:
        """Return rows ``start`` to ``stop`` without copying them."""
        return Affine(self.inner.slice(start, stop), self.shift, self.scale)
