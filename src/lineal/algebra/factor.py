"""Solving with second derivatives: Cholesky factors that know how columns and outputs are laid out."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lineal.algebra.cholesky import Cholesky
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import dataclass


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
    def masked(hessian: Array, mask: Mask, *, coupled: bool) -> Factor:
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
        return self._of_parts(lambda part, some: part.solve(some), right)

    def unbent(self, right: Array) -> Array:
        """Return the part of a gradient, as a step, along which H is zero."""
        return self._of_parts(lambda part, some: part.unbent(some), right)

    def _of_parts(self, answer: Callable[[Cholesky, Array], Array], right: Array) -> Array:
        """Return what the parts make of their shares of a right side."""
        if len(self.parts) == 1 and not self.coupled and len(self.columns) == self.shape[0]:
            return answer(self.parts[0], right)
        if self.places:
            return self._scattered([answer(part, right.T.ravel()[place]) for part, place in self._pairs])
        inner = right[self._where]
        result = np.zeros(self.shape)
        if self.coupled:
            flat = answer(self.parts[0], np.ascontiguousarray(inner.T).ravel())
            result[self._where] = flat.reshape(self.shape[1], -1).T
        elif len(self.parts) == 1:
            result[self._where] = answer(self.parts[0], inner)
        else:
            for output, part in enumerate(self.parts):
                result[self._where, output] = answer(part, np.ascontiguousarray(inner[:, output]))
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
