"""Newton's method with the whole second derivative, warmed up on nested subsamples of large tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from lineal.algebra.factor import Factor
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.problem.problem import EPS, Evaluation, Index, Problem
from lineal.solvers.descent import descend
from lineal.solvers.solver import Array, Hint, Solver, Step, kinks

SETTLED = 1e-6
"""Below this share of F a step changes the second derivative by a thousandth: it serves for the steps that remain."""

NEAR = 0.01
"""A larger sample whose F would fall by no more than this share is solved with the second derivative of a smaller one."""

SHARE = 1e-3
"""Where H is singular, this share at first of the second derivative of a quadratic above the loss is added,"""

MORE = 30.0
"""so many times more where that was too little, so many times less where it was not."""

LONG = 10**8
"""From this many multiplications on, another second derivative costs more than the gap it would make tighter."""


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
    max_steps: ClassVar[float] = 2000
    """It takes a dozen, a hundred beside corners; where it takes thousands, each brings next to nothing."""

    def declines(self, problem: Problem) -> str | None:
        """Decline what has kinks, and where the second derivative would not fit."""
        if (reason := kinks(problem)) is not None:
            return reason
        size = problem.shape[0] * problem.shape[1]
        if size > self.largest:
            return f"{size} coefficients need a second derivative of {size} x {size}; the limit is {self.largest}"
        return None

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield one step per full evaluation."""
        coef, known = start, None
        for sample in samples(problem) if self.sampled else ():
            coef, known = _descend(problem, coef, sample, known)
        columns = np.arange(problem.shape[0])
        here = problem.evaluate(coef, hessian=len(columns))
        lame, kept, last, told, share = False, None, np.inf, False, SHARE
        if (walk := descend(problem, coef, here)) is not None:
            yield from walk.steps
            coef, here, told = walk.coef, walk.here, walk.told
        while True:
            factor = problem.factor(here, columns) if kept is None else kept
            if (lame or factor.singular) and (above := problem.loss.majorant()) is not None:
                # where rows bend in every direction but mislead, the quadratic alone is the guide
                share = (min(MORE * share, 1.0) if factor.singular else 1.0) if lame else max(share / MORE, SHARE**3)
                factor = _held(problem, coef, here, factor, above, share)
            shift = factor.solve(here.gradient)
            estimate = 0.5 * abs(float(np.vdot(shift, here.gradient)))
            if kept is not None and estimate > 0.01 * last:
                here, kept = problem.evaluate(coef, hessian=len(columns)), None
                continue
            if not told:
                yield Step(coef, here.value, estimate, problem.passes, hint=None if kept is None else _told(shift))
            told = False
            last = estimate
            settled = not lame and not factor.singular and estimate <= SETTLED * abs(here.value) and _long(problem)
            found = search(problem, coef, here, shift, hessian=problem.lead if settled else None)
            kept = factor if settled else None
            if found is None and not (lame and share == 1.0) and problem.loss.majorant() is not None:
                lame = True  # a charge may be all the curvature there is: a step as long as its inverse leads nowhere
                kept = None
                here = problem.evaluate(coef, hessian=len(columns))
                continue
            if found is None:
                return
            # Much shorter than asked for: the curvature here says little about the rows that matter.
            lame = float(np.max(np.abs(found[0] - coef))) < 0.2 * float(np.max(np.abs(shift), initial=0.0))
            coef, here = found


def bending(problem: Problem, coef: Array, factor: Factor, columns: Index) -> Factor:
    """Return the factor of a second derivative in some columns; where that is singular, that of a quadratic above the loss."""
    if not factor.singular or (above := problem.loss.majorant()) is None:
        return factor
    wider = replace(problem, loss=above, _constant=None, _memory={})
    wide = problem.factor(wider.evaluate(coef, hessian=int(columns[-1]) + 1), columns)
    problem.passes += 1
    # singular as well: columns depend on each other, and it is not for want of rows that bend
    return factor if wide.singular else wide


def _held(problem: Problem, coef: Array, here: Evaluation, factor: Factor, above: Loss, share: float) -> Factor:
    """Return the factor of H plus a share of that of a quadratic above the loss, of the latter alone where that share is one.

    It holds directions in which no row bends (Levenberg and Marquardt): they are walked along as far as the gradient there
    asks for, and the others converge as fast as Newton's method does. ``factor`` itself where the quadratic is singular as
    well: columns depend on each other, and it is not for want of rows that bend.
    """
    columns = np.arange(problem.shape[0])
    problem.passes += 1
    wide = replace(problem, loss=above, _constant=None, _memory={}).evaluate(coef, hessian=len(columns))
    if share < 1.0:
        assert here.hessian is not None
        assert wide.hessian is not None
        wide = replace(wide, hessian=here.hessian + share * wide.hessian)
    found = problem.factor(wide, columns)
    return factor if found.singular and share < 1.0 else found


def _told(shift: Array) -> Hint:
    """Return the step as a hint: the second derivative it was made with is not that of the coefficients."""
    return lambda _: shift


def _long(problem: Problem) -> bool:
    """Whether a second derivative costs much more than a gradient, and nobody asks for the last one (a covariance would)."""
    work = problem.moments.rows * problem.shape[0] ** 2 * problem.shape[1] ** 2
    return work >= LONG and bool(problem.penalty.charged.any())


def search(
    problem: Problem, coef: Array, here: Evaluation, shift: Array, *, hessian: int | None = None, sample: int = 1
) -> tuple[Array, Evaluation] | None:
    """Return the first of b - shift, b - shift/2, ... that lowers F enough, or None where rounding hides any descent.

    Where three halvings were not enough, the curvature was no guide (it vanishes far out): the step is then cut so that
    no score moves by more than about 50.
    """
    fall = float(np.sum(shift * here.gradient))
    width = problem.shape[0] if hessian is None else hessian
    size = float(np.max(problem.moments.largest @ np.abs(shift))) if problem.loss.unbounded else 0.0
    step = min(1.0, 1e8 / size) if size > 0.0 else 1.0
    for tried in range(60):
        trial = coef - step * shift
        there = problem.evaluate(trial, hessian=width, sample=sample)
        # Close to the optimum the fall of F drowns in rounding; then the gradient tells whether the step was good.
        if fall <= 128 * EPS * abs(here.value) + 2 * here.error:
            smaller = abs(float(np.sum(shift * there.gradient))) < 0.5 * fall
            return (trial, there) if smaller else None
        if there.value <= here.value - 1e-4 * step * fall:
            return trial, there
        step *= 0.5
        if tried == 3 and size > 0.0:
            step = min(step, 50.0 / size)
    return None


def samples(problem: Problem) -> list[int]:
    """Return the subsampling rates to pass through before all rows are looked at."""
    enough = max(20 * problem.shape[0] * problem.shape[1], 10_000)
    rate, rates = problem.moments.rows // enough, []
    while rate >= 4:
        rates.append(rate)
        rate //= 8
    return rates


def _descend(problem: Problem, coef: Array, sample: int, known: Factor | None) -> tuple[Array, Factor | None]:
    """Return a rough minimiser over a subsample, and the last factor; a subsample without one is left at once.

    ``known`` is the factor of a smaller subsample at its minimiser: with it one gradient is enough.
    """
    columns = np.arange(problem.shape[0])
    here = problem.evaluate(coef, hessian=0 if known is not None else len(columns), sample=sample)
    if known is not None:
        shift = known.solve(here.gradient)
        if 0.5 * float(np.vdot(shift, here.gradient)) <= NEAR * abs(here.value):
            return np.asarray(coef - shift), known
        here = problem.evaluate(coef, hessian=len(columns), sample=sample)
    first = here.value
    # The subsample's own optimum is off by about coefficients / rows: no use in going closer.
    goal = 0.05 * columns.size * problem.shape[1] * sample / problem.moments.rows
    goal *= 1.0 if problem.loss.within is None else abs(first)
    for _ in range(12):
        factor = problem.factor(here, columns)
        if factor.singular:
            return coef, None
        shift = factor.solve(here.gradient)
        estimate = 0.5 * float(np.sum(shift * here.gradient))
        # Where a step leaves about the square of what it takes, that is known before it is looked at.
        after = estimate**2 / abs(here.value) if problem.loss.unbounded and here.value != 0.0 else estimate
        if min(estimate, after) <= goal:
            return np.asarray(coef - shift), factor
        found = search(problem, coef, here, shift, sample=sample)
        if found is None or found[1].value < 0.01 * first:
            return coef, None
        coef, here = found
    return coef, None
