"""Eigenvalues of a symmetric matrix, which LAPACK finds in one go: begun only where a deadline leaves time for them."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lineal.algebra import lapack
from lineal.deadline import LATE, Deadline, LateError

Array = npt.NDArray[np.float64]

CORNER: Final = 256
"""Columns of the corner that tells how fast this machine is now; matrices of up to twice as many are not asked about."""
GROWTH: Final = 2.7
"""The time grows less than with the cube of the columns, since large matrices are worked on in larger pieces."""
SMALL: Final = 1e-13
"""Eigenvalues below this share of the largest are rounding errors of zero."""
WIDE: Final = 100.0
"""Where columns are of lengths so many times apart, their eigenvalues are found one by one."""


def eigen(matrix: Array, deadline: Deadline | None = None) -> tuple[Array, Array]:
    """Return eigenvalues, the least first, and eigenvectors: ``matrix = V diag(w) V'``.

    LateError where they would take longer than there is time, grace included, judged by the corner of the matrix.

    >>> eigen(np.array([[2.0, 1.0], [1.0, 2.0]]))[0]
    array([1., 3.])
    """
    columns = len(matrix)
    if deadline is not None and columns > 2 * CORNER:
        began = deadline.clock()
        np.linalg.eigh(matrix[:CORNER, :CORNER])
        if (deadline.clock() - began) * (columns / CORNER) ** GROWTH > deadline.last.left:
            raise LateError(LATE)
    values, vectors = np.linalg.eigh(matrix)
    return values, vectors


def decomposed(gram: Array, right: Array, deadline: Deadline | None = None) -> tuple[Array, Array]:
    """Return the eigenvalues of a gram and the products of its eigenvectors with a right side; zero where columns depend.

    Of columns in units far apart, ``gram = D A D`` with a diagonal of ones in A, small eigenvalues drown in the rounding of
    large ones. ``A = C C'`` has no such spread, and Jacobi's method finds every singular value of ``D C`` to full relative
    precision: its squares are the eigenvalues. ``right = D C t``, so that the products are the singular values times V't.
    """
    size = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    present = size > 0.0
    if not present.any() or size.max() <= WIDE * size[present].min():
        values, vectors = eigen(gram, deadline)
        real = values > SMALL * max(float(values.max(initial=0.0)), 0.0)
        return np.where(real, values, 0.0), np.where(real, vectors.T @ right, 0.0)
    size = np.where(present, size, 1.0)
    values, vectors = eigen(gram / size[:, None] / size, deadline)
    real = values > SMALL * float(values.max())
    half = vectors[:, real] * np.sqrt(values[real])
    # joba=2: also for rows of any lengths; jobu=3: no left vectors; jobv=0: the right ones; jobr=0: no value is too small
    single, _, turned, scale, _, _ = lapack.dgejsv(size[:, None] * half, joba=2, jobu=3, jobv=0, jobr=0)
    single = single * (scale[0] / scale[1])
    products = single * (turned.T @ (vectors[:, real].T @ (right / size) / np.sqrt(values[real])))
    absent = np.zeros(len(size) - len(single))
    return np.concatenate([absent, single**2]), np.concatenate([absent, products])
