"""The stop rule of a fit: steps until proven or stopped, then the verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import count
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from lineal.algebra.doubled import two_product
from lineal.certify import Proof, prove
from lineal.certify.afar import prove_by
from lineal.certify.baseline import baseline_fit
from lineal.certify.proving import HESSIAN_MAX_COEFFICIENTS
from lineal.certify.wording import judge
from lineal.fitting.causes import ROUNDING, explained
from lineal.fitting.covariance import covariance
from lineal.ground.arrays import Array
from lineal.ground.deadline import LATE, Deadline, LateError, graced, in_time, watched
from lineal.ground.records import dataclass
from lineal.model.trace import Record, Trace
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.penalties.penalty import Penalty
from lineal.problem.dependence import rounded, undecided
from lineal.problem.problem import EPS, Problem
from lineal.separation import Answer, look, lossless, seek
from lineal.solvers.newton import Newton
from lineal.solvers.newton_cg import newton_step
from lineal.solvers.solver import Goal, Solver, Step, kinks

PATIENT_STEPS: Final = 64
"""Steps after which it is asked whether there is a fit without loss: few take as many."""

QUIET: Final[dict[str, Any]] = {"over": "ignore", "invalid": "ignore", "divide": "ignore", "under": "ignore"}
"""For numpy.errstate: far from the optimum sums may overflow; infinity and NaN are looked at where they matter."""

MAX_NEWTON_STEPS: Final = 30
"""In search of a dual point that bounds the distance of coefficients far away; the checker takes as many."""


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
    def penalty(self) -> Penalty:
        """What was added to the mean loss."""
        return self.problem.penalty

    @property
    def steps(self) -> int:
        """How many steps the solver took."""
        return self.trace.steps_of(self.solver)

    @property
    def plain(self) -> Array:
        """Coefficients of the columns as they are, also where the fit keeps a ``center``: ``b_0 - center.b``, rounded."""
        if (center := self.arrays.get("center")) is None:
            return self.coef
        coef = self.coef.copy()
        for output, column in enumerate(self.coef.T):
            parts = np.concatenate(two_product(-center, column))
            coef[0, output] = math.fsum([float(column[0]), *parts.tolist()])
        return coef


def gauged(problem: Problem, coef: Array) -> Array:
    """Return softmax coefficients with zero sum over classes, wherever that is free or cheapest."""
    if not problem.loss.coupled:
        return coef
    mean = coef.mean(axis=1, keepdims=True)
    if not problem.penalty.even:
        mean = np.where(problem.penalty.penalized[:, None], 0.0, mean)
    # What rounding leaves of a sum that is zero needs no second proof.
    if np.all(np.abs(mean) <= 64 * EPS * np.max(np.abs(coef), axis=1, keepdims=True, initial=0.0)):
        return coef
    return np.asarray(coef - mean)


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
    iterates: bool = False
    """Whether the trace keeps the coefficients of every step; those of a literal solver it keeps anyway."""
    trace: Trace = field(default_factory=Trace)
    proof: Proof | None = None
    answer: Answer | None = None
    stopped: str = ""
    hint: Array | None = None
    theta: Array | None = None
    out_of_budget: bool = False
    score_shift: float = 0.0
    """How far scores may be from those of the coefficients that were rounded to these."""
    as_is: bool = False
    """Whether these coefficients are certified though the baseline is as good."""
    began: float = field(default_factory=time.monotonic)

    @property
    def late(self) -> bool:
        """Whether time is over."""
        return self.deadline is not None and self.deadline.passed

    def afresh(self, problem: Problem, coef: Array) -> Run:
        """Return a run with the same tolerance and budget that begins at ``coef``, and has not taken a step."""
        limits = (self.tol, self.max_iter, self.deadline, self.progress)
        return Run(problem, *limits, coef, self.labels, self.iterates, began=self.began)

    def follow(self, solver: Solver) -> None:
        """Take steps from ``coef`` until the gap is proven, no optimum exists, the solver ends or the budget does."""
        try:
            with watched(self.deadline):
                baseline = baseline_fit(self.problem).value
                # A proof is asked for well below tol: mostly the same Newton step, and the optimum is met to 1e-7 by default.
                share = 0.02 if self.tol <= TOLERANCE else solver.sure
                goal = Goal(share * self.tol, self.tol, baseline)
                steps = cast("Generator[Step, None, str | None]", solver.steps(self.problem, self.coef, goal))
                for number in count():
                    try:
                        step = next(steps)
                    except StopIteration as end:
                        self.stopped = end.value or ROUNDING
                        return
                    self._record(number, step, keep=self.iterates or solver.literal)
                    self.coef, self.hint, self.theta = step.coef, step.hint, step.theta
                    if solver.literal and self.max_iter is not None and math.isfinite(step.objective):
                        if number < self.max_iter and not self.late:
                            continue  # as many steps as are asked for, proven or not
                        self._ends(number, step, solver, goal)
                        return
                    if step.ready and replace(goal, near=share * self.tol).reached(step.objective, step.estimate):
                        proof = self._prove()
                        if proof.within(self.tol) or (not proof.interior and self._falls_forever()):
                            return
                        share *= 0.2
                    if self._separates(number, step.objective, baseline) or self._ends(number, step, solver, goal):
                        return
                    if number == PATIENT_STEPS and self._lossless():
                        return
        except LateError:
            if self.deadline is None:  # that of a caller
                raise
            self._stop_late()

    def _ends(self, number: int, step: Step, solver: Solver, goal: Goal) -> bool:
        """Whether this step is the last one, proven or not; ``stopped`` then says why."""
        records = self.trace.records
        if number % 100 == 99:
            before = records[number - 100].objective if number >= 100 else math.inf
            if before - step.objective <= goal.negligible(step.objective):
                self.stopped = "the last hundred steps brought nothing"
                return True
        if number >= solver.max_steps:
            self.stopped = f"{solver.max_steps} steps of Newton's method were not enough"
        elif not math.isfinite(step.objective):
            self.stopped = "the steps were too long, and the objective is no longer finite"
        elif self.max_iter is not None and number >= self.max_iter:
            self._stop_after_steps()
        elif self.late:
            self._stop_late()
        else:
            return False
        return True

    def _stop_after_steps(self) -> None:
        self.stopped, self.out_of_budget = f"the limit of {self.max_iter} iterations was reached", True

    def _stop_late(self) -> None:
        self.stopped, self.out_of_budget = LATE, True

    def _prove(self) -> Proof:
        """Ask for a proof where the solver is."""
        # a step of zero makes no better dual point than the slopes are
        enough = self.tol if self.hint is not None and not self.hint.any() else 0.1 * self.tol
        self.proof = prove(
            self.problem, self.coef,
            hint=self.hint, theta=self.theta, enough=enough, goal=0.5 * self.tol, quiet=True,
        )  # fmt: skip
        return self.proof

    def _separates(self, number: int, objective: float, baseline: float) -> bool:
        """Look now and then whether the coefficients already separate the rows: then there is no optimum to wait for."""
        if not (self.problem.loss.unbounded and np.count_nonzero(np.logical_or(*self.problem.penalty.recession())) > 1):
            return False
        if number < 4 or number & (number - 1) or objective > 0.5 * baseline:
            return False
        direction = look(self.problem, self.coef)
        if direction is not None:
            self.answer = Answer(direction)
        return direction is not None

    def _lossless(self) -> bool:
        """Go to coefficients without any loss, where there are such; True if that is proven."""
        if (coef := lossless(self.problem, self.deadline)) is None:
            return False
        proof = prove(self.problem, coef, quiet=True)
        if proof.within(self.tol):
            self.coef, self.hint, self.theta, self.proof = coef, None, None, proof
        return proof.within(self.tol)

    def _falls_forever(self) -> bool:
        """Ask, once, whether the loss falls for ever; True if a direction was confirmed."""
        if not np.any(self.problem.penalty.recession()):
            return False
        if self.answer is None:
            end = self.deadline
            self.answer = seek(self.problem, self.coef, end.last if end is not None and end.passed else end)
        return self.answer.direction is not None

    def _record(self, number: int, step: Step, *, keep: bool) -> None:
        seconds = time.monotonic() - self.began
        known = self.problem.remembered(step.coef)
        gradient = None if known is None else float(np.linalg.norm(known.gradient))
        record = Record(number, step.objective, step.estimate, step.passes, seconds, step.note, gradient, step.rows)
        self.trace.add(record)
        if keep:
            self.trace.keep(step.coef)
        if self.progress is not None:
            self.progress(record)

    def certified(self, solver: Solver, reason: str) -> Fit:
        """Certify what was reached; where that is not done within the grace after the deadline, say so."""
        reached = self.coef
        try:
            with watched(graced(self.deadline)):
                return self._finish(solver, reason)
        except LateError:
            if self.deadline is None:
                raise
            return self._unproven(solver, reason, reached)

    def certified_at(self, coef: Array, score_shift: float, solver: Solver, reason: str, *, as_is: bool = False) -> Fit:
        """Certify coefficients that were put in place of those reached, rounded so that scores are up to that far off."""
        self.coef, self.score_shift, self.as_is = coef, score_shift, as_is
        work = partial(prove, self.problem, coef, theta=self.theta, quiet=True)
        self.proof = in_time(graced(self.deadline), work, lambda: None)
        return self.certified(solver, reason)

    def _unproven(self, solver: Solver, reason: str, reached: Array) -> Fit:
        """Return the last step with the verdict that no time was left for a proof."""
        self._stop_late()
        self.coef = gauged(self.problem, reached)
        baseline = self.problem.baseline
        if len(self.trace):
            objective = self.trace.records[-1].objective
        elif baseline is not None and np.array_equal(baseline.coef, self.coef):
            objective = baseline.value
        else:  # one pass, as the survey of the columns is one that nobody cuts short
            objective = self.problem.evaluate(self.coef).value
        proof = Proof(objective, math.nan, None, reason="a proof would have taken longer")
        verdict, _ = judge(self.problem, objective, proof, self.tol, self.stopped, self.answer, self.labels)
        return Fit(self.coef, verdict, objective, solver.name, reason, self.trace, self.problem)

    def _finish(self, solver: Solver, reason: str) -> Fit:
        """Certify what was reached, and give the verdict."""
        problem = self.problem
        proof = self.proof
        if (centered := gauged(problem, self.coef)) is not self.coef:
            self.coef = centered
            if proof is not None and proof.within(self.tol):
                proof = prove(problem, self.coef, hint=self.hint, theta=self.theta)
        if proof is None or not (proof.within(self.tol) or self._at_infinity):
            proof = self._prove() if np.all(np.isfinite(self.coef)) else None
            interrupted = self.stopped == "interrupted"
            # Whoever interrupted does not wait for a better proof than there is.
            if not (interrupted or self.late):
                proof = self._from_afar(self._without_hint(proof))
            proof = proof if solver.literal or self.as_is else self._nothing_to_gain(proof)
            if not (solver.literal or interrupted or self.out_of_budget) and proof is not None:
                proof = self.proof if not proof.within(self.tol) and self._lossless() else proof
            settled = proof is None or (proof.interior and (self.out_of_budget or proof.within(self.tol)))
            if not (settled or interrupted):
                self._falls_forever()
        kept = solver.literal and proof is not None and not proof.within(self.tol)
        if proof is not None and proof.basis is not None and not (kept or self._at_infinity):
            self.coef = proof.basis.minimum_norm(self.coef, intercept=problem.intercept)
            proof = prove(problem, self.coef)
        unproven = proof is not None and not (self._at_infinity or self.out_of_budget or proof.within(self.tol))
        if proof is not None and unproven and (near := rounded(problem)):
            # whatever was proven says little beside that, and nothing that a checker without it could prove
            self.coef = near.minimum_norm(self.coef, intercept=problem.intercept)
            value = problem.evaluate(self.coef).value
            proof = Proof(value, proof.baseline_objective, None, undecided(problem))
        proof = self._widened(proof)
        if kept and proof is not None and proof.objective > baseline_fit(problem).value:
            self.answer = None  # coefficients worse than none are no example of what falls for ever
        objective = problem.evaluate(self.coef).value if proof is None else proof.objective
        ending = self._ending(solver, proof)
        verdict, arrays = judge(problem, objective, proof, self.tol, ending, self.answer, self.labels)
        if not problem.loss.smooth and proof is not None and proof.theta is not None:
            arrays["theta"] = proof.theta
        if verdict.kind == "optimal" and problem.loss.likelihood and len(problem.unpenalized) == problem.shape[0]:
            spread = in_time(graced(self.deadline), lambda: covariance(problem, self.coef), lambda: None)
            if spread is not None:
                arrays["covariance"] = spread
        return Fit(self.coef, verdict, objective, solver.name, reason, self.trace, problem, arrays)

    def _ending(self, solver: Solver, proof: Proof | None) -> str:
        """Return why the fit ended, with what explains that it is not proven."""
        if self._at_infinity or (proof is not None and proof.within(self.tol)):
            return self.stopped
        stopped = self.stopped
        if not (self.out_of_budget or proof is None):
            stopped = explained(self.problem, self.coef, stopped or ROUNDING, proof.gap)
        diverged = solver.diverged(self.problem, [record.objective for record in self.trace])
        return "; ".join(filter(None, (stopped, diverged)))

    def _widened(self, proof: Proof | None) -> Proof | None:
        """Return what a proof says of coefficients whose scores are up to ``score_shift`` from these.

        A gap g grows by at most 2 sqrt(2 g W) shift + W shift^2, W the curvature; at corners, where slopes are at most one
        apart, by 2 shift.
        """
        shift = self.score_shift
        if proof is None or proof.gap is None or shift == 0.0:
            return proof
        if not self.problem.loss.smooth:
            return replace(proof, gap=proof.gap + 2.0 * shift)
        curvature, gap = self.problem.curvature_bound, proof.gap
        return replace(proof, gap=gap + 2.0 * math.sqrt(2.0 * gap * curvature) * shift + curvature * shift**2)

    def _without_hint(self, proof: Proof | None) -> Proof | None:
        """Return a better proof where products or a hint prove too little: from the rows and a Newton step of all columns.

        That is made with the whole second derivative or, of more columns, with products for a solver that took those.
        """
        if proof is None or proof.within(self.tol):
            return proof
        step = None
        if self.coef.size <= HESSIAN_MAX_COEFFICIENTS:
            self.problem.ask_rows()
        elif self.hint is not None and kinks(self.problem) is None:
            step = newton_step(self.problem, self.coef)
        else:
            return proof
        other = prove(self.problem, self.coef, hint=step, theta=self.theta, quiet=True)
        return other if other.gap is not None and (proof.gap is None or other.gap < proof.gap) else proof

    def _from_afar(self, proof: Proof | None) -> Proof | None:
        """Return a proof of coefficients after a limited number of steps, where the dual point of a better place c proves one.

        ``F(b) - F* = F(b) - F(c) + F(c) - F*``; Newton steps from the baseline find it.
        """
        if proof is None or not self.out_of_budget or self.coef.size > HESSIAN_MAX_COEFFICIENTS:
            return proof
        near_enough = proof.gap is not None and proof.gap <= abs(proof.objective)  # few losses can be below zero
        if near_enough or Newton().refuses(self.problem) is not None:
            return proof
        other = replace(
            self.afresh(self.problem, baseline_fit(self.problem).coef),
            tol=0.01,
            max_iter=MAX_NEWTON_STEPS,
            progress=None,
        )
        other.follow(Newton())
        better = prove_by(self.problem, self.coef, other.coef)
        return better if (better.gap or math.inf) < (proof.gap or math.inf) else proof

    def _nothing_to_gain(self, proof: Proof | None) -> Proof | None:
        """Return the proof of the baseline where that is no worse than what was reached, and proven to be the optimum."""
        baseline = baseline_fit(self.problem)
        if proof is None or proof.within(self.tol) or not baseline.value <= proof.objective * (1.0 + 1e-9):
            return proof
        if self.theta is not None and not self.problem.loss.smooth and proof.gap is not None:
            # The dual point bounds F* wherever we are: the baseline is proven only where that bound is near.
            gap = baseline.value - (proof.objective - proof.gap)
            if baseline.value > 0.0 and gap > 1e-3 * baseline.value + 1e-6 * abs(proof.objective):
                return proof
        # where nothing is lost at all, slopes are zero: no dual point is better
        other = prove(self.problem, baseline.coef, theta=self.theta if baseline.value > 0.0 else None)
        if not other.within(self.tol):
            return proof
        self.coef = baseline.coef
        return other

    @property
    def _at_infinity(self) -> bool:
        return self.answer is not None and self.answer.direction is not None
