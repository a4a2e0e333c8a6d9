"""The certificate of a loss that bends by one or not at all, from the pass that is there already.

With theta = slope - V X t, V = 1 on the rows that bend and stay within the threshold when moved by |x t|, 0 elsewhere, no theta
leaves its domain, and a row's mismatch is (x t)^2 / 2 where V = 1 and 0 elsewhere. For t = (X'SVX / S + D)^-1 gradient the gap is

    gradient' (X'SVX / S + D)^-1 gradient / 2,

the Newton decrement with the few rows near the threshold left out: no further pass. What rounding may have done to gradient
and second derivative is bounded as for any other dual point.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lineal.certify.feasible import add_up, settled
from lineal.problem.huber_active_set import Sides
from lineal.problem.passes import Dual
from lineal.problem.problem import EPS, Evaluation, Problem

Array = npt.NDArray[np.float64]

ROUNDS = 4
"""So often rows are left out before another proof is asked for."""


def gap_of_sides(problem: Problem, coef: Array, here: Evaluation) -> float | None:
    """Return a bound on ``F(coef) - F*``; None where the sides of the rows are not known, or too many are near the edge."""
    sides, every = problem.sides(coef), np.arange(problem.shape[0])
    if sides is None or here.width != len(every) or not problem.penalty.square:
        return None
    largest, least = problem.moments.largest, here
    factor = problem.factor(least, every)
    reach = -1.0
    for _ in range(ROUNDS):
        if factor.singular:
            return None
        shift = factor.solve(here.gradient)
        size = float(largest @ np.abs(shift[:, 0])) * (1.0 + 64 * EPS * len(every))
        if size <= reach:
            return _added(problem, coef, least, shift, size)
        reach = 2.0 * size
        found = _without(problem, coef, here, sides, reach)
        if found is None:
            return None
        least = found
        factor = problem.factor(least, every)
    return None


def _without(problem: Problem, coef: Array, here: Evaluation, sides: Sides, reach: float) -> Evaluation | None:
    """Return the evaluation with the second derivative of the rows that may move by ``reach``; None where few are left."""
    # scores are known to blur, and the last step, which only rounding calls for, needs its room
    rows = sides.edge(reach + problem.loss.room + 2.0 * float(problem.blur(coef).sum()))
    if rows is None or not len(rows):
        return None if rows is None else here
    return replace(here, hessian=sides.hessian - sides.gram(rows) / problem.moments.weight_sum)


def _added(problem: Problem, coef: Array, least: Evaluation, shift: Array, size: float) -> float | None:
    """Return the gap of the dual point of a step that moves no score by more than ``size``."""
    assert least.hessian is not None
    bent = least.hessian[0] @ shift - problem.penalty.curvature()[:, None] * shift
    # the second derivative is a sum over the rows as the gradient is: grain(size) bounds what rounding does to its product
    doubt = float((problem.grain(np.full(1, size))[:, 0] @ np.abs(shift))[0])
    dual = Dual(
        high=max(0.5 * float(np.vdot(shift, bent)), 0.0) + doubt,
        low=0.0,
        gradient=least.gradient - problem.penalty.gradient(coef) - bent,
        reach=size,
        slope_sum=least.slope + 4.0 * size,
    )
    inner = problem.factor(least, problem.tied) if len(problem.uncharged) else None
    return add_up(problem, coef, settled(problem, coef, dual, 1.0, inner, problem.tied))
