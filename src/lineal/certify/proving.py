"""The certificate: a proof, from the problem alone, of how far given coefficients are from the optimum.

For any dual point theta that the unpenalized columns U allow (X_U' S theta = 0),

    F(b) - F* <= (1/S) sum_i s_i [loss(y_i, eta_i) + loss*(y_i, theta_i) - theta_i.eta_i]
                 + sum over penalized columns [penalty(b_j) + penalty*(-g_j) + b_j.g_j],      g = X'(S theta) / S,

a sum of terms none of which is negative. We take theta = slope - W X t, W the curvature and t a Newton step: at the
optimum t = 0 and the sum vanishes, near it the sum is the Newton decrement. In floating point X_U' S theta is not
exactly zero; a further step tau = (X_U' S W X_U)^-1 X_U' S theta would make it so, and what that step can cost is
bounded and added, as are the rounding errors of scores and gradients. Such a theta in the interior of the domain also
proves that a finite optimum exists.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from lineal.algebra.basis import Basis
from lineal.algebra.factor import Factor
from lineal.algebra.normal import Normal
from lineal.certify.baseline import baseline_fit
from lineal.certify.feasible import add_up, feasible, opened, settled
from lineal.certify.proof import Proof, unit
from lineal.certify.quadratic_core import core_gap
from lineal.certify.rows import FACTOR_MAX_COLUMNS, MIDDLE_SHARES, bound, independent
from lineal.ground.arrays import Array, Mask
from lineal.model.verdict import TOLERANCE
from lineal.problem import dependence
from lineal.problem.passes import Dual
from lineal.problem.problem import EPS, Evaluation, Problem
from lineal.solvers import prox_newton
from lineal.solvers.newton import search

HESSIAN_MAX_COEFFICIENTS = 1500
"""Up to this many coefficients a certificate asks for the whole second derivative without need."""


def prove(
    problem: Problem,
    coef: Array,
    *,
    hint: Array | None = None,
    theta: Array | None = None,
    polish: int = 0,
    enough: float = 0.0,
    goal: float = 0.0,
    quiet: bool = False,
) -> Proof:
    """Bound ``F(coef) - F*`` from above.

    ``hint`` is an approximate Newton step, used where the whole second derivative is too large; ``theta`` an approximate
    dual point, one row for each row of the source, for losses whose slopes are none. ``polish`` allows that
    many Newton steps away from ``coef`` in search of a better dual point: the bound is then
    ``F(coef) - F(moved) + gap(moved)``, which is how coefficients far from the optimum get one. With a hint, a relative gap of
    ``enough`` is taken from the slopes as they are, if they prove it, and spares a pass; a relative gap of ``goal`` is not made
    smaller by another pass. ``quiet`` says that the caller has switched numpy's warnings off already.
    """
    with nullcontext() if quiet else np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        return replace(_proven(problem, coef, hint, theta, polish, enough, goal), dust=_dust(problem))


def _proven(
    problem: Problem,
    coef: Array,
    hint: Array | None,
    theta: Array | None,
    polish: int,
    enough: float,
    goal: float,
) -> Proof:
    """Return the proof with the penalty as it is, or without what of it rounding hides, whichever proves more."""
    if _empty(problem):
        reason = "a class has no row of positive weight, and an intercept that no penalty holds"
        return Proof(problem.evaluate(coef).value, baseline_fit(problem).value, None, reason, interior=False)
    of_slopes = _of_slopes(problem, coef, hint) if hint is not None and enough > 0.0 else None
    if of_slopes is not None and of_slopes.within(enough):
        return of_slopes
    proof = _prove_as_is(problem, coef, hint, theta, polish, goal)
    if proof.within(1e-3 * TOLERANCE) or (lighter := _light(problem)) is None:
        return proof
    # F* is at least that of a penalty that is nowhere larger.
    other = _prove_as_is(lighter, coef, None, theta, polish)
    penalty_left_out = problem.penalty.value(coef) - lighter.penalty.value(coef)
    if other.gap is None or (proof.gap is not None and proof.gap <= other.gap + penalty_left_out):
        return proof
    gap = (other.gap + penalty_left_out) * (1.0 + 16 * EPS) + 4 * EPS * problem.penalty.value(coef)
    return replace(proof, gap=gap, reason=None, interior=True, unit=other.unit, theta=other.theta)


def _of_slopes(problem: Problem, coef: Array, hint: Array | None) -> Proof | None:
    """Return what the slopes of a smooth problem prove without a step, from the pass that is there already."""
    tied = problem.tied
    if not (problem.loss.smooth and problem.penalty.smooth and problem.penalty.penalized.any()):
        return None
    if np.count_nonzero(tied) > FACTOR_MAX_COLUMNS or not np.isfinite(problem.penalty.value(coef)):
        return None
    here = _evaluate(problem, coef, hint)
    inner = problem.factor(here, tied) if np.any(tied) else None
    if not np.isfinite(here.value) or (inner is not None and inner.singular):
        return None
    slopes = Dual(0.0, 0.0, here.gradient - problem.penalty.gradient(coef), 0.0, here.slope)
    dual_point = settled(problem, coef, slopes, 1.0, inner, tied, here.gradient_error)
    without_step = settled(problem, coef, slopes, 1.0, None, tied, here.gradient_error)
    gap, least = add_up(problem, coef, dual_point), add_up(problem, coef, without_step)
    # a bound on the step that unpenalized columns ask for may widen a gap that much; beyond, a pass makes the step
    if gap is not None and least is not None and gap > 12.0 * least:
        return None
    baseline = baseline_fit(problem).value
    return None if gap is None else Proof(here.value, baseline, gap, unit=_unit(problem, coef, baseline))


def _prove_as_is(
    problem: Problem, coef: Array, hint: Array | None, theta: Array | None, polish: int, goal: float = 0.0
) -> Proof:
    """Prove with a dual point from the slopes; where there are none, or they are at a border, with one given row by row."""
    if not problem.loss.smooth:
        return _prove_rows(problem, coef, theta)
    proof = _prove_slopes(problem, coef, hint, polish, goal)
    if proof.gap is None and problem.loss.dual_margin < 1e-3:
        # The dual point of a Newton step is too near the border of the domain, or outside.
        rows = _prove_rows(problem, coef, theta)
        return rows if rows.gap is not None else proof
    return proof


def _light(problem: Problem) -> Problem | None:
    """Return the problem without the penalty factors that rounding hides from a dual point; None if there are none.

    A gradient is known to EPS |x| slope. An l1 penalty factor that is not far above leaves nothing of a dual point that
    is scaled to obey it, a ridge makes the square of that error over the penalty factor of it.
    """
    if problem.light is None:
        baseline = baseline_fit(problem)
        slope = float(np.max(problem.evaluate(baseline.coef).slope if baseline.slope is None else baseline.slope))
        square = problem.moments.square
        linear = problem.penalty.linear
        # shares of a column's largest gradient, and of its curvature
        weak = linear <= 1e-8 * slope * problem.moments.largest
        weak &= problem.penalty.curvature() * abs(baseline.value) <= 1e-13 * slope**2 * square
        weak &= (linear > 0.0) | (problem.penalty.curvature() > 0.0)
        problem.light = problem.at(problem.penalty.without(weak)) if np.any(weak) else problem
        problem.light.baseline = baseline  # its yardstick is that of the problem
    return None if problem.light is problem else problem.light


def _prove_rows(problem: Problem, coef: Array, theta: Array | None) -> Proof:
    """Prove with a dual point that is given row by row."""
    baseline = baseline_fit(problem).value
    result = bound(problem, coef, theta, baseline)
    value = problem.evaluate(coef).value if result.gap is None else result.value
    # At a corner an error of a score counts in full, not squared; and theta may have been moved into its domain.
    unit = 4.0 * float(np.sum(problem.score_error(coef))) + (256 * EPS + 2.0 * MIDDLE_SHARES[1]) * abs(baseline)
    return Proof(value, baseline, result.gap, result.reason, interior=True, unit=unit, theta=result.theta)


def _prove_slopes(problem: Problem, coef: Array, hint: Array | None, polish: int, goal: float) -> Proof:
    """Prove with a dual point from the slopes: by normal equations, a quadratic, or Newton steps from ``coef``."""
    baseline = baseline_fit(problem).value
    if not math.isfinite(problem.penalty.value(coef)):
        inside = np.array_equal(problem.penalty.prox(coef, np.zeros(problem.shape[0])), coef)
        reason = "the penalty overflows" if inside else "the coefficients are outside their bounds"
        return Proof(problem.evaluate(coef).value, baseline, None, reason)
    if problem.loss.quadratic and problem.penalty.smooth and problem.normal_known and problem.normal is not None:
        return _of_normal(problem, coef, problem.normal, baseline)
    if len(problem.unpenalized) * problem.shape[1] > FACTOR_MAX_COLUMNS:
        reason = f"more than {FACTOR_MAX_COLUMNS} coefficients are not charged"
        return Proof(problem.evaluate(coef).value, baseline, None, reason, interior=not problem.loss.unbounded)
    if (gap := core_gap(problem, coef, hint)) is not None and math.isfinite(gap):
        return Proof(problem.evaluate(coef).value, baseline, gap, unit=_unit(problem, coef, baseline))
    here = _evaluate(problem, coef, hint)
    if not math.isfinite(here.value + (0.0 if here.hessian is None else float(here.hessian.sum()))):
        return Proof(here.value, baseline, None, "the objective or its curvature is not finite here", interior=False)
    if problem.loss.quadratic and problem.penalty.smooth and _held(problem, here) == problem.shape[0]:
        whole = problem.factor(here, np.arange(problem.shape[0]))
        if not whole.singular:
            proof = of_quadratic(problem, coef, here, whole.norm(here.gradient), whole.spread(), whole.condition)
            # rounding errors of all columns add up there; penalty factors take their squares, if there are any
            other = None if proof.within(TOLERANCE) else _of_slopes(problem, coef, hint)
            return other if other is not None and other.gap is not None and other.gap < (proof.gap or 0.0) else proof
    moved, there = coef, here
    for _ in range(polish + 1):
        proof = _prove_here(problem, moved, there, hint if moved is coef else None, baseline, goal)
        if proof.gap is not None or proof.interior or polish == 0:
            break
        better = _move(problem, moved, there)
        if better is None:
            break
        moved, there = better
    if proof.gap is None or moved is coef:
        return proof
    fall = here.value - there.value + here.error + there.error
    return Proof(here.value, baseline, max(fall, 0.0) + proof.gap, basis=proof.basis, unit=proof.unit)


def _empty(problem: Problem) -> bool:
    """Whether the optimum is at infinity for sure: the smaller the intercept of a class without weight, the better."""
    loss, free = problem.loss, problem.intercept and not problem.penalty.penalized[0]
    return loss.coupled and loss.unbounded and free and not np.all(problem.moments.statistic)


def _of_normal(problem: Problem, coef: Array, normal: Normal, baseline: float) -> Proof:
    """Return what the normal equations in double-double prove, of columns that they hold apart or that do not differ."""
    here, unit = problem.evaluate(coef), _unit(problem, coef, baseline)
    gap, dependent = normal.gap(coef), normal.dependent
    if not len(dependent):
        return Proof(here.value, baseline, gap, unit=unit)
    penalized = bool(np.any(problem.penalty.penalized[dependent]))
    basis = dependence.among(problem, np.arange(problem.shape[0]) if penalized else problem.unpenalized)
    if basis is None or len(basis.dependent) < len(dependent):
        # They may differ from a combination of others: a large coefficient may gain what no equation here sees.
        return Proof(here.value, baseline, None, dependence.undecided(problem))
    if not penalized:
        return Proof(here.value, baseline, gap, basis=basis, unit=unit)
    # A penalty factor that even these equations do not see is not less than nothing, and the optimum is unique. Where
    # they see other penalty factors, those may be spared by the columns they left out: no squares are below zero.
    if np.delete(problem.penalty.penalized, dependent).any():
        gap = 0.5 * (math.sqrt(2.0 * (here.value + here.error)) + float(np.linalg.norm(problem.score_error(coef)))) ** 2
    else:
        gap += problem.penalty.value(coef)
    return Proof(here.value, baseline, gap, unit=unit)


def of_quadratic(
    problem: Problem, coef: Array, here: Evaluation, norm: float, spread: Array, condition: float
) -> Proof:
    """Return what F(b) - F* = g' H^-1 g / 2 proves where F is a quadratic, without a pass.

    ``norm`` is the root of g' H^-1 g, ``spread`` the roots of the diagonal of H^-1, ``condition`` the reciprocal of H's.
    """
    score_error, baseline = problem.score_error(coef), baseline_fit(problem).value
    error = here.gradient_error
    if error is None:
        error = problem.gradient_error(here.slope, score_error)
    error = error + 4 * EPS * np.abs(problem.penalty.gradient(coef))
    size = norm + float((error * spread).sum())
    # the factor itself is off by a few EPS per column, blown up by its condition
    gap = 0.5 * size * size * (1.0 + 8 * problem.shape[0] * EPS / condition)
    return Proof(here.value, baseline, gap, unit=unit(float(score_error @ score_error), baseline))


def _evaluate(problem: Problem, coef: Array, hint: Array | None) -> Evaluation:
    """Return the evaluation at coef, with as much of the second derivative as is known or needed."""
    columns, outputs = problem.shape
    whole = hint is None and columns * outputs <= HESSIAN_MAX_COEFFICIENTS
    here = problem.evaluate(coef, hessian=columns if whole else problem.lead)
    if problem.penalty.smooth:
        return here  # which opens nothing
    last = int(np.max(np.flatnonzero(opened(problem, coef, here.gradient).any(axis=1)), initial=-1))
    return problem.evaluate(coef, hessian=last + 1) if _held(problem, here) <= last < FACTOR_MAX_COLUMNS else here


def _move(problem: Problem, coef: Array, here: Evaluation) -> tuple[Array, Evaluation] | None:
    """Return the next point of Newton's method; None where there is no step that lowers F."""
    held = _held(problem, here)
    if not problem.penalty.smooth and held == problem.shape[0]:
        goal, fall = prox_newton.model(problem, coef, here)
        return prox_newton.search(problem, coef, here, goal, fall) if fall > 0.0 else None
    if not held or not problem.penalty.smooth:
        return None
    shift = problem.factor(here, np.arange(held)).solve(here.gradient)
    return search(problem, coef, here, shift, hessian=held)


def _prove_here(
    problem: Problem, coef: Array, here: Evaluation, hint: Array | None, baseline: float, goal: float
) -> Proof:
    """Build a dual point at ``coef`` and add up what it proves; again where it leaves a bound the wrong way."""
    if problem.penalty.smooth:
        return _prove_tied(problem, coef, here, hint, baseline, problem.tied, goal)[0]
    tied = ~problem.penalty.penalized[:, None] | opened(problem, coef, here.gradient - problem.penalty.gradient(coef))
    for _ in range(10):
        proof, more = _prove_tied(problem, coef, here, hint, baseline, tied)
        if not np.any(more & ~tied):
            return proof
        tied = tied | more
        if _held(problem, here) <= np.max(np.flatnonzero(tied.any(axis=1))):
            break
    reason = "no dual point was found that all bounds allow"
    return Proof(here.value, baseline, None, reason, interior=not problem.loss.unbounded)


def _prove_tied(
    problem: Problem,
    coef: Array,
    here: Evaluation,
    hint: Array | None,
    baseline: float,
    tied: Mask,
    goal: float = 0.0,
) -> tuple[Proof, Mask]:
    """Prove with a dual point whose gradient is zero where ``tied``; return also where else it has to be."""
    inner, basis, none = None, None, np.zeros_like(tied)
    if len(problem.unpenalized) or np.any(tied):
        inner = problem.factor(here, tied)
        if inner.singular and len(problem.unpenalized) > (1 if problem.intercept else 0):
            basis = dependence.basis(problem)
            if basis is None:
                return Proof(here.value, baseline, None, dependence.undecided(problem)), none
            inner = problem.factor(here, _without(tied, basis))
            basis = basis if len(basis.dependent) else None
        if inner.singular and (kept := independent(problem, tied)) is not None:
            inner = problem.factor(here, kept)
        if inner.singular:
            # Scores so large that probabilities are 0 or 1, or a column that is zero.
            return Proof(
                here.value, baseline, None, "the curvature vanishes", interior=not problem.loss.unbounded, basis=basis
            ), none
    largest_shift = 0.0
    for shift in _shifts(problem, coef, here, hint, inner, basis, tied):
        point = feasible(problem, coef, here, shift, inner, tied, goal * max(baseline - here.value, 0.0))
        largest_shift = point.dual.largest_shift
        if largest_shift <= problem.loss.max_shift and math.isfinite(point.dual.high):
            if point.unbounded_dual is not None and np.any(point.unbounded_dual):
                return Proof(here.value, baseline, None), point.unbounded_dual
            gap = add_up(problem, coef, point)
            if gap is None or not math.isfinite(gap):
                reason = "rounding errors are too large for a proof"
                return Proof(here.value, baseline, None, reason, basis=basis), none
            return Proof(here.value, baseline, gap, basis=basis, unit=_unit(problem, coef, baseline)), none
    reason = f"a Newton step would still move a score by {largest_shift:.3g}"
    return Proof(here.value, baseline, None, reason, interior=False, basis=basis), none


def _shifts(
    problem: Problem,
    coef: Array,
    here: Evaluation,
    hint: Array | None,
    inner: Factor | None,
    basis: Basis | None,
    tied: Mask,
) -> Iterator[Array]:
    """Yield the steps from which to build a dual point: a Newton step in all columns, then in the unpenalized ones only."""
    if hint is not None:
        yield hint
    elif here.hessian is not None and _held(problem, here) == problem.shape[0]:
        right = here.gradient
        if not problem.penalty.smooth:
            # Aim a little inside of what a kink allows, so that rounding does not force all of theta to be scaled down.
            edge = problem.penalty.gradient(coef)
            right = right - np.copysign(np.minimum(4.0 * problem.gradient_error(here.slope), 0.5 * np.abs(edge)), edge)
        smooth = problem.penalty.smooth and basis is None
        moving = np.arange(len(coef)) if smooth else _without(problem.penalty.moving(coef) | tied, basis)
        yield problem.factor(here, moving).solve(right)
    if len(problem.unpenalized) < len(coef) and not np.all(tied):
        yield np.zeros(problem.shape) if inner is None else inner.solve(here.gradient)


def _without(mask: Mask, basis: Basis | None) -> Mask:
    """Return the mask without the columns that depend on others."""
    if basis is None:
        return mask
    kept = mask.copy()
    kept[basis.dependent] = False
    return kept


def _held(problem: Problem, here: Evaluation) -> int:
    """Return how many columns an evaluation's second derivative covers."""
    if here.hessian is None:
        return 0
    side = int(here.hessian.shape[1])
    return side // problem.shape[1] if problem.loss.coupled else side


def _dust(problem: Problem) -> float:
    """Return how much the baseline may seem to leave to gain where that is rounding: of its value, and of its scores."""
    baseline = baseline_fit(problem)
    alone = problem.intercept and not baseline.coef[1:].any()
    size = (problem.shape[0] + 4) * EPS * (float(np.sum(np.abs(baseline.coef[0]))) if alone else baseline.height)
    if problem.loss.smooth and problem.penalty.smooth:
        if not (problem.loss.unbounded and math.isfinite(problem.loss.curvature_bound)):
            return 16 * EPS * abs(baseline.value) + unit(size * size, baseline.value)
        # Losses of probabilities have slopes and bend by no more than twice their value, of which weights of 1e10 may
        # leave next to nothing.
        return (16 * EPS + 2.0 * size) * baseline.value + unit(
            min(1.0, 2.0 * baseline.value) * size * size, baseline.value
        )
    # a dual point may have been moved into its domain; slopes of losses of probabilities are no larger than twice their value
    chances = problem.loss.unbounded and math.isfinite(problem.loss.curvature_bound)
    steep = min(1.0, 2.0 * baseline.value) if chances else 1.0
    return 4.0 * size * steep + (256 * EPS + 4.0 * MIDDLE_SHARES[1]) * abs(baseline.value)


def _unit(problem: Problem, coef: Array, baseline: float) -> float:
    """Return the gap that doubles cannot see."""
    score_error = problem.score_error(coef)
    least = unit(float(score_error @ score_error), baseline)
    # A dual point scaled into what a kink allows pays for rounding in full.
    return least if problem.penalty.smooth else least + 2.0 * MIDDLE_SHARES[1] * abs(baseline)
