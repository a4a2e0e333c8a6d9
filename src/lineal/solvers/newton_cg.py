"""Newton's method without the second derivative: products with it, and conjugate gradients."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from lineal.ground.records import dataclass
from lineal.losses import Softmax
from lineal.problem.passes import Kept
from lineal.problem.problem import EPS, Evaluation, Problem
from lineal.problem.standardized import View, equilibrated
from lineal.solvers.solver import Array, Solver, Step
from lineal.solvers.system import FORCING, TIGHT, Preconditioner, System


@dataclass(frozen=True)
class NewtonCG(Solver):
    """``b <- b - t d`` with ``H d ~ g`` solved roughly by preconditioned conjugate gradients.

    The columns are centred and scaled; the preconditioner is ``c G + D`` with ``G`` the gram of (some of) the rows,
    ``c`` the mean curvature met so far and ``D`` the ridge charges; with too many columns for a gram, its diagonal.
    Of a table much longer than it is wide, ``H`` is that of one row in ``g``, until a proof is asked for.
    """

    rounds: int = 200
    gram: int = 2000
    goal: float = 0.0
    tol: float = 0.0
    baseline: float = 0.0
    name: ClassVar[str] = "newton-cg"

    def declines(self, problem: Problem) -> str | None:
        """Decline what has kinks."""
        if not (problem.loss.smooth and problem.penalty.smooth):
            return "it needs a smooth loss and a smooth penalty"
        return None

    def towards(self, goal: float, tol: float, baseline: float) -> NewtonCG:
        """Make that step the last one after which a proof can be foreseen, instead of one more for the proof."""
        return replace(self, goal=goal, tol=tol, baseline=baseline)

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield one step per Newton step."""
        view = equilibrated(problem)
        inner = view.problem
        coef = view.outer_coef(start)
        here, at, kept = _look(problem, view, coef)
        ease = Preconditioner.of(inner, self.gram)
        sample = _sample(inner)
        # Centred columns are taken from plain ones, which costs the digits that mean and spread have apart.
        enough = not problem.loss.quadratic and bool(np.all(np.abs(view.shift) <= 100.0 * view.scale))
        single, poor = enough, False
        forcing, bent = FORCING, np.inf
        for turn in itertools.count():
            system = System(inner, coef, here.gradient, ease, self.rounds, sample, turn, single, kept, forcing)

            def hint(
                goal: float | None, system: System = system, at: Array = at, kept: Kept | None = kept
            ) -> Array | None:
                shift = system.proof(goal)
                if shift is None:
                    return None
                if kept:
                    _complete(problem, at, kept)
                return view.inner_coef(shift)

            passes = problem.passes + inner.passes
            yield Step(at, here.value, system.estimate, passes, hint=hint)
            # what a step that solves all of the system would leave; the last ones foretell it to a factor of ten at best
            left, gain = 0.5 * ease.ratio * (bent * system.first) ** 2, self.baseline - here.value
            if left <= 0.1 * self.goal * gain:
                system.end(0.9 * self.goal * gain, self.tol * gain)
            shift = system.newton()
            fall = float(np.vdot(shift, here.gradient))
            found = _search(problem, view, coef, here, shift, fall) if fall > 0.0 else None
            if found is None:
                if sample == 1 and not single:
                    return
                sample, single, enough = 1, False, False
                continue
            # a fall far from the one foreseen: the rows looked at say too little about the others, or single precision does;
            # far from the optimum it is mostly that F bends, so that the latter is left after two of them, and tried again
            before, poor = poor, here.value - found[1].value < 0.25 * fall
            sample, single = max(1, sample // 4) if poor else sample, enough and not (before and poor)
            coef, here, at, kept = found
            bent = system.bent(here.gradient)
            if sample == 1 and not problem.loss.coupled:
                # no better than F is known to follow its second derivative (Eisenstat and Walker)
                forcing = min(max(bent * float(np.sqrt(system.first)), TIGHT), FORCING)
            ease.renew(inner, system.count, kept, sample)


def _look(problem: Problem, view: View, coef: Array) -> tuple[Evaluation, Array, Kept | None]:
    """Return F with its gradient in the view's columns, the problem's coefficients, and the curvatures of rows in memory.

    It is asked of the problem itself, in the words of the certificate, which then need not ask again.
    """
    kept: Kept | None = {} if problem.source.resident else None
    hessian = problem.lead if problem.lead <= 1 and not problem.loss.coupled else 0
    at = view.inner_coef(coef)
    here = problem.evaluate(at, hessian=hessian, kept=kept)
    return replace(here, gradient=view.outer_gradient(here.gradient)), at, kept or None


def _complete(problem: Problem, coef: Array, kept: Kept) -> None:
    """Give a softmax evaluation what a certificate wants more, which the probabilities of the rows tell without a pass.

    That is the second derivative in an uncharged intercept, ``(1/S) sum s (diag(p) - p p')``. Every row's p adds up to
    one, so that the diagonal is a sum of what is beside it, and nothing cancels.
    """
    here = problem.evaluate(coef)
    if (
        here.hessian is not None
        or not isinstance(problem.loss, Softmax)
        or not (problem.intercept and problem.lead == 1)
    ):
        return
    beside = np.zeros((problem.shape[1], problem.shape[1]))
    for block in problem.source.blocks():
        room = kept.get((block.start, block.n_rows))
        if room is None:
            return
        if block.weight is None:
            beside += room @ room.T
        else:  # rows without weight are absent, and were not looked at
            present = block.weight > 0.0
            room = room[:, present]
            beside += (room * block.weight[present]) @ room.T
    np.einsum("jj->j", beside)[:] = 0.0
    hessian = (np.diag(beside.sum(axis=1)) - beside) / problem.moments.weight_sum
    problem.keep(coef, replace(here, hessian=hessian[None]))


def _sample(problem: Problem) -> int:
    """Return g: one row of g has enough rows for a second derivative, about 16 for every column."""
    enough = max(16 * problem.shape[0], 10_000)
    return 1 if problem.loss.quadratic else max(1, problem.moments.rows // enough)


def _search(
    problem: Problem, view: View, coef: Array, here: Evaluation, shift: Array, fall: float
) -> tuple[Array, Evaluation, Array, Kept | None] | None:
    """Return the first of b - shift, b - shift/2, ... that lowers F enough, or None where rounding hides any descent."""
    step = 1.0
    for _ in range(40):
        trial = coef - step * shift
        there, at, kept = _look(problem, view, trial)
        if there.value <= here.value - 1e-4 * step * fall:
            return trial, there, at, kept
        if fall <= 128 * EPS * abs(here.value) + 2 * here.error:
            closer = np.sum(there.gradient**2) < 0.25 * np.sum(here.gradient**2)
            return (trial, there, at, kept) if closer else None
        step *= 0.5
    return None
