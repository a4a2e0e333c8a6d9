"""The part that proves. Read it in one sitting; it trusts nothing but the data and the coefficients.

    F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + penalty(b),      eta = X b + offset,   q = s / S

For ANY theta (one vector per row) in the domain of loss*, weak duality (Fenchel) gives for all coefficients c

    F(c) >= -sum_i q_i [loss*(theta_i) - theta_i.offset_i] - penalty*(-g),      g = X'(q theta)

so that F(b) - F* is at most

    sum_i q_i [loss(eta_i) + loss*(theta_i) - theta_i.eta_i]             every term >= 0 (Fenchel-Young)       `Dual.cost`
    + sum_jk [penalty(b_jk) + penalty*(-g_jk) + b_jk g_jk]               every term >= 0                       `Charges.mismatch`

penalty*(-g) is finite only if g is zero on every uncharged column, within the ball |g_j| <= linear_j where only l1 or a group
charges, and of the right sign where a coefficient is free on one side. So we take a theta (a Newton step from the slopes, or the
one the file holds: nobody trusts it), put it into the domain of loss*, and

1. move it by V X_U t, t = (X_U' Q V X_U)^-1 X_U' Q theta, so that g is zero on the coefficients U that are not charged or that
   are free to move inside their bounds. V is a matrix per row that keeps theta - V z in the domain for small z.
2. scale it by a <= 1 into the ball (every domain is convex and holds zero).
3. In floats g_U is not exactly zero but tiny. The exactly feasible theta' is theta - V z, z = X_U t', H t' = g_U, and we do not
   make that move but bound it: |z| <= kappa in every row. `Dual.cost(kappa)` is the largest mismatch over all such theta'
   (mismatches are convex in theta, so it is at an end), and g may be off by e = |X|'Q (kappa sway + noise). Rounding of
   theta itself is part of noise, and so of g_U and e.

If theta' lies in the interior of the domain (logistic, softmax, Poisson) and the columns X_U are independent, this also proves
that a finite minimiser exists.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lineal.verify.arithmetic import EPS, Array, sums, times, total, two_product
from lineal.verify.charges import Mask
from lineal.verify.dependence import DEPENDENT, NotProvenError, spanning
from lineal.verify.descent import descend, newton_step
from lineal.verify.dual import Dual
from lineal.verify.exact import balanced
from lineal.verify.formulas import CORNERED, ENDLESS, FLAT, Index, Point

ROUNDED = 1e-12
"""Every term of a gap is >= 0 and known to far more digits than this."""
WIDER = 4.0
"""Bounding by Cauchy-Schwarz, column by column, how far a move of the intercept changes g costs about this factor."""


@dataclass(frozen=True)
class Part:
    """Independent columns of one output seen through ``z = X_U T``, T triangular and nonsingular."""

    columns: Index
    change: Array
    z: Array


@dataclass(frozen=True)
class Basis:
    """The coefficients U of all outputs in columns in which ``h = Z' Q V Z`` (output-major) is well conditioned.

    ``inverse`` is its inverse; where V couples outputs it does not see what all of them share, nor does the inverse.
    """

    parts: list[Part]
    h: Array
    inverse: Array

    def sums(self, v: Array) -> Array:
        """Return Z' v, flat."""
        return np.concatenate([sums(part.z, v[:, k : k + 1])[:, 0] for k, part in enumerate(self.parts)])

    def sizes(self, v: Array) -> Array:
        """Return |Z|' v, flat, for v >= 0."""
        return np.concatenate([np.abs(part.z).T @ v[:, k] for k, part in enumerate(self.parts)])

    def split(self, t: Array) -> list[Array]:
        """Return the pieces of a flat vector, output by output."""
        return np.split(t, np.cumsum([part.z.shape[1] for part in self.parts])[:-1])

    def lift(self, t: Array) -> Array:
        """Return Z t, one column per output."""
        return np.hstack([times(part.z, one[:, None]) for part, one in zip(self.parts, self.split(t), strict=True)])

    def largest(self, t: Array) -> float:
        """Return the largest entry of |Z| t, for t >= 0."""
        pairs = zip(self.parts, self.split(t), strict=True)
        return max(float(np.max(np.abs(part.z) @ one, initial=0.0)) for part, one in pairs)


def basis(point: Point, dual: Dual, free: Mask) -> Basis:
    """Return the free coefficients in a basis in which H is well conditioned: also the proof that they are independent."""
    q = point.problem.q
    weight = q * np.sum(dual.weight, axis=1)
    parts: list[Part] = []
    for k in range(free.shape[1]):
        same = k > 0 and bool(np.all(free[:, k] == free[:, k - 1]))
        parts.append(parts[-1] if same else _part(point.problem.x, weight, np.flatnonzero(free[:, k])))
    edges = np.cumsum([0, *(part.z.shape[1] for part in parts)])
    h = np.zeros((edges[-1], edges[-1]))
    for b, right in enumerate(parts):
        image = dual.bend(np.eye(free.shape[1])[np.full(len(q), b)])
        for a in range(b + 1) if dual.coupled else [b]:
            tile = parts[a].z.T @ ((q * image[:, a])[:, None] * right.z)
            h[edges[a] : edges[a + 1], edges[b] : edges[b + 1]] = tile
            h[edges[b] : edges[b + 1], edges[a] : edges[a + 1]] = tile.T
    if not np.all(np.isfinite(h)):
        raise NotProvenError("the second derivative is not finite")
    values, vectors = np.linalg.eigh(h)
    shared = int(np.sum(np.all(free, axis=1))) if dual.coupled else 0
    if len(h) and not values[shared] > 1e-11 * values[-1]:
        raise NotProvenError("the columns are dependent, or the fit has left no curvature in some direction")
    seen = vectors[:, shared:]
    return Basis(parts, h, (seen / values[shared:]) @ seen.T)


def _part(x: Array, weight: Array, columns: Index) -> Part:
    """Return some columns in a basis of their own, orthonormal in the given weight of the rows (roughly)."""
    x = x[:, columns]
    if not len(columns):
        return Part(columns, np.zeros((0, 0)), x)
    scale = np.max(np.abs(x), axis=0, initial=0.0)
    if not np.all(scale > 0.0):
        raise NotProvenError("a column is zero in every row")
    if len(x) < len(columns):
        raise NotProvenError(f"{len(columns)} columns of {len(x)} rows are dependent")
    factor = np.linalg.qr(weight[:, None] ** 0.5 * (x / scale), mode="r")
    pivots = np.abs(np.diag(factor))
    if not np.all(np.isfinite(factor)) or not np.all(pivots > 1e-18 * np.max(pivots, initial=0.0)):
        raise NotProvenError("the columns are dependent, or the fit has left no curvature")
    change = np.triu(np.linalg.solve(factor, np.eye(len(columns)))) / scale[:, None]
    z = times(x, change)
    size = np.abs(x) @ np.abs(change)
    if np.any(np.all(np.abs(z) <= DEPENDENT * size, axis=0)):
        raise NotProvenError("the columns are dependent: a weighted sum of them is zero in every row")
    return Part(columns, change, z)


@dataclass(frozen=True)
class Settled:
    """A dual point whose g is zero on the free coefficients but for a move by at most kappa; g is known to e."""

    dual: Dual
    kappa: float
    g: Array
    e: Array


def settle(point: Point, dual: Dual, free: Mask) -> Settled:
    """Move a dual point until g is zero to rounding on the free coefficients, and bound the rest of the way.

    Where too few rows can be moved for that bound, g is made zero exactly.
    """
    p, q = point.problem, point.problem.q[:, None]
    kappa = 0.0
    if p.loss in ENDLESS and np.any(free) and not np.any(dual.theta):
        raise NotProvenError("scores are so large that all slopes vanish: a sign of no finite optimum")
    if np.any(free) and np.any(dual.theta):
        try:
            dual, kappa = _nearly(point, dual, free)
        except NotProvenError:
            if p.loss not in FLAT:  # on the border of their domain a dual point would not prove that a minimiser exists
                raise
            dual = balanced(point, dual, free)
    g = sums(p.x, q * dual.theta)
    charged = p.charges.linear[:, None] + np.abs(p.charges.square[:, None] * point.coef)
    e = np.abs(p.x).T @ (q * (dual.noise + kappa * dual.sway)) + 4 * EPS * (np.abs(g) + charged)
    return Settled(dual, kappa, g, e)


def _nearly(point: Point, dual: Dual, free: Mask) -> tuple[Dual, float]:
    """Return a dual point that one more move by at most kappa would settle exactly, and kappa."""
    q, last = point.problem.q[:, None], np.inf
    found = basis(point, dual, free)
    for _ in range(3 if dual.steady else 12):  # after the first full move only rounding is left
        step = found.inverse @ found.sums(q * dual.theta)
        z = found.lift(step)
        size = float(np.max(np.abs(z), initial=0.0))
        if not size < 0.5 * last:
            break
        short = size > dual.reach
        dual = dual.moved(z * (dual.reach / size) if short else z)
        last = np.inf if short else size
        if not dual.steady:
            found = basis(point, dual, free)
    left = np.abs(found.sums(q * dual.theta)) * (1.0 + EPS) + found.sizes(q * dual.noise)
    kappa = 2.0 * found.largest(np.abs(found.inverse) @ left)
    if not np.all(np.isfinite(dual.cost(kappa))):
        raise NotProvenError("the uncharged columns do not allow the dual point")
    return dual, kappa


def enough(point: Point, dual: Dual, free: Mask) -> Mask:
    """Return free coefficients whose g has to be zero for that of all free ones to be: where bounds free dependent columns.

    ``columns`` are independent as they are given; a gradient is zero where those are whose combination its column is. Rows of
    one score where theta is zero, and stays so because V is, have no part in it; nor have columns that no V can move, and
    that are balanced exactly.
    """
    x, q, kept = point.problem.x, point.problem.q[:, None], free.copy()
    stuck = free.shape[1] == 1 and bool(np.sum(free) > 1) and not np.all(dual.weight)
    stuck &= point.problem.loss not in ENDLESS  # whose dual points have to be off the border
    if not (stuck or np.any(free & point.problem.charges.bounded[:, None])):
        return free
    alive = np.full(len(x), fill_value=True)
    if stuck:
        alive = ((dual.theta != 0.0) | (dual.weight != 0.0))[:, 0]
        if not np.any(two_product(q, dual.theta)[1]):
            kept &= np.any((x != 0.0) & (dual.weight != 0.0), axis=0)[:, None] | (sums(x, q * dual.theta) != 0.0)
    for output in range(free.shape[1]):
        columns = np.flatnonzero(kept[:, output])
        with contextlib.suppress(NotProvenError):
            kept[np.setdiff1d(columns, spanning(x[alive], columns)), output] = False
    return kept


@dataclass(frozen=True)
class Bound:
    """What one dual point proves, and what of it is rounding: with exact sums it would be ``gap - rounding``."""

    gap: float
    rounding: float


def prove(point: Point, dual: Dual, columns: Index, *, both: bool) -> Bound:
    """Bound F(b) - F* by one dual point, its g zero on ``columns`` (all uncharged ones, or a basis of them).

    ``both``: bounded coefficients that cost nothing and are strictly inside are treated like uncharged ones also where
    both bounds are finite.
    """
    p, charges = point.problem, point.problem.charges
    free = charges.inside(point.coef, both=both)
    free[columns] = True
    for _ in range(20):
        kept = enough(point, dual, free)
        found = settle(point, dual, kept)
        more = charges.open(found.g, found.e) & ~free
        if not np.any(more):
            break
        free = free | more
    chosen = charges.seen[:, None] & ~free
    zero = np.zeros_like(found.e)
    scale = charges.shrink(found.g, zero, chosen)
    plain = found.dual if scale == 1.0 else found.dual.shrunk(scale)
    without = total(p.q * plain.cost(0.0)) + charges.mismatch(point.coef, scale * found.g, zero, chosen)
    for _ in range(4):  # rounding errors do not shrink with theta, so that the first time may not be enough
        scale = charges.shrink(found.g, found.e, chosen)
        if scale == 1.0:
            break
        found = settle(point, found.dual.shrunk(scale), kept)
    gap = total(p.q * found.dual.cost(found.kappa)) + charges.mismatch(point.coef, found.g, found.e, chosen)
    if not np.isfinite(gap):
        raise NotProvenError("the coefficients are too far from an optimum, or there is none")
    return Bound(gap * (1.0 + ROUNDED), max(gap - without, 0.0) if np.isfinite(without) else 0.0)


@dataclass(frozen=True)
class Gap:
    """``F(b) - F* <= gap``, proven, of which ``rounding`` is due to doubles.

    ``weakest`` is the weakest bound that an honest fit would have stated instead.
    """

    gap: float
    weakest: float
    rounding: float = 0.0


def gaps(point: Point, columns: Index, enough: float) -> Gap:
    """Return what the dual points at b prove: that of a Newton step and that of the slopes, or the one the file holds.

    Each is taken as it is, then with finite bounds left to it, then moved into its domain a little, until ``enough`` is proven.
    """
    found: list[list[Bound]] = []
    reason = NotProvenError("nothing was tried")
    for dual in _candidates(point):
        own: list[Bound] = []
        for one, both in [(dual, True), (dual, False), *((eased, True) for eased in dual.eased())]:
            try:
                own.append(prove(point, one, columns, both=both))
            except NotProvenError as error:
                reason = error
            if own and own[-1].gap <= enough:
                break
        found += [own] if own else []
    if not found:
        raise reason
    best = min((bound for own in found for bound in own), key=lambda bound: bound.gap)
    return Gap(best.gap, max(own[0].gap for own in found), best.rounding)


def eased_gap(point: Point, columns: Index) -> float:
    """Return the weakest gap that a dual point proves if moved a little into its domain, or if finite bounds are left to it.

    A fit may have needed the one, or done the other; or it has taken the slopes as they are, and bounded the move that the
    uncharged columns ask for instead of making it, which makes the gap up to `WIDER` times as wide.
    """
    problem, found = point.problem, [0.0]
    if problem.loss not in CORNERED and problem.charges.smooth:
        for slopes in point.rows.duals([np.zeros_like(point.eta)]):
            g = sums(problem.x, problem.q[:, None] * slopes.theta)
            seen = np.broadcast_to(problem.charges.seen[:, None], g.shape)
            found.append(WIDER * problem.charges.mismatch(point.coef, g, np.zeros_like(g), seen))
    for dual in _candidates(point):
        for one in [dual, *dual.eased()[:-1]]:
            with contextlib.suppress(NotProvenError):
                found.append(prove(point, one, columns, both=False).gap)
    return max(found)


def _candidates(point: Point) -> Iterator[Dual]:
    problem, zero = point.problem, np.zeros_like(point.eta)
    if problem.loss in CORNERED:
        yield from point.rows.duals([zero], problem.theta)
        return
    if problem.loss in FLAT or np.any(problem.charges.seen):
        yield from point.rows.duals([times(problem.x, newton_step(point))])
    yield from point.rows.duals([zero])


def bound(point: Point, columns: Index, enough: float = 0.0, moves: int = 30) -> Gap:
    """Bound F(b) - F*, by dual points at b and then, while the bound is above ``enough``, at better points c.

    F(b) - F* = F(b) - F(c) + F(c) - F* for any c; damped Newton steps find one.
    """
    here, best = point, Gap(np.inf, np.inf)
    reason = NotProvenError("nothing was tried")
    for move in range(moves + 1):
        try:
            fall = max(point.objective - here.objective, 0.0) + point.rounding + here.rounding if move else 0.0
            found = gaps(here, columns, enough - fall)
            weakest = best.weakest if move else found.weakest
            if fall + found.gap < best.gap:
                best = Gap(fall + found.gap, weakest, found.rounding)
        except NotProvenError as error:
            reason = error
        if best.gap <= enough or point.problem.loss in CORNERED:
            break
        try:
            here = descend(_start(point, here))
        except NotProvenError as error:
            reason = error
            break
    if not np.isfinite(best.gap):
        raise reason
    return best


def _start(point: Point, here: Point) -> Point:
    """Return where the search for a better point goes on: from zero where that is better."""
    zero = point.problem.at(np.zeros_like(point.coef))
    return zero if point.problem.charges.within(zero.coef) and zero.objective < here.objective else here
