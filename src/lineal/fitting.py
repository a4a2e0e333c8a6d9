"""The straight line of a fit: survey, problem, choose, steps until proven or stopped, certify."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from lineal.algebra.doubled import two_product
from lineal.blas import one_thread
from lineal.certify import Proof, prove
from lineal.closed import brief, short
from lineal.covariance import covariance
from lineal.deadline import LATE, Deadline, Limit, graced, in_time
from lineal.dependence import rounded, undecided
from lineal.errors import InputError
from lineal.frame import Frame, centered, projected
from lineal.level import Level
from lineal.loss import Loss
from lineal.moments import Moments
from lineal.null import begin as beginning
from lineal.null import null
from lineal.penalty import Penalty
from lineal.problem import EPS, Problem
from lineal.records import dataclass
from lineal.separation import Answer, look, seek
from lineal.solver import Hint, Solver, Step
from lineal.solvers import choose, named, refines
from lineal.source import Source
from lineal.trace import Record, Trace
from lineal.verdict import TOLERANCE, Verdict
from lineal.wording import bounded, infeasible, judge

Array = npt.NDArray[np.float64]

FAR = 100.0
"""A mean this many standard deviations from zero is taken off where a fit could not be proven with it."""

FARTHER = 1e5
"""One this far is taken off first: ten digits of the second derivative are those of the mean."""

MOST_LOST = 1e9
"""Scores that would lose more than this factor of their digits are computed about the center, where the caller can."""

DIGITS = "the coefficients have too few digits beside columns so far from zero or so near to each other"


@dataclass(frozen=True)
class Fit:
    """What a fit found: coefficients, the verdict on them, and how it got there."""

    coef: Array
    verdict: Verdict
    objective: float
    solver: str
    reason: str
    trace: Trace = field(repr=False)
    problem: Problem = field(repr=False)
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    @property
    def plain(self) -> Array:
        """Coefficients of the columns as they are, also where the fit keeps a ``center``: ``b_0 - center.b``, rounded."""
        if (center := self.arrays.get("center")) is None:
            return self.coef
        found = self.coef.copy()
        for output, column in enumerate(self.coef.T):
            parts = np.concatenate(two_product(-center, column))
            found[0, output] = math.fsum([float(column[0]), *parts.tolist()])
        return found


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
    source: Source, loss: Loss, penalty: Penalty, solver: Solver | str = "auto", moments: Moments | None = None
) -> Problem:
    """Return the problem with its rows surveyed; where a closed form may follow, that pass sums its products too."""
    with one_thread(source, loss.outputs):
        block = source.whole
        little = block is not None and brief(block.n_rows, block.design.shape[1])
        closed = solver == "direct" or (solver == "auto" and not refines(source, loss, penalty))
        return Problem.of(source, loss, penalty, moments, products=closed and not little)


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
    if (level := Level.of(problem)) is not None:
        inner = solve(
            level.problem,
            solver=solver, start=level.inward(start), tol=tol, max_iter=max_iter, time_limit=deadline,
            labels=labels, progress=progress, interrupt=interrupt, keep=keep,
        )  # fmt: skip
        given = inner.coef, inner.problem, inner.arrays.get("theta"), inner.verdict
        coef, value, verdict = level.outward(*given, tol, labels)
        value, own = inner.objective if value is None else value, inner.problem is level.problem
        return replace(inner, coef=coef, verdict=verdict, objective=value, problem=problem if own else inner.problem)
    with one_thread(problem.source, problem.shape[1]):
        chosen, reason = named(solver, problem)
        penalty = problem.penalty
        if len(penalty.clash()):
            rest = penalty.prox(np.zeros(problem.shape), np.zeros(problem.shape[0]))
            return Fit(rest, infeasible(problem), float("inf"), chosen.name, reason, Trace(), problem)
        begin = _gauged(problem, _begin(problem, start, deadline))
        run = _Run(problem, tol, max_iter, deadline, progress, begin, labels)
        # Far from the optimum sums may overflow; infinity and NaN are looked at where they matter.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            found = None
            try:
                if solver == "auto" and (frame := centered(problem, FARTHER, exact=True)) is not None:
                    found = _framed(run, frame, start, keep=keep)
                    if found is not None:
                        return found
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


def _framed(run: _Run, frame: Frame, begin: Array | None, *, keep: bool) -> Fit | None:
    """Return a fit found in the columns of a frame, in coefficients of the columns as they are; None where it proves nothing.

    The objective is the same, and so is the proof of it: at the coefficients as they are rounded. Where these have too few
    digits and the caller can ``keep`` a center, those about the center are returned.
    """
    inner = frame.problem
    chosen, reason = choose(inner)
    start = _begin(inner, None if begin is None else frame.inward(begin), run.deadline)
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
    coef = frame.outward(there.coef)
    other.coef, other.stopped = frame.inward(coef), other.stopped or DIGITS
    work = partial(prove, inner, other.coef, theta=other.theta, quiet=True)
    other.proof = in_time(graced(run.deadline), work, lambda: None)
    moved = other.certified(chosen, there.reason)
    lost = float(np.max(run.problem.blur(coef) / np.maximum(inner.blur(there.coef), 1e-300)))
    if keep and frame.exact and (moved.verdict.kind != there.verdict.kind or lost > MOST_LOST):
        return replace(there, arrays={**there.arrays, "center": frame.center})
    if "covariance" in moved.arrays:
        moved.arrays["covariance"] = frame.covariance(moved.arrays["covariance"])
    return replace(moved, coef=coef, problem=run.problem)


def _gauged(problem: Problem, coef: Array) -> Array:
    """Return softmax coefficients with zero sum over classes, wherever that is free or cheapest."""
    if not problem.loss.coupled:
        return coef
    off = coef.mean(axis=1, keepdims=True)
    off = off if problem.penalty.even else np.where(problem.penalty.charged[:, None], 0.0, off)
    # What rounding leaves of a sum that is zero needs no second proof.
    return coef - off if np.max(np.abs(off), initial=0.0) > 64 * EPS * np.max(np.abs(coef), initial=0.0) else coef


@dataclass
class _Run:
    """The stop rule: follows a solver's steps, asks for a proof when one seems near, keeps the trace."""

    problem: Problem
    tol: float
    max_iter: int | None
    deadline: Deadline | None
    progress: Callable[[Record], None] | None
    coef: Array
    labels: Sequence[str] | None = None
    trace: Trace = field(default_factory=Trace)
    proof: Proof | None = None
    answer: Answer | None = None
    stopped: str = ""
    hint: Hint | None = None
    shift: Array | None = None
    theta: Array | None = None
    cut: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def late(self) -> bool:
        """Whether time is over."""
        return self.deadline is not None and self.deadline.passed

    def stop(self) -> None:
        """Note that time is over."""
        self.stopped, self.cut = LATE, True

    def follow(self, solver: Solver, start: Array) -> None:
        """Take steps until the gap is proven, no optimum exists, the solver ends or the budget does."""
        baseline = null(self.problem).value
        # A proof is asked for well below tol: mostly the same Newton step, and the optimum is met to 1e-7 by default.
        patience, milestone = (0.02 if self.tol <= TOLERANCE else solver.sure), np.inf
        solver = solver.towards(patience * self.tol, self.tol, baseline)
        for number, step in enumerate(self._until_end(solver.steps(self.problem, start))):
            self._record(number, step)
            self.coef, self.hint, self.theta = step.coef, step.hint, step.theta
            gain = max(baseline - step.objective, 0.0)
            # A gain that rounding may have made is none: then the null fit itself is what is proven.
            none = gain <= 16 * EPS * abs(baseline)
            if step.estimate <= patience * self.tol * gain or (none and step.estimate <= self.tol * abs(baseline)):
                proof = self._prove(None if none else self.tol * gain)
                if proof is not None and proof.within(self.tol):
                    return
                if proof is not None and not proof.interior and self._endless():
                    return
                patience *= 1.0 if proof is None else 0.2
            if self._separates(number, step.objective, baseline):
                return
            if number % 100 == 99:
                if milestone - step.objective <= 1e-3 * self.tol * gain:
                    self.stopped = "the last hundred steps brought nothing"
                    return
                milestone = step.objective
            if not math.isfinite(step.objective):
                self.stopped = "the steps were too long, and the objective is no longer finite"
                return
            if self.max_iter is not None and number >= self.max_iter:
                self.stopped, self.cut = f"the limit of {self.max_iter} iterations was reached", True
                return
            if self.late:
                self.stop()
                return

    def _prove(self, goal: float | None) -> Proof | None:
        """Ask for a proof where the solver is; None where it knows of none within ``goal``."""
        self.shift = None if self.hint is None else self.hint(goal)
        if self.hint is not None and self.shift is None:
            return None
        # a step of zero makes no better dual point than the slopes are
        enough = self.tol if self.shift is not None and not self.shift.any() else 0.1 * self.tol
        self.proof = prove(
            self.problem, self.coef,
            hint=self.shift, theta=self.theta, enough=enough, goal=0.5 * self.tol, quiet=True,
        )  # fmt: skip
        return self.proof

    def _until_end(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Yield a solver's steps; where it ends by itself, keep the reason it returns."""
        reason = yield from cast("Generator[Step, None, str | None]", steps)
        self.stopped = reason or "rounding error allows no further progress"

    def _separates(self, number: int, objective: float, baseline: float) -> bool:
        """Look now and then whether the coefficients already separate the rows: then there is no optimum to wait for."""
        if not (self.problem.loss.endless and np.count_nonzero(np.logical_or(*self.problem.penalty.ways())) > 1):
            return False
        if number < 4 or number & (number - 1) or objective > 0.5 * baseline:
            return False
        found = look(self.problem, self.coef)
        if found is not None:
            self.answer = Answer(found)
        return found is not None

    def _endless(self) -> bool:
        """Ask, once, whether the loss falls for ever; True if a direction was confirmed."""
        if not np.any(self.problem.penalty.ways()):
            return False
        if self.answer is None:
            end = self.deadline
            self.answer = seek(self.problem, self.coef, end.last if end is not None and end.passed else end)
        return self.answer.found is not None

    def _record(self, number: int, step: Step) -> None:
        seconds = time.monotonic() - self.began
        record = Record(number, step.objective, step.estimate, step.passes, seconds, step.note)
        self.trace.add(record)
        if self.progress is not None:
            self.progress(record)

    def certified(self, solver: Solver, reason: str) -> Fit:
        """Certify what was reached; where that is not done within the grace after the deadline, say so."""
        reached = self.coef
        return in_time(
            graced(self.deadline), lambda: self.finish(solver, reason), lambda: self._unproven(solver, reason, reached)
        )

    def _unproven(self, solver: Solver, reason: str, reached: Array) -> Fit:
        """Return the last step with the verdict that no time was left for a proof."""
        self.stop()
        self.coef = _gauged(self.problem, reached)
        objective = self.trace.records[-1].objective if len(self.trace) else math.nan
        proof = Proof(objective, math.nan, None, reason="a proof would have taken longer")
        verdict, _ = judge(self.problem, objective, proof, self.tol, self.stopped, self.answer, self.labels)
        return Fit(self.coef, verdict, objective, solver.name, reason, self.trace, self.problem)

    def finish(self, solver: Solver, reason: str) -> Fit:
        """Certify what was reached, and give the verdict."""
        problem = self.problem
        proof = self.proof
        if (gauged := _gauged(problem, self.coef)) is not self.coef:
            self.coef = gauged
            if proof is not None and proof.within(self.tol):
                proof = prove(problem, self.coef, hint=self.shift, theta=self.theta)
        if proof is None or not (proof.within(self.tol) or self._found):
            finite = np.all(np.isfinite(self.coef))
            # Whoever interrupted does not wait for a better step than there is.
            hurried = self.stopped == "interrupted" or self.late
            proof = self._prove(np.inf if hurried else None) if finite else None
            proof = self._nothing_to_gain(proof)
            doubtful = proof is not None and not (proof.interior and (self.cut or proof.within(self.tol)))
            if doubtful and self.stopped != "interrupted":
                self._endless()
        if proof is not None and proof.basis is not None and not self._found:
            self.coef = proof.basis.minimum_norm(self.coef, intercept=problem.intercept)
            proof = prove(problem, self.coef)
        if proof is not None and not (self._found or self.cut or proof.within(self.tol)) and (near := rounded(problem)):
            # whatever was proven says little beside that, and nothing that a checker without it could prove
            self.coef = near.minimum_norm(self.coef, intercept=problem.intercept)
            value = problem.evaluate(self.coef).value
            proof = Proof(value, proof.null_objective, None, undecided(problem))
        objective = problem.evaluate(self.coef).value if proof is None else proof.objective
        verdict, arrays = judge(problem, objective, proof, self.tol, self.stopped, self.answer, self.labels)
        if not problem.loss.smooth and proof is not None and proof.theta is not None:
            arrays["theta"] = proof.theta
        if verdict.kind == "optimal" and problem.loss.likelihood and len(problem.uncharged) == problem.shape[0]:
            spread = in_time(graced(self.deadline), lambda: covariance(problem, self.coef), lambda: None)
            if spread is not None:
                arrays["covariance"] = spread
        return Fit(self.coef, verdict, objective, solver.name, reason, self.trace, problem, arrays)

    def _nothing_to_gain(self, proof: Proof | None) -> Proof | None:
        """Return the proof of the null fit where that is no worse than what was reached, and proven to be the optimum."""
        rest = null(self.problem)
        if proof is None or proof.within(self.tol) or not rest.value <= proof.objective * (1.0 + 1e-9):
            return proof
        if self.theta is not None and not self.problem.loss.smooth and proof.gap is not None:
            # The dual point bounds F* wherever we are: the null fit is proven only where that bound is near.
            apart = rest.value - (proof.objective - proof.gap)
            if rest.value > 0.0 and apart > 1e-3 * rest.value + 1e-6 * abs(proof.objective):
                return proof
        # where nothing is lost at all, slopes are zero: no dual point is better
        other = prove(self.problem, rest.coef, theta=self.theta if rest.value > 0.0 else None)
        if not other.within(self.tol):
            return proof
        self.coef = rest.coef
        return other

    @property
    def _found(self) -> bool:
        return self.answer is not None and self.answer.found is not None
