"""Newton's method with the whole second derivative, warmed up on nested subsamples of large tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np

from lineal.algebra.factor import Factor
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.problem import EPS, Evaluation, Problem
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step, kinks
from lineal.solvers.valley import lowest_along_flat

MAJORANT_MIN_SHARE: Final = 1e-3
"""The share of the majorant's second derivative that is first added to a singular one."""

NEWTON_MAX_COEFFICIENTS: Final = 300
"""Above this, products with the second derivative are cheaper than all of it (measured: break-even at about 300)."""


@dataclass(frozen=True)
class Newton(Solver):
    """``b <- b - t H^-1 g`` with ``g``, ``H`` the first and second derivative of F and ``t`` by halving.

    A table much longer than it is wide is first looked at through one row in ``g``, then one in ``g/8``, ...:
    the full passes that remain start close to the optimum. Where the curvature vanishes or misleads (Huber's loss far from
    its rows), H is that of a quadratic above the loss: reweighted least squares. ``sampled=False`` begins with all rows,
    for a start that is close already.
    """

    largest: int = 4000
    sampled: bool = True
    name: ClassVar[str] = "newton"
    words: ClassVar[str] = "{size} coefficients: few enough for the whole second derivative"
    max_steps: ClassVar[float] = 500
    """It takes a dozen, a hundred beside corners; where it takes more, each brings next to nothing."""

    def declines(self, problem: Problem) -> str | None:
        """Decline what has kinks, and where the second derivative would not fit."""
        if (reason := kinks(problem)) is not None:
            return reason
        size = problem.shape[0] * problem.shape[1]
        if size > self.largest:
            return f"{size} coefficients need a second derivative of {size} x {size}; the limit is {self.largest}"
        return None

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield one step per full evaluation."""
        coef, sample_factor = start, None
        for sample in samples(problem.moments.rows, start.size) if self.sampled else ():
            coef, sample_factor = _descend(problem, coef, sample, sample_factor)
        columns = np.arange(problem.shape[0])
        evaluation = problem.evaluate(coef, hessian=len(columns))
        misled, kept, last, share, number = False, None, np.inf, MAJORANT_MIN_SHARE, 0
        while True:
            factor, number = problem.factor(evaluation, columns) if kept is None else kept, number + 1
            # With rows of usual weights, 20 steps reach the optimum unless no row has curvature in some direction.
            if factor.singular and number > 20:
                lowest = lowest_along_flat(problem, coef, evaluation, factor)
                if lowest is not None:
                    coef, evaluation = lowest
                    misled = False
                    yield Step(coef, evaluation.value, abs(evaluation.value), problem.passes)
                    continue
            if (misled or factor.singular) and (above := problem.majorant(coef)) is not None:
                share = _majorant_share(share, misled=misled, singular=factor.singular)
                factor = _with_majorant(problem, evaluation, factor, above, share)
            shift = factor.solve(evaluation.gradient)
            estimate = 0.5 * abs(float(np.vdot(shift, evaluation.gradient)))
            if kept is not None and estimate > 0.01 * last:
                evaluation, kept = problem.evaluate(coef, hessian=len(columns)), None
                continue
            # a kept second derivative belongs to other coefficients: no proof can use it
            yield Step(coef, evaluation.value, estimate, problem.passes, hint=None if kept is None else shift)
            last = estimate
            near = not misled and not factor.singular and estimate <= _settled_share(problem) * abs(evaluation.value)
            settled = near and _hessian_dominates(problem)
            needed = 0 if _cored(problem) else problem.lead  # what the certificate needs of the second derivative
            improved = search(problem, coef, evaluation, shift, hessian=needed if settled else None)
            kept = factor if settled else None
            if improved is None and not (misled and share == 1.0) and problem.loss.majorant() is not None:
                misled = True  # the penalty may be the only curvature: a step as long as its inverse lowers nothing
                kept = None
                evaluation = problem.evaluate(coef, hessian=len(columns))
                continue
            if improved is None:
                return
            # Much shorter than the Newton step: the local curvature says little about the rows that matter.
            misled = float(np.max(np.abs(improved[0] - coef))) < 0.2 * float(np.max(np.abs(shift), initial=0.0))
            coef, evaluation = improved


def affordable(problem: Problem) -> bool:
    """Whether a whole second derivative is cheaper than products with it."""
    size = problem.shape[0] * problem.shape[1]
    # the second derivative of a loss that couples its outputs has outputs^2 blocks
    return size <= (150 if problem.loss.coupled else NEWTON_MAX_COEFFICIENTS)


def _majorant_share(share: float, *, misled: bool, singular: bool) -> float:
    """Return how much of the majorant the next step adds to H: more after a misleading step, otherwise less.

    Where every direction has curvature and a step still misled, the majorant replaces H.
    """
    if not misled:
        return max(share / 30.0, MAJORANT_MIN_SHARE**3)
    return min(30.0 * share, 1.0) if singular else 1.0


def _with_majorant(problem: Problem, evaluation: Evaluation, factor: Factor, above: Evaluation, share: float) -> Factor:
    """Return the factor of H plus a share of the majorant's second derivative; with share one, of the latter alone.

    It damps directions without curvature (Levenberg and Marquardt) and leaves the others the speed of Newton's method.
    ``factor`` itself where the majorant is singular as well: then columns depend on each other.
    """
    columns = np.arange(problem.shape[0])
    if share < 1.0:
        assert evaluation.hessian is not None
        assert above.hessian is not None
        above = replace(above, hessian=evaluation.hessian + share * above.hessian)
    combined = problem.factor(above, columns)
    return factor if combined.singular and share < 1.0 else combined


def _hessian_dominates(problem: Problem) -> bool:
    """Whether a second derivative costs much more than a gradient, and no covariance will need the last one."""
    work = problem.moments.rows * problem.shape[0] ** 2 * problem.shape[1] ** 2
    return work >= 10**8 and (bool(problem.penalty.penalized.any()) or _cored(problem))


def _cored(problem: Problem) -> bool:
    """Whether curvatures are 1 or 0: the certificate then makes a gram of its own (``certify/quadratic_core``)."""
    return problem.loss.quadratic_core(0.0) is not None


def _settled_share(problem: Problem) -> float:
    """Return the share of F below which the second derivative serves the steps that remain.

    There a step changes it by a thousandth; where only rows that change sides change it, by the root of that.
    """
    return 1e-4 if _cored(problem) else 1e-6


def search(
    problem: Problem, coef: Array, evaluation: Evaluation, shift: Array, *, hessian: int | None = None, sample: int = 1
) -> tuple[Array, Evaluation] | None:
    """Return the first of b - shift, b - shift/2, ... that lowers F enough, or None where rounding hides any descent.

    Where three halvings were not enough, the curvature was no guide (it vanishes far out): the step is then cut so that
    no score moves by more than about 50, and what it finds is followed for as long as F falls.
    """
    fall = float(np.sum(shift * evaluation.gradient))
    width = problem.shape[0] if hessian is None else hessian
    size = float(np.max(problem.moments.largest @ np.abs(shift))) if problem.loss.unbounded else 0.0
    step = min(1.0, 1e8 / size) if size > 0.0 else 1.0
    for tried in range(60):
        trial = coef - step * shift
        trial_evaluation = problem.evaluate(trial, hessian=width, sample=sample)
        # Close to the optimum the fall of F drowns in rounding; then the gradient tells whether the step was good.
        if fall <= 128 * EPS * abs(evaluation.value) + 2 * evaluation.error:
            smaller = abs(float(np.sum(shift * trial_evaluation.gradient))) < 0.5 * fall
            return (trial, trial_evaluation) if smaller else None
        if trial_evaluation.value <= evaluation.value - 1e-4 * step * fall:
            cut = tried > 3 and size > 0.0
            return _farther(problem, coef, trial, trial_evaluation, width, sample) if cut else (trial, trial_evaluation)
        step *= 0.5
        if tried == 3 and size > 0.0:
            step = min(step, 50.0 / size)
    return None


def _farther(
    problem: Problem, coef: Array, better: Array, there: Evaluation, hessian: int, sample: int
) -> tuple[Array, Evaluation]:
    """Return the lowest of the points 1, 2, 4, ... times as far as a better one, as long as F falls.

    Beside offsets of 1e6 and a weak penalty no row bends, and steps that move scores by 50 would be as many as the offset
    is large.
    """
    for _ in range(60):
        trial = coef + 2.0 * (better - coef)
        farther = problem.evaluate(trial, hessian=hessian, sample=sample)
        if not farther.value < there.value:
            break
        better, there = trial, farther
    return better, there


def samples(rows: int, coefficients: int) -> list[int]:
    """Return the subsampling rates to pass through before all rows are looked at."""
    rate, rates = rows // max(20 * coefficients, 10_000), []
    while rate >= 4:
        rates.append(rate)
        rate //= 8
    return rates


def _descend(problem: Problem, coef: Array, sample: int, coarse_factor: Factor | None) -> tuple[Array, Factor | None]:
    """Return a rough minimizer over a subsample, and the last factor; a subsample without a minimizer is skipped.

    ``coarse_factor`` is the factor of a smaller subsample at its minimizer: where F would fall by at most 1 %, one
    gradient and this factor are enough.
    """
    columns = np.arange(problem.shape[0])
    evaluation = problem.evaluate(coef, hessian=0 if coarse_factor is not None else len(columns), sample=sample)
    if coarse_factor is not None:
        shift = coarse_factor.solve(evaluation.gradient)
        if 0.5 * float(np.vdot(shift, evaluation.gradient)) <= 0.01 * abs(evaluation.value):
            return np.asarray(coef - shift), coarse_factor
        evaluation = problem.evaluate(coef, hessian=len(columns), sample=sample)
    first = evaluation.value
    # The subsample's own optimum is off by about coefficients / rows: going closer is useless.
    goal = 0.05 * columns.size * problem.shape[1] * sample / problem.moments.rows
    goal *= 1.0 if problem.loss.majorant() is None else abs(first)
    for _ in range(12):
        factor = problem.factor(evaluation, columns)
        if factor.singular:
            return coef, None
        shift = factor.solve(evaluation.gradient)
        estimate = 0.5 * float(np.sum(shift * evaluation.gradient))
        # Where a step converges quadratically, what it leaves is known before it is evaluated.
        after = estimate**2 / abs(evaluation.value) if problem.loss.unbounded and evaluation.value != 0.0 else estimate
        if min(estimate, after) <= goal:
            return np.asarray(coef - shift), factor
        improved = search(problem, coef, evaluation, shift, sample=sample)
        if improved is None or improved[1].value < 0.01 * first:
            return coef, None
        coef, evaluation = improved
    return coef, None
