"""Newton's method for penalties with kinks and bounds: a quadratic model of the loss, minimised with the penalty as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from lineal.ground.records import dataclass
from lineal.problem.problem import EPS, Evaluation, Problem
from lineal.solvers.newton import samples
from lineal.solvers.quadratic import minimise, separable
from lineal.solvers.solver import Array, Solver, Step


@dataclass(frozen=True)
class ProxNewton(Solver):
    """``b <- b + t d``, ``d`` the minimiser of ``g.d + d'Hd/2 + penalty(b + d)``, ``g`` and ``H`` of the loss alone.

    Every pass over the rows gives one model, which is minimised by coordinate descent where the solver runs: memory and
    streams are alike. Large tables are warmed up on subsamples, as in Newton's method.
    """

    largest: int = 4000
    name: ClassVar[str] = "prox-newton"
    max_steps: ClassVar[float] = 500
    """It takes two dozen; each has a quadratic program inside, milliseconds even for four columns."""

    def declines(self, problem: Problem) -> str | None:
        """Decline losses with kinks, and second derivatives that would not fit."""
        if not problem.loss.smooth:
            return f"the {problem.loss.name} loss has kinks, and no second derivative to build a model from"
        if not separable(problem.penalty):
            return f"coordinate descent does not know the penalty {problem.penalty.name!r}"
        size = problem.shape[0] * problem.shape[1]
        if size > self.largest:
            return f"{size} coefficients need a second derivative of {size} x {size}; the limit is {self.largest}"
        return None

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield one step per full evaluation."""
        first = warm(problem, problem.penalty.prox(start, np.zeros(len(start))))
        for coef, here, _, fall in walk(problem, first):
            yield Step(coef, here.value, max(fall, 0.0), problem.passes)


def warm(problem: Problem, coef: Array) -> Array:
    """Return a start from subsamples of a large table, where one is worth it; not from a point that is better than that."""
    for sample in samples(problem):
        coef = _descend(problem, coef, sample)
    return coef


def walk(problem: Problem, coef: Array) -> Iterator[tuple[Array, Evaluation, Array, float]]:
    """Yield better and better coefficients, with F there, where its model is least and how far the model falls."""
    here = problem.evaluate(coef, hessian=problem.shape[0])
    last = np.inf
    while True:
        goal, fall = model(problem, coef, here)
        yield coef, here, goal, fall
        # Close to the optimum the fall of F drowns in rounding; then the model tells whether steps still help.
        done = not fall > 0.0 or (fall <= rounding(here) and not fall < 0.5 * last)
        found = None if done else search(problem, coef, here, goal, fall)
        if found is None:
            wider, fall = _above(problem, coef, here)
            if wider is None or not fall > rounding(here):
                return
            found = search(problem, coef, here, wider, fall)
        if found is None:
            return
        coef, here = found
        last = fall


def _above(problem: Problem, coef: Array, here: Evaluation) -> tuple[Array | None, float]:
    """Return what ``model`` does for a quadratic above the loss: where its curvature vanishes (Huber's, far from its rows)."""
    above = problem.loss.majorant()
    if above is None:
        return None, 0.0
    problem.passes += 1
    bent = replace(problem, loss=above, _constant=None, _memory={}).evaluate(coef, hessian=problem.shape[0])
    return model(problem, coef, replace(here, hessian=bent.hessian))


def rounding(here: Evaluation) -> float:
    """Return the fall of F below which its values say nothing."""
    return 128 * EPS * abs(here.value) + 2 * here.error


def model(problem: Problem, coef: Array, here: Evaluation) -> tuple[Array, float]:
    """Return the minimiser of the quadratic model at ``coef`` with the penalty as it is, and how far the model falls."""
    assert here.hessian is not None
    penalty = problem.penalty
    gram, curvature = here.hessian.copy(), penalty.curvature()
    if curvature.any():
        np.einsum("kjj->kj", gram)[:] -= np.tile(curvature, gram.shape[1] // len(coef))
    gradient = here.gradient - penalty.gradient(coef)
    floor = 1e-3 * EPS * abs(here.value)
    return minimise(gram, penalty, coef, gradient, coupled=problem.loss.coupled, floor=floor)


def search(
    problem: Problem, coef: Array, here: Evaluation, goal: Array, fall: float, sample: int = 1
) -> tuple[Array, Evaluation] | None:
    """Return the first point on the way back from ``goal`` that lowers F enough, or None where there is none."""
    move = goal - coef
    size = float(np.max(problem.moments.largest @ np.abs(move))) if problem.loss.unbounded else 0.0
    step = min(1.0, 1e8 / size) if size > 0.0 else 1.0
    for tried in range(60):
        trial = goal if step == 1.0 else coef + step * move
        there = problem.evaluate(trial, hessian=problem.shape[0], sample=sample)
        allowed = rounding(here) if fall <= rounding(here) else -1e-4 * step * fall
        if there.value <= here.value + allowed:
            return trial, there
        step *= 0.5
        if tried == 3 and size > 0.0:
            # The curvature was no guide (it vanishes far out): let no score move by more than about 50.
            step = min(step, 50.0 / size)
    return None


def _descend(problem: Problem, coef: Array, sample: int) -> Array:
    """Return a rough minimiser over a subsample; its own optimum is off by about coefficients / rows anyway."""
    enough = 0.05 * coef.size * sample / problem.moments.rows
    here = problem.evaluate(coef, hessian=len(coef), sample=sample)
    first = here.value
    for _ in range(12):
        goal, fall = model(problem, coef, here)
        if not fall > enough:
            break
        found = search(problem, coef, here, goal, fall, sample)
        if found is None or found[1].value < 0.01 * first:
            break
        coef, here = found
    return coef
