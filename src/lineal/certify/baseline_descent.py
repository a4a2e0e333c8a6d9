"""The minimizer of a smooth loss over a few unpenalized columns, from far away: damped Newton steps, valleys, temperatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lineal.certify.baseline_tasks import Cooler
from lineal.ground.arrays import Array, Index
from lineal.losses.loss import Loss
from lineal.penalties import NoPenalty
from lineal.problem.problem import Problem
from lineal.solvers import choose
from lineal.solvers.newton import search
from lineal.solvers.valley import lowest_along_flat

MIN_RELATIVE_FALL = 1e-15
"""A step that lowers F by no more than this share of it ends the search: a yardstick needs no more digits."""

ROUGH_RELATIVE_FALL = 1e-3
"""The same where another search follows."""

MAX_STEPS = 200
"""Newton steps, at most."""

MAX_ASTRAY = 4
"""Walks that end above the least F so far, at most."""

TEMPERATURE_RATIO = 8.0
"""By this factor a temperature falls; the optimum at one is a good start for the next."""


def cooled(problem: Problem, coef: Array, columns: Index) -> Array:
    """Return the minimizer over some columns from far away.

    With offsets of hundreds a loss of probabilities has no curvature where it matters. T loss(eta / T) is the loss with all
    scores in units of a temperature T, as smooth as wanted; its minimizer is followed as T falls to one.
    """
    loss = problem.loss
    if loss.coupled or loss.unbounded:
        heat = problem.moments.offset / TEMPERATURE_RATIO
        while heat > 1.0:
            coef = heat * _newton(_heated(problem, heat), coef / heat, columns, ROUGH_RELATIVE_FALL)
            heat /= TEMPERATURE_RATIO
    return _newton(problem, coef, columns)


def narrowed(problem: Problem, coef: Array, losses: Sequence[Loss]) -> Array:
    """Return a start for a loss that bends next to nowhere: the minimizer of ever narrower ones, roughly, one after another."""
    for loss in losses:
        wide = Problem(problem.source, loss, problem.penalty, problem.moments)
        solver, _ = choose(wide)
        for step, _ in zip(solver.steps(wide, coef), range(MAX_STEPS), strict=False):
            coef = step.coef
            if step.estimate <= ROUGH_RELATIVE_FALL * abs(step.objective):
                break
    return coef


def _heated(problem: Problem, heat: float) -> Problem:
    """Return the problem without a penalty, its offsets divided by a temperature."""
    moments = replace(problem.moments, offset=problem.moments.offset / heat)
    return Problem(problem.source.map(Cooler(heat)), problem.loss, NoPenalty(problem.shape[0]), moments)


def _newton(problem: Problem, coef: Array, columns: Index, enough: float = MIN_RELATIVE_FALL) -> Array:
    """Return the minimizer over some columns, by damped Newton steps; where no row bends, by walks as far as F falls."""
    width = int(columns[-1]) + 1
    here = problem.evaluate(coef, hessian=width)
    least, astray = here.value, 0
    for _ in range(MAX_STEPS):
        if not np.all(np.isfinite(here.hessian if here.hessian is not None else here.value)):
            break  # exponentials of offsets overflow: no step is known from here
        factor = problem.factor(here, columns)
        if factor.singular and (walked := lowest_along_flat(problem, coef, here, factor, enough)) is not None:
            coef, here = walked
            astray += here.value > least  # rounding of far columns lets F rise, and walks lead to and fro
            if astray > MAX_ASTRAY:
                break
            least = min(least, here.value)
            continue
        shift = factor.solve(here.gradient)
        if float(np.sum(shift * here.gradient)) <= enough * abs(here.value):
            break
        better = search(problem, coef, here, shift, hessian=width)
        if better is None or np.array_equal(better[0], coef):
            break
        coef, here = better
    return coef
