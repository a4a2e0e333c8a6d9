"""Gram matrices for the solvers: made from a kernel in blocks, or given whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.kernels import Kernel, Points
from lineal.problem.span import UNIT, Gram

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

MAX_WHOLE_BYTES = 8 << 30
"""A Gram matrix that needs more is refused where a solver needs all of it."""


class MatrixGram(Gram):
    """A matrix that was given whole, ``precomputed`` or made by a function of a user's.

    It is looked at once: where a Cholesky factor of ``K + d 1`` exists, K is positive semi-definite up to a proven bound of
    the size of rounding, which becomes ``diagonal_error``. Otherwise ``mercer`` is False, and no optimum is claimed.

    >>> MatrixGram(np.array([[1.0, 0.5], [0.5, 1.0]])).mercer, MatrixGram(np.array([[1.0, 2.0], [2.0, 1.0]])).mercer
    (True, False)
    """

    def __init__(self, matrix: Array, *, unit: float = UNIT, error: float = 0.0) -> None:
        self._matrix = matrix
        self.diagonal = np.ascontiguousarray(np.diagonal(matrix))
        self.errors = np.full(len(matrix), error**0.5)
        shift = semidefinite(matrix, unit)
        self.mercer = shift is not None
        self.diagonal_error = 0.0 if shift is None else shift

    @staticmethod
    def of(matrix: npt.NDArray[Any], *, rows: int) -> MatrixGram:
        """Return a matrix as a user gave it, checked: square, finite, symmetric up to rounding."""
        if matrix.shape != (rows, rows):
            raise InputError(
                f"the precomputed kernel matrix has shape {matrix.shape}; it must be square, one row and one column for "
                f"each of the {rows} rows of the training data."
            )
        unit = UNIT if matrix.dtype == np.float64 else 2.0**-24
        whole = np.ascontiguousarray(matrix, dtype=np.float64)
        largest = float(np.max(np.abs(whole), initial=0.0))
        apart = float(np.max(np.abs(whole - whole.T), initial=0.0)) if rows else 0.0
        if not apart <= 64.0 * unit * largest:
            i, j = np.unravel_index(int(np.argmax(np.abs(whole - whole.T))), whole.shape)
            raise InputError(
                f"the kernel matrix is not symmetric: K[{i}, {j}] is {whole[i, j]:g}, K[{j}, {i}] is {whole[j, i]:g}. A "
                "kernel is the same both ways; give (K + K.T) / 2 if that is what is meant."
            )
        if apart > 0.0:
            whole = 0.5 * (whole + whole.T)
        return MatrixGram(whole, unit=unit, error=0.5 * apart)

    def rows(self, index: Index) -> Array:
        """Return some rows."""
        return np.asarray(self._matrix[index])

    def block(self, rows: Index, columns: Index) -> Array:
        """Return the entries of some rows and columns."""
        return np.asarray(self._matrix[np.ix_(rows, columns)])

    def part(self, index: Index) -> MatrixGram:
        """Return the matrix of some rows: as definite as the whole."""
        small = object.__new__(MatrixGram)
        small._matrix = self.block(index, index)
        small.diagonal = self.diagonal[index]
        small.errors, small.diagonal_error, small.mercer = self.errors[index], self.diagonal_error, self.mercer
        return small

    def whole(self) -> Array:
        """Return the matrix."""
        return self._matrix


def semidefinite(matrix: Array, unit: float = UNIT) -> float | None:
    """Return d such that ``K + d 1`` is proven to be positive semi-definite, d of the size of rounding; None where it fails.

    Cholesky of ``A = K + c 1`` in doubles, if it ends, is exact for a matrix within ``(n + 1) u / (1 - (n + 1) u) trace A`` of A.

    >>> semidefinite(np.array([[1.0, 2.0], [2.0, 1.0]])) is None
    True
    """
    n = len(matrix)
    if not n:
        return 0.0
    trace = float(np.sum(np.maximum(np.diagonal(matrix), 0.0)))
    share = 1.1 * (n + 1) * max(unit, UNIT) * trace
    shifted = matrix + 2.0 * share * np.eye(n) if trace > 0.0 else matrix
    if trace == 0.0:
        return 0.0 if not np.any(matrix) else None
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return None
    return 3.1 * share


class KernelGram(Gram):
    """The matrix of a kernel at some points, made in blocks when it is asked for."""

    def __init__(self, kernel: Kernel, points: Points) -> None:
        self.kernel, self.points = kernel, points
        self.diagonal = kernel.diagonal(points)
        self.errors = kernel.entry_error(points)
        self.mercer = kernel.mercer

    def rows(self, index: Index) -> Array:
        """Return some rows."""
        return self.kernel.gram(self.points.take(index), self.points)

    def block(self, rows: Index, columns: Index) -> Array:
        """Return the entries of some rows and columns."""
        return self.kernel.gram(self.points.take(rows), self.points.take(columns))

    def part(self, index: Index) -> KernelGram:
        """Return the matrix of some of the points."""
        return KernelGram(self.kernel, self.points.take(index))

    def whole(self) -> Array:
        """Return all of K, refused where it does not fit."""
        if 8 * self.size**2 > MAX_WHOLE_BYTES:
            raise InputError(
                f"the kernel matrix of {self.size} rows takes {8e-9 * self.size**2:.0f} GB; use fewer rows, or a linear model "
                "of fourier(...) or nystroem(...) in a formula, or of the columns of lineal.Nystroem."
            )
        return self.kernel.gram(self.points)


class KeptGram(KernelGram):
    """The matrix of a kernel whose entries take long, made once.

    >>> from lineal.kernels import Spectrum
    >>> gram = KeptGram(Spectrum(1), Spectrum(1).points(["ab", "b"]))
    >>> gram.rows(np.array([1])).tolist(), gram.whole() is gram.whole()
    ([[1.0, 1.0]], True)
    """

    def __init__(self, kernel: Kernel, points: Points) -> None:
        super().__init__(kernel, points)
        self._matrix = super().whole()

    def rows(self, index: Index) -> Array:
        """Return some rows."""
        return np.asarray(self._matrix[index])

    def block(self, rows: Index, columns: Index) -> Array:
        """Return the entries of some rows and columns."""
        return np.asarray(self._matrix[np.ix_(rows, columns)])

    def whole(self) -> Array:
        """Return the matrix."""
        return self._matrix
