"""Newton's method without the second derivative: products with it, and conjugate gradients."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.passes import Kept
from lineal.problem.problem import EPS, Evaluation, Problem
from lineal.problem.standardized import Standardized, standardize
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step
from lineal.solvers.system import FORCING, Preconditioner, System


@dataclass(frozen=True)
class NewtonCG(Solver):
    """``b <- b - t d`` with ``H d ~ g`` solved roughly by preconditioned conjugate gradients.

    The columns are centred and scaled; the preconditioner is ``c G + D`` with ``G`` the gram of (some of) the rows,
    ``c`` the mean curvature met so far and ``D`` the ridge penalty factors; with too many columns for a gram, its diagonal.
    Of a table much longer than it is wide, ``H`` is that of one row in ``g``, until a proof is asked for.
    """

    rounds: int = 200
    gram: int = 2000
    name: ClassVar[str] = "newton-cg"
    words: ClassVar[str] = "{size} coefficients: too many for the whole second derivative, so only products with it"

    def declines(self, problem: Problem) -> str | None:
        """Decline what has kinks."""
        if not (problem.loss.smooth and problem.penalty.smooth):
            return "it needs a smooth loss and a smooth penalty"
        return None

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield one step per Newton step; the last one after which a proof can be foreseen is as precise as a proof needs."""
        standardized = standardize(problem)
        inner = standardized.problem
        coef = standardized.outer_coef(start)
        evaluation, at, kept = _look(problem, standardized, coef)
        preconditioner = Preconditioner.of(inner, self.gram)
        sample = _sample(inner)
        forcing, bent = FORCING, np.inf
        for turn in itertools.count():
            system = System(inner, coef, evaluation.gradient, preconditioner, self.rounds, sample, turn, kept, forcing)
            estimate, hint, ready = system.estimate, np.zeros(problem.shape), True
            if goal.reached(evaluation.value, estimate):
                shift = system.proof(goal.gap(evaluation.value))
                ready = shift is not None
                if shift is not None:
                    hint = standardized.inner_coef(shift)
                    if kept:
                        _complete(problem, at, kept)
            yield Step(at, evaluation.value, estimate, problem.passes, hint=hint, ready=ready)
            # what a step that solves all of the system would leave; the last ones foretell it to a factor of ten at best
            left, gain = 0.5 * preconditioner.ratio * (bent * system.first) ** 2, goal.baseline - evaluation.value
            if left <= 0.1 * goal.near * gain:
                system.end(0.9 * goal.near * gain, goal.tol * gain)
            shift = system.newton()
            fall = float(np.vdot(shift, evaluation.gradient))
            improved = _search(problem, standardized, coef, evaluation, shift, fall) if fall > 0.0 else None
            if improved is None:
                if sample == 1:
                    return
                sample = 1
                continue
            if evaluation.value - improved[1].value < 0.25 * fall:  # the rows looked at say too little about the others
                sample = max(1, sample // 4)
            coef, evaluation, at, kept = improved
            bent = system.bent(evaluation.gradient)
            if sample == 1 and not problem.loss.coupled:
                # no more exactly than F follows its second derivative (Eisenstat and Walker); never below 0.1, since an
                # evaluation costs about as much as a product
                forcing = min(max(bent * float(np.sqrt(system.first)), 0.1), FORCING)
            preconditioner.renew(inner, system.count, kept, sample)


def newton_step(problem: Problem, coef: Array) -> Array:
    """Return about ``H^-1 g`` at ``coef``, by products over all rows."""
    standardized = standardize(problem)
    inner, options = standardized.problem, NewtonCG()
    at = standardized.outer_coef(coef)
    evaluation, _, kept = _look(problem, standardized, at)
    preconditioner = Preconditioner.of(inner, options.gram)
    return standardized.inner_coef(
        System(inner, at, evaluation.gradient, preconditioner, options.rounds, known=kept).newton()
    )


def _look(problem: Problem, standardized: Standardized, coef: Array) -> tuple[Evaluation, Array, Kept | None]:
    """Return F with its gradient in the view's columns, the problem's coefficients, and the curvatures of rows in memory.

    It is asked of the problem itself, in the words of the certificate, which then need not ask again.
    """
    kept: Kept | None = {} if problem.source.resident else None
    hessian = problem.lead if problem.lead <= 1 and not problem.loss.coupled else 0
    at = standardized.inner_coef(coef)
    evaluation = problem.evaluate(at, hessian=hessian, kept=kept)
    return replace(evaluation, gradient=standardized.outer_gradient(evaluation.gradient)), at, kept or None


def _complete(problem: Problem, coef: Array, kept: Kept) -> None:
    """Give a softmax evaluation what a certificate wants more, which the probabilities of the rows tell without a pass.

    That is the second derivative in an unpenalized intercept, ``(1/S) sum s (diag(p) - p p')``. Every row's p adds up to
    one, so that the diagonal is a sum of what is beside it, and nothing cancels.
    """
    evaluation = problem.evaluate(coef)
    if evaluation.hessian is not None or not problem.loss.multinomial or not (problem.intercept and problem.lead == 1):
        return
    beside = np.zeros((problem.shape[1], problem.shape[1]))
    for block in problem.source.held():
        probabilities = kept.get((block.start, block.n_rows))
        if probabilities is None:
            return
        if block.weight is None:
            beside += probabilities @ probabilities.T
        else:  # rows without weight are absent, and were not looked at
            present = block.weight > 0.0
            probabilities = probabilities[:, present]
            beside += (probabilities * block.weight[present]) @ probabilities.T
    np.einsum("jj->j", beside)[:] = 0.0
    hessian = (np.diag(beside.sum(axis=1)) - beside) / problem.moments.weight_sum
    problem.keep(coef, replace(evaluation, hessian=hessian[None]))


def _sample(problem: Problem) -> int:
    """Return g: one row of g has enough rows for a second derivative, about 16 for every column."""
    enough = max(16 * problem.shape[0], 10_000)
    return 1 if problem.loss.quadratic else max(1, problem.moments.rows // enough)


def _search(
    problem: Problem, standardized: Standardized, coef: Array, evaluation: Evaluation, shift: Array, fall: float
) -> tuple[Array, Evaluation, Array, Kept | None] | None:
    """Return the first of b - shift, b - shift/2, ... that lowers F enough, or None where rounding hides any descent."""
    step = 1.0
    for _ in range(40):
        trial = coef - step * shift
        trial_evaluation, at, kept = _look(problem, standardized, trial)
        if trial_evaluation.value <= evaluation.value - 1e-4 * step * fall:
            return trial, trial_evaluation, at, kept
        if fall <= 128 * EPS * abs(evaluation.value) + 2 * evaluation.error:
            closer = np.sum(trial_evaluation.gradient**2) < 0.25 * np.sum(evaluation.gradient**2)
            return (trial, trial_evaluation, at, kept) if closer else None
        step *= 0.5
    return None
