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

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lineal.basis import Basis
from lineal.problem import EPS, Evaluation, Problem

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

WHOLE = 1500
"""Up to this many coefficients a certificate may ask for the whole second derivative."""


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


def prove(problem: Problem, coef: Array, *, hint: Array | None = None, polish: int = 0) -> Proof:
    """Bound ``F(coef) - F*`` from above.

    ``hint`` is an approximate Newton step, used where the whole second derivative is too large. ``polish`` allows that
    many Newton steps away from ``coef`` in search of a better dual point: the bound is then
    ``F(coef) - F(moved) + gap(moved)``, which is how coefficients far from the optimum get one.
    """
    null = null_objective(problem)
    if problem.loss.quadratic and problem.normal_known and problem.normal is not None:
        here = problem.evaluate(coef)
        basis = problem.basis if len(problem.normal.dependent) else None
        return Proof(here.value, null, problem.normal.gap(coef), basis=basis, unit=_unit(problem, coef))
    here = _evaluate(problem, coef, hint)
    moved, there = coef, here
    for _ in range(polish + 1):
        proof = _prove_here(problem, moved, there, hint if moved is coef else None, null)
        if proof.gap is not None or proof.interior or polish == 0:
            break
        found = _move(problem, moved, there)
        if found is None:
            break
        moved, there = found
    if proof.gap is None or moved is coef:
        return proof
    fall = here.value - there.value + here.error + there.error
    return Proof(here.value, null, max(fall, 0.0) + proof.gap, basis=proof.basis, unit=proof.unit)


def null_objective(problem: Problem) -> float:
    """Return F of the null fit, the yardstick of the relative gap."""
    return problem.evaluate(null_fit(problem)).value if problem.null_value is None else problem.null_value


def null_fit(problem: Problem) -> Array:
    """Return the best fit of the uncharged columns alone; of the intercept alone where nothing is charged; else zero."""
    if problem.null_coef is not None:
        return problem.null_coef
    coef = np.zeros(problem.shape)
    columns = problem.uncharged
    if len(columns) == problem.shape[0]:
        columns = np.arange(1 if problem.intercept else 0)
    if len(columns) == 1 and problem.intercept and problem.moments.offset == 0.0:
        best = problem.loss.constant(problem.moments.statistic / problem.moments.weight_sum)
        coef[0] = np.clip(best, -40.0, 40.0) if problem.loss.endless else best
    elif len(columns):
        coef = _newton(problem, coef, columns)
    problem.null_coef, problem.null_value = coef, problem.evaluate(coef).value
    return coef


def _newton(problem: Problem, coef: Array, columns: Index) -> Array:
    """Return the minimiser over some columns, by damped Newton steps."""
    here = problem.evaluate(coef, hessian=int(columns[-1]) + 1)
    for _ in range(50):
        shift = problem.factor(here, columns).solve(here.gradient)
        fall = float(np.sum(shift * here.gradient))
        if fall <= 1e-12 * abs(here.value) + EPS:
            break
        found = _halve(problem, coef, here, shift, fall, int(columns[-1]) + 1)
        if found is None:
            break
        coef, here = found
    return coef


def _halve(
    problem: Problem, coef: Array, here: Evaluation, shift: Array, fall: float, hessian: int
) -> tuple[Array, Evaluation] | None:
    step = 1.0
    for _ in range(40):
        trial = coef - step * shift
        there = problem.evaluate(trial, hessian=hessian)
        if there.value <= here.value - 1e-4 * step * fall:
            return trial, there
        step *= 0.5
    return None


def _evaluate(problem: Problem, coef: Array, hint: Array | None) -> Evaluation:
    """Return the evaluation at coef, with as much of the second derivative as is known or needed."""
    columns, outputs = problem.shape
    whole = hint is None and columns * outputs <= WHOLE
    return problem.evaluate(coef, hessian=columns if whole else problem.lead)


def _move(problem: Problem, coef: Array, here: Evaluation) -> tuple[Array, Evaluation] | None:
    if here.hessian is None:
        return None
    held = here.hessian.shape[1] // (problem.shape[1] if problem.loss.coupled else 1)
    shift = problem.factor(here, np.arange(held)).solve(here.gradient)
    return _halve(problem, coef, here, shift, float(np.sum(shift * here.gradient)), held)


def _prove_here(problem: Problem, coef: Array, here: Evaluation, hint: Array | None, null: float) -> Proof:
    """Build the dual point at ``coef`` and add up what it proves."""
    free, basis = problem.uncharged, None
    shift = np.zeros(problem.shape)
    inner = None
    if here.hessian is not None:
        held = here.hessian.shape[1] // (problem.shape[1] if problem.loss.coupled else 1)
        inner = problem.factor(here, free) if len(free) else None
        if inner is not None and inner.singular and len(free) > (1 if problem.intercept else 0):
            basis = problem.basis
            if basis is None:
                return Proof(here.value, null, None, "too many uncharged columns to tell which depend on others")
            free = basis.independent
            inner = problem.factor(here, free)
        if hint is None:
            partial = inner if held < problem.shape[0] else None
            outer = partial or problem.factor(here, _without(problem, basis))
            shift = outer.solve(here.gradient)
    if hint is not None:
        shift = hint.copy()
    if inner is not None and inner.singular:
        # Curvature has vanished: scores so large that probabilities are 0 or 1, or a column that is zero.
        return Proof(here.value, null, None, "the curvature vanishes", interior=not problem.loss.endless, basis=basis)
    dual = problem.dual(coef, shift)
    for _ in range(2):
        if inner is None or inner.norm(dual.gradient) <= 1e-9 * np.sqrt(max(dual.high, 0.0)) or dual.reach > problem.loss.reach:
            break
        better = problem.dual(coef, shift + inner.solve(dual.gradient))
        if not inner.norm(better.gradient) < 0.5 * inner.norm(dual.gradient):
            break
        shift, dual = shift + inner.solve(dual.gradient), better
    if dual.reach > problem.loss.reach or not np.isfinite(dual.high):
        reason = f"a Newton step would still move a score by {dual.reach:.3g}"
        return Proof(here.value, null, None, reason, interior=False, basis=basis)
    rows = max(dual.high + dual.low, 0.0)
    gap = rows + problem.penalty.mismatch(coef, dual.gradient)
    slip = 0.0
    grain = problem.grain(dual.slope_sum)
    if inner is not None:
        spread = inner.spread()
        norm = inner.norm(dual.gradient) + float(np.sum(grain * spread))
        slip = float(np.max(problem.moments.largest @ spread)) * norm
        if problem.loss.endless and slip > 0.01:
            return Proof(here.value, null, None, "rounding errors are too large for a proof", basis=basis)
        gap += 2.0 * (np.sqrt(3.0 * rows) * norm + norm * norm)
    gap += _rounding(problem, coef, dual.gradient, dual.reach, rows, grain + np.outer(problem.moments.largest, slip * problem.loss.steepest * np.ones(problem.shape[1])))
    return Proof(here.value, null, float(gap), basis=basis, unit=_unit(problem, coef))


def _without(problem: Problem, basis: Basis | None) -> Index:
    """Return all columns but the dependent ones."""
    every = np.arange(problem.shape[0])
    return every if basis is None else np.setdiff1d(every, basis.dependent)


def _rounding(problem: Problem, coef: Array, gradient: Array, reach: float, rows: float, error: Array) -> float:
    """Return what rounding errors of scores, sums and gradients may have hidden from the gap."""
    charged = problem.penalty.charged
    weight = problem.penalty.curvature()[charged][:, None]
    error = error[charged]
    off = np.abs(weight * coef[charged] + gradient[charged])
    total = float(np.sum((2.0 * off * error + error**2) / (2.0 * weight)))
    blur = problem.blur(coef)
    total += problem.loss.steepest * float(np.sum(blur * reach + 0.5 * blur**2))
    return total + 16 * EPS * (rows + (reach if problem.loss.endless else 0.0))


def _unit(problem: Problem, coef: Array) -> float:
    """Return the gap below which coefficients held as doubles cannot go: scores known to EPS, squared."""
    size = problem.moments.largest @ np.abs(coef) + problem.moments.offset
    return float(np.sum((16 * EPS * size) ** 2)) * problem.loss.steepest
