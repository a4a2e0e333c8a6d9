"""Newton's method for penalties with kinks and bounds: a quadratic model of the loss, minimised with the penalty as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.problem import EPS, Evaluation, Problem
from lineal.solvers.newton import affordable, samples
from lineal.solvers.quadratic import minimise, sweepable
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step


@dataclass(frozen=True)
class ProxNewton(Solver):
    """``b <- b + t d``, ``d`` the minimiser of ``g.d + d'Hd/2 + penalty(b + d)``, ``g`` and ``H`` of the loss alone.

    Every pass over the rows gives one model, which is minimised by coordinate descent where the solver runs: memory and
    streams are alike. Large tables are warmed up on subsamples, as in Newton's method.
    """

    largest: int = 4000
    name: ClassVar[str] = "prox-newton"
    words: ClassVar[str] = (
        "{size} coefficients{rows}: few enough for the whole second derivative, with the penalty as it is"
    )

    def reason(self, problem: Problem) -> str:
        """Return why it is chosen; of many coefficients, only where rows stream."""
        size, rows = problem.shape[0] * problem.shape[1], "" if affordable(problem) else ", rows that stream"
        return self.words.format(size=size, rows=rows)

    max_steps: ClassVar[float] = 500
    """It takes two dozen; each has a quadratic program inside, milliseconds even for four columns."""

    def declines(self, problem: Problem) -> str | None:
        """Decline losses with kinks, and second derivatives that would not fit."""
        if not problem.loss.smooth:
            return f"the {problem.loss.name} loss has kinks, and no second derivative to build a model from"
        if not sweepable(problem.penalty):
            return f"coordinate descent does not know the penalty {problem.penalty.name!r}"
        size = problem.shape[0] * problem.shape[1]
        if size > self.largest:
            return f"{size} coefficients need a second derivative of {size} x {size}; the limit is {self.largest}"
        return None

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield one step per full evaluation."""
        first = warm(problem, problem.penalty.prox(start, np.zeros(len(start))))
        for coef, evaluation, _, fall in iterates(problem, first):
            yield Step(coef, evaluation.value, max(fall, 0.0), problem.passes)


def warm(problem: Problem, coef: Array) -> Array:
    """Return a start from subsamples of a large table, where one is worth it; not from a point that is better than that."""
    for sample in samples(problem.moments.rows, coef.size):
        coef = _descend(problem, coef, sample)
    return coef


def iterates(problem: Problem, coef: Array) -> Iterator[tuple[Array, Evaluation, Array, float]]:
    """Yield better and better coefficients, with F there, where its model is least and how far the model falls."""
    evaluation = problem.evaluate(coef, hessian=problem.shape[0])
    last = np.inf
    while True:
        goal, fall = model(problem, coef, evaluation)
        yield coef, evaluation, goal, fall
        # Close to the optimum the fall of F drowns in rounding; then the model tells whether steps still help.
        done = not fall > 0.0 or (fall <= rounding(evaluation) and not fall < 0.5 * last)
        improved = None if done else search(problem, coef, evaluation, goal, fall)
        if improved is None:
            wider, fall = _above(problem, coef, evaluation)
            if wider is None or not fall > rounding(evaluation):
                return
            improved = search(problem, coef, evaluation, wider, fall)
        if improved is None:
            return
        if fall > 0.5 * last:
            improved = _farther(problem, coef, *improved)
        coef, evaluation = improved
        last = fall


def _farther(problem: Problem, coef: Array, better: Array, evaluation: Evaluation) -> tuple[Array, Evaluation]:
    """Return the lowest of the points 1, 2, 4, ... times as far as a better one, as long as F falls.

    Where rows bend in fewer directions than there are coefficients, sweeps end somewhere on a slope that only the penalty
    makes, and the next step leads as far again.
    """
    move, length = better - coef, 1.0
    while length < 1e6:
        length *= 2.0
        trial = problem.penalty.prox(coef + length * move, np.zeros(len(coef)))
        there = problem.evaluate(trial, hessian=problem.shape[0])
        if not there.value < evaluation.value:
            break
        better, evaluation = trial, there
    return better, evaluation


def _above(problem: Problem, coef: Array, evaluation: Evaluation) -> tuple[Array | None, float]:
    """Return what ``model`` does for a quadratic above the loss: where its curvature vanishes (Huber's, far from its rows)."""
    bent = problem.majorant(coef)
    if bent is None:
        return None, 0.0
    return model(problem, coef, replace(evaluation, hessian=bent.hessian))


def rounding(evaluation: Evaluation) -> float:
    """Return the fall of F below which its values say nothing."""
    return 128 * EPS * abs(evaluation.value) + 2 * evaluation.error


def model(problem: Problem, coef: Array, evaluation: Evaluation) -> tuple[Array, float]:
    """Return the minimiser of the quadratic model at ``coef`` with the penalty as it is, and how far the model falls."""
    assert evaluation.hessian is not None
    penalty = problem.penalty
    gram, curvature = evaluation.hessian.copy(), penalty.curvature()
    if curvature.any():
        np.einsum("kjj->kj", gram)[:] -= np.tile(curvature, gram.shape[1] // len(coef))
    gradient = evaluation.gradient - penalty.gradient(coef)
    floor = 1e-3 * EPS * abs(evaluation.value)
    return minimise(gram, penalty, coef, gradient, coupled=problem.loss.coupled, floor=floor)


def search(
    problem: Problem, coef: Array, evaluation: Evaluation, goal: Array, fall: float, sample: int = 1
) -> tuple[Array, Evaluation] | None:
    """Return the first point on the way back from ``goal`` that lowers F enough, or None where there is none."""
    move = goal - coef
    size = float(np.max(problem.moments.largest @ np.abs(move))) if problem.loss.unbounded else 0.0
    step = min(1.0, 1e8 / size) if size > 0.0 else 1.0
    for tried in range(60):
        trial = goal if step == 1.0 else coef + step * move
        trial_evaluation = problem.evaluate(trial, hessian=problem.shape[0], sample=sample)
        allowed = rounding(evaluation) if fall <= rounding(evaluation) else -1e-4 * step * fall
        if trial_evaluation.value <= evaluation.value + allowed:
            return trial, trial_evaluation
        step *= 0.5
        if tried == 3 and size > 0.0:
            # The curvature was no guide (it vanishes far out): let no score move by more than about 50.
            step = min(step, 50.0 / size)
    return None


def _descend(problem: Problem, coef: Array, sample: int) -> Array:
    """Return a rough minimiser over a subsample; its own optimum is off by about coefficients / rows anyway."""
    enough = 0.05 * coef.size * sample / problem.moments.rows
    evaluation = problem.evaluate(coef, hessian=len(coef), sample=sample)
    first = evaluation.value
    for _ in range(12):
        goal, fall = model(problem, coef, evaluation)
        if not fall > enough:
            break
        improved = search(problem, coef, evaluation, goal, fall, sample)
        if improved is None or improved[1].value < 0.01 * first:
            break
        coef, evaluation = improved
    return coef
