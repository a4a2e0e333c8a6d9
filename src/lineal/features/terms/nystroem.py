"""Nystroem's map through some training rows: columns whose inner products come near a Gaussian kernel."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from lineal.features.terms.fourier import Fourier
from lineal.features.terms.members import expect, finite
from lineal.features.terms.number import Number
from lineal.features.terms.product import Factor
from lineal.features.terms.term import Cells
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

RIDGE: Final = 1e-5
"""What is added to every eigenvalue of K_bb, as a share of their sum: then rounding moves columns by 1e-12 or less."""
MEASURED_ROWS: Final = 500
"""Different rows, next to the landmarks by hash, on which the error is measured."""
_MIXERS: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True)
class Nystroem(Fourier):
    """``phi(x) = (K_bb + 1e-5 m I)^(-1/2) (k(x, b_1), ..., k(x, b_m))``, ``k(x, z) = exp(-|t - u|^2 / (2 width^2))``.

    ``t_k = x_k / half_k`` counts in halves of ranges, as Fourier does. The landmarks b are those m different training rows
    whose hashes are the least. ``k(x, z) - phi(x).phi(z)`` is a Mercer kernel itself, so that ``k(x, x) - |phi(x)|^2 >= 0``
    says what is lost of x; ``lost`` is its mean over up to 500 other training rows.

    >>> Nystroem((Number("a", 0.0, False),), (2.0,), 2, 0.5, ((0.0,), (1.5,)), 0.25).spelled
    'nystroem(a, 2, 0.5)'
    """

    landmarks: tuple[tuple[float, ...], ...]
    lost: float
    kind: ClassVar[str] = "nystroem"
    usage: ClassVar[str] = "nystroem(column, column, ..., columns to make, width)"
    sizes: ClassVar[range] = range(2, 1001)

    @classmethod
    def through(
        cls, factors: tuple[Factor, ...], halves: tuple[float, ...], count: int, width: float, x: Array
    ) -> Self:
        """Return the map through the first rows by hash, and all different ones if there are fewer."""
        rows = by_hash(x, count + MEASURED_ROWS)
        count = min(count, len(rows))
        landmarks = tuple(tuple(map(float, row)) for row in rows[:count])
        scale = np.asarray(halves) * width
        phi = mapped(rows[count:] if len(rows) > count else rows, landmarks, tuple(map(float, scale)))
        lost = max(0.0, 1.0 - float(np.mean(np.sum(phi**2, axis=1))))
        return cls(factors, halves, count, width, landmarks, lost)

    @property
    def use(self) -> str:
        """How its columns enter the model, and how much of the kernel they lose."""
        return f"{self.count} columns of Nystroem's map, which loses {100.0 * self.lost:.2g} % of a Gaussian kernel"

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the columns for every row; return how many cells were unknown."""
        x, unknown = np.empty((len(out), len(self.factors))), 0
        for k, (factor, array) in enumerate(zip(self.factors, arrays, strict=True)):
            unknown += factor.write(x[:, k : k + 1], array)
        out[:] = mapped(x, self.landmarks, tuple(half * self.kernel_width for half in self.halves))
        return unknown

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {**super().to_dict(), "landmarks": [list(row) for row in self.landmarks], "lost": self.lost}

    @classmethod
    def from_dict(cls, data: Any) -> Nystroem:
        """Return the term of a model file, or refuse the file naming what is wrong."""
        shared = cls.read_shared(data, range(1, cls.sizes.stop))
        rows, lost = data["landmarks"], data["lost"]
        fine = isinstance(rows, list) and len(rows) == shared[2]
        fine = fine and all(isinstance(row, list) and len(row) == len(shared[0]) for row in rows)
        expect(
            fine and all(finite(value) for row in rows for value in row), "has landmarks that are no rows of numbers"
        )
        expect(finite(lost) and 0.0 <= lost <= 1.0, "has a map that loses no share of the kernel")
        return cls(*shared, tuple(tuple(map(float, row)) for row in rows), float(lost))

    @classmethod
    def example(cls) -> tuple[Nystroem, Cells]:
        """Return a map through three rows of two numbers."""
        factors = Number("x1", 2.0, False), Number("x2", 0.5, False)
        rows = np.array([[1.0, 0.5], [2.0, -1.0], [3.0, 2.0]])
        return cls.through(factors, (1.0, 1.5), 3, 0.5, rows), (["1", "2", "3"], ["0.5", "-1", "2"])


def by_hash(x: Array, count: int) -> Array:
    """Return the different rows with the least hashes of their bits, in the order of these: splitmix64 of one after another.

    >>> sorted(by_hash(np.array([[1.0], [2.0], [1.0]]), 9).tolist())
    [[1.0], [2.0]]
    """
    mixed = np.zeros(len(x), dtype=np.uint64)
    for column in (np.asarray(x, dtype=np.float64) + 0.0).T:
        mixed ^= np.ascontiguousarray(column).view(np.uint64)
        mixed = _mix(mixed)
    _, first = np.unique(mixed, return_index=True)
    return np.asarray(x[first[:count]] + 0.0)


def _mix(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * _MIXERS[0]
    z = (z ^ (z >> np.uint64(27))) * _MIXERS[1]
    return np.asarray(z ^ (z >> np.uint64(31)))


def mapped(x: Array, landmarks: tuple[tuple[float, ...], ...], scale: tuple[float, ...]) -> Array:
    """Return phi of every row."""
    b, root = rooted(landmarks, scale)
    return np.asarray(_kernel(x / np.asarray(scale), b) @ root)


@lru_cache(maxsize=8)
def rooted(landmarks: tuple[tuple[float, ...], ...], scale: tuple[float, ...]) -> tuple[Array, Array]:
    """Return the landmarks in units of the scale, and ``(K_bb + 1e-5 m I)^(-1/2)``."""
    b = np.array(landmarks) / np.asarray(scale)
    values, vectors = np.linalg.eigh(_kernel(b, b))
    return b, (vectors / np.sqrt(np.maximum(values, 0.0) + RIDGE * len(b))) @ vectors.T


def _kernel(t: Array, b: Array) -> Array:
    square = np.zeros((len(t), len(b)))
    for left, right in zip(t.T, b.T, strict=True):
        square += (left[:, None] - right) ** 2
    return np.asarray(np.exp(-0.5 * square))
