"""Huber's loss with a scale of its own, fitted together with the coefficients.

    G(b, sigma) = (1/S) sum_i s_i [sigma / 2 + sigma h(r_i / sigma)] + (strength / 2) sum_j d_j b_j^2,    r = X b
    + offset - y,

h Huber's loss with threshold epsilon (2 S G is scikit-learn's objective with alpha = S strength). G is jointly convex.
For a fixed sigma it is F / sigma + sigma / 2, F the problem of Huber's loss with threshold epsilon sigma and a ridge of
strength times sigma; and with t = theta / sigma, theta a dual point of that problem, min over b of G has the slope

    (1 - m) / 2,   m = (1/S) sum s t^2

in sigma: so sigma is the root of m = 1, a monotone function. The same t bounds G from below (``certify/huber_scale.py``).
"""

from __future__ import annotations

import math
from dataclasses import field, replace
from functools import partial

import numpy as np

from lineal.certify.huber_scale import gap_of_rows, gap_of_slopes, least_dual
from lineal.errors import InputError
from lineal.fitting import fitting, scale_verdict
from lineal.fitting.joint import Joint, Point, best_level, best_scale, constant
from lineal.fitting.scale_verdict import Trial
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array, Mask
from lineal.ground.deadline import LATE, Deadline, Limit, graced, in_time
from lineal.ground.records import dataclass
from lineal.losses import Huber, Squared
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.penalties import NoPenalty, Ridge
from lineal.penalties.penalty import Penalty
from lineal.problem.blas import one_thread
from lineal.problem.frame import CENTER_FIRST_SDS, FAR_MEAN_SDS, Frame, centered
from lineal.problem.moments import Moments, survey
from lineal.problem.passes import Sums
from lineal.problem.problem import EPS, Problem
from lineal.solvers import Newton
from lineal.solvers.solver import Solver
from lineal.sources import rowwise
from lineal.sources.rowwise import Cells
from lineal.sources.source import Block, Source

MIN_SCALE_SHARE = 2.0**-53
"""Scales are at least this share of the spread of y, and a rounding error of y: where most rows are met, the best one is
zero, and G falls to its least value with it. What the smallest scale costs is then no more than a last digit of G or y."""

MAX_SCALES = 100
"""Scales that are tried, at most."""


@dataclass(frozen=True)
class ScaledFit:
    """Coefficients and scale, the verdict on both, and the fit of Huber's loss at that scale."""

    coef: Array
    scale: float
    verdict: Verdict
    objective: float
    steps: int
    fit: Fit = field(repr=False)


def scaled_huber(
    source: Source,
    epsilon: float,
    penalty_factor: float,
    penalty_factors: Array,
    *,
    tol: float = TOLERANCE,
    max_iter: int | None = None,
    time_limit: Limit = None,
    start: Array | None = None,
    scale: float = math.inf,
    keep: bool = False,
) -> ScaledFit:
    """Minimise G over coefficients and scale; ``penalty_factor`` is the strength of its ridge, d the ``penalty_factors``.

    ``max_iter`` limits the Newton steps at all scales together, ``time_limit`` the seconds (or is a Deadline); ``start`` and
    its ``scale`` are where they begin. ``keep`` says that the caller can predict about a center, the array ``center`` of the
    fit: it is kept where coefficients of the columns as they are have too few digits.
    """
    if not epsilon >= 1.0:
        raise InputError(f"epsilon is {epsilon}; it must be at least 1, or no scale above zero would be optimal.")
    # Numbers that are no doubles any more are looked at where they matter.
    deadline = Deadline.of(time_limit)
    quiet = np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore")
    with quiet, one_thread(source, 1):
        search = _Search(source, epsilon, penalty_factor, penalty_factors, tol, max_iter, deadline)
        baseline = search.baseline()
        frame = centered(search.problem(1.0), CENTER_FIRST_SDS, exact=True)
        given = (start, baseline, scale)
        fitted = search.fitted(*given) if frame is None else search.framed(frame, *given, keep=keep)
        if frame is None and fitted.verdict.kind == "budget" and not search.stopped:
            frame = centered(search.problem(1.0), FAR_MEAN_SDS, exact=True)
            other = fitted if frame is None else search.framed(frame, *given, keep=keep)
            fitted = other if (other.verdict.gap or math.inf) < (fitted.verdict.gap or math.inf) else fitted
    return fitted


class _Search:
    """Newton steps in coefficients and scale; where these fail, the root of m = 1, each fit from where the last ended."""

    def __init__(
        self, source: Source, epsilon: float, penalty_factor: float, penalty_factors: Array, tol: float, max_iter: int | None,
        deadline: Deadline | None,
    ) -> None:  # fmt: skip
        self.source, self.epsilon, self.penalty_factor, self.penalty_factors = (
            source,
            epsilon,
            penalty_factor,
            penalty_factors,
        )
        self.tol, self.max_iter, self.deadline = tol, max_iter, deadline
        self.moments: Moments = survey(source, Huber(1.0))
        self.joint = Joint(source, self.moments, epsilon, penalty_factor, penalty_factors)
        spread, largest = self._spread()
        self.floor = max(MIN_SCALE_SHARE * spread, EPS * largest if spread > 4 * EPS * largest else 0.0, 1e-100)
        self.steps = 0
        self.stopped = ""

    def fitted(self, start: Array | None, baseline: float, scale: float) -> ScaledFit:
        """Return coefficients and scale with the verdict on them."""
        trial = self.run(start, baseline, scale)
        return self._judged(trial, self.gap(trial, baseline), baseline)

    def framed(self, frame: Frame, start: Array | None, baseline: float, scale: float, *, keep: bool) -> ScaledFit:
        """Return the same, found in columns near zero; what is proven are the coefficients as they are rounded.

        Where that is too little and the caller can ``keep`` a center, those about the center are returned.
        """
        limits = (self.tol, self.max_iter, self.deadline)
        inner = _Search(frame.problem.source, self.epsilon, self.penalty_factor, self.penalty_factors, *limits)
        trial = inner.run(None if start is None else frame.inward(start), baseline, scale)
        coef = frame.outward(trial.fit.coef)
        there = frame.inward(coef)
        value = trial.fit.problem.evaluate(there).value / trial.scale + 0.5 * trial.scale
        given = replace(trial, fit=replace(trial.fit, coef=there), value=value)
        judged = inner._judged(given, inner.shown(given), baseline)
        self.steps, self.stopped = inner.steps, inner.stopped
        if keep and judged.verdict.kind == "budget":
            about = inner._judged(trial, inner.gap(trial, baseline), baseline)
            if about.verdict.proven:
                return replace(about, fit=replace(trial.fit, arrays={**trial.fit.arrays, "center": frame.center}))
        return replace(judged, coef=coef, fit=replace(trial.fit, coef=coef, problem=self.problem(trial.scale)))

    def _judged(self, trial: Trial, gap: float | None, baseline: float) -> ScaledFit:
        still = self.still()
        if still is not None and gap is not None and gap <= still:
            verdict = scale_verdict.still(trial, gap, baseline, self.tol)
        else:
            verdict = scale_verdict.verdict(trial, gap, baseline, self.tol, self.stopped)
        return ScaledFit(trial.fit.coef, trial.scale, verdict, trial.value, self.steps, trial.fit)

    def run(self, start: Array | None, baseline: float, scale: float) -> Trial:
        """Return the last trial: coefficients and scale within the tolerance, or the budget is used up."""
        if (level := self._level()) is not None:  # what is left of G is rounding, and no steps lead through that
            coef = np.zeros((len(self.penalty_factors), 1))
            coef[0] = -level
            rows, weight = self.rows(coef)
            return self._of(self.joint.at(coef, max(best_scale(rows, weight, self.epsilon), self.floor)))
        given = (start, self.floor, self.tol, baseline, self.max_iter, scale)
        point = in_time(self.deadline, lambda: self.joint.minimum(*given), lambda: None)
        self.steps = self.joint.steps
        if point is None:
            return self._by_scale(start, baseline)
        trial = self._of(point)
        if self._spent() or (missing := self._missing(trial)) is None or missing <= self.tol * (baseline - trial.value):
            return trial
        return self._by_scale(trial.fit.coef, baseline)

    def _of(self, point: Point) -> Trial:
        """Return the fit at the scale of a point, from its coefficients on."""
        fit = self._fit(point.scale, point.coef, self.tol, Newton(sampled=False), point.sums)
        if not np.array_equal(fit.coef, point.coef):
            point = self.joint.at(fit.coef, point.scale)
        return Trial(point.scale, fit, fit.objective / point.scale + 0.5 * point.scale, point.square, point.error)

    def _by_scale(self, start: Array | None, baseline: float) -> Trial:
        """Return the trial at the root of m = 1."""
        columns, floor = len(self.penalty_factors), self.floor
        if start is None:
            first: Penalty = (
                Ridge(self.penalty_factor, self.penalty_factors) if self.penalty_factor > 0.0 else NoPenalty(columns)
            )
            start = fitting.fit(self.source, Squared(1), first, moments=self.moments, time_limit=self.deadline).coef
        rows, weight = self.rows(start)
        scale = max(best_scale(rows, weight, self.epsilon), floor)
        low, high, last = floor, math.inf, None
        trial = self.at(scale, start)
        for _ in range(MAX_SCALES):
            if self._spent():
                break
            enough = 0.2 * self.tol * max(baseline - trial.value, 0.0)
            if trial.square <= 1.0 and (0.5 * scale * (1.0 - trial.square) <= enough or scale <= floor):
                break
            low, high = (max(low, scale), high) if trial.square > 1.0 else (low, min(high, scale))
            if high <= low * (1.0 + 1e-15):
                break
            scale, last = self._next(trial, last, low, high), trial
            trial = self.at(scale, trial.fit.coef)
        return self.at(trial.scale, trial.fit.coef, tol=self.tol)

    def baseline(self) -> float:
        """Return the best G of the intercept alone; of zeros where there is none, or nothing but a scale in turn with it."""
        if self.source.columns[:1] == ("(intercept)",):
            one = replace(self.moments, mean=np.ones(1), scatter=np.zeros(1), largest=np.ones(1))
            alone = Joint(constant(self.source), one, self.epsilon, 0.0, np.zeros(1))
            if (lowest := alone.minimum(None, self.floor, 1e-3, math.inf, None)) is not None:
                return lowest.value
        rows, weight = self.rows(np.zeros((len(self.penalty_factors), 1)))
        level, value = 0.0, math.inf
        for _ in range(MAX_SCALES):
            scale = max(best_scale(rows + level, weight, self.epsilon), self.floor)
            loss = Huber(self.epsilon * scale)
            last, value = value, float(0.5 * scale + weight @ _huber(loss, rows + level) / scale)
            if self.source.columns[:1] != ("(intercept)",) or value >= last * (1.0 - 1e-9):
                break
            level = best_level(rows, weight, loss.threshold)
        return value

    def _next(self, trial: Trial, last: Trial | None, low: float, high: float) -> float:
        """Return the next scale: the best for these residuals at first, then by the secant of log m, kept in between."""
        rows, weight = self.rows(trial.fit.coef)
        guess = best_scale(rows, weight, self.epsilon)
        if last is not None and trial.square > 0.0 and last.square > 0.0 and trial.square != last.square:
            rise = math.log(trial.scale / last.scale) / math.log(trial.square / last.square)
            # A little to the side where m < 1, so that the dual point is allowed as it is.
            wanted = math.log1p(-1e-3 * self.tol)
            guess = trial.scale * math.exp(min(max((wanted - math.log(trial.square)) * rise, -3.0), 3.0))
        if low < guess < high:
            return guess
        return math.sqrt(low * high) if math.isfinite(high) else 2.0 * low

    def at(self, scale: float, start: Array, tol: float | None = None) -> Trial:
        """Fit at one scale, far below the tolerance unless one is given."""
        # m and slopes, taken as they are by the bound, go with the root of the gap
        fit = self._fit(scale, start, 1e-2 * self.tol**2 if tol is None else tol, "auto")
        rows, weight = self.rows(fit.coef)
        square = float(np.sum(weight * np.clip(rows / scale, -self.epsilon, self.epsilon) ** 2))
        # numpy adds in pairs; residuals are off by the rounding of their scores
        score_error = float(fit.problem.score_error(fit.coef)[0]) / scale
        error = (64.0 + 2.0 * math.log2(1.0 + len(rows))) * EPS * square + (
            2.0 * math.sqrt(square) + score_error
        ) * score_error
        return Trial(scale, fit, fit.objective / scale + 0.5 * scale, square, error)

    def _fit(self, scale: float, start: Array, tol: float, solver: Solver | str, sums: Sums | None = None) -> Fit:
        """Fit at one scale; ``sums`` are those at the start, where they are known."""
        left = None if self.max_iter is None else max(self.max_iter - self.steps, 0)
        problem = self.problem(scale)
        if sums is not None:
            problem.remember(start, sums)
        fit = fitting.solve(problem, solver=solver, start=start, tol=tol, max_iter=left, time_limit=self.deadline)
        self.steps += len(fit.trace) - 1
        return fit

    def problem(self, scale: float) -> Problem:
        """Return the problem of Huber's loss at one scale."""
        strength = self.penalty_factor * scale
        penalty: Penalty = (
            Ridge(strength, self.penalty_factors) if strength > 0.0 else NoPenalty(len(self.penalty_factors))
        )
        return Problem.of(self.source, Huber(self.epsilon * scale), penalty, self.moments)

    def gap(self, trial: Trial, baseline: float) -> float | None:
        """Return a bound on what G may fall by, from a dual point of the fit at this scale."""
        missing = self._missing(trial)
        if missing is not None and missing <= self.tol * (baseline - trial.value):
            return missing
        shown = self.shown(trial)
        return min((gap for gap in (missing, shown) if gap is not None), default=None)

    def shown(self, trial: Trial) -> float | None:
        """Return the bound by dual points made for the coefficients of a trial, whatever its verdict says."""
        _, weight = self.rows(trial.fit.coef)
        gaps, least = [], self._least(trial)
        for theta in (None,) if least is None else (None, least):
            fit, present = trial.fit, self._present()
            made = partial(gap_of_rows, fit.problem, fit.coef, theta, trial.value, trial.scale, weight, present)
            shown = in_time(graced(self.deadline), made, lambda: None)
            if shown is not None:
                gaps.append(shown)
        return min(gaps, default=None)

    def _least(self, trial: Trial) -> Array | None:
        """Return the dual point that the rows beyond the threshold ask of the others; None for many rows."""
        rows, weight = self.rows(trial.fit.coef)
        if len(rows) > 5000:
            return None
        present = self._present()
        x = np.concatenate(self.source.collect(Cells(np.flatnonzero(present))))
        pull = trial.fit.problem.penalty.gradient(trial.fit.coef)[:, 0]
        theta = np.zeros((len(present), 1))
        theta[present, 0] = least_dual(x, rows, weight, self.epsilon * trial.scale, -pull)
        return theta

    def _missing(self, trial: Trial) -> float | None:
        """Return the bound by the dual point that proves the gap of the fit."""
        inner = trial.fit.verdict.gap
        if inner is None or not trial.fit.verdict.proven:
            return None
        return gap_of_slopes(trial.value, trial.scale, inner, trial.square, trial.error)

    def rows(self, coef: Array) -> tuple[Array, Array]:
        """Return the residuals and the weights, over their sum, of the rows that count."""
        residuals, weights = zip(*self.source.collect(Residuals(coef)), strict=True)
        return np.concatenate(residuals), np.concatenate(weights) / self.moments.weight_sum

    def _present(self) -> Mask:
        return np.asarray(rowwise.weights(self.source) > 0.0)

    def _spread(self) -> tuple[float, float]:
        """Return the root of the mean square of y, less its mean (or what rounding would leave of it), and the largest |y|."""
        blocks = self.source.held() if self.source.resident else []
        if len(blocks) == 1 and blocks[0].weight is None and blocks[0].offset is None:
            spread, largest = float(np.std(blocks[0].y)), float(np.max(np.abs(blocks[0].y), initial=0.0))
        else:
            rows, weight = self.rows(np.zeros((len(self.penalty_factors), 1)))
            spread = float(np.sqrt(weight @ (rows - weight @ rows) ** 2))
            largest = float(np.max(np.abs(rows), initial=0.0))
        return spread or EPS * max(largest, 1.0), largest

    def still(self) -> float | None:
        """Return what rounding leaves of G where y does not vary and the baseline meets it; None where it varies."""
        if (level := self._level()) is None:
            return None
        return max(64 * EPS * abs(level), 2.0 * MIN_SCALE_SHARE * self._spread()[0])

    def _level(self) -> float | None:
        """Return the residual of every row at zero, where it is the same and the baseline takes it away."""
        rows, _ = self.rows(np.zeros((len(self.penalty_factors), 1)))
        level = float(rows[0])
        met = np.all(rows == level) and (level == 0.0 or self.source.leading == "(intercept)")
        return level if met else None

    def _spent(self) -> bool:
        if self.max_iter is not None and self.steps >= self.max_iter:
            self.stopped = f"the limit of {self.max_iter} iterations was reached"
        elif self.deadline is not None and self.deadline.passed:
            self.stopped = LATE
        return bool(self.stopped)


def _huber(loss: Huber, residuals: Array) -> Array:
    return loss.value(np.zeros((len(residuals), 1)), residuals[:, None])


@dataclass(frozen=True)
class Residuals:
    """Residuals ``eta - y`` and weights of a block's rows of positive weight."""

    coef: Array

    def __call__(self, block: Block) -> tuple[Array, Array]:
        """Return two arrays with one number for each of those rows."""
        eta = block.design.times(self.coef) if self.coef.any() else np.zeros_like(block.y)
        eta = eta if block.offset is None else eta + block.offset
        present = block.weights > 0.0
        return (eta - block.y)[present, 0], block.weights[present]
