"""Penalties so weak that rounding hides them: a bound without them is a bound with them.

    F(b) - F* <= [F'(b) - F'*] + [penalty(b) - penalty'(b)],      penalty' <= penalty everywhere, so that F'* <= F*.

A gradient is known to EPS |x| slope. Where an l1 part is not far above that, a dual point scaled into its ball would be nothing;
where a ridge is that weak, the error's square over it is large. Without these parts the columns are unpenalized, and the dual
point is moved until their gradients are zero.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lineal.verify.arithmetic import Index, Mask, total
from lineal.verify.problem.dependence import NotProvenError, spanning
from lineal.verify.problem.formulas import Point
from lineal.verify.proof.bound import SUM_ROUNDING, Gap, bound


def weak(point: Point) -> Mask:
    """Return the columns whose penalty may be left out: an l1 part far below the gradients, a ridge far below the curvature.

    What is left out is added to the gap, so that any shares will do.
    """
    p, penalty = point.problem, point.problem.penalty
    rest = np.clip(np.zeros(len(penalty.linear)), penalty.lower, penalty.upper)[:, None].repeat(p.outputs, axis=1)
    if not np.any(penalty.linear + penalty.square):
        return np.zeros(len(penalty.linear), dtype=bool)
    slopes, squares = np.zeros(p.outputs), np.zeros(p.columns)
    for at in p.at(rest).blocks():
        slopes += at.block.q @ np.abs(at.rows.slope)
        squares += at.block.q @ at.block.x**2
    slope = float(np.max(slopes))
    low = penalty.linear <= 1e-6 * slope * p.extent.x
    low &= penalty.square <= 1e-11 * squares * max(1.0, slope)
    return np.asarray(low & ((penalty.linear > 0.0) | (penalty.square > 0.0)))


def lighter_bound(point: Point, columns: Index, enough: float) -> Gap:
    """Bound F(b) - F* with the whole penalty, and without its weak parts where that is better; not below ``enough``."""
    chosen, direct, reason = weak(point), None, None
    try:
        direct = bound(point, columns, enough)
    except NotProvenError as error:
        reason = error
    if not np.any(chosen):
        if direct is None:
            raise reason or NotProvenError("nothing was tried")
        return direct
    proven = direct is not None and direct.gap <= enough  # then only what an honest fit may have stated is of interest
    try:
        other = _without(point, chosen, enough, moves=0 if proven else 30)
    except NotProvenError:
        if direct is None:
            raise
        return direct
    if direct is None:
        return other
    better = min(direct, other, key=lambda gap: gap.gap)
    return replace(better, weakest=max(direct.weakest, other.weakest))


def _without(point: Point, chosen: Mask, enough: float, moves: int) -> Gap:
    penalty = point.problem.penalty
    light = replace(penalty, linear=np.where(chosen, 0.0, penalty.linear), square=np.where(chosen, 0.0, penalty.square))
    spared = replace(penalty, linear=penalty.linear - light.linear, square=penalty.square - light.square)
    problem = point.problem.with_penalty(light)
    more = total(spared.terms(point.coef)) * (1.0 + SUM_ROUNDING)
    lighter_gap = bound(problem.at(point.coef), spanning(problem, problem.unpenalized), enough - more, moves)
    return Gap(lighter_gap.gap + more, lighter_gap.weakest + more, lighter_gap.rounding)
