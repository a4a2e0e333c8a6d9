"""What a kernel machine minimizes: a mean loss of functions in the span of kernels at the rows, and their norm."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from lineal.ground.records import dataclass
from lineal.losses.loss import Loss

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


class Gram(ABC):
    """The matrix ``K_ij = k(x_i, x_j)`` of some rows, of which nobody has to hold more than some rows at once.

    ``mercer`` says that it is, but for errors of its entries, a matrix that is positive semi-definite: an entry is off by at
    most ``errors_i errors_j``, one on the diagonal by ``diagonal_error`` more.
    """

    diagonal: Array
    errors: Array
    diagonal_error: float = 0.0
    mercer: bool = True

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.diagonal)

    @abstractmethod
    def rows(self, index: Index) -> Array:
        """Return some rows of K, shape ``(len(index), size)``."""

    @abstractmethod
    def block(self, rows: Index, columns: Index) -> Array:
        """Return the entries of K in some rows and columns."""

    @abstractmethod
    def part(self, index: Index) -> Gram:
        """Return the matrix of some of the rows."""

    def whole(self) -> Array:
        """Return all of K."""
        return self.rows(np.arange(self.size))

    def product(self, coef: Array) -> tuple[Array, Array]:
        """Return ``K coef``, shape ``(size, outputs)``, and a bound on the error of each entry, rounding included.

        Rows of zeros are left out of the sums. A sum of m terms in doubles is off by at most ``m u sum |terms|``, u = 2^-53.
        """
        used = np.flatnonzero(np.any(coef != 0.0, axis=1))
        value, size = np.zeros_like(coef), np.zeros_like(coef)
        values = coef[used]
        amounts = np.abs(values)
        if len(used):
            for start in range(0, self.size, step := max(1, BLOCK_ENTRIES // len(used))):
                some = np.arange(start, min(start + step, self.size))
                entries = self.block(some, used)
                for first in range(0, len(used), CHUNK):
                    piece = entries[:, first : first + CHUNK]
                    value[some] += piece @ values[first : first + CHUNK]
                    size[some] += np.abs(piece) @ amounts[first : first + CHUNK]
        terms = min(len(used), CHUNK) + -(-len(used) // CHUNK) + 2
        rounding = 1.01 * terms * UNIT
        error = rounding * size + 1.001 * np.outer(self.errors, self.errors[used] @ amounts)
        return value, error + self.diagonal_error * np.abs(coef)

    @property
    def roots(self) -> Array:
        """The length of every point, ``sqrt(k(x, x))``, or more: what a coefficient adds to a norm, at most."""
        return np.asarray(
            np.sqrt(np.maximum(self.diagonal, 0.0) + self.errors**2 + self.diagonal_error) * (1.0 + 2.0**-50)
        )


BLOCK_ENTRIES = 1 << 22
"""Entries of K that a product makes at once: 32 MiB."""

CHUNK = 512
"""Terms that a product adds in one sum; the sums of chunks are added one after the other, for a smaller rounding error."""

UNIT = 2.0**-53
"""The unit roundoff of doubles."""


@dataclass(frozen=True)
class SpanProblem:
    """``F(a, b) = (1/S) sum_i s_i loss(y_i, (K a)_i + b) + (strength/2) a'K a``, one a and b for each output.

    ``f = sum_i a_i k(x_i, .)`` is a function of the kernel's space, and ``a'K a`` the square of its norm.
    """

    gram: Gram
    loss: Loss
    y: Array
    weight: Array
    strength: float
    intercept: bool

    @property
    def weight_sum(self) -> float:
        """S, the sum of the weights."""
        return float(self.weight.sum())

    def objective(self, coef: Array, intercept: Array, scores: Array) -> float:
        """Return F, given ``scores = K a``, without the intercept."""
        mean = float(self.weight @ self.loss.value(self.y, scores + intercept)) / self.weight_sum
        return mean + 0.5 * self.strength * float(np.sum(coef * scores))
