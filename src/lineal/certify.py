"""The certificate: a proof, from the problem alone, of how far given coefficients are from the optimum.

For any dual point theta that the uncharged columns U allow (X_U' S theta = 0),

    F(b) - F* <= (1/S) sum_i s_i [loss(y_i, eta_i) + loss*(y_i, theta_i) - theta_i.eta_i]
                 + sum over charged columns [penalty(b_j) + penalty*(-g_j) + b_j.g_j],      g = X'(S theta) / S,

a sum of terms none of which is negative. We take theta = slope - W X t, W the curvature and t a Newton step: at the
optimum t = 0 and the sum vanishes, near it the sum is the Newton decrement. In floating point X_U' S theta is not
exactly zero; a further step tau = (X_U' S W X_U)^-1 X_U' S theta would make it so, and what that step can cost is
bounded and added, as are the rounding errors of scores and gradients. Such a theta in the interior of the domain also
proves that a finite optimum exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from lineal.basis import Basis
from lineal.certify_rows import bound
from lineal.factor import Factor
from lineal.null import null
from lineal.passes import Dual
from lineal.problem import EPS, Evaluation, Problem
from lineal.solvers.newton import search

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

WHOLE = 1500
"""Up to this many coefficients a certificate asks for the whole second derivative without need."""

MOST_UNCHARGED = 4000
"""More uncharged coefficients than this have no factor, and so no certificate."""


@dataclass(frozen=True)
class Proof:
    """``F(coef) - F* <= gap``, or why nothing could be proven.

    ``interior`` is False where the scores would still have to move far: the sign of an optimum at infinity.
    """

    objective: float
    null_objective: float
    gap: float | None
    reason: str | None = None
    interior: bool = True
    basis: Basis | None = None
    unit: float = 0.0
    theta: Array | None = field(default=None, repr=False)

    @property
    def relative_gap(self) -> float | None:
        """The gap as a share of what the columns gain over the null fit; 0 where both are at rounding level."""
        if self.gap is None:
            return None
        gain = self.null_objective - (self.objective - self.gap)
        if self.gap <= self.unit:
            return 0.0
        return self.gap / gain if gain > 0.0 else float("inf")

    def within(self, tol: float) -> bool:
        """Whether the gap is proven to be small enough."""
        relative = self.relative_gap
        return relative is not None and relative <= tol


def prove(
    problem: Problem, coef: Array, *, hint: Array | None = None, theta: Array | None = None, polish: int = 0
) -> Proof:
    """Bound ``F(coef) - F*`` from above.

    ``hint`` is an approximate Newton step, used where the whole second derivative is too large; ``theta`` an approximate
    dual point, one row for each row of the source, for losses whose slopes are none. ``polish`` allows that
    many Newton steps away from ``coef`` in search of a better dual point: the bound is then
    ``F(coef) - F(moved) + gap(moved)``, which is how coefficients far from the optimum get one.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        if not problem.loss.smooth:
            return _prove_rows(problem, coef, theta)
        proof = _prove(problem, coef, hint, polish)
        if proof.gap is None and problem.loss.room < 1e-3:
            # The dual point of a Newton step is too near the border of the domain, or outside.
            rows = _prove_rows(problem, coef, theta)
            return rows if rows.gap is not None else proof
        return proof


def _prove_rows(problem: Problem, coef: Array, theta: Array | None) -> Proof:
    baseline, value = null(problem).value, problem.evaluate(coef).value
    found = bound(problem, coef, theta)
    unit = _unit(problem, coef, baseline)
    return Proof(value, baseline, found.gap, found.reason, interior=True, unit=unit, theta=found.theta)


def _prove(problem: Problem, coef: Array, hint: Array | None, polish: int) -> Proof:
    baseline = null(problem).value
    if problem.loss.quadratic and problem.normal_known and problem.normal is not None:
        here = problem.evaluate(coef)
        basis = problem.basis if len(problem.normal.dependent) else None
        return Proof(here.value, baseline, problem.normal.gap(coef), basis=basis, unit=_unit(problem, coef, baseline))
    if len(problem.uncharged) * problem.shape[1] > MOST_UNCHARGED:
        reason = f"more than {MOST_UNCHARGED} coefficients are not charged"
        return Proof(problem.evaluate(coef).value, baseline, None, reason, interior=not problem.loss.endless)
    here = _evaluate(problem, coef, hint)
    if problem.loss.quadratic and problem.penalty.smooth and _held(problem, here) == problem.shape[0]:
        whole = problem.factor(here, np.arange(problem.shape[0]))
        if not whole.singular:
            return Proof(here.value, baseline, _decrement(problem, coef, here, whole), unit=_unit(problem, coef, baseline))
    moved, there = coef, here
    for _ in range(polish + 1):
        proof = _prove_here(problem, moved, there, hint if moved is coef else None, baseline)
        if proof.gap is not None or proof.interior or polish == 0:
            break
        found = _move(problem, moved, there)
        if found is None:
            break
        moved, there = found
    if proof.gap is None or moved is coef:
        return proof
    fall = here.value - there.value + here.error + there.error
    return Proof(here.value, baseline, max(fall, 0.0) + proof.gap, basis=proof.basis, unit=proof.unit)


def _decrement(problem: Problem, coef: Array, here: Evaluation, whole: Factor) -> float:
    """Return a bound on F(b) - F* = g' H^-1 g / 2, which needs no dual point where F is a quadratic."""
    error = problem.grain(here.slope) + np.outer(problem.moments.largest, problem.blur(coef))
    error += 4 * EPS * np.abs(problem.penalty.gradient(coef))
    size = whole.norm(here.gradient) + float(np.sum(error * whole.spread()))
    # the factor itself is off by a few EPS per column, blown up by its condition
    return 0.5 * size * size * (1.0 + 8 * problem.shape[0] * EPS / whole.condition)


def _evaluate(problem: Problem, coef: Array, hint: Array | None) -> Evaluation:
    """Return the evaluation at coef, with as much of the second derivative as is known or needed."""
    columns, outputs = problem.shape
    whole = hint is None and columns * outputs <= WHOLE
    return problem.evaluate(coef, hessian=columns if whole else problem.lead)


def _move(problem: Problem, coef: Array, here: Evaluation) -> tuple[Array, Evaluation] | None:
    held = _held(problem, here)
    if not held:
        return None
    shift = problem.factor(here, np.arange(held)).solve(here.gradient)
    return search(problem, coef, here, shift, hessian=held)


def _prove_here(problem: Problem, coef: Array, here: Evaluation, hint: Array | None, baseline: float) -> Proof:
    """Build a dual point at ``coef`` and add up what it proves."""
    inner, basis = None, None
    if len(problem.uncharged):
        inner = problem.factor(here, problem.uncharged)
        if inner.singular and len(problem.uncharged) > (1 if problem.intercept else 0):
            basis = problem.basis
            if basis is None:
                return Proof(here.value, baseline, None, "it could not be told which columns depend on others")
            inner = problem.factor(here, basis.independent)
            basis = basis if len(basis.dependent) else None
        if inner.singular:
            # Scores so large that probabilities are 0 or 1, or a column that is zero.
            return Proof(
                here.value, baseline, None, "the curvature vanishes", interior=not problem.loss.endless, basis=basis
            )
    reach = 0.0
    for shift in _shifts(problem, coef, here, hint, inner, basis):
        dual = _feasible(problem, coef, shift, inner)
        reach = dual.reach
        if reach <= problem.loss.reach and np.isfinite(dual.high):
            gap = _add_up(problem, coef, dual, inner)
            if gap is None:
                return Proof(here.value, baseline, None, "rounding errors are too large for a proof", basis=basis)
            return Proof(here.value, baseline, gap, basis=basis, unit=_unit(problem, coef, baseline))
    reason = f"a Newton step would still move a score by {reach:.3g}"
    return Proof(here.value, baseline, None, reason, interior=False, basis=basis)


def _shifts(
    problem: Problem, coef: Array, here: Evaluation, hint: Array | None, inner: Factor | None, basis: Basis | None
) -> Iterator[Array]:
    """Yield the steps from which to build a dual point: a Newton step in all columns, then in the uncharged ones only."""
    if hint is not None:
        yield hint
    elif here.hessian is not None and _held(problem, here) == problem.shape[0]:
        columns = np.flatnonzero(problem.penalty.moving(coef))
        columns = columns if basis is None else np.setdiff1d(columns, basis.dependent)
        yield problem.factor(here, columns).solve(here.gradient)
    if len(problem.uncharged) < problem.shape[0]:
        yield np.zeros(problem.shape) if inner is None else inner.solve(here.gradient)


def _held(problem: Problem, here: Evaluation) -> int:
    """Return how many columns an evaluation's second derivative covers."""
    return 0 if here.hessian is None else here.hessian.shape[1] // (problem.shape[1] if problem.loss.coupled else 1)


def _feasible(problem: Problem, coef: Array, shift: Array, inner: Factor | None) -> Dual:
    """Return the dual point of a step, improved until the uncharged columns allow it to rounding."""
    dual = problem.dual(coef, shift)
    for _ in range(2):
        if inner is None or dual.reach > problem.loss.reach:
            break
        left = inner.norm(dual.gradient)
        if left <= 1e-9 * np.sqrt(max(dual.high, 0.0)):
            break
        moved = shift + inner.solve(dual.gradient)
        better = problem.dual(coef, moved)
        if not inner.norm(better.gradient) < 0.5 * left:
            break
        shift, dual = moved, better
    # What the penalty forbids is scaled down; a share of the rounding error is left as room.
    room = problem.grain(dual.slope_sum)
    scale = problem.penalty.shrink(dual.gradient + np.copysign(room, dual.gradient))
    return dual if scale == 1.0 else problem.dual(coef, shift, scale)


def _add_up(problem: Problem, coef: Array, dual: Dual, inner: Factor | None) -> float | None:
    """Return the gap a dual point proves, with all that rounding may have hidden; None where that is too much."""
    rows = max(dual.high + dual.low, 0.0)
    gap = rows + problem.penalty.mismatch(coef, dual.gradient)
    error = problem.grain(dual.slope_sum)
    if inner is not None:
        spread = inner.spread()
        norm = inner.norm(dual.gradient) + float(np.sum(error * spread))
        slip = float(np.max(problem.moments.largest @ spread)) * norm
        if slip > problem.loss.room:
            return None
        gap += 2.0 * (np.sqrt(3.0 * rows) * norm + norm * norm)
        # That step would move the gradient of column j by X_j' S W X_U tau / S <= |X_j|_W |X_U tau|_W (Cauchy-Schwarz).
        error = error + norm * np.sqrt(_steep(problem, dual)[1])[:, None]
    return float(gap + _rounding(problem, coef, dual, rows, error))


def _rounding(problem: Problem, coef: Array, dual: Dual, rows: float, error: Array) -> float:
    """Return what rounding errors of scores, sums and gradients may have hidden from the gap."""
    total = problem.penalty.blur(coef, dual.gradient, error)
    blur = problem.blur(coef)
    total += _steep(problem, dual)[0] * float(np.sum(blur * dual.reach + 0.5 * blur**2))
    return total + 16 * EPS * (rows + (dual.reach if problem.loss.endless else 0.0))


def _steep(problem: Problem, dual: Dual) -> tuple[float, Array]:
    """Return bounds on the mean curvature, (1/S) sum s W, and on that times x_j^2 for every column."""
    moments, steepest = problem.moments, problem.loss.steepest
    if np.isfinite(steepest):
        return steepest, np.asarray(1.001 * steepest * (moments.mean**2 + moments.sd**2))
    # Poisson: W = e^eta, and y + theta = W (1 - x t) with |x t| <= 1/2
    steepest = 2.0 * float(np.sum(moments.statistic) / moments.weight_sum + np.sum(dual.slope_sum))
    return steepest, np.asarray(1.001 * steepest * moments.largest**2)


def _unit(problem: Problem, coef: Array, baseline: float) -> float:
    """Return the gap that doubles cannot see: scores known to 16 EPS and slopes known to 1024 EPS, squared."""
    size = problem.moments.largest @ np.abs(coef) + problem.moments.offset
    return float(np.sum((16 * EPS * size) ** 2)) + 8.0 * (1024 * EPS) ** 2 * abs(baseline)
