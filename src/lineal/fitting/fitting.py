"""The straight line of a fit: survey, problem, choose, steps until proven or stopped, certify."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from lineal.certify.baseline import baseline_fit
from lineal.certify.wording import bounded, infeasible
from lineal.fitting.framed import fit_in_frame, starting_point
from lineal.fitting.level import Level
from lineal.fitting.small_fit import brief, small_fit
from lineal.fitting.stopping import QUIET, Fit, Run, gauged
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, Limit, beforehand
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.model.trace import Record, Trace
from lineal.model.verdict import TOLERANCE
from lineal.penalties.penalty import Penalty
from lineal.problem.blas import one_thread
from lineal.problem.frame import CENTER_FIRST_SDS, FAR_MEAN_SDS, Frame, centered, projected
from lineal.problem.moments import Moments
from lineal.problem.problem import Problem
from lineal.solvers import named, refines
from lineal.solvers.solver import Solver
from lineal.sources.source import Source


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
    iterates: bool = False,
) -> Fit:
    """Minimise ``F(b) = (1/S) sum s loss + penalty`` over a source, and prove how well that went.

    ``max_iter`` and ``time_limit`` (seconds, or a Deadline) are budgets; reaching one gives the verdict ``budget`` with the
    gap so far, as far as one can be proven within the grace of the deadline.
    ``interrupt`` says whether Ctrl-C is raised or ends the fit like a budget. ``moments`` saves the survey pass.
    ``labels`` are what sentences call the outputs; ``keep`` as for ``solve``. ``iterates`` asks the trace for the coefficients
    of every step. A literal solver begins at zero unless ``start`` is given, and takes ``max_iter`` steps, proven or not.
    """
    time_limit = Deadline.of(time_limit)
    if moments is None and progress is None:
        small = small_fit(source, loss, penalty, solver, start, tol, max_iter)
        if small is not None:
            verdict, arrays = bounded(penalty, small.proof, tol, intercept=True)
            reason = small.reason if solver == "auto" else "asked for"
            value, problem = small.proof.objective, small.problem(source)
            return Fit(small.coef, verdict, value, small.solver, reason, small.trace, problem, arrays)
    return solve(
        pose(source, loss, penalty, solver, moments),
        solver=solver, start=start, tol=tol, max_iter=max_iter, time_limit=time_limit,
        labels=labels, progress=progress, interrupt=interrupt, keep=keep, iterates=iterates,
    )  # fmt: skip


def pose(
    source: Source, loss: Loss, penalty: Penalty, solver: Solver | str = "auto", moments: Moments | None = None,
    deadline: Deadline | None = None,
) -> Problem:  # fmt: skip
    """Return the problem with its rows surveyed; where a closed form may follow, that pass sums its products too.

    ``deadline`` is that of a fit that is alone: an InputError says so where there is no time even for this.
    """
    with one_thread(source, loss.outputs):
        block = source.whole
        is_short = block is not None and brief(block.n_rows, block.design.shape[1])
        closed_form = solver == "direct" or (solver == "auto" and not refines(source, loss, penalty))
        products = closed_form and not is_short
        return beforehand(deadline, lambda: Problem.of(source, loss, penalty, moments, products=products))


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
    iterates: bool = False,
) -> Fit:
    """Do what ``fit`` does for a problem that is there already.

    ``keep`` says that the caller can predict about a center: ``eta = (x - center) b``, the array ``center`` of the fit.
    """
    deadline = Deadline.of(time_limit)
    run = Run(problem, tol, max_iter, deadline, progress, np.zeros(problem.shape), labels, iterates)
    infeasible_bounds = len(problem.penalty.conflicts()) > 0
    if solver == "auto" and not infeasible_bounds:
        fit = _centered_first(run, start, interrupt, keep=keep)
        if fit is not None:
            return fit
    literal = isinstance(solver, Solver) and solver.literal
    if not literal and (level := Level.of(problem)) is not None:
        inner = solve(
            level.problem, solver=solver, start=None if start is None else level.inward(start), tol=tol,
            max_iter=max_iter, time_limit=deadline, labels=labels, progress=progress, interrupt=interrupt, iterates=iterates,
        )  # fmt: skip
        return level.outward(inner, problem, tol, labels)
    with one_thread(problem.source, problem.shape[1]), np.errstate(**QUIET):
        chosen, reason = named(solver, problem)
        if infeasible_bounds:
            rest = problem.penalty.prox(np.zeros(problem.shape), np.zeros(problem.shape[0]))
            return Fit(rest, infeasible(problem), float("inf"), chosen.name, reason, Trace(), problem)
        start = np.zeros(problem.shape) if literal and start is None else start
        begin = run.coef = gauged(problem, starting_point(problem, start, deadline))
        best = None
        try:
            run.follow(chosen)
            best = run.certified(chosen, reason)
            first = _Attempt(run, chosen, reason, start, begin, keep)
            for way in AGAIN if solver == "auto" and not run.out_of_budget else ():
                if best.verdict.kind != "budget" or run.late:
                    break
                fit = way(first)
                best = fit if fit is not None and _gap(fit) < _gap(best) else best
        except KeyboardInterrupt:
            if interrupt == "raise":
                raise
            run.stopped, run.out_of_budget = "interrupted", True
        return run.certified(chosen, reason) if best is None else best


def _centered_first(run: Run, start: Array | None, interrupt: Literal["raise", "budget"], *, keep: bool) -> Fit | None:
    """Return the fit about a center where columns are so far from zero that it is better found there; None elsewhere."""
    problem = run.problem
    frame = centered(problem, CENTER_FIRST_SDS, exact=True)
    if frame is None:
        return None
    with one_thread(problem.source, problem.shape[1]), np.errstate(**QUIET):
        try:
            return fit_in_frame(run, frame, start, keep=keep)
        except KeyboardInterrupt:
            if interrupt == "raise":
                raise
            return None


def _gap(fit: Fit) -> float:
    return math.inf if fit.verdict.gap is None else fit.verdict.gap


@dataclass(frozen=True)
class _Attempt:
    """A first fit that ended without a proof: its run, the solver and why, the start asked for and the one taken."""

    run: Run
    chosen: Solver
    reason: str
    start: Array | None
    begin: Array
    keep: bool


def _from_baseline(first: _Attempt) -> Fit | None:
    """Begin at the baseline, where the first fit began elsewhere by itself: what stopped it may not be on that way."""
    baseline = gauged(first.run.problem, baseline_fit(first.run.problem).coef)
    if first.start is not None or np.array_equal(first.begin, baseline):
        return None
    other = first.run.afresh(first.run.problem, baseline)
    other.follow(first.chosen)
    return other.certified(first.chosen, first.reason)


def _about_means(first: _Attempt) -> Fit | None:
    """Take the means off columns that are so far from zero that these take the digits of what differs between rows."""
    return _framed(first, centered(first.run.problem, FAR_MEAN_SDS))


def _apart(first: _Attempt) -> Fit | None:
    """Take off columns what others have of them, where they are nearly combinations of these."""
    return _framed(first, projected(first.run.problem))


def _framed(first: _Attempt, frame: Frame | None) -> Fit | None:
    return None if frame is None else fit_in_frame(first.run, frame, first.start, keep=first.keep)


AGAIN = (_from_baseline, _about_means, _apart)
"""What is tried in turn where a fit ends without a proof; None where it is not the case that a way is for."""
