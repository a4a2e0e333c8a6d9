"""Cholesky factors of one symmetric matrix: equilibrated, compiled for few columns, bordered for a large category."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lineal import _core
from lineal.algebra import lapack
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass

MIN_RECIPROCAL_CONDITION = 1e-13
"""Below this reciprocal condition a Cholesky factor proves nothing about rank."""

COMPILED_MAX_COLUMNS = 64
"""Up to this many columns LAPACK's calls cost more than the factor, which the compiled core then makes."""

THREADED_MIN_COLUMNS = 256
"""From this many columns on the compiled core, on several threads, is faster than LAPACK on one."""

BORDERED_MIN_COLUMNS = 256
"""From this many columns on a category is looked for, whose levels can be eliminated first."""


@dataclass(frozen=True)
class Cholesky:
    """``H = D^-1 R'R D^-1`` with ``D`` making the diagonal one; a pseudo-inverse where H is singular."""

    scale: Array
    upper: Array
    condition: float
    singular: bool
    even: Array

    @staticmethod
    def of(matrix: Array) -> Cholesky:
        """Factor a symmetric positive semi-definite matrix."""
        if 0 < len(matrix) <= COMPILED_MAX_COLUMNS:
            small = _core.SmallFactor(matrix)
            if small.condition > MIN_RECIPROCAL_CONDITION:
                return Compiled(small)
        if len(matrix) >= BORDERED_MIN_COLUMNS and (bordered := Bordered.maybe(matrix)) is not None:
            return bordered
        diagonal = np.diagonal(matrix)
        scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        if not len(matrix):
            return Cholesky(scale, matrix, 1.0, singular=False, even=matrix)
        even, norm = _evened(matrix, scale)
        upper = _upper(even)
        if upper is not None:
            condition, _ = lapack.dpocon(upper, norm, uplo="U")
            if condition > MIN_RECIPROCAL_CONDITION:
                return Cholesky(scale, upper, float(condition), singular=False, even=even)
        values, vectors = np.linalg.eigh(even)
        keep = values > 1e-14 * max(float(values[-1]), 0.0)
        inverse = np.where(keep, 1.0 / np.sqrt(np.where(keep, values, 1.0)), 0.0)
        return Cholesky(scale, vectors * inverse, 0.0, singular=True, even=even)

    def solve(self, right: Array) -> Array:
        """Return H^-1 right."""
        if not len(self.scale):
            return right
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        scaled = right * scale
        if self.singular:
            inner, left = self._split(scaled)
            # A slope along a direction without curvature is not rounding: go that way, as far as a search will allow.
            if np.max(np.abs(left), initial=0.0) > 1e-9 * np.max(np.abs(scaled), initial=0.0):
                inner = inner + left
        else:
            inner, _ = lapack.dpotrs(self.upper, scaled, lower=0)
        return np.asarray(inner * scale)

    def unbent(self, right: Array) -> Array:
        """Return the part of a gradient, as a step, along which H is zero."""
        if not self.singular:
            return np.zeros_like(right)
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        return np.asarray(self._split(right * scale)[1] * scale)

    def _split(self, scaled: Array) -> tuple[Array, Array]:
        """Return what the pseudo-inverse makes of a right side, and what is left of that."""
        inner = self.upper @ (self.upper.T @ scaled)
        return inner, scaled - self.even @ inner

    def inverse(self) -> Array:
        """Return H^-1."""
        if self.singular or not len(self.scale):
            return self.solve(np.eye(len(self.scale)))
        half, _ = lapack.dpotri(self.upper, lower=0)
        whole = np.triu(half) + np.triu(half, 1).T
        return np.asarray(whole * self.scale * self.scale[:, None])

    def inverse_diagonal(self) -> Array:
        """Return the diagonal of H^-1, from the inverse of the triangle alone."""
        if self.singular or not len(self.scale):
            return np.asarray(np.diagonal(self.inverse()))
        return _squares(self.upper) * self.scale**2

    def spread(self) -> Array:
        """Return the square root of the diagonal of H^-1."""
        return np.sqrt(np.maximum(self.inverse_diagonal(), 0.0))

    @property
    def log_determinant(self) -> float:
        """The logarithm of the determinant of a matrix that is not singular."""
        return 2.0 * float(np.sum(np.log(np.diagonal(self.upper))) - np.sum(np.log(self.scale)))


class Compiled(Cholesky):
    """A factor of a small matrix, which is not singular, in the compiled core."""

    def __init__(self, small: _core.SmallFactor) -> None:
        self.__dict__.update(small=small, condition=small.condition, singular=False)

    small: _core.SmallFactor

    def solve(self, right: Array) -> Array:
        """Return H^-1 right."""
        return self.small.solve(right)

    def inverse(self) -> Array:
        """Return H^-1."""
        whole = self.small.solve(np.eye(len(self.small.spread)))
        return np.asarray(0.5 * (whole + whole.T))

    def inverse_diagonal(self) -> Array:
        """Return the diagonal of H^-1."""
        return self.small.spread**2

    def spread(self) -> Array:
        """Return the square root of the diagonal of H^-1."""
        return self.small.spread

    @property
    def log_determinant(self) -> float:
        """The logarithm of the determinant."""
        return self.small.log_determinant


class Bordered(Cholesky):
    """A factor that eliminates first what touches nothing of its kind: the levels of the largest category.

    With the diagonal made one, ``H = [[I, B], [B', P]]`` and ``S = P - B'B = R'R``: the work is that of the other columns alone.
    """

    def __init__(self, scale: Array, levels: slice, border: Array, upper: Array, condition: float) -> None:
        others = np.delete(np.arange(len(scale)), levels)
        parts = {"scale": scale, "levels": levels, "others": others, "border": border, "upper": upper}
        self.__dict__.update(parts, condition=condition, singular=False)

    levels: slice
    others: Index
    border: Array

    @staticmethod
    def maybe(matrix: Array) -> Bordered | None:
        """Factor a matrix whose larger half is a diagonal block; None for any other, or one that may be singular."""
        levels = slice(*_core.apart(matrix))  # that touch each other nowhere
        diagonal = np.diagonal(matrix)
        count = levels.stop - levels.start
        if not len(matrix) <= 2 * count < 2 * len(matrix) or not np.all(
            diagonal > 0.0
        ):  # of a diagonal matrix nothing is left
            return None
        scale = 1.0 / np.sqrt(diagonal)
        others = np.delete(np.arange(len(matrix)), levels)
        border = np.concatenate([matrix[levels, : levels.start], matrix[levels, levels.stop :]], axis=1)
        border *= scale[levels, None]
        border *= scale[others]
        rest = matrix[np.ix_(others, others)] * scale[others, None] * scale[others]
        long, wide = 0.0, np.abs(rest).sum(axis=0)
        for start in range(0, len(border), 64):  # rows that a cache holds
            size = np.abs(border[start : start + 64])
            long = max(long, float(np.max(size.sum(axis=1))))
            wide += size.sum(axis=0)
        norm = max(1.0 + long, float(np.max(wide)))
        inner = lapack.dsyrk(-1.0, border.T, beta=1.0, c=rest.T, overwrite_c=1)
        upper, info = lapack.dpotrf(inner, lower=0, clean=1, overwrite_a=1)
        if info != 0:
            return None
        factor = Bordered(scale, levels, border, upper, 1.0)
        condition = 1.0 / (norm * inverse_norm(factor._even, len(scale)))
        factor.__dict__["condition"] = condition
        return factor if condition > MIN_RECIPROCAL_CONDITION else None

    def _even(self, right: Array) -> Array:
        """Solve with the matrix whose diagonal is one."""
        solution = np.empty_like(right)
        head = right[self.levels]
        rest, _ = lapack.dpotrs(self.upper, right[self.others] - self.border.T @ head, lower=0)
        solution[self.others] = rest
        solution[self.levels] = head - self.border @ rest
        return solution

    def solve(self, right: Array) -> Array:
        """Return H^-1 right."""
        if right.ndim == 2 and right.shape[1] == 1:  # products with a vector are the faster ones
            return self.solve(right[:, 0])[:, None]
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        return np.asarray(self._even(right * scale) * scale)

    def inverse(self) -> Array:
        """Return H^-1."""
        whole = self.solve(np.eye(len(self.scale)))
        return np.asarray(0.5 * (whole + whole.T))

    def inverse_diagonal(self) -> Array:
        """Return the diagonal of H^-1."""
        half, _ = lapack.dtrtri(self.upper, lower=0)
        squares = np.empty(len(self.scale))
        squares[self.others] = np.einsum("ij,ij->i", half, half)
        spread = self.border @ half
        squares[self.levels] = 1.0 + np.einsum("ij,ij->i", spread, spread)
        return np.asarray(squares * self.scale**2)


def inverse_norm(solve: Callable[[Array], Array], n: int) -> float:
    """Return a lower bound of the largest column sum of a symmetric inverse, as a rule within a factor of three (Hager, Higham).

    ``solve`` multiplies a vector of length ``n`` by the inverse.

    >>> inverse_norm(lambda right: 2.0 * right, 3)
    2.0
    """
    best, at = 0.0, np.full(n, 1.0 / n)
    for _ in range(5):
        product = solve(at)
        size = float(np.abs(product).sum())
        slope = solve(np.where(product < 0.0, -1.0, 1.0))
        place = int(np.argmax(np.abs(slope)))
        if size <= best or abs(slope[place]) <= slope @ at:
            best = max(best, size)
            break
        best, at = size, np.zeros(n)
        at[place] = 1.0
    turned = np.where(np.arange(n) % 2, -1.0, 1.0) * (1.0 + np.arange(n) / max(n - 1, 1))
    return max(best, 2.0 * float(np.abs(solve(turned)).sum()) / (3.0 * n))


def _evened(matrix: Array, scale: Array) -> tuple[Array, float]:
    """Return a symmetric matrix times ``scale`` on both sides, and its largest sum of a row's sizes."""
    n = len(matrix)
    even, sums = np.empty((n, n)), np.empty(n)
    step = max(8, 32768 // n)  # rows that stay in the cache meanwhile
    for top in range(0, n, step):
        some = slice(top, top + step)
        rows = np.multiply(matrix[some], scale[some, None], out=even[some])
        rows *= scale
        np.abs(rows).sum(axis=1, out=sums[some])
    return even, float(sums.max())


def _upper(even: Array) -> Array | None:
    """Return the upper Cholesky factor of a matrix, as LAPACK stores it; None where a pivot is not positive."""
    if len(even) >= THREADED_MIN_COLUMNS:
        turned = _core.cholesky(np.ascontiguousarray(even))
        return None if turned is None else turned.T
    upper, info = lapack.dpotrf(even.T, lower=0, clean=1)
    return upper if info == 0 else None


def _squares(upper: Array) -> Array:
    """Return the sum of the squares of every row of the inverse of an upper triangle."""
    if len(upper) >= THREADED_MIN_COLUMNS:
        return _core.inverse_squares(np.ascontiguousarray(upper.T))
    inverse, _ = lapack.dtrtri(upper, lower=0)
    return np.asarray(np.einsum("ij,ij->i", inverse, inverse))
