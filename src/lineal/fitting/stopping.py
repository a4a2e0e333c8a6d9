"""The stop rule of a fit: steps until proven or stopped, then the verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from lineal.algebra.doubled import two_product
from lineal.certify import Proof, prove
from lineal.certify.baseline import null
from lineal.certify.proving import WHOLE
from lineal.certify.wording import judge
from lineal.fitting.covariance import covariance
from lineal.ground.deadline import LATE, Deadline, graced, in_time
from lineal.ground.records import dataclass
from lineal.model.trace import Record, Trace
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.problem.dependence import rounded, undecided
from lineal.problem.problem import EPS, Problem
from lineal.separation import Answer, look, seek
from lineal.solvers.solver import Hint, Solver, Step

Array = npt.NDArray[np.float64]


FAR = 1e6
"""A mean of so many standard deviations leaves ten digits of a score."""


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


def no_progress(problem: Problem) -> str:
    """Return why a solver ended by itself; rounding scores of columns far from zero hides what differs between rows."""
    rounding, moments = "rounding error allows no further progress", problem.moments
    if not np.any(np.abs(moments.mean) > FAR * moments.sd, where=moments.scatter > 0.0):
        return rounding
    why = "their means could not be taken off" if problem.intercept else "there is no intercept to take their means off"
    return f"{rounding}; columns are far from zero, and {why}"


def gauged(problem: Problem, coef: Array) -> Array:
    """Return softmax coefficients with zero sum over classes, wherever that is free or cheapest."""
    if not problem.loss.coupled:
        return coef
    off = coef.mean(axis=1, keepdims=True)
    off = off if problem.penalty.even else np.where(problem.penalty.charged[:, None], 0.0, off)
    # What rounding leaves of a sum that is zero needs no second proof.
    return coef - off if np.max(np.abs(off), initial=0.0) > 64 * EPS * np.max(np.abs(coef), initial=0.0) else coef


@dataclass
class Run:
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
    reach: float = 0.0
    """How far scores may be from those of the coefficients that were rounded to these."""
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
            if number >= solver.max_steps:
                self.stopped = f"{solver.max_steps} steps of Newton's method were not enough"
                return
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
        self.stopped = reason or no_progress(self.problem)

    def _separates(self, number: int, objective: float, baseline: float) -> bool:
        """Look now and then whether the coefficients already separate the rows: then there is no optimum to wait for."""
        if not (self.problem.loss.unbounded and np.count_nonzero(np.logical_or(*self.problem.penalty.recession())) > 1):
            return False
        if number < 4 or number & (number - 1) or objective > 0.5 * baseline:
            return False
        found = look(self.problem, self.coef)
        if found is not None:
            self.answer = Answer(found)
        return found is not None

    def _endless(self) -> bool:
        """Ask, once, whether the loss falls for ever; True if a direction was confirmed."""
        if not np.any(self.problem.penalty.recession()):
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

    def anew(self, solver: Solver, reason: str, reach: float) -> Fit:
        """Certify coefficients that were put in place of those reached, rounded so that scores are up to ``reach`` off."""
        self.reach = reach
        work = partial(prove, self.problem, self.coef, theta=self.theta, quiet=True)
        self.proof = in_time(graced(self.deadline), work, lambda: None)
        return self.certified(solver, reason)

    def _unproven(self, solver: Solver, reason: str, reached: Array) -> Fit:
        """Return the last step with the verdict that no time was left for a proof."""
        self.stop()
        self.coef = gauged(self.problem, reached)
        rest = self.problem.null
        if len(self.trace):
            objective = self.trace.records[-1].objective
        elif rest is not None and np.array_equal(rest.coef, self.coef):
            objective = rest.value
        else:  # one pass, as the survey of the columns is one that nobody cuts short
            objective = self.problem.evaluate(self.coef).value
        proof = Proof(objective, math.nan, None, reason="a proof would have taken longer")
        verdict, _ = judge(self.problem, objective, proof, self.tol, self.stopped, self.answer, self.labels)
        return Fit(self.coef, verdict, objective, solver.name, reason, self.trace, self.problem)

    def finish(self, solver: Solver, reason: str) -> Fit:
        """Certify what was reached, and give the verdict."""
        problem = self.problem
        proof = self.proof
        if (centered := gauged(problem, self.coef)) is not self.coef:
            self.coef = centered
            if proof is not None and proof.within(self.tol):
                proof = prove(problem, self.coef, hint=self.shift, theta=self.theta)
        if proof is None or not (proof.within(self.tol) or self._found):
            finite = np.all(np.isfinite(self.coef))
            # Whoever interrupted does not wait for a better step than there is.
            hurried = self.stopped == "interrupted" or self.late
            proof = self._prove(np.inf if hurried else None) if finite else None
            proof = self._nothing_to_gain(proof if hurried else self._without_hint(proof))
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
        proof = self._widened(proof)
        objective = problem.evaluate(self.coef).value if proof is None else proof.objective
        verdict, arrays = judge(problem, objective, proof, self.tol, self.stopped, self.answer, self.labels)
        if not problem.loss.smooth and proof is not None and proof.theta is not None:
            arrays["theta"] = proof.theta
        if verdict.kind == "optimal" and problem.loss.likelihood and len(problem.uncharged) == problem.shape[0]:
            spread = in_time(graced(self.deadline), lambda: covariance(problem, self.coef), lambda: None)
            if spread is not None:
                arrays["covariance"] = spread
        return Fit(self.coef, verdict, objective, solver.name, reason, self.trace, problem, arrays)

    def _widened(self, proof: Proof | None) -> Proof | None:
        """Return what a proof says of coefficients whose scores are up to ``reach`` from these.

        A gap g grows by at most 2 sqrt(2 g W) reach + W reach^2, W the curvature; at corners, where slopes are at most one
        apart, by 2 reach.
        """
        if proof is None or proof.gap is None or self.reach == 0.0:
            return proof
        if not self.problem.loss.smooth:
            return replace(proof, gap=proof.gap + 2.0 * self.reach)
        bend, gap = self.problem.curvature_bound, proof.gap
        return replace(proof, gap=gap + 2.0 * math.sqrt(2.0 * gap * bend) * self.reach + bend * self.reach**2)

    def _without_hint(self, proof: Proof | None) -> Proof | None:
        """Return a better proof from the rows and the whole second derivative, where products or a hint prove too little."""
        if proof is None or proof.within(self.tol) or self.coef.size > WHOLE:
            return proof
        self.problem.ask_rows()
        other = prove(self.problem, self.coef, theta=self.theta, quiet=True)
        return other if other.gap is not None and (proof.gap is None or other.gap < proof.gap) else proof

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
