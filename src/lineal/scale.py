"""Huber's loss with a scale of its own, fitted together with the coefficients.

    G(b, sigma) = (1/S) sum_i s_i [sigma / 2 + sigma h(r_i / sigma)] + (charge / 2) sum_j d_j b_j^2,    r = X b + offset - y,

h Huber's loss with threshold epsilon (2 S G is scikit-learn's objective with alpha = S charge). G is jointly convex.
For a fixed sigma it is F / sigma + sigma / 2, F the problem of Huber's loss with threshold epsilon sigma and a ridge of
strength charge sigma; and with t = theta / sigma, theta a dual point of that problem, min over b of G has the slope

    (1 - m) / 2,   m = (1/S) sum s t^2

in sigma: so sigma is the root of m = 1, a monotone function. The same t bounds G from below, because

    G >= (1/S) sum s [t r + sigma (1 - t^2) / 2] + ...,   whose least value over sigma >= 0 is finite where m <= 1.

What is missing to that bound is ``gap / sigma + sigma (1 - m) / 2``, gap that of F; where m > 1, a t with a = 1 / sqrt(m)
is allowed, and the bound is concave in t and zero at zero, so that it is at least a times as high.
"""

from __future__ import annotations

import math
from dataclasses import field, replace

import numpy as np
import numpy.typing as npt

from lineal import fitting
from lineal.blas import one_thread
from lineal.certify.rows import bound
from lineal.deadline import LATE, Deadline, Limit, graced, in_time
from lineal.errors import InputError
from lineal.joint import Joint, Point, constant
from lineal.losses import Huber, Squared
from lineal.moments import Moments, survey
from lineal.passes import Sums
from lineal.penalties import NoPenalty, Ridge
from lineal.penalty import Penalty
from lineal.problem import EPS, Problem
from lineal.records import dataclass
from lineal.solver import Solver
from lineal.solvers import Newton
from lineal.source import Source
from lineal.verdict import TOLERANCE, Verdict
from lineal.wording import percent

Array = npt.NDArray[np.float64]

SMALLEST = 1e-9
"""A scale below this share of the spread of y is not distinguished from zero."""

MOST = 100
"""So many scales are tried at most."""

INNER = 1e-2
"""At each scale the gap is to fall below this times tol^2: m and slopes, taken as they are by the bound, go with its root."""


@dataclass(frozen=True)
class ScaledFit:
    """Coefficients and scale, the verdict on both, and the fit of Huber's loss at that scale."""

    coef: Array
    scale: float
    verdict: Verdict
    objective: float
    steps: int
    fit: fitting.Fit = field(repr=False)


@dataclass(frozen=True)
class _Trial:
    """One scale: the fit at it, G there, and m, known to ``error``."""

    scale: float
    fit: fitting.Fit
    value: float
    square: float
    error: float


def scaled_huber(
    source: Source,
    epsilon: float,
    charge: float,
    charges: Array,
    *,
    tol: float = TOLERANCE,
    max_iter: int | None = None,
    time_limit: Limit = None,
    start: Array | None = None,
    scale: float = math.inf,
) -> ScaledFit:
    """Minimise G over coefficients and scale; ``charge`` is the strength of its ridge, d the ``charges``.

    ``max_iter`` limits the Newton steps at all scales together, ``time_limit`` the seconds (or is a Deadline); ``start`` and
    its ``scale`` are where they begin.
    """
    if not epsilon >= 1.0:
        raise InputError(f"epsilon is {epsilon}; it must be at least 1, or no scale above zero would be optimal.")
    # Numbers that are no doubles any more are looked at where they matter.
    deadline = Deadline.of(time_limit)
    quiet = np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore")
    with quiet, one_thread(source, 1):
        search = _Search(source, epsilon, charge, charges, tol, max_iter, deadline)
        null = search.null()
        found = search.run(start, null, scale)
        gap = search.gap(found, null)
        still = search.still()
    if still is not None and gap is not None and gap <= still:
        verdict = _still(found, gap, null, tol)
    else:
        verdict = _verdict(found, gap, null, tol, search.stopped)
    return ScaledFit(found.fit.coef, found.scale, verdict, found.value, search.steps, found.fit)


class _Search:
    """Newton steps in coefficients and scale; where these fail, the root of m = 1, each fit from where the last ended."""

    def __init__(
        self, source: Source, epsilon: float, charge: float, charges: Array, tol: float, max_iter: int | None,
        deadline: Deadline | None,
    ) -> None:  # fmt: skip
        self.source, self.epsilon, self.charge, self.charges = source, epsilon, charge, charges
        self.tol, self.max_iter, self.deadline = tol, max_iter, deadline
        self.moments: Moments = survey(source, Huber(1.0))
        self.joint = Joint(source, self.moments, epsilon, charge, charges)
        self.steps = 0
        self.stopped = ""

    def run(self, start: Array | None, null: float, scale: float) -> _Trial:
        """Return the last trial: coefficients and scale within the tolerance, or the budget is used up."""
        floor = max(SMALLEST * self._spread(), 1e-100)
        given = (start, floor, self.tol, null, self.max_iter, scale)
        point = in_time(self.deadline, lambda: self.joint.minimum(*given), lambda: None)
        self.steps = self.joint.steps
        if point is None:
            return self._by_scale(start, null, floor)
        trial = self._of(point)
        if self._spent() or (missing := self._missing(trial)) is None or missing <= self.tol * (null - trial.value):
            return trial
        return self._by_scale(trial.fit.coef, null, floor)

    def _of(self, point: Point) -> _Trial:
        """Return the fit at the scale of a point, from its coefficients on."""
        found = self._fit(point.scale, point.coef, self.tol, Newton(sampled=False), point.sums)
        if not np.array_equal(found.coef, point.coef):
            point = self.joint.at(found.coef, point.scale)
        return _Trial(point.scale, found, found.objective / point.scale + 0.5 * point.scale, point.square, point.error)

    def _by_scale(self, start: Array | None, null: float, floor: float) -> _Trial:
        """Return the trial at the root of m = 1."""
        columns = len(self.charges)
        if start is None:
            first: Penalty = Ridge(self.charge, self.charges) if self.charge > 0.0 else NoPenalty(columns)
            start = fitting.fit(self.source, Squared(1), first, moments=self.moments, time_limit=self.deadline).coef
        rows, weight = self.rows(start)
        scale = max(best_scale(rows, weight, self.epsilon), floor)
        low, high, last = floor, math.inf, None
        trial = self.at(scale, start)
        for _ in range(MOST):
            if self._spent():
                break
            enough = 0.2 * self.tol * max(null - trial.value, 0.0)
            if trial.square <= 1.0 and (0.5 * scale * (1.0 - trial.square) <= enough or scale <= floor):
                break
            low, high = (max(low, scale), high) if trial.square > 1.0 else (low, min(high, scale))
            if high <= low * (1.0 + 1e-15):
                break
            scale, last = self._next(trial, last, low, high), trial
            trial = self.at(scale, trial.fit.coef)
        return self.at(trial.scale, trial.fit.coef, tol=self.tol)

    def null(self) -> float:
        """Return the best G of the intercept alone; of zeros where there is none, or nothing but a scale in turn with it."""
        if self.source.columns[:1] == ("(intercept)",):
            one = replace(self.moments, mean=np.ones(1), scatter=np.zeros(1), largest=np.ones(1))
            alone = Joint(constant(self.source), one, self.epsilon, 0.0, np.zeros(1))
            if (found := alone.minimum(None, 1e-100, 1e-3, math.inf, None)) is not None:
                return found.value
        rows, weight = self.rows(np.zeros((len(self.charges), 1)))
        level, value = 0.0, math.inf
        for _ in range(MOST):
            scale = max(best_scale(rows + level, weight, self.epsilon), 1e-100)
            loss = Huber(self.epsilon * scale)
            last, value = value, float(0.5 * scale + weight @ _huber(loss, rows + level) / scale)
            if self.source.columns[:1] != ("(intercept)",) or value >= last * (1.0 - 1e-9):
                break
            level = _level(rows, weight, loss.threshold)
        return value

    def _next(self, trial: _Trial, last: _Trial | None, low: float, high: float) -> float:
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

    def at(self, scale: float, start: Array, tol: float | None = None) -> _Trial:
        """Fit at one scale, far below the tolerance unless one is given."""
        found = self._fit(scale, start, INNER * self.tol**2 if tol is None else tol, "auto")
        rows, weight = self.rows(found.coef)
        square = float(weight @ np.clip(rows / scale, -self.epsilon, self.epsilon) ** 2)
        return _Trial(scale, found, found.objective / scale + 0.5 * scale, square, 1e-12 * square)

    def _fit(
        self, scale: float, start: Array, tol: float, solver: Solver | str, sums: Sums | None = None
    ) -> fitting.Fit:
        """Fit at one scale; ``sums`` are those at the start, where they are known."""
        left = None if self.max_iter is None else max(self.max_iter - self.steps, 0)
        strength = self.charge * scale
        penalty: Penalty = Ridge(strength, self.charges) if strength > 0.0 else NoPenalty(len(self.charges))
        problem = Problem.of(self.source, Huber(self.epsilon * scale), penalty, self.moments)
        if sums is not None:
            problem.remember(start, sums)
        found = fitting.solve(problem, solver=solver, start=start, tol=tol, max_iter=left, time_limit=self.deadline)
        self.steps += len(found.trace) - 1
        return found

    def gap(self, trial: _Trial, null: float) -> float | None:
        """Return a bound on what G may fall by, from a dual point of the fit at this scale."""
        missing = self._missing(trial)
        if missing is not None and missing <= self.tol * (null - trial.value):
            return missing
        shown = in_time(graced(self.deadline), lambda: bound(trial.fit.problem, trial.fit.coef), lambda: None)
        if shown is None or shown.gap is None or shown.theta is None:
            return missing
        _, weight = self.rows(trial.fit.coef)
        square = float(weight @ (shown.theta[self._present(), 0] / trial.scale) ** 2)
        other = _total(trial, shown.gap, square, square * (1.0 + 1e-12))
        return other if missing is None else min(missing, other)

    def _missing(self, trial: _Trial) -> float | None:
        """Return the bound by the dual point that proves the gap of the fit.

        Mismatches of Huber's loss are at least (slope - theta)^2 / 2, so the roots of m of both differ by at most
        sqrt(2 gap) / sigma.
        """
        inner = trial.fit.verdict.gap
        if inner is None or not trial.fit.verdict.proven:
            return None
        apart = math.sqrt(2.0 * inner) / trial.scale
        low = max(math.sqrt(max(trial.square - trial.error, 0.0)) - apart, 0.0) ** 2
        return _total(trial, inner, low, (math.sqrt(trial.square + trial.error) + apart) ** 2)

    def rows(self, coef: Array) -> tuple[Array, Array]:
        """Return the residuals and the weights, over their sum, of the rows that count."""
        residuals, weights = [], []
        for block in self.source.blocks():
            eta = block.design.times(coef) if coef.any() else np.zeros_like(block.y)
            eta = eta if block.offset is None else eta + block.offset
            weight = np.ones(block.n_rows) if block.weight is None else block.weight
            residuals.append((eta - block.y)[weight > 0.0, 0])
            weights.append(weight[weight > 0.0])
        return np.concatenate(residuals), np.concatenate(weights) / self.moments.weight_sum

    def _present(self) -> npt.NDArray[np.bool_]:
        return np.concatenate(
            [np.ones(b.n_rows, dtype=bool) if b.weight is None else b.weight > 0.0 for b in self.source.blocks()]
        )

    def _spread(self) -> float:
        """Return the root of the mean square of y, less its mean; where it does not vary, what rounding would leave of it."""
        blocks = list(self.source.blocks()) if self.source.resident else []
        if len(blocks) == 1 and blocks[0].weight is None and blocks[0].offset is None:
            spread, largest = float(np.std(blocks[0].y)), float(np.max(np.abs(blocks[0].y), initial=1.0))
        else:
            rows, weight = self.rows(np.zeros((len(self.charges), 1)))
            spread = float(np.sqrt(weight @ (rows - weight @ rows) ** 2))
            largest = float(np.max(np.abs(rows), initial=1.0))
        return spread or EPS * largest

    def still(self) -> float | None:
        """Return what rounding leaves of G where y does not vary and the null fit meets it; None where it varies."""
        rows, _ = self.rows(np.zeros((len(self.charges), 1)))
        level = float(rows[0])
        if np.any(rows != level) or (level != 0.0 and self.source.leading != "(intercept)"):
            return None
        return max(64 * EPS * abs(level), 2.0 * SMALLEST * self._spread())

    def _spent(self) -> bool:
        if self.max_iter is not None and self.steps >= self.max_iter:
            self.stopped = f"the limit of {self.max_iter} iterations was reached"
        elif self.deadline is not None and self.deadline.passed:
            self.stopped = LATE
        return bool(self.stopped)


def _total(trial: _Trial, gap: float, low: float, high: float) -> float:
    """Return what is missing to the bound of a dual point with this gap, whose m is between ``low`` and ``high``."""
    share = min(1.0, 1.0 / math.sqrt(high)) if high > 0.0 else 1.0
    return max((1.0 - share) * trial.value + share * (gap / trial.scale + 0.5 * trial.scale * (1.0 - low)), 0.0)


def best_scale(residuals: Array, weight: Array, epsilon: float) -> float:
    """Return the scale that minimises G for given residuals: ``sum over |r| <= epsilon sigma of w (r / sigma)^2 + rest = 1``.

    >>> round(best_scale(np.array([3.0, -4.0]), np.array([0.5, 0.5]), 10.0) ** 2, 9)
    12.5
    """
    order = np.argsort(np.abs(residuals), kind="stable")[::-1]
    size, w = np.abs(residuals)[order], weight[order]
    # with the k largest beyond the threshold: sigma^2 = (sum of the others' squares) / (1 - epsilon^2 (their weight))
    left = 1.0 - epsilon**2 * np.concatenate([[0.0], np.cumsum(w)[:-1]])
    squares = np.cumsum((w * size**2)[::-1])[::-1]
    possible = left > 0.0
    scale = np.sqrt(squares / np.where(possible, left, 1.0))
    fits = np.flatnonzero(possible & (size <= epsilon * scale))
    if len(fits):
        return float(scale[fits[0]])
    beyond = np.flatnonzero(~possible)
    return float(size[beyond[0] if len(beyond) else -1]) / epsilon


def _huber(loss: Huber, residuals: Array) -> Array:
    return loss.value(np.zeros((len(residuals), 1)), residuals[:, None])


def _level(rows: Array, weight: Array, threshold: float) -> float:
    """Return the constant c at which Huber's slopes of rows + c sum to zero, by halving."""
    low, high = float(-np.max(rows)), float(-np.min(rows))
    for _ in range(80):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        slope = float(weight @ np.clip(rows + middle, -threshold, threshold))
        low, high = (middle, high) if slope < 0.0 else (low, middle)
    return low


def _still(found: _Trial, gap: float, null: float, tol: float) -> Verdict:
    """Return the verdict where y does not vary: G is at least 0, and falls to it with the scale."""
    evidence: dict[str, object] = {"objective": found.value, "scale": found.scale, "null_objective": null, "tol": tol}
    evidence |= {"given_scale": dict(found.fit.verdict.evidence), "lower_bound": max(found.value - gap, 0.0)}
    sentence = (
        f"Optimal: y does not vary, the intercept meets it, and the scale is at its lower bound, {found.scale:.2g} "
        f"(gap {gap:.2g}, rounding of y, proven)."
    )
    return Verdict("optimal", sentence, gap, 0.0, evidence)


def _verdict(found: _Trial, gap: float | None, null: float, tol: float, stopped: str) -> Verdict:
    """Return the verdict on coefficients and scale together."""
    inner = found.fit.verdict
    evidence: dict[str, object] = {"objective": found.value, "scale": found.scale, "null_objective": null, "tol": tol}
    evidence["given_scale"] = dict(inner.evidence)
    if gap is None:
        reason = (
            f"{stopped}; {inner.reason or 'no dual point was found'}" if stopped else inner.reason or "no dual point"
        )
        return Verdict("budget", f"Stopped without a proof: {reason}.", None, None, evidence, reason)
    evidence["lower_bound"] = found.value - gap
    gain = null - (found.value - gap)
    tiny = 64 * np.finfo(float).eps * abs(null)
    relative = 0.0 if gap <= tiny else gap / gain if gain > 0.0 else math.inf
    if relative > tol:
        reason = stopped or "rounding error allows no further progress"
        sentence = f"Not optimal yet: {reason}. The loss could still fall by up to {percent(relative)} (gap {gap:.2g})."
        return Verdict("budget", sentence, gap, relative, evidence, reason)
    kind = inner.kind if inner.kind in ("optimal", "not_unique") else "optimal"
    sentence = (
        f"Optimal{' but not unique' if kind == 'not_unique' else ''}: coefficients and scale together cannot be improved "
        f"by more than {percent(relative)} (gap {gap:.2g}, proven)."
    )
    return Verdict(kind, sentence, gap, relative, evidence)
