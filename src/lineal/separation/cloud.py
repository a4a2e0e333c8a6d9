"""The rows z that a direction has to make positive, and the exact signs of z'd.

Two classes: z_i = +x_i or -x_i. K classes: z_ik = (e_yi - e_k) (x) x_i for every k != y_i, the coefficients of the last
class being zero (a gauge). A direction is a vector of D integers: D = p, or p (K - 1), class by class.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.algebra.integers import ZERO_EXPONENT, Whole, floats, mantissas, shifted
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass

Signs = npt.NDArray[np.int8]

CHUNK_ROWS = 16384


@dataclass(frozen=True)
class Cloud:
    """Rows ``x`` (dense or CSR, float64, with the intercept's ones) and their classes 0 .. outputs - 1.

    ``outputs`` is 1 for at most two classes. ``numbers`` are the rows' places in the user's data.
    """

    x: Any
    own: Index
    outputs: int
    numbers: npt.NDArray[np.int64]

    @cached_property
    def ids(self) -> Index:
        """The numbers of all z: i for two classes, i K + k for K."""
        if self.outputs == 1:
            return np.arange(len(self.own))
        everything = np.arange(len(self.own) * self.outputs).reshape(-1, self.outputs)
        mask = np.ones(everything.shape, dtype=bool)
        mask[np.arange(len(self.own)), self.own] = False
        return everything[mask]

    @property
    def width(self) -> int:
        """D, the number of coefficients of a direction."""
        return int(self.x.shape[1]) * max(self.outputs - 1, 1)

    @cached_property
    def largest(self) -> Array:
        """The largest |x| of every column, 1 where all are zero."""
        largest = abs(self.x).max(axis=0)
        largest = np.asarray(largest.todense() if hasattr(largest, "todense") else largest, dtype=np.float64).reshape(
            -1
        )
        return np.where(largest > 0.0, largest, 1.0)

    @cached_property
    def far(self) -> npt.NDArray[np.int64]:
        """The power of two near the largest entry of each coefficient's column, if some are so far that squares overflow.

        Zeros where none is, or where some entry would be lost by dividing by it.
        """
        power = np.ceil(np.log2(self.largest)).astype(np.int64)
        none = np.zeros(self.width, dtype=np.int64)
        if not np.any(np.abs(power) > 200):
            return none
        kept, x = self.levelled(power).x, self.x
        if isinstance(x, np.ndarray):
            same = np.array_equal(np.ldexp(kept, power), x)
        else:
            same = np.array_equal(np.ldexp(kept.data, power[kept.indices]), x.data)
        return np.tile(power, self.width // len(power)) if same else none

    def levelled(self, power: npt.NDArray[np.int64]) -> Cloud:
        """Return the cloud with every column divided by its power of two."""
        power = power[: self.x.shape[1]]
        if isinstance(self.x, np.ndarray):
            return replace(self, x=np.ldexp(self.x, -power))
        x = self.x.copy()
        x.data = np.ldexp(x.data, -power[x.indices])
        return replace(self, x=x)

    def z(self, ids: Index) -> Array:
        """Return some z as the rows of a matrix."""
        x = self._dense(self._row(ids))
        if self.outputs == 1:
            return x * np.where(self.own[ids] == 1, 1.0, -1.0)[:, None]
        return self._blocks(ids, x)[:, :-1].reshape(len(ids), self.width)

    def whole_z(self, ids: Index) -> Array:
        """Return some z with the coefficients of every class, class by class: where lengths matter, no gauge may."""
        return (
            self.z(ids) if self.outputs == 1 else self._blocks(ids, self._dense(self._row(ids))).reshape(len(ids), -1)
        )

    @cached_property
    def exponents(self) -> npt.NDArray[np.int64]:
        """One exponent per coefficient, such that every z is made of integers times 2^exponent."""
        part, p = self.x, self.x.shape[1]
        if isinstance(part, np.ndarray):
            least = np.full(p, ZERO_EXPONENT)
            for start in range(0, len(part), CHUNK_ROWS):
                _core.heed()
                np.minimum(least, mantissas(part[start : start + CHUNK_ROWS])[1].min(axis=0), out=least)
        else:
            least = np.full(p, ZERO_EXPONENT)
            np.minimum.at(least, part.indices, mantissas(part.data)[1])
        least[least == ZERO_EXPONENT] = 0
        return np.tile(least, self.width // max(p, 1))

    def integers(self, ids: Index) -> Whole:
        """Return some z as integers: z_j = integer_j 2^exponent_j."""
        m, e = mantissas(self.z(ids))
        return shifted(m, e, self.exponents)

    def plain(self, vectors: Whole) -> Whole:
        """Return directions for those integers (columns) as directions for z, up to one power of two."""
        most = int(np.max(self.exponents, initial=0))
        return np.asarray(vectors << (most - self.exponents).astype(object).reshape(-1, *[1] * (vectors.ndim - 1)))

    def margins(self, d: Array, ids: Index | None = None) -> Array:
        """Return z'd in floating point."""
        return self.apart(self.matrix(d), ids)

    def apart(self, coef: Array, ids: Index | None = None) -> Array:
        """Return by how much each row's own score exceeds the other, for coefficients (p, outputs)."""
        ids = self.ids if ids is None else ids
        rows = self._row(ids)
        if ids is self.ids:
            return self._differences(np.asarray(self.x @ coef), ids, rows)
        used, place = np.unique(rows, return_inverse=True)
        return self._differences(np.asarray(self.x[used] @ coef), ids, place)

    def signs(self, direction: Whole, ids: Index | None = None) -> Signs:
        """Return the exact sign of z'd: by floats where their error cannot change it, by integers elsewhere."""
        ids = self.ids if ids is None else ids
        d = self.matrix(floats(direction))
        unit = np.exp2(-np.ceil(np.log2(max(float(np.max(self.largest[:, None] * np.abs(d), initial=0.0)), 1e-300))))
        d = d * unit
        signs = np.zeros(len(ids), dtype=np.int8)
        eps = 4 * (len(d) + 6) * np.finfo(np.float64).eps
        for start in range(0, len(ids), CHUNK_ROWS):
            _core.heed()
            part = ids[start : start + CHUNK_ROWS]
            rows = self._row(part)
            used, place = np.unique(rows, return_inverse=True)
            x = self.x[used[0] : used[-1] + 1] if len(used) == used[-1] - used[0] + 1 else self.x[used]
            score = self._differences(np.asarray(x @ d), part, place)
            size = np.asarray(abs(x) @ np.abs(d))
            bound = size[place, 0] if self.outputs == 1 else 2.0 * size.max(axis=1)[place]
            own = np.sign(score).astype(np.int8)
            unsure = ~(np.abs(score) > eps * bound + 1e-280)  # products below this may have lost digits to underflow
            own[unsure] = self._exact(direction, part[unsure])
            signs[start : start + CHUNK_ROWS] = own
        return signs

    def products(self, ids: Index, vectors: Whole) -> Whole:
        """Return z'v for some z and the columns v of a matrix of integers, exactly, up to one power of two."""
        m, e = mantissas(self.z(ids))
        return np.asarray(shifted(m, e, int(np.min(np.append(e, 0)))) @ vectors)

    def matrix(self, d: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a direction as coefficients (p, outputs), those of the last of several classes zero."""
        if self.outputs == 1:
            return d[:, None]
        full = np.zeros((self.x.shape[1], self.outputs), dtype=d.dtype)
        full[:, :-1] = d.reshape(self.outputs - 1, -1).T
        return full

    def _exact(self, direction: Whole, ids: Index) -> Signs:
        d = self.matrix(direction)
        used = np.flatnonzero((d != 0).any(axis=1))
        signs = np.zeros(len(ids), dtype=np.int8)
        for start in range(0, len(ids) if len(used) else 0, CHUNK_ROWS):
            _core.heed()
            part = ids[start : start + CHUNK_ROWS]
            rows, place = np.unique(self._row(part), return_inverse=True)
            m, e = mantissas(self._dense(rows)[:, used])
            score = shifted(m, e, np.min(e, axis=1, keepdims=True)) @ d[used]
            exact = self._differences(score, part, place)
            signs[start : start + CHUNK_ROWS] = (exact > 0).astype(np.int8) - (exact < 0).astype(np.int8)
        return signs

    def _differences(self, score: npt.NDArray[Any], ids: Index, place: Index) -> npt.NDArray[Any]:
        """Return the margins of z from the scores of rows; row ``place`` of the scores belongs to each z."""
        if self.outputs == 1:
            return np.asarray(np.where(self.own[ids] == 1, score[place, 0], -score[place, 0]))
        return np.asarray(score[place, self.own[ids // self.outputs]] - score[place, ids % self.outputs])

    def _blocks(self, ids: Index, x: Array) -> Array:
        z = np.zeros((len(ids), self.outputs, x.shape[1]))
        at = np.arange(len(ids))
        z[at, self.own[self._row(ids)]] = x
        z[at, ids % self.outputs] = -x
        return z

    def _row(self, ids: Index) -> Index:
        return ids if self.outputs == 1 else ids // self.outputs

    def _dense(self, rows: Index) -> Array:
        part = self.x[rows]
        return np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)


def centred(cloud: Cloud, direction: Whole) -> Whole:
    """Return a direction as integers (p, outputs), with zero sum over several classes."""
    full = cloud.matrix(direction)
    if cloud.outputs == 1:
        return full
    return np.asarray(full * cloud.outputs - full.sum(axis=1)[:, None])
