"""The part that proves. Read it in one sitting; it trusts nothing but the data and the coefficients.

    F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + penalty(b),      eta = X b + offset,   q = s / S

For ANY theta (one vector per row) in the domain of loss*, weak duality (Fenchel) gives for all coefficients c

    F(c) >= -sum_i q_i [loss*(theta_i) - theta_i.offset_i] - penalty*(-g),      g = X'(q theta)

so that F(b) - F* is at most

    sum_i q_i [loss(eta_i) + loss*(theta_i) - theta_i.eta_i]             every term >= 0 (Fenchel-Young)       `Dual.cost`
    + sum_jk [penalty(b_jk) + penalty*(-g_jk) + b_jk g_jk]               every term >= 0                       `Penalty.mismatch`

penalty*(-g) is finite only if g is zero on every unpenalized column, within the ball |g_j| <= linear_j where there is no square
part, and of the right sign where a coefficient is free on one side. So we take a theta (a Newton step from the slopes, or the
one the file holds, which is not trusted), put it into the domain of loss*, and

1. move it by V X_U t, t = (X_U' Q V X_U)^-1 X_U' Q theta, so that g is zero on the coefficients U that are unpenalized or that
   are free to move inside their bounds. V is a matrix per row that keeps theta - V z in the domain for small z.
2. scale it by a <= 1 into the ball (every domain is convex and holds zero).
3. In floats g_U is not exactly zero but tiny. The exactly feasible theta' is theta - V z, z = X_U t', H t' = g_U, and we do not
   make that move but bound it: |z| <= kappa in every row. `Dual.cost(kappa)` is the largest mismatch over all such theta'
   (mismatches are convex in theta, so it is at an end), and g may be off by e = |X|'Q (kappa sway + theta_error).
   Rounding of theta itself is part of theta_error, and so of g_U and e.

If theta' lies in the interior of the domain (logistic, softmax, Poisson) and the columns X_U are independent, this also proves
that a finite minimizer exists.

Rows come block by block (`Plan.blocks`); everything that is proven is a sum or a maximum over them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lineal.verify.arithmetic import (
    DOUBLED,
    EPS,
    Array,
    Index,
    Mask,
    added,
    double_sums,
    summed,
    sums,
    total,
    two_product,
)
from lineal.verify.problem.dependence import NotProvenError, spanning
from lineal.verify.problem.formulas import Point
from lineal.verify.proof.basis import basis
from lineal.verify.proof.exact import balanced
from lineal.verify.proof.plan import Move, Plan, Shrink
from lineal.verify.search.descent import descend, newton_step

SUM_ROUNDING = 1e-12
"""Every term of a gap is >= 0, so that its sum is known to a far smaller share than this."""


@dataclass(frozen=True)
class Settled:
    """A dual point whose g is zero on the free coefficients but for a move by at most kappa; g is known to e."""

    plan: Plan
    kappa: float
    g: Array
    e: Array


@dataclass(frozen=True)
class Sums:
    """What one pass adds up of a dual point: g = X'Q theta in two parts, the size of its terms, and of errors and sways."""

    g: tuple[Array, Array]
    size: Array
    theta_error: Array
    sway: Array

    @property
    def rounding(self) -> Array:
        """A bound on what the sums themselves lose."""
        return DOUBLED * self.size


def added_up(plan: Plan, chosen: Index, *, errors: bool = True) -> Sums:
    """Return the sums over all rows, of some columns; zero for the others. Without ``errors`` g is all that is made."""
    shape = (plan.point.problem.columns, plan.point.problem.outputs)
    g = np.zeros(shape), np.zeros(shape)
    size, theta_error, sway = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for at, dual in plan.blocks():
        q, x = at.block.q[:, None], at.block.x if len(chosen) == shape[0] else at.block.x[:, chosen]
        v = q * dual.theta
        part = double_sums(x, v)
        top, low = added((g[0][chosen], g[1][chosen]), part)
        g[0][chosen], g[1][chosen] = top, low
        if errors:
            more = np.abs(x).T @ np.hstack([np.abs(v), q * dual.theta_error, q * dual.sway])
            for whole, some in zip((size, theta_error, sway), np.split(more, 3, axis=1), strict=True):
                whole[chosen] += some
    return Sums(g, size, theta_error, sway)


def settle(plan: Plan, free: Mask, *, exactly: bool = False) -> Settled:
    """Move a dual point until g is zero to rounding on the free coefficients, and bound the rest of the way.

    Where too few rows can be moved for that bound, or ``exactly`` is asked for, g is made zero exactly.
    """
    p = plan.point.problem
    kappa, used = 0.0, bool(np.any(free)) and any(np.any(dual.theta) for _, dual in plan.blocks())
    if p.loss.unbounded and np.any(free) and not used:
        raise NotProvenError("scores are so large that all slopes vanish: a sign of no finite optimum")
    if used:
        try:
            plan, kappa = (plan, np.inf) if exactly else _nearly(plan, free)
        except NotProvenError:
            if not p.loss.flat:  # on the border of their domain a dual point would not prove that a minimizer exists
                raise
            kappa = np.inf
        if kappa == np.inf:
            plan, kappa = Plan(plan.point, made=balanced(plan.point, plan.whole, free)), 0.0
    totals = added_up(plan, np.arange(p.columns))
    g = totals.g[0] + totals.g[1]
    slopes = p.penalty.linear[:, None] + np.abs(p.penalty.square[:, None] * plan.point.coef)
    e = (
        (totals.theta_error + kappa * totals.sway) * (1.0 + SUM_ROUNDING)
        + totals.rounding
        + 4 * EPS * (np.abs(g) + slopes)
    )
    return Settled(plan, kappa, g, e)


def _nearly(plan: Plan, free: Mask) -> tuple[Plan, float]:
    """Return a dual point that one more move by at most kappa would settle exactly, and kappa."""
    last = np.inf
    used, steady, reach = np.flatnonzero(np.any(free, axis=1)), plan.sample.steady, plan.sample.reach
    base = basis(plan, free)
    for _ in range(3 if steady else 12):  # after the first full move only rounding is left
        flat = base.inverse @ base.seen(added_up(plan, used, errors=False).g)
        step = base.step(flat)
        # how far scores move; where they may go any way, only whether that still becomes less is of interest
        size = float(np.max(np.abs(flat), initial=0.0)) if steady else _farthest(plan, step)
        if not size < 0.5 * last:
            break
        short = size > reach
        plan = plan.then(Move(step * (reach / size) if short else step))
        last = np.inf if short else size
        if not steady:
            base = basis(plan, free)
    sizes = sum(base.sizes(at.block.x, at.block.q[:, None] * dual.theta_error) for at, dual in plan.blocks())
    left = added_up(plan, used)
    flat = (
        np.abs(base.seen(left.g)) * (1.0 + EPS) + np.asarray(sizes) * (1.0 + SUM_ROUNDING) + base.spread(left.rounding)
    )
    far = base.farthest(flat)
    kappa = 2.0 * max(base.largest(at.block.x, far) for at, _ in plan.blocks())
    if not all(np.all(np.isfinite(dual.cost(kappa))) for _, dual in plan.blocks()):
        raise NotProvenError("the uncharged columns do not allow the dual point")
    return plan, kappa


def _farthest(plan: Plan, step: Array) -> float:
    """Return the largest |X step|."""
    return max(float(np.max(np.abs(block.x @ step), initial=0.0)) for block in plan.point.problem.blocks())


def enough(plan: Plan, free: Mask) -> Mask:
    """Return free coefficients whose g has to be zero for that of all free ones to be: where bounds free dependent columns.

    ``columns`` are independent as they are given; a gradient is zero where those are whose combination its column is. Rows of
    one score where theta is zero, and stays so because V is, have no part in it; nor have columns that no V can move, and
    that are balanced exactly.
    """
    problem = plan.point.problem
    stuck = free.shape[1] == 1 and bool(np.sum(free) > 1) and problem.loss.flat  # others bend everywhere
    stuck = stuck and not all(np.all(dual.weight) for _, dual in plan.blocks())
    if not (stuck or np.any(free & problem.penalty.bounded[:, None])):
        return free
    whole, dual, kept = problem.whole(), plan.whole, free.copy()
    x, q, alive = whole.x, whole.q[:, None], np.full(whole.rows, fill_value=True)
    if stuck:
        alive = ((dual.theta != 0.0) | (dual.weight != 0.0))[:, 0]
        if not np.any(two_product(q, dual.theta)[1]):
            kept &= np.any((x != 0.0) & (dual.weight != 0.0), axis=0)[:, None] | (sums(x, q * dual.theta) != 0.0)
    for output in range(free.shape[1]):
        columns = np.flatnonzero(kept[:, output])
        with contextlib.suppress(NotProvenError):
            kept[np.setdiff1d(columns, spanning(whole.only(alive), columns)), output] = False
    return kept


@dataclass(frozen=True)
class Bound:
    """What one dual point proves, and what of it is rounding: with exact sums it would be ``gap - rounding``."""

    gap: float
    rounding: float


def prove(plan: Plan, columns: Index, *, both: bool, exactly: bool = False) -> Bound:
    """Bound F(b) - F* by one dual point, its g zero on ``columns`` (all unpenalized ones, or a basis of them).

    ``both``: bounded coefficients that cost nothing and are strictly inside are treated like unpenalized ones also where
    both bounds are finite. ``exactly``: g is made zero in integers, not nearly zero in floats.
    """
    coef, penalty = plan.point.coef, plan.point.problem.penalty
    free = penalty.inside(coef, both=both)
    free[columns] = True
    for _ in range(20):
        kept = enough(plan, free)
        settled = settle(plan, kept, exactly=exactly)
        more = penalty.open(settled.g, settled.e) & ~free
        if not np.any(more):
            break
        free = free | more
    chosen = penalty.seen[:, None] & ~free
    zero = np.zeros_like(settled.e)
    scale = penalty.shrink(settled.g, zero, chosen)
    plain = settled.plan if scale == 1.0 else settled.plan.then(Shrink(scale))
    without = _cost(plain, 0.0) + penalty.mismatch(coef, scale * settled.g, zero, chosen)
    for _ in range(4):  # rounding errors do not shrink with theta, so that the first time may not be enough
        scale = penalty.shrink(settled.g, settled.e, chosen)
        if scale == 1.0:
            break
        settled = settle(settled.plan.then(Shrink(scale)), kept, exactly=exactly)
    gap = _cost(settled.plan, settled.kappa) + penalty.mismatch(coef, settled.g, settled.e, chosen)
    if not np.isfinite(gap):
        raise NotProvenError("the coefficients are too far from an optimum, or there is none")
    return Bound(gap * (1.0 + SUM_ROUNDING), max(gap - without, 0.0) if np.isfinite(without) else 0.0)


def _cost(plan: Plan, kappa: float) -> float:
    """Return the mismatch of all rows, each at its largest within a move of kappa."""
    return summed(total(at.block.q * dual.cost(kappa)) for at, dual in plan.blocks())


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

    Where these prove too little, a Newton step is aimed inside of what an l1 part allows. Each is taken as it is, then with
    finite bounds left to it, then moved into its domain a little, until ``enough`` is proven.
    """
    bounds: list[list[Bound]] = []
    reason = NotProvenError("nothing was tried")
    for plans in (_candidates, _aimed):
        if any(bound.gap <= enough for own in bounds for bound in own):
            break
        for plan in plans(point):
            own: list[Bound] = []
            for one, both, exactly in _ways(plan):
                try:
                    own.append(prove(one, columns, both=both, exactly=exactly))
                except NotProvenError as error:
                    reason = error
                if own and own[-1].gap <= enough:
                    break
            bounds += [own] if own else []
    if not bounds:
        raise reason
    best = min((bound for own in bounds for bound in own), key=lambda bound: bound.gap)
    return Gap(best.gap, max(own[0].gap for own in bounds), best.rounding)


def _ways(plan: Plan) -> Iterator[tuple[Plan, bool, bool]]:
    """Yield a dual point as it is, made exact, with finite bounds left to it, and moved into its domain a little."""
    yield plan, True, False
    if plan.point.problem.loss.flat:
        yield plan, True, True
    if plan.point.problem.penalty.bounded.any():  # else it is the same again
        yield plan, False, False
    for eased in plan.eased():
        yield eased, True, False


def eased_gap(point: Point, columns: Index) -> float:
    """Return the weakest gap that a dual point proves if moved a little into its domain, or if finite bounds are left to it.

    A fit may have needed the one, or done the other; or it has taken the slopes as they are, and bounded the move that the
    unpenalized columns ask for instead of making it: by Cauchy-Schwarz, column by column, about four times as wide a gap.
    """
    problem, proven = point.problem, [0.0]
    if not problem.loss.cornered and problem.penalty.smooth:
        g = sum(sums(at.block.x, at.block.q[:, None] * dual.theta) for at, dual in Plan(point).blocks())
        g = np.asarray(g)
        seen = np.broadcast_to(problem.penalty.seen[:, None], g.shape)
        proven.append(4.0 * problem.penalty.mismatch(point.coef, g, np.zeros_like(g), seen))
    for plan in _candidates(point):
        for one in [plan, *plan.eased()[:-1]]:
            with contextlib.suppress(NotProvenError):
                proven.append(prove(one, columns, both=False).gap)
    return max(proven)


def _candidates(point: Point) -> Iterator[Plan]:
    problem = point.problem
    if not problem.loss.cornered and (problem.loss.flat or np.any(problem.penalty.seen)):
        yield Plan(point, newton_step(point))
    yield Plan(point)


def _aimed(point: Point) -> Iterator[Plan]:
    """Yield the dual point of a Newton step that leaves gradients on the edge of their ball room for their rounding errors."""
    penalty = point.problem.penalty
    if not point.problem.loss.cornered and np.any(penalty.linear > 0.0):
        totals = added_up(Plan(point), np.arange(point.problem.columns))
        yield Plan(point, newton_step(point, 4.0 * (totals.theta_error + totals.rounding)))


def bound(point: Point, columns: Index, enough: float = 0.0, moves: int = 30) -> Gap:
    """Bound F(b) - F*, by dual points at b and then, while the bound is above ``enough``, at better points c.

    F(b) - F* = F(b) - F(c) + F(c) - F* for any c; damped Newton steps find one.
    """
    here, best = point, Gap(np.inf, np.inf)
    reason = NotProvenError("nothing was tried")
    for move in range(moves + 1):
        try:
            fall = max(point.objective - here.objective, 0.0) + point.rounding + here.rounding if move else 0.0
            here_gap = gaps(here, columns, enough - fall)
            weakest = best.weakest if move else here_gap.weakest
            if fall + here_gap.gap < best.gap:
                best = Gap(fall + here_gap.gap, weakest, here_gap.rounding)
        except NotProvenError as error:
            reason = error
        if best.gap <= enough or point.problem.loss.cornered:
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
    return zero if point.problem.penalty.within(zero.coef) and zero.objective < here.objective else here
