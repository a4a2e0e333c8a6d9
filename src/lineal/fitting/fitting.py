"""The straight line of a fit: survey, problem, choose, steps until proven or stopped, certify."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from lineal.certify.baseline import begin as beginning
from lineal.certify.wording import bounded, infeasible
from lineal.errors import InputError
from lineal.fitting.level import Level
from lineal.fitting.small_fit import brief, short
from lineal.fitting.stopping import Fit, Run, gauged
from lineal.ground.deadline import Deadline, Limit, beforehand, graced, in_time
from lineal.losses.loss import Loss
from lineal.model.trace import Record, Trace
from lineal.model.verdict import TOLERANCE
from lineal.penalties.penalty import Penalty
from lineal.problem.blas import one_thread
from lineal.problem.frame import Frame, centered, projected
from lineal.problem.moments import Moments
from lineal.problem.problem import EPS, Problem
from lineal.solvers import choose, named, refines
from lineal.solvers.solver import Solver
from lineal.sources.source import Source

Array = npt.NDArray[np.float64]

FAR = 100.0
"""A mean this many standard deviations from zero is taken off where a fit could not be proven with it."""

FARTHER = 1e5
"""One this far is taken off first: ten digits of the second derivative are those of the mean."""

MOST_LOST = 1e9
"""Scores that would lose more than this factor of their digits are computed about the center, where the caller can."""

SOME_LOST = 100.0
"""The same where the scores of all classes would share a large number, from which their differences are taken."""

DIGITS = "the coefficients have too few digits beside columns so far from zero or so near to each other"


def fit(
    source: Source,
    loss: Loss,
    penalty: Penalty,
    *,
    solver: Solver | str = "auto",
    start: Array | None = None,
    tol: float = TOLERANCE,
    max_iter: int | None = None,
    time_limit: Limit = None,
    moments: Moments | None = None,
    labels: Sequence[str] | None = None,
    progress: Callable[[Record], None] | None = None,
    interrupt: Literal["raise", "budget"] = "raise",
    keep: bool = False,
) -> Fit:
    """Minimise ``F(b) = (1/S) sum s loss + penalty`` over a source, and prove how well that went.

    ``max_iter`` and ``time_limit`` (seconds, or a Deadline) are budgets; reaching one gives the verdict ``budget`` with the
    gap so far, as far as one can be proven within the grace of the deadline.
    ``interrupt`` says whether Ctrl-C is raised or ends the fit like a budget. ``moments`` saves the survey pass.
    ``labels`` are what sentences call the outputs; ``keep`` as for ``solve``.
    """
    known, time_limit = None, Deadline.of(time_limit)
    if moments is None and progress is None:
        known = short(source, loss, penalty, solver, start, tol, max_iter)
    if known is None:
        return solve(
            pose(source, loss, penalty, solver, moments),
            solver=solver, start=start, tol=tol, max_iter=max_iter, time_limit=time_limit,
            labels=labels, progress=progress, interrupt=interrupt, keep=keep,
        )  # fmt: skip
    verdict, arrays = bounded(penalty, known.proof, tol, intercept=True)
    reason = known.reason if solver == "auto" else "asked for"
    value, problem = known.proof.objective, known.problem(source)
    return Fit(known.coef, verdict, value, known.solver, reason, known.trace, problem, arrays)


def pose(
    source: Source, loss: Loss, penalty: Penalty, solver: Solver | str = "auto", moments: Moments | None = None,
    deadline: Deadline | None = None,
) -> Problem:  # fmt: skip
    """Return the problem with its rows surveyed; where a closed form may follow, that pass sums its products too.

    ``deadline`` is that of a fit that is alone: an InputError says so where there is no time even for this.
    """
    with one_thread(source, loss.outputs):
        block = source.whole
        little = block is not None and brief(block.n_rows, block.design.shape[1])
        closed = solver == "direct" or (solver == "auto" and not refines(source, loss, penalty))
        more = closed and not little
        return beforehand(deadline, lambda: Problem.of(source, loss, penalty, moments, products=more))


def solve(
    problem: Problem,
    *,
    solver: Solver | str = "auto",
    start: Array | None = None,
    tol: float = TOLERANCE,
    max_iter: int | None = None,
    time_limit: Limit = None,
    labels: Sequence[str] | None = None,
    progress: Callable[[Record], None] | None = None,
    interrupt: Literal["raise", "budget"] = "raise",
    keep: bool = False,
) -> Fit:
    """Do what ``fit`` does for a problem that is there already.

    ``keep`` says that the caller can predict about a center: ``eta = (x - center) b``, the array ``center`` of the fit.
    """
    deadline = Deadline.of(time_limit)
    given: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "labels": labels, "progress": progress}
    if solver == "auto" and (found := _first(problem, start, deadline, interrupt, keep=keep, **given)) is not None:
        return found
    if (level := Level.of(problem)) is not None:
        begin = None if start is None else level.inward(start)
        inner = solve(level.problem, solver=solver, start=begin, time_limit=deadline, interrupt=interrupt, **given)
        return level.outward(inner, problem, tol, labels)
    with one_thread(problem.source, problem.shape[1]):
        chosen, reason = named(solver, problem)
        penalty = problem.penalty
        if len(penalty.conflicts()):
            rest = penalty.prox(np.zeros(problem.shape), np.zeros(problem.shape[0]))
            return Fit(rest, infeasible(problem), float("inf"), chosen.name, reason, Trace(), problem)
        begin = gauged(problem, _begin(problem, start, deadline))
        run = Run(problem, tol, max_iter, deadline, progress, begin, labels)
        # Far from the optimum sums may overflow; infinity and NaN are looked at where they matter.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            found = None
            try:
                in_time(deadline, lambda: run.follow(chosen, begin), run.stop)
                found = run.certified(chosen, reason)
                if found.verdict.kind != "budget" or run.cut or solver != "auto":
                    return found
                for frame in filter(None, (centered(problem, FAR), projected(problem))):
                    other = _framed(run, frame, start, keep=keep)
                    found = other if other is not None and _tighter(other, found) else found
                    if found.verdict.kind != "budget" or run.late:
                        break
            except KeyboardInterrupt:
                if interrupt == "raise":
                    raise
                run.stopped, run.cut = "interrupted", True
            return run.certified(chosen, reason) if found is None else found


def _first(
    problem: Problem,
    start: Array | None,
    deadline: Deadline | None,
    interrupt: Literal["raise", "budget"],
    *,
    tol: float,
    max_iter: int | None,
    labels: Sequence[str] | None,
    progress: Callable[[Record], None] | None,
    keep: bool,
) -> Fit | None:
    """Return the fit about a center where columns are so far from zero that it is better found there; None elsewhere."""
    if len(problem.penalty.conflicts()) or (frame := centered(problem, FARTHER, exact=True)) is None:
        return None
    run = Run(problem, tol, max_iter, deadline, progress, np.zeros(problem.shape), labels)
    ignored = np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore")
    with one_thread(problem.source, problem.shape[1]), ignored:
        try:
            return _framed(run, frame, start, keep=keep)
        except KeyboardInterrupt:
            if interrupt == "raise":
                raise
            return None


def _tighter(one: Fit, other: Fit) -> bool:
    """Whether one of two fits has the smaller gap."""
    gaps = [math.inf if fit.verdict.gap is None else fit.verdict.gap for fit in (one, other)]
    return gaps[0] < gaps[1]


def _begin(problem: Problem, start: Array | None, deadline: Deadline | None) -> Array:
    """Return where the steps begin: at the start that was given, else at the null fit, or at rest where time is over."""
    if start is None:
        rest = np.zeros(problem.shape), np.zeros(problem.shape[0])
        return in_time(graced(deadline), lambda: beginning(problem), lambda: problem.penalty.prox(*rest))
    begin = np.array(start, dtype=np.float64)
    if begin.shape != problem.shape:
        wanted = f"the problem has {problem.shape[0]} columns and {problem.shape[1]} outputs"
        raise InputError(f"the start has shape {begin.shape}; {wanted}.")
    return begin


def _framed(run: Run, frame: Frame, begin: Array | None, *, keep: bool) -> Fit | None:
    """Return a fit found in the columns of a frame, in coefficients of the columns as they are; None where it proves nothing.

    The objective is the same, and so is the proof of it: at the coefficients as they are rounded. Where these have too few
    digits and the caller can ``keep`` a center, those about the center are returned.
    """
    level = Level.of(frame.problem)
    inner = frame.problem if level is None else level.problem
    chosen, reason = choose(inner)
    start = None if begin is None else frame.inward(begin)
    start = _begin(inner, start if start is None or level is None else level.inward(start), run.deadline)
    fresh: dict[str, Any] = {
        "trace": Trace(),
        "proof": None,
        "answer": None,
        "stopped": "",
        "hint": None,
        "theta": None,
    }
    other = replace(run, problem=inner, coef=start, **fresh)
    in_time(run.deadline, lambda: other.follow(chosen, start), other.stop)
    there = other.certified(chosen, f"{reason}; columns centered")
    if not (there.verdict.kind == "optimal" or (there.verdict.kind == "budget" and other.cut)):
        return None
    shared = _shared(inner, frame, frame.outward(there.coef)) if keep else 0.0
    if (moved := _rounded(other, frame, there, chosen, level, keep=keep)) is None:
        return None
    coef, fit = moved
    lost = float(np.max(run.problem.blur(coef) / np.maximum(inner.blur(there.coef), 1e-300)))
    if keep and frame.exact and (fit.verdict.kind != there.verdict.kind or lost > (SOME_LOST if shared else MOST_LOST)):
        if level is not None:
            there = _lowered(other, level, there, chosen)
        return replace(there, problem=frame.problem, arrays={**there.arrays, "center": frame.center})
    if "covariance" in fit.arrays:
        fit.arrays["covariance"] = frame.covariance(fit.arrays["covariance"])
    return replace(fit, coef=coef, problem=run.problem)


def _rounded(
    run: Run, frame: Frame, there: Fit, chosen: Solver, level: Level | None, *, keep: bool
) -> tuple[Array, Fit] | None:
    """Return coefficients of the columns as they are, rounded, and the fit that is proven at them.

    Whoever certifies may choose other coefficients (of least norm, or of the null fit): then these are rounded in turn. What
    all classes have in common changes no score's place among them, and rounding may leave some of it in the intercepts.
    """
    run.stopped = run.stopped or DIGITS
    for _ in range(3):
        inward = there.coef if level is None else level.plain(there.coef)
        coef = frame.outward(inward)
        shared = _shared(run.problem, frame, coef) if keep else 0.0
        coef = frame.outward(inward, shared) if shared else coef
        # one rounding of the intercept: that of a second one could be larger than all that is left of it
        run.coef = frame.inward(coef, shared, *(() if level is None else (level.constant,)))
        given = run.coef
        moved = frame.columns  # half a unit of their coefficients is lost
        reach = 0.5 * EPS * float(np.sum(run.problem.moments.largest[moved] @ np.abs(given[moved])))
        there = run.anew(chosen, there.reason, reach)
        if np.array_equal(there.coef, gauged(run.problem, given)):
            return coef, there
    return None


def _shared(problem: Problem, frame: Frame, coef: Array) -> float:
    """Return what the intercepts of all classes share beyond rounding: it moves no score's place among them.

    Where a charge keeps a sum of slopes, columns far from zero move the intercepts by as much.
    """
    if not (problem.loss.coupled and problem.intercept and frame.columns[0] == 0 and 0 in problem.uncharged):
        return 0.0
    mean = float(np.mean(coef[0]))
    return mean if abs(mean) > 64 * EPS * float(np.max(np.abs(coef[0]))) else 0.0


def _lowered(run: Run, level: Level, there: Fit, chosen: Solver) -> Fit:
    """Return a fit about a center with the intercept of the offsets as they are, rounded, and what is proven of it."""
    coef = level.plain(there.coef)
    run.coef = level.inward(coef)
    reach = EPS * float(np.sum(np.abs(coef[0]) + np.abs(run.coef[0])))
    return replace(run.anew(chosen, there.reason, reach), coef=coef)
