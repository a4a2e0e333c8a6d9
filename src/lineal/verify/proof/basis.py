"""Free coefficients in a basis of their own: in it the second derivative of the dual is well conditioned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lineal.verify.arithmetic import EPS, Array, Index, Mask, times
from lineal.verify.problem.dependence import DEPENDENCE_SHARE, NotProvenError, triangle
from lineal.verify.proof.plan import Plan


@dataclass(frozen=True)
class Part:
    """Independent columns of one output seen through ``Z = X_U T``, T triangular; ``doubled``: with twice the digits."""

    columns: Index
    change: Array
    doubled: bool = False

    def z(self, x: Array) -> Array:
        """Return Z of some rows."""
        used = x[:, self.columns]
        return times(used, self.change) if self.doubled else np.asarray(used @ self.change)

    def above(self, x: Array) -> Array:
        """Return a bound on |Z| of some rows, rounding included."""
        size = np.abs(x[:, self.columns]) @ np.abs(self.change)
        return np.abs(self.z(x)) + (2.0 if self.doubled else len(self.columns) + 2.0) * EPS * size


@dataclass(frozen=True)
class Basis:
    """The coefficients U of all outputs in columns in which ``h = Z' Q V Z`` (output-major) is well conditioned.

    ``inverse`` is its inverse; where V couples outputs it does not see what all of them share, nor does the inverse.
    ``balanced``: it couples them, and U is the same columns of each, so that every g sums to zero over them.
    """

    parts: list[Part]
    h: Array
    inverse: Array
    shape: tuple[int, int]
    balanced: bool = False

    def farthest(self, size: Array) -> Array:
        """Return a bound on ``|inverse g|`` for all ``|g| <= size``.

        Where g sums to zero over the outputs, any multiple of that sum may be taken off: the one that leaves the least bound.
        """
        if not self.balanced:
            return np.asarray(np.abs(self.inverse) @ size)
        outputs = len(self.parts)
        rows, sizes = self.inverse.reshape(len(size), outputs, -1), size.reshape(outputs, -1)
        best = np.full((len(size), sizes.shape[1]), np.inf)
        for k in range(outputs):
            best = np.minimum(best, np.sum(np.abs(rows - rows[:, k : k + 1]) * sizes, axis=1))
        return np.asarray(best.sum(axis=1))

    def seen(self, g: tuple[Array, Array]) -> Array:
        """Return Z'v, flat, from X'v as high and low parts."""
        flat = []
        for k, part in enumerate(self.parts):
            high, low = (half[part.columns, k : k + 1] for half in g)
            flat.append((times(part.change.T, high) + part.change.T @ low)[:, 0])
        return np.concatenate(flat)

    def sizes(self, x: Array, v: Array) -> Array:
        """Return a bound on |Z|' v, flat, for the v >= 0 of some rows."""
        return np.concatenate([part.above(x).T @ v[:, k] for k, part in enumerate(self.parts)])

    def spread(self, size: Array) -> Array:
        """Return |T|' size, flat."""
        return np.concatenate([np.abs(part.change).T @ size[part.columns, k] for k, part in enumerate(self.parts)])

    def split(self, t: Array) -> list[Array]:
        """Return the pieces of a flat vector, output by output."""
        return np.split(t, np.cumsum([len(part.columns) for part in self.parts])[:-1])

    def step(self, t: Array) -> Array:
        """Return T t as coefficients."""
        coef = np.zeros(self.shape)
        for k, (part, one) in enumerate(zip(self.parts, self.split(t), strict=True)):
            coef[part.columns, k] = part.change @ one
        return coef

    def largest(self, x: Array, t: Array) -> float:
        """Return a bound on the largest entry of |Z| t of some rows, for t >= 0."""
        pairs = zip(self.parts, self.split(t), strict=True)
        return max(float(np.max(part.above(x) @ one, initial=0.0)) for part, one in pairs)


def basis(plan: Plan, free: Mask) -> Basis:
    """Return the free coefficients in a basis in which H is well conditioned: also the proof that they are independent."""
    parts = _parts(plan, free)
    coupled = plan.sample.coupled
    edges = np.cumsum([0, *(len(part.columns) for part in parts)])
    h = np.zeros((edges[-1], edges[-1]))
    for at, dual in plan.blocks():
        seen: dict[int, Array] = {}
        z = [seen.setdefault(id(part), part.z(at.block.x)) for part in parts]
        for b, right in enumerate(z):
            image = dual.bend(np.eye(free.shape[1])[np.full(at.block.rows, b)])
            for a in range(b + 1) if coupled else [b]:
                tile = z[a].T @ ((at.block.q * image[:, a])[:, None] * right)
                h[edges[a] : edges[a + 1], edges[b] : edges[b + 1]] += tile
                if a != b:
                    h[edges[b] : edges[b + 1], edges[a] : edges[a + 1]] += tile.T
    if not np.all(np.isfinite(h)):
        raise NotProvenError("the second derivative is not finite")
    values, vectors = np.linalg.eigh(h)
    shared = int(np.sum(np.all(free, axis=1))) if coupled else 0
    if len(h) and not values[shared] > 1e-11 * values[-1]:
        raise NotProvenError("the columns are dependent, or the fit has left no curvature in some direction")
    seen_by = vectors[:, shared:]
    balanced = coupled and len(h) > 0 and len({id(part) for part in parts}) == 1
    return Basis(parts, h, (seen_by / values[shared:]) @ seen_by.T, free.shape, balanced)


def _parts(plan: Plan, free: Mask) -> list[Part]:
    """Return the free columns of each output in a basis of their own, orthonormal in the weight of the rows (roughly)."""
    scale = plan.point.problem.extent.x
    chosen = [np.flatnonzero(free[:, k]) for k in range(free.shape[1])]
    distinct = [k for k in range(len(chosen)) if k == 0 or not np.array_equal(chosen[k], chosen[k - 1])]
    factors = {k: np.zeros((0, len(chosen[k]))) for k in distinct}
    for k in distinct:
        if not np.all(scale[chosen[k]] > 0.0):
            raise NotProvenError("a column is zero in every row")
        if plan.point.problem.rows < len(chosen[k]):
            raise NotProvenError(f"{len(chosen[k])} columns of {plan.point.problem.rows} rows are dependent")
    for at, dual in plan.blocks():
        root = (at.block.q * np.sum(dual.weight, axis=1))[:, None] ** 0.5
        for k, columns in ((k, chosen[k]) for k in distinct if len(chosen[k])):
            stacked = np.vstack([factors[k], root * (at.block.x[:, columns] / scale[columns])])
            if not np.all(np.isfinite(stacked)):
                raise NotProvenError("the columns are dependent, or the fit has left no curvature")
            factors[k] = triangle(stacked)
    own = {k: _part(plan, chosen[k], factors[k], scale[chosen[k]]) for k in distinct}
    return [own[max(first for first in distinct if first <= k)] for k in range(len(chosen))]


def _part(plan: Plan, columns: Index, factor: Array, scale: Array) -> Part:
    """Return columns with the change of basis that a triangular factor of them gives."""
    if not len(columns):
        return Part(columns, np.zeros((0, 0)))
    pivots = np.abs(np.diag(factor))
    if not np.all(np.isfinite(factor)) or not np.all(pivots > 1e-18 * np.max(pivots, initial=0.0)):
        raise NotProvenError("the columns are dependent, or the fit has left no curvature")
    change = np.triu(np.linalg.solve(factor, np.eye(len(columns)))) / scale[:, None]
    part = Part(columns, change)
    share, alive = _rounding_share(plan, part)
    if share > 1e-9:  # far above what a proof can spare: take twice the digits
        part = Part(columns, change, doubled=True)
        _, alive = _rounding_share(plan, part)
    if not np.all(alive):
        raise NotProvenError("the columns are dependent: a weighted sum of them is zero in every row")
    return part


def _rounding_share(plan: Plan, part: Part) -> tuple[float, Mask]:
    """Return the largest share of a column of Z that rounding may be, and which columns of Z are more than rounding."""
    top, size = np.zeros(len(part.columns)), np.zeros(len(part.columns))
    alive = np.zeros(len(part.columns), dtype=bool)
    for block in plan.point.problem.blocks():
        z, sizes = np.abs(part.z(block.x)), np.abs(block.x[:, part.columns]) @ np.abs(part.change)
        top, size = np.maximum(top, z.max(axis=0, initial=0.0)), np.maximum(size, sizes.max(axis=0, initial=0.0))
        alive |= np.any(z > DEPENDENCE_SHARE * sizes, axis=0)
    return float(np.max((len(top) + 2) * EPS * size / np.where(top > 0.0, top, 1e-300))), alive
