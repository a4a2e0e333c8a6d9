"""A kernel whose entries are given as a matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.kernels.kernel import Kernel, Takes
from lineal.kernels.points import Points


@dataclass(frozen=True)
class Precomputed(Kernel):
    """``k(x_i, x_j) = K_ij`` of a given matrix, taken for the doubles it holds.

    ``gram(K)`` checks that the matrix is square and symmetric; ``gram(K, Z)`` takes a row for every point and a column
    for every point of Z, of which only the number is looked at.

    >>> Precomputed().gram([[2, 1], [1, 2]])
    array([[2., 1.],
           [1., 2.]])
    """

    name: ClassVar[str] = "precomputed"
    label: ClassVar[str] = "precomputed kernel"
    spelling: ClassVar[str] = "precomputed"
    takes: ClassVar[Takes] = "entries"

    @property
    def mercer(self) -> bool:
        """Not known: `check` asks the matrix."""
        return False

    def rounding(self, X: Any) -> Array:
        """Return what the entries were probably rounded by when they were computed: 2^-48 of the largest of each row."""
        K: Array = self.gram(X)
        return np.asarray(np.sqrt(2.0**-48 * np.abs(K).max(axis=1, initial=0.0)))

    def formula(self) -> str:
        """Return the kernel in letters."""
        return "K_ij, as given"

    def spelled(self) -> str:
        """Return its name."""
        return self.name

    def _gram(self, left: Points, right: Points | None) -> Array:
        K: Array = left.values
        if right is not None:
            if K.shape[1] != len(right):
                raise InputError(
                    f"X has shape {K.shape}; a precomputed kernel has a column for each of the {len(right)} points of Z."
                )
            return K
        if K.shape[0] != K.shape[1]:
            raise InputError(
                f"X has shape {K.shape}; a precomputed kernel of points with themselves is a square matrix."
            )
        return symmetric(K, "X")

    def _diagonal(self, points: Points) -> Array:
        return np.diagonal(self._gram(points, None)).copy()

    def _entry_error(self, points: Points, partners: Points) -> Array:
        return np.zeros(len(points))


def symmetric(K: Array, name: str) -> Array:
    """Return a matrix that is symmetric, or refuse it with the entries that differ most.

    Entries that differ by less than rounding, ``1e-12`` of the largest, count as the one above the diagonal.

    >>> symmetric(np.array([[1.0, 2.0], [3.0, 1.0]]), "K")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    lineal.errors.InputError: K is not symmetric: the entry at (0, 1) is 2.0, that at (1, 0) is 3.0; ...
    """
    if not K.size or np.array_equal(K, K.T):
        return K
    apart = np.abs(K - K.T)
    i, j = sorted(divmod(int(np.argmax(apart)), len(K)))
    if apart[i, j] > 1e-12 * float(np.abs(K).max()):
        raise InputError(
            f"{name} is not symmetric: the entry at ({i}, {j}) is {float(K[i, j])!r}, that at ({j}, {i}) is "
            f"{float(K[j, i])!r}; a kernel has k(x, z) = k(z, x)."
        )
    return np.triu(K) + np.triu(K, 1).T
