"""Charges so weak that rounding hides them: a bound without them is a bound with them.

    F(b) - F* <= [F'(b) - F'*] + [penalty(b) - penalty'(b)],      penalty' <= penalty everywhere, so that F'* <= F*.

A gradient is known to EPS |x| slope. Where an l1 charge is not far above that, a dual point scaled into its ball would be
nothing; where a ridge is that weak, the error's square over the charge is large. Without these charges the columns
are uncharged, and the dual point is moved until their gradients are zero.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lineal.verify.arithmetic import total
from lineal.verify.charges import Mask
from lineal.verify.dependence import NotProvenError, spanning
from lineal.verify.formulas import Index, Point
from lineal.verify.proof import ROUNDED, Gap, bound

LINEAR = 1e-6
"""An l1 charge below this share of a column's largest gradient may be left out,"""
SQUARE = 1e-11
"""a ridge below this share of the column's mean square. What is left out is charged to the gap, so both may be any number."""


def weak(point: Point) -> Mask:
    """Return the columns whose charges may be left out."""
    p, charges = point.problem, point.problem.charges
    rest = np.clip(np.zeros(len(charges.linear)), charges.lower, charges.upper)[:, None].repeat(p.outputs, axis=1)
    if not np.any(charges.linear + charges.square):
        return np.zeros(len(charges.linear), dtype=bool)
    slopes, squares = np.zeros(p.outputs), np.zeros(p.columns)
    for at in p.at(rest).blocks():
        slopes += at.block.q @ np.abs(at.rows.slope)
        squares += at.block.q @ at.block.x**2
    slope = float(np.max(slopes))
    low = charges.linear <= LINEAR * slope * p.extent.x
    low &= charges.square <= SQUARE * squares * max(1.0, slope)
    return np.asarray(low & ((charges.linear > 0.0) | (charges.square > 0.0)))


def lighter_bound(point: Point, columns: Index, enough: float) -> Gap:
    """Bound F(b) - F* with all charges, and without the weak ones where that is better; not below ``enough``."""
    chosen, direct, reason = weak(point), None, None
    try:
        direct = bound(point, columns, enough)
    except NotProvenError as error:
        reason = error
    if not np.any(chosen):
        if direct is None:
            raise reason or NotProvenError("nothing was tried")
        return direct
    try:
        other = _without(point, chosen, enough)
    except NotProvenError:
        if direct is None:
            raise
        return direct
    if direct is None:
        return other
    better = min(direct, other, key=lambda gap: gap.gap)
    return replace(better, weakest=max(direct.weakest, other.weakest))


def _without(point: Point, chosen: Mask, enough: float) -> Gap:
    charges = point.problem.charges
    light = replace(charges, linear=np.where(chosen, 0.0, charges.linear), square=np.where(chosen, 0.0, charges.square))
    spared = replace(charges, linear=charges.linear - light.linear, square=charges.square - light.square)
    problem = point.problem.charged(light)
    more = total(spared.terms(point.coef)) * (1.0 + ROUNDED)
    found = bound(problem.at(point.coef), spanning(problem, problem.uncharged), enough - more)
    return Gap(found.gap + more, found.weakest + more, found.rounding)
