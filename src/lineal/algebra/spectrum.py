"""Eigenvalues of a symmetric matrix, which LAPACK finds in one go: begun only where a deadline leaves time for them."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lineal.deadline import LATE, Deadline, LateError

Array = npt.NDArray[np.float64]

CORNER: Final = 256
"""Columns of the corner that tells how fast this machine is now; matrices of up to twice as many are not asked about."""
GROWTH: Final = 2.7
"""The time grows less than with the cube of the columns, since large matrices are worked on in larger pieces."""


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
