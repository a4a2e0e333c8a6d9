"""Solving with second derivatives: an equilibrated Cholesky factor that knows how columns and outputs are laid out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

SINGULAR = 1e-13
"""Below this reciprocal condition a Cholesky factor proves nothing about rank."""


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
        diagonal = np.diagonal(matrix)
        scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        even = matrix * scale[:, None]
        even *= scale
        if not len(even):
            return Cholesky(scale, even, 1.0, singular=False, even=even)
        columns = even.T  # the same matrix as LAPACK stores it, so that nothing is copied to be turned round
        norm = float(lapack.dlange("1", columns))  # type: ignore[call-arg]
        upper, info = lapack.dpotrf(columns, lower=0, clean=1)
        if info == 0:
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
        inverse, _ = lapack.dtrtri(self.upper, lower=0)
        return np.asarray(np.einsum("ij,ij->i", inverse, inverse) * self.scale**2)


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
            whole = len(columns) == hessian.shape[1]
            parts = tuple(Cholesky.of(part if whole else part[np.ix_(columns, columns)]) for part in hessian)
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
        return min((part.condition for part in self.parts), default=1.0)

    def solve(self, right: Array) -> Array:
        """Return H^-1 right on the factor's columns, zero elsewhere; shapes are ``(columns, outputs)``."""
        if len(self.parts) == 1 and not self.coupled and len(self.columns) == self.shape[0]:
            return self.parts[0].solve(right)
        if self.places:
            return self._scattered([part.solve(right.T.ravel()[place]) for part, place in self._pairs])
        inner = right[self.columns]
        result = np.zeros(self.shape)
        if self.coupled:
            flat = self.parts[0].solve(np.ascontiguousarray(inner.T).ravel())
            result[self.columns] = flat.reshape(self.shape[1], -1).T
        elif len(self.parts) == 1:
            result[self.columns] = self.parts[0].solve(inner)
        else:
            for output, part in enumerate(self.parts):
                result[self.columns, output] = part.solve(np.ascontiguousarray(inner[:, output]))
        return result

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
        result = np.zeros(self.shape)
        k = self.shape[1]
        if self.coupled:
            diagonal = self.parts[0].inverse_diagonal().reshape(k, -1).T
        else:
            diagonals = [part.inverse_diagonal() for part in self.parts]
            diagonal = np.array([diagonals[a % len(diagonals)] for a in range(k)]).T
        result[self.columns] = np.sqrt(np.maximum(diagonal, 0.0))
        return result
