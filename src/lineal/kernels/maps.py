"""Maps whose inner products come near a kernel's: of Nystroem, through some points, and random Fourier features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from lineal import _core
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.kernels.kernel import Kernel
from lineal.kernels.points import Points, Rows

BLOCK_ENTRIES: Final = 1 << 21
"""Numbers that are made at once: 16 MiB."""


@dataclass(frozen=True)
class NystroemMap:
    """``phi(x) = K_bb^(-1/2) (k(x, b_1), ..., k(x, b_m))`` for m points b: exact for them, a projection for others.

    ``k(x, z) - phi(x).phi(z)`` is a Mercer kernel itself, so that ``k(x, x) - |phi(x)|^2 >= 0`` says what is lost of x.

    >>> from lineal.kernels import Gaussian
    >>> kernel = Gaussian(0.5)
    >>> phi = NystroemMap.of(kernel, kernel.points([[0.0], [1.0], [2.0]])).transform([[0.0], [1.0]])
    >>> np.allclose(phi @ phi.T, kernel.gram([[0.0], [1.0]]))
    True
    """

    kernel: Kernel
    basis: Points
    normalization: Array

    @classmethod
    def of(cls, kernel: Kernel, basis: Points) -> NystroemMap:
        """Return the map through these points; directions that rounding hides are left out."""
        gram = kernel.gram(basis)
        values, vectors = np.linalg.eigh(gram)
        error = kernel.entry_error(basis)
        floor = max(float(error @ error), len(basis) * 2.0**-52 * float(values[-1]) if len(basis) else 0.0)
        kept = values > floor
        roots = vectors[:, kept] / np.sqrt(values[kept])
        return cls(kernel, basis, np.asarray(roots @ vectors[:, kept].T))

    def transform(self, X: object) -> Array:
        """Return phi(x) of every point."""
        points = self.kernel.points(X)
        out = np.empty((len(points), len(self.basis)))
        for some in _blocks(len(points), len(self.basis)):
            out[some] = self.kernel.gram(points.take(some), self.basis) @ self.normalization
        return out

    def error(self, X: object) -> float:
        """Return the share of ``sum_i k(x_i, x_i)`` that is lost: the nuclear norm of ``K - phi phi'``, by that of K."""
        points = self.kernel.points(X)
        own = self.kernel.diagonal(points)
        kept = sum(
            float((self.transform(points.take(some)) ** 2).sum()) for some in _blocks(len(points), len(self.basis))
        )
        total = float(own.sum())
        return max(0.0, 1.0 - kept / total) if total > 0.0 else 0.0


@dataclass(frozen=True)
class FourierMap:
    """``phi_j(x) = sqrt(2 / m) cos(w_j.x + b_j)`` with random w and b: ``phi(x).phi(z)`` is the Gaussian kernel on average.

    Columns of ``weights`` are drawn from a normal distribution of variance ``2 gamma``, ``offsets`` between 0 and 2 pi.
    The standard deviation of an inner product is at most ``1 / sqrt(m)`` (Rahimi and Recht, 2007).

    >>> FourierMap(np.zeros((1, 2)), np.zeros(2)).transform(np.array([[5.0]]))
    array([[1., 1.]])
    """

    weights: Array
    offsets: Array

    def transform(self, X: object) -> Array:
        """Return phi(x) of every row."""
        rows = X.values if isinstance(X, Rows) else X
        with np.errstate(over="ignore", invalid="ignore"):
            out = np.asarray(rows @ self.weights)  # type: ignore[operator]
        if not np.isfinite(out).all():
            raise InputError("X holds numbers whose inner products no double holds; scale its columns first.")
        _core.heed()
        out += self.offsets
        np.cos(out, out=out)
        out *= np.sqrt(2.0 / len(self.offsets))
        return np.asarray(out)

    def error(self, kernel: Kernel, rows: Rows) -> float:
        """Return the root of the mean square of ``phi(x).phi(z) - k(x, z)`` over all pairs of these rows."""
        if not len(rows):
            raise InputError("there are no rows to measure the error of a map by.")
        phi = self.transform(rows)
        return float(np.sqrt(np.mean((phi @ phi.T - kernel.gram(rows)) ** 2)))


def _blocks(count: int, width: int) -> Iterator[np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """Yield places of some points after the other."""
    lines = max(1, BLOCK_ENTRIES // max(1, width))
    for start in range(0, count, lines):
        _core.heed()
        yield np.arange(start, min(start + lines, count))
