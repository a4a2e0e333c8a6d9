"""Solving with second derivatives: an equilibrated Cholesky factor that knows how columns and outputs are laid out."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.algebra import lapack
from lineal.ground.records import dataclass

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

SINGULAR = 1e-13
"""Below this reciprocal condition a Cholesky factor proves nothing about rank."""

SMALL = 64
"""Up to this many columns LAPACK's calls cost more than the factor, which the compiled core then makes."""


MANY = 256
"""From so many columns on the compiled core, on several threads, is faster than LAPACK, which is kept to one."""

LONG = 256
"""From so many columns on a category is looked for, whose levels can be eliminated first."""

SOME = 64
"""Rows of such a matrix that are looked at together."""


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
        if 0 < len(matrix) <= SMALL:
            small = _core.SmallFactor(matrix)
            if small.condition > SINGULAR:
                return Compiled(small)
        if len(matrix) >= LONG and (bordered := Bordered.maybe(matrix)) is not None:
            return bordered
        diagonal = np.diagonal(matrix)
        scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        if not len(matrix):
            return Cholesky(scale, matrix, 1.0, singular=False, even=matrix)
        even, norm = _evened(matrix, scale)
        upper = _upper(even)
        if upper is not None:
            condition, _ = lapack.dpocon(upper, norm, uplo="U")
            if condition > SINGULAR:
                return Cholesky(scale, upper, float(condition), singular=False, even=even)
        values, vectors = np.linalg.eigh(even)
        keep = values > 1e-14 * max(float(values[-1]), 0.0)
        inverse = np.where(keep, 1.0 / np.sqrt(np.where(keep, values, 1.0)), 0.0)
        return Cholesky(scale, vectors * inverse, 0.0, singular=True, even=even)

    def solve(self, right: Array) -> Array:
        """Return H^-1 right."""
        if not len(self.scale):
            return right
        scaled = right * (self.scale if right.ndim == 1 else self.scale[:, None])
        if self.singular:
            inner = self.upper @ (self.upper.T @ scaled)
            # A slope along a direction without curvature is not rounding: go that way, as far as a search will allow.
            left = scaled - self.even @ inner
            if np.max(np.abs(left), initial=0.0) > 1e-9 * np.max(np.abs(scaled), initial=0.0):
                inner = inner + left
        else:
            inner, _ = lapack.dpotrs(self.upper, scaled, lower=0)
        return np.asarray(inner * (self.scale if right.ndim == 1 else self.scale[:, None]))

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
        found = {"scale": scale, "levels": levels, "others": others, "border": border, "upper": upper}
        self.__dict__.update(found, condition=condition, singular=False)

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
        for start in range(0, len(border), SOME):  # rows that a cache holds
            size = np.abs(border[start : start + SOME])
            long = max(long, float(np.max(size.sum(axis=1))))
            wide += size.sum(axis=0)
        norm = max(1.0 + long, float(np.max(wide)))
        inner = lapack.dsyrk(-1.0, border.T, beta=1.0, c=rest.T, overwrite_c=1)
        upper, info = lapack.dpotrf(inner, lower=0, clean=1, overwrite_a=1)
        if info != 0:
            return None
        found = Bordered(scale, levels, border, upper, 1.0)
        condition = 1.0 / (norm * inverse_norm(found._even, len(scale)))
        found.__dict__["condition"] = condition
        return found if condition > SINGULAR else None

    def _even(self, right: Array) -> Array:
        """Solve with the matrix whose diagonal is one."""
        found = np.empty_like(right)
        head = right[self.levels]
        rest, _ = lapack.dpotrs(self.upper, right[self.others] - self.border.T @ head, lower=0)
        found[self.others] = rest
        found[self.levels] = head - self.border @ rest
        return found

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
        found = np.empty(len(self.scale))
        found[self.others] = np.einsum("ij,ij->i", half, half)
        spread = self.border @ half
        found[self.levels] = 1.0 + np.einsum("ij,ij->i", spread, spread)
        return np.asarray(found * self.scale**2)


def inverse_norm(solve: Callable[[Array], Array], n: int) -> float:
    """Return a lower bound of the largest column sum of a symmetric inverse, as a rule within a factor of three (Hager, Higham).

    ``solve`` multiplies a vector of length ``n`` by the inverse.

    >>> inverse_norm(lambda right: 2.0 * right, 3)
    2.0
    """
    best, at = 0.0, np.full(n, 1.0 / n)
    for _ in range(5):
        found = solve(at)
        size = float(np.abs(found).sum())
        slope = solve(np.where(found < 0.0, -1.0, 1.0))
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
    if len(even) >= MANY:
        turned = _core.cholesky(np.ascontiguousarray(even))
        return None if turned is None else turned.T
    upper, info = lapack.dpotrf(even.T, lower=0, clean=1)
    return upper if info == 0 else None


def _squares(upper: Array) -> Array:
    """Return the sum of the squares of every row of the inverse of an upper triangle."""
    if len(upper) >= MANY:
        return _core.inverse_squares(np.ascontiguousarray(upper.T))
    inverse, _ = lapack.dtrtri(upper, lower=0)
    return np.asarray(np.einsum("ij,ij->i", inverse, inverse))


@dataclass(frozen=True)
class Factor:
    """The second derivative of an objective in some of its columns, ready to solve with.

    Three layouts: one matrix shared by all outputs (squared loss), one per output, or one for all columns and
    outputs together, output-major (softmax). A factor of some coefficients only has one part per output, or one for
    all; ``places`` then says where each part's coefficients are, output-major. Softmax scores may move together at no cost:
    that gauge is filled with the size of the diagonal, which leaves solutions for right sides with zero sum as they are.
    """

    parts: tuple[Cholesky, ...]
    columns: Index
    shape: tuple[int, int]
    coupled: bool
    places: tuple[Index, ...] = ()

    @staticmethod
    def of(hessian: Array, columns: Index, shape: tuple[int, int], *, coupled: bool) -> Factor:
        """Factor the rows and columns ``columns`` of a hessian as the passes lay it out."""
        k = shape[1]
        if not coupled:
            h = len(columns)
            leading = h == 0 or columns[-1] == h - 1
            parts = tuple(Cholesky.of(part[:h, :h] if leading else part[np.ix_(columns, columns)]) for part in hessian)
            return Factor(parts, columns, shape, coupled)
        h = hessian.shape[1] // k
        four = hessian[0].reshape(k, h, k, h)
        four = four.copy() if len(columns) == h else four[:, columns][:, :, :, columns].copy()
        size = np.einsum("ajaj->j", four) / k
        for j, fill in enumerate(np.where(size > 0.0, size, 1.0)):
            four[:, j, :, j] += fill / k
        h = len(columns)
        return Factor((Cholesky.of(four.reshape(k * h, k * h)),), columns, shape, coupled)

    @staticmethod
    def masked(hessian: Array, mask: npt.NDArray[np.bool_], *, coupled: bool) -> Factor:
        """Factor the rows and columns of a hessian that belong to the coefficients of a mask ``(columns, outputs)``."""
        p, k = mask.shape
        columns = np.flatnonzero(mask.any(axis=1))
        if coupled:
            h = hessian.shape[1] // k
            four = hessian[0].reshape(k, h, k, h).copy()
            for j in np.flatnonzero(mask.all(axis=1)):
                size = float(np.trace(four[:, j, :, j])) / k
                four[:, j, :, j] += (size if size > 0.0 else 1.0) / k
            flat = np.flatnonzero(mask[:h].T)
            part = Cholesky.of(four.reshape(k * h, k * h)[np.ix_(flat, flat)])
            return Factor((part,), columns, (p, k), coupled, (np.flatnonzero(mask.T),))
        parts, places = [], []
        for a in range(k):
            on = np.flatnonzero(mask[:, a])
            parts.append(Cholesky.of(hessian[a % len(hessian)][np.ix_(on, on)]))
            places.append(a * p + on)
        return Factor(tuple(parts), columns, (p, k), coupled, tuple(places))

    @property
    def singular(self) -> bool:
        """Whether some part could not be told from a singular matrix."""
        return any(part.singular for part in self.parts)

    @property
    def condition(self) -> float:
        """Smallest reciprocal condition of the equilibrated parts."""
        return self.parts[0].condition if len(self.parts) == 1 else min(part.condition for part in self.parts)

    def solve(self, right: Array) -> Array:
        """Return H^-1 right on the factor's columns, zero elsewhere; shapes are ``(columns, outputs)``."""
        if len(self.parts) == 1 and not self.coupled and len(self.columns) == self.shape[0]:
            return self.parts[0].solve(right)
        if self.places:
            return self._scattered([part.solve(right.T.ravel()[place]) for part, place in self._pairs])
        inner = right[self._where]
        result = np.zeros(self.shape)
        if self.coupled:
            flat = self.parts[0].solve(np.ascontiguousarray(inner.T).ravel())
            result[self._where] = flat.reshape(self.shape[1], -1).T
        elif len(self.parts) == 1:
            result[self._where] = self.parts[0].solve(inner)
        else:
            for output, part in enumerate(self.parts):
                result[self._where, output] = part.solve(np.ascontiguousarray(inner[:, output]))
        return result

    @property
    def _where(self) -> Index | slice:
        """The columns; a slice where they are the first ones."""
        h = len(self.columns)
        return slice(h) if h and self.columns[-1] == h - 1 else self.columns

    @property
    def _pairs(self) -> list[tuple[Cholesky, Index]]:
        return [(part, place) for part, place in zip(self.parts, self.places, strict=True) if len(place)]

    def _scattered(self, values: list[Array]) -> Array:
        """Return values of the parts' coefficients at their places, zero elsewhere."""
        flat = np.zeros(self.shape[0] * self.shape[1])
        for (_, place), value in zip(self._pairs, values, strict=True):
            flat[place] = value
        return np.ascontiguousarray(flat.reshape(self.shape[1], self.shape[0]).T)

    def norm(self, right: Array) -> float:
        """Return sqrt(right' H^-1 right) over the factor's columns."""
        return math.sqrt(max(float(np.vdot(right, self.solve(right))), 0.0))

    def inverse(self) -> Array:
        """Return H^-1 as one matrix, output-major."""
        if self.coupled:
            return self.parts[0].inverse()
        k, h = self.shape[1], len(self.columns)
        whole = np.zeros((k, h, k, h))
        for output in range(k):
            whole[output, :, output, :] = self.parts[output % len(self.parts)].inverse()
        return whole.reshape(k * h, k * h)

    def spread(self) -> Array:
        """Return sqrt of the diagonal of H^-1, shape ``(columns, outputs)``, zero outside the factor's columns."""
        if self.places:
            return self._scattered([np.sqrt(np.maximum(np.diagonal(part.inverse()), 0.0)) for part, _ in self._pairs])
        k = self.shape[1]
        if k == 1 and len(self.columns) == self.shape[0]:
            return self.parts[0].spread()[:, None]
        result = np.zeros(self.shape)
        if self.coupled:
            result[self._where] = self.parts[0].spread().reshape(k, -1).T
            return result
        for output in range(k):
            result[self._where, output] = self.parts[output % len(self.parts)].spread()
        return result
