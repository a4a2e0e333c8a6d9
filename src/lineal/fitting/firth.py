"""Firth's logistic regression: finite estimates where maximum likelihood has none, with profile intervals.

The log-likelihood is penalized with half the logarithm of the determinant of the information (Jeffreys' prior),

    L*(b) = log L(b) + 1/2 log det I(b),       I = X' S W X,   w = p (1 - p),

which takes away the first-order bias and falls without end towards infinity, so that a maximiser exists whatever the
data. Its slope is ``sum_i s_i x_i (y_i - p_i + h_i (1/2 - p_i))``, h_i the leverage of a row (Firth 1993). It need not be
concave: what is found is a stationary point, and the verdict says "local".
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from lineal.algebra.spectrum import root
from lineal.errors import InputError
from lineal.fitting.causes import ROUNDING, explained
from lineal.fitting.covariance import leverage, pieces
from lineal.fitting.framed import TOO_FEW_DIGITS
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array, Index
from lineal.ground.deadline import LATE, Deadline, LateError, Limit, beforehand, watched
from lineal.ground.records import dataclass
from lineal.losses import Logistic
from lineal.model.summary import Row, Summary, check_level, information, quantile
from lineal.model.trace import Record, Trace
from lineal.model.verdict import HIDDEN, Verdict
from lineal.penalties import NoPenalty
from lineal.problem.blas import alone
from lineal.problem.frame import Frame, centered, projected
from lineal.problem.moments import Moments
from lineal.problem.problem import EPS, Problem
from lineal.sources.rowwise import Scored
from lineal.sources.source import Source

TOLERANCE = 1e-8
"""The slope, measured in standard errors of the coefficients, at which a point counts as stationary."""

CREEPING_SHARE = 1e-6
"""The share of what a scoring step promises below which it leads nowhere: weights of 1e10 beside 1e-10 may do that."""

CREEPING_STEPS = 20
"""How many such steps in a row end a search."""


@dataclass(frozen=True)
class _Point:
    """The penalised log-likelihood at one point, its slope, the information and its inverse."""

    coef: Array
    value: float
    slope: Array
    error: Array
    """How far rounding may have moved the slope."""
    information: Array
    inverse: Array

    @property
    def slope_error(self) -> float:
        """How far rounding may have moved the norm of the slope over all coefficients."""
        return math.sqrt(float(self.error @ np.abs(self.inverse) @ self.error))

    def norm(self, free: Index) -> float:
        """Return sqrt(g' I^-1 g) over the free coefficients: how many standard errors a step would move them."""
        return math.sqrt(max(float(self.slope[free] @ self.step(free)), 0.0))

    def step(self, free: Index) -> Array:
        """Return the scoring step I^-1 g of the free coefficients."""
        return np.asarray(np.linalg.solve(self.information[np.ix_(free, free)], self.slope[free]))


@alone
def firth(
    source: Source,
    *,
    start: Array | None = None,
    tol: float = TOLERANCE,
    max_iter: int = 1000,
    time_limit: Limit = None,
    moments: Moments | None = None,
    progress: Callable[[Record], None] | None = None,
    interrupt: Literal["raise", "budget"] = "raise",
) -> Fit:
    """Maximise the likelihood of two classes penalized with Jeffreys' prior; the verdict is ``stationary``.

    ``tol`` bounds the norm of the slope, in standard errors. ``arrays["covariance"]`` is the inverse information.
    ``interrupt`` says whether Ctrl-C is raised or ends the search like a budget.
    """
    if np.any(source.head().y > 1.0):
        raise InputError(
            "Firth's penalty is for two classes, coded 0 and 1; for several classes use a ridge penalty, or compare the "
            "classes two by two."
        )
    plain = NoPenalty(len(source.columns))
    began, trace, deadline = time.monotonic(), Trace(), Deadline.of(time_limit)
    given = beforehand(deadline, lambda: Problem.of(source, Logistic(), plain, moments))
    columns = given.shape[0]
    begin = np.zeros(columns) if start is None else np.asarray(start, np.float64).reshape(columns)
    frame = _frame(given)
    problem = given if frame is None else frame.problem
    point = _look(problem, begin if frame is None else frame.inward(begin[:, None])[:, 0])
    if point is None:
        raise InputError(
            "the columns depend on each other (or are more than the rows), so that the information is singular and "
            "Firth's penalty infinite; drop the columns that repeat others."
        )
    search = _Search(problem, tol, max_iter, deadline, progress, began, trace)
    try:
        # far out sums may overflow; infinity and NaN are looked at where they matter
        with watched(deadline), np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            for better in search.points(point):
                point = better
    except LateError:
        if deadline is None:
            raise
        search.stopped = LATE
    except KeyboardInterrupt:
        if interrupt == "raise":
            raise
        search.stopped = "interrupted"
    coef, spread, stopped = point.coef[:, None], point.inverse, search.stopped
    if frame is not None:  # what is said is said of the coefficients as they are rounded
        coef, spread = frame.outward(coef), frame.covariance(spread)
        point = _look(problem, frame.inward(coef)[:, 0]) or point
        stopped = stopped or TOO_FEW_DIGITS
    verdict = _verdict(problem, point, tol, stopped)
    return Fit(coef, verdict, _objective(problem, point), "firth", "asked for", trace, given, {"covariance": spread})


@dataclass
class _Search:
    """Steps upwards, until there is no slope or a budget is used up."""

    problem: Problem
    tol: float
    max_iter: int
    deadline: Deadline | None
    progress: Callable[[Record], None] | None
    began: float
    trace: Trace
    stopped: str = ""

    def points(self, point: _Point) -> Iterator[_Point]:
        """Yield ever higher points."""
        free, creeping = np.arange(len(point.coef)), 0
        for number in range(self.max_iter + 1):
            norm = point.norm(free)
            seconds = time.monotonic() - self.began
            record = Record(number, _objective(self.problem, point), 0.5 * norm**2, self.problem.passes, seconds)
            self.trace.add(record)
            if self.progress is not None:
                self.progress(record)
            if norm <= self.tol:
                return
            if self.deadline is not None and self.deadline.passed:
                self.stopped = LATE
                return
            better = _climb(self.problem, point, free)
            # a scoring step promises half the square of the norm
            creeping = creeping + 1 if better and better.value - point.value <= CREEPING_SHARE * norm**2 else 0
            if better is None or creeping > CREEPING_STEPS:
                self.stopped = ROUNDING
                return
            point = better
            yield point
        self.stopped = f"the limit of {self.max_iter} iterations was reached"


def profile(fit: Fit, *, level: float = 0.95) -> Summary:
    """Return the estimates of a Firth fit with intervals and tests from their profile.

    The interval of b_j holds the values v with ``2 (max L* - max L* given b_j = v) <= q``, q the quantile of chi-squared
    with one degree of freedom; the statistic is that drop at v = 0.
    """
    from scipy import special  # slow to load: only for tests and intervals

    check_level(level)
    problem, frame = fit.problem, _frame(fit.problem)
    near = problem if frame is None else frame.problem
    best = _look(near, (fit.coef if frame is None else frame.inward(fit.coef))[:, 0])
    if best is None or fit.solver != "firth":
        raise InputError("profiles are for fits made by lineal.inference.firth.")
    rows = []
    reach = quantile(level)
    errors = np.sqrt(np.diagonal(best.inverse if frame is None else frame.covariance(best.inverse)))
    for j, name in enumerate(problem.source.columns):
        # in a frame the intercept is another one: its own profile is that of the columns as they are
        there, search = best, _Profile(near, best, j)
        if frame is not None and j in frame.columns:
            plain = _look(problem, fit.coef[:, 0])
            if plain is None:
                rows.append(Row(name, "", float(fit.coef[j, 0]), float(errors[j]), *[math.nan] * 4))
                continue
            there, search = plain, _Profile(problem, plain, j)
        error = float(errors[j])
        drop = max(search.root(0.0), 0.0) ** 2
        ends = [search.end(side, reach, error) for side in (-1.0, 1.0)]
        rows.append(Row(name, "", float(there.coef[j]), error, drop, float(special.chdtrc(1, drop)), *ends))
    S = problem.moments.weight_sum
    likelihood = -S * near.evaluate(best.coef[:, None]).value
    figures = {"observations": S, "parameters": len(best.coef), **information(likelihood, len(best.coef), S)}
    figures["penalised_log_likelihood"] = best.value
    return Summary(
        title="Firth's logistic regression",
        rows=tuple(rows),
        errors="classical",
        test="penalised ratio",
        level=level,
        figures=figures,
        notes=("Intervals and p-values are from the profile of the penalised likelihood, not from standard errors.",),
    )


@dataclass
class _Profile:
    """The penalised likelihood with one coefficient held, the others at their best."""

    problem: Problem
    best: _Point
    column: int

    def __post_init__(self) -> None:
        self.free = np.delete(np.arange(len(self.best.coef)), self.column)
        self.last = self.best

    def root(self, value: float) -> float:
        """Return sqrt(2 (max L* - max L* given b_j = value)), infinite where that cannot be computed."""
        # Along the profile the others move with the held one about as the normal approximation says.
        shift = value - self.last.coef[self.column]
        guess = self.last.coef + self.last.inverse[:, self.column] / self.last.inverse[self.column, self.column] * shift
        point = _look(self.problem, guess)
        if point is None:
            return math.inf
        for _ in range(1000):
            if not len(self.free) or point.norm(self.free) <= 1e-6:
                break
            better = _climb(self.problem, point, self.free)
            if better is None:
                break
            point = better
        self.last = point
        return math.sqrt(max(2.0 * (self.best.value - point.value), 0.0))

    def end(self, side: float, reach: float, error: float) -> float:
        """Return the end of the interval on one side; infinite where the profile does not fall far enough."""
        from scipy.optimize import brentq

        self.last = self.best
        centre = float(self.best.coef[self.column])
        far = reach * error
        for _ in range(40):
            if self.root(centre + side * far) > reach:
                break
            far *= 1.5
        else:
            return side * math.inf
        self.last = self.best
        distance = brentq(lambda t: self.root(centre + side * t) - reach, 0.0, far, xtol=1e-10 * error, rtol=1e-10)
        return centre + side * float(distance)


def _frame(problem: Problem) -> Frame | None:
    """Return columns with more digits, where there are such: likelihood, determinant and slope are the same in them."""
    return projected(problem) or centered(problem, 3.0, exact=True)


def _objective(problem: Problem, point: _Point) -> float:
    return -point.value / problem.moments.weight_sum


def _look(problem: Problem, coef: Array) -> _Point | None:
    """Return the penalised log-likelihood and its slope; None where the information is singular."""
    columns = np.arange(len(coef))
    total = problem.moments.weight_sum
    here = problem.evaluate(coef[:, None], hessian=len(coef))
    factor = problem.factor(here, columns)
    if here.hessian is None or factor.singular:
        return None
    part = factor.parts[0]
    determinant = part.log_determinant
    inverse = part.inverse() / total
    if not (np.all(np.isfinite(inverse)) and np.all(np.diagonal(inverse) > 0.0)):
        return None  # it overflows: probabilities are 0 or 1
    half = root(inverse)
    slope, lost = np.zeros(len(coef)), 0.0
    score_error, loose = float(problem.score_error(coef[:, None])[0]), 8 * len(coef) * EPS / part.condition
    chain = (16 + min(problem.moments.rows, 1000 + problem.moments.rows / 16384)) * EPS
    for block in pieces(problem):
        y, eta, weight = Scored(coef[:, None])(block)
        h = leverage(problem, coef[:, None], block, half)
        mean = problem.loss.mean(eta)[:, 0]
        own = problem.loss.slope(y, eta)[:, 0]
        slope += block.design.transpose_times((weight * (h * (0.5 - mean) - own))[:, None])[:, 0]
        off = chain * (np.abs(own) + h) + score_error * (mean * (1.0 - mean) + h) + loose * h
        lost += float(weight @ np.where(weight > 0.0, off, 0.0) ** 2)
    # a sum of weight |x| off is at most the root of that of its squares times that of x
    error = np.sqrt(total * problem.moments.square * lost)
    value = -total * here.value + 0.5 * (determinant + len(coef) * math.log(total))
    return _Point(coef, value, slope, error, total * here.hessian[0], inverse)


def _climb(problem: Problem, point: _Point, free: Index) -> _Point | None:
    """Return the first of b + d, b + d/2, ... that is higher, d the scoring step; None where rounding hides any climb."""
    step = np.zeros(len(point.coef))
    step[free] = point.step(free)
    rise = float(point.slope[free] @ step[free])
    noise = 64 * EPS * max(abs(point.value), 1.0)
    for halvings in range(40):
        scale = 0.5**halvings
        there = _look(problem, point.coef + scale * step)
        if there is None:
            continue
        if there.value >= point.value + 1e-4 * scale * rise:
            return there
        if scale * rise <= noise:
            return there if there.norm(free) < 0.9 * point.norm(free) else None
    return None


def _verdict(problem: Problem, point: _Point, tol: float, stopped: str) -> Verdict:
    norm, slope_error = point.norm(np.arange(len(point.coef))), point.slope_error
    if norm + slope_error > tol and slope_error > 1e-3 * norm:  # what can be said is that it is no larger
        norm, stopped = norm + slope_error, HIDDEN
    evidence: dict[str, object] = {"objective": _objective(problem, point), "slope_norm": norm, "tol": tol}
    if norm > tol:
        stopped = explained(problem, point.coef[:, None], stopped) if stopped in (HIDDEN, ROUNDING) else stopped
        sentence = f"Stopped without a proof: {stopped}; the slope is still {norm:.2g} standard errors."
        return Verdict("budget", sentence, None, None, evidence, stopped)
    reason = (
        "the penalised likelihood need not be concave, so there is no bound on how much higher another point may be"
    )
    sentence = (
        f"Stationary: the penalised likelihood has no slope here (norm {norm:.2g}, in standard errors); "
        "that makes it a local optimum, which may not be the only one."
    )
    return Verdict("stationary", sentence, None, None, evidence, reason)
