"""A fit in the columns of a frame, in coefficients of the columns as they are.

The objective is the same in both, and so is the proof: of the coefficients as they are rounded on the way back.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lineal.certify.baseline import begin
from lineal.errors import InputError
from lineal.fitting.level import Level
from lineal.fitting.stopping import Fit, Run, gauged
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, graced, in_time
from lineal.ground.records import dataclass
from lineal.problem.frame import CENTER_KEPT_SDS, Frame
from lineal.problem.problem import EPS, Problem
from lineal.solvers import choose
from lineal.solvers.solver import Solver

TOO_FEW_DIGITS = "the coefficients have too few digits beside columns so far from zero or so near to each other"


@dataclass(frozen=True)
class Framed:
    """A problem in the columns of a frame, its offsets less their level if they have one; coefficients in and out."""

    frame: Frame
    level: Level | None

    @property
    def problem(self) -> Problem:
        """The problem that is fitted."""
        return self.frame.problem if self.level is None else self.level.problem

    def inward(self, coef: Array, class_mean: float = 0.0) -> Array:
        """Return coefficients of the columns as they are, less ``class_mean`` in the intercepts, as those that are fitted."""
        if self.level is None:
            return self.frame.inward(coef, class_mean)
        if self.frame.columns[0] != 0:  # the frame leaves the intercept as it is
            return self.level.inward(self.frame.inward(coef))
        # one rounding of the intercept: that of a second one could be larger than all that is left of it
        return self.frame.inward(coef, class_mean, *self.level.moved)

    def outward(self, coef: Array, *, keep: bool) -> tuple[Array, float]:
        """Return coefficients of the columns as they are, and the mean of the intercepts that was taken off them.

        What the intercepts of all classes share moves no score's place among them. Where a penalty keeps a sum of slopes,
        columns far from zero move the intercepts by as much; the caller who can ``keep`` a center gets them without it.
        """
        inner = self.about_center(coef)
        outer, problem = self.frame.outward(inner), self.problem
        has_intercept = problem.intercept and self.frame.columns[0] == 0 and 0 in problem.unpenalized
        if not (keep and problem.loss.coupled and has_intercept):
            return outer, 0.0
        mean = float(np.mean(outer[0]))
        if abs(mean) <= 64 * EPS * float(np.max(np.abs(outer[0]))):
            return outer, 0.0
        return self.frame.outward(inner, mean), mean

    def about_center(self, coef: Array) -> Array:
        """Return the coefficients with the intercept of the offsets as they are, rounded."""
        return coef if self.level is None else self.level.plain(coef)


def fit_in_frame(run: Run, frame: Frame, start: Array | None, *, keep: bool) -> Fit | None:
    """Return a fit found in the columns of a frame, in coefficients of the columns as they are; None where it proves nothing.

    Where these have too few digits and the caller can ``keep`` a center, those about the center are returned.
    """
    framed = Framed(frame, Level.of(frame.problem))
    inner = framed.problem
    chosen, reason = choose(inner)
    at = starting_point(inner, None if start is None else framed.inward(start), run.deadline)
    other = run.afresh(inner, at)
    other.follow(chosen)
    about = other.certified(chosen, f"{reason}; columns centered")
    if not (about.verdict.kind == "optimal" or (about.verdict.kind == "budget" and other.out_of_budget)):
        return None
    rounded = _rounded(other, framed, run.problem, about, chosen, keep=keep)
    if rounded is None:
        return None
    coef, class_mean, fit = rounded
    if keep and frame.exact:
        digits_lost = float(np.max(run.problem.score_error(coef) / np.maximum(inner.score_error(about.coef), 1e-300)))
        # Scores of all classes that share a large number lose digits where their differences are taken.
        if fit.verdict.kind != about.verdict.kind or digits_lost > (100.0 if class_mean else CENTER_KEPT_SDS):
            return _kept(other, framed, about, chosen)
    if "covariance" in fit.arrays:
        fit.arrays["covariance"] = frame.covariance(fit.arrays["covariance"])
    return replace(fit, coef=coef, problem=run.problem)


def _rounded(
    run: Run, framed: Framed, outer: Problem, fit: Fit, chosen: Solver, *, keep: bool
) -> tuple[Array, float, Fit] | None:
    """Return coefficients of the columns as they are, rounded, the class mean taken off, and the fit proven at them.

    Whoever certifies may choose other coefficients (of least norm, or of the baseline): then these are rounded in turn, but not
    for ever, as those of a baseline with far columns are never reached by rounding.
    """
    run.stopped = run.stopped or TOO_FEW_DIGITS
    moved = framed.frame.columns  # half a unit of their coefficients is lost
    for attempt in range(3):
        coef, class_mean = framed.outward(fit.coef, keep=keep)
        # What a bounded column takes off another one may sum to anything over the classes; of the intercepts the mean is
        # taken off above, before they are rounded.
        others = moved[moved != 0]
        coef[others] = gauged(outer, coef)[others]
        inner = framed.inward(coef, class_mean)
        score_shift = 0.5 * EPS * float(np.sum(run.problem.moments.largest[moved] @ np.abs(inner[moved])))
        fit = run.certified_at(inner, score_shift, chosen, fit.reason, as_is=attempt == 2)
        if np.array_equal(fit.coef, gauged(run.problem, inner)):
            return coef, class_mean, fit
    return None


def _kept(run: Run, framed: Framed, about: Fit, chosen: Solver) -> Fit:
    """Return the fit about the center, with the intercept of the offsets as they are, and what is proven of it."""
    if framed.level is not None:
        coef = framed.about_center(about.coef)
        inner = framed.level.inward(coef)
        score_shift = EPS * float(np.sum(np.abs(coef[0]) + np.abs(inner[0])))
        about = replace(run.certified_at(inner, score_shift, chosen, about.reason), coef=coef)
    return replace(about, problem=framed.frame.problem, arrays={**about.arrays, "center": framed.frame.center})


def starting_point(problem: Problem, start: Array | None, deadline: Deadline | None) -> Array:
    """Return where the steps begin: at the given start, else near the baseline, or at zero where time is over."""
    if start is None:
        zero = np.zeros(problem.shape), np.zeros(problem.shape[0])
        return in_time(graced(deadline), lambda: begin(problem), lambda: problem.penalty.prox(*zero))
    coef = np.array(start, dtype=np.float64)
    if coef.shape != problem.shape:
        wanted = f"the problem has {problem.shape[0]} columns and {problem.shape[1]} outputs"
        raise InputError(f"the start has shape {coef.shape}; {wanted}.")
    return coef
