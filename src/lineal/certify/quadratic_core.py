"""The gap of a loss that is quadratic up to a threshold (Huber's) from a dual point that leaves rows near it alone.

A Newton step t moves theta = slope - W X t beyond the threshold T in a few of many rows, wherever a residual is near it.
With V the rows whose residuals are further than a margin m from T, and H = X' S V X / S,

    theta = slope - V X t,    t = (H + penalty'')^-1 gradient,    |X t| <= m,

is in its domain, its mismatch is t'Ht / 2, and its gradient that of the loss less H t: one gram, and no other pass.
"""

from __future__ import annotations

import numpy as np

from lineal.certify.feasible import add_up, settled
from lineal.ground.arrays import Array
from lineal.problem.passes import Dual
from lineal.problem.problem import EPS, Evaluation, Problem

CORE_MAX_COLUMNS = 1500
"""The gram of more columns takes longer than a proof row by row."""


def core_gap(problem: Problem, coef: Array, hint: Array | None = None) -> float | None:
    """Return the gap that this dual point proves; None where the loss has no such core, or the step is too long for it.

    ``hint`` is about a Newton step; without one, the second derivative of all rows is asked for it.
    """
    columns, tied, loss = np.arange(problem.shape[0]), problem.tied, problem.loss
    if len(columns) > CORE_MAX_COLUMNS or not problem.penalty.smooth or loss.quadratic_core(0.0) is None:
        return None
    here, step = problem.evaluate(coef, hessian=0 if hint is not None else len(columns)), hint
    if step is None:
        newton = problem.factor(here, columns)
        step = None if newton.singular else newton.solve(here.gradient)
    if step is None:
        return None
    # without the rows near the threshold a step is longer: half of the margin is for that, and for rounding
    spare = 2.0 * float(np.max(problem.score_error(coef)))
    core = loss.quadratic_core(2.0 * _reach(problem, step) + loss.dual_margin + spare)
    if core is None:
        return None
    inside = problem.of_loss(core).evaluate(coef, hessian=len(columns))
    metric, inner = problem.factor(inside, columns), problem.factor(inside, tied) if np.any(tied) else None
    if metric.singular or inside.hessian is None or (inner is not None and inner.singular):
        return None
    shift = metric.solve(here.gradient)
    reach = _reach(problem, shift)
    dual, error = _dual(problem, coef, here, inside.hessian[0], shift, reach)
    margin = loss.narrowest - core.narrowest - reach - spare
    return add_up(problem, coef, settled(problem, coef, dual, 1.0, inner, tied, error), margin)


def _reach(problem: Problem, shift: Array) -> float:
    """Return how far a step may move a score."""
    return float(np.max(problem.moments.largest @ np.abs(shift)))


def _dual(
    problem: Problem, coef: Array, here: Evaluation, hessian: Array, shift: Array, reach: float
) -> tuple[Dual, Array]:
    """Return the dual point of a step, and what rounding of the gram may have done to its gradient."""
    penalty, rows = problem.penalty, problem.moments.rows
    own = penalty.curvature()[:, None] * shift
    bent = hessian @ shift - own
    # every sum of the gram is off by at most this share of the product of two columns' norms
    share = (16 + min(rows, 1000 + rows / 16384) + 4 * len(shift)) * EPS
    # what the penalty adds to the diagonal is rounded with every sum that it is part of
    held = (4 + len(shift)) * EPS
    size = np.sqrt(problem.moments.square)[:, None]
    moved = float(np.sum(size * np.abs(shift)))
    mismatch = 0.5 * max(float(np.vdot(shift, bent)), 0.0) + 0.5 * share * moved**2 + held * float(np.vdot(shift, own))
    slopes = here.gradient - penalty.gradient(coef)
    return Dual(mismatch, 0.0, slopes - bent, reach, here.slope), share * moved * size + held * np.abs(own)
