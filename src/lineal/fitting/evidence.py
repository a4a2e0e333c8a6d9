"""The evidence of a ridge: noise and prior variance given or estimated, and the posterior of the coefficients (MAP).

    y = X b + noise,   noise ~ N(0, sigma^2),   b_j ~ N(0, tau^2 / factor_j),   unpenalized columns at their best.

The posterior mean minimises ``sum s (y - eta)^2 / (2 sigma^2) + sum factor_j b_j^2 / (2 tau^2)``: it is the ridge of
``strength = sigma^2 / (tau^2 S)``. With the eigenvalues d of the penalized columns' gram (the unpenalized ones projected out)
the evidence costs one sum over d at any pair of variances, so its maximum is found without touching the rows again.
It may have several: the verdict is ``stationary``, and says "local".
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import field, replace

import numpy as np

from lineal.algebra.spectrum import root
from lineal.certify.proof import Proof
from lineal.certify.wording import judge
from lineal.designs.center import scores
from lineal.designs.design import Design
from lineal.errors import InputError
from lineal.fitting import fitting
from lineal.fitting.causes import explained
from lineal.fitting.covariance import inverse
from lineal.fitting.marginal import Curve, Free, Pair, Point
from lineal.fitting.small_fit import brief
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array
from lineal.ground.deadline import LATE, Deadline, Limit, beforehand, in_time
from lineal.ground.records import dataclass
from lineal.losses import Squared
from lineal.model.trace import Record, Trace
from lineal.model.verdict import HIDDEN, TOLERANCE, Verdict
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.blas import alone
from lineal.problem.frame import centered
from lineal.problem.moments import Moments
from lineal.problem.problem import EPS, Problem
from lineal.sources.source import Block, Source


@dataclass(frozen=True)
class Evidence:
    """A ridge with its variances: ``noise`` = sigma^2, ``prior`` = tau^2, and the posterior they give.

    ``covariance`` is that of all coefficients, ``sigma^2 (X'SX + sigma^2/tau^2 D)^-1``, the unpenalized ones with a flat
    prior; ``degrees`` counts the penalized coefficients the data determine, ``sum d / (d + sigma^2/tau^2)``;
    ``log_evidence`` is the log of the probability of y given the variances, with the hyperpriors' terms. The covariance is
    that of columns less ``center``, where there is one.
    """

    coef: Array
    verdict: Verdict
    noise: float
    prior: float
    degrees: float
    log_evidence: float
    covariance: Array = field(repr=False)
    trace: Trace = field(repr=False)
    fit: Fit = field(repr=False)
    center: Array | None = field(default=None, repr=False)

    @property
    def strength(self) -> float:
        """The strength of the ridge penalty, ``sigma^2 / (tau^2 S)``."""
        return self.noise / (self.prior * self.fit.problem.moments.weight_sum)

    @property
    def late(self) -> bool:
        """Whether a time limit left no posterior: only the coefficients and the variances they belong to."""
        return bool(np.isnan(self.covariance).all())

    def variance(self, design: Design) -> Array:
        """Return the predictive variance of every row, ``sigma^2 + x' covariance x``, shape (n,)."""
        return np.asarray(self.noise + np.sum(scores(design, root(self.covariance), self.center) ** 2, axis=1))


@alone
def evidence(
    source: Source,
    *,
    noise: float | None = None,
    prior: float | None = None,
    penalty_factors: Array | None = None,
    alpha_1: float = 1e-6,
    alpha_2: float = 1e-6,
    lambda_1: float = 1e-6,
    lambda_2: float = 1e-6,
    alpha_init: float | None = None,
    lambda_init: float | None = None,
    tol: float = TOLERANCE,
    max_iter: int = 300,
    time_limit: Limit = None,
    moments: Moments | None = None,
    progress: Callable[[Record], None] | None = None,
    keep: bool = False,
) -> Evidence:
    """Return the posterior of a ridge; a variance that is not given maximises the evidence.

    ``noise`` is sigma^2, ``prior`` tau^2; the others are scikit-learn's BayesianRidge's: gamma hyperpriors of
    alpha = 1/sigma^2 and lambda = 1/tau^2 (shape _1, rate _2) and where their search begins (without
    lambda_init at two places, of which the more likely end is taken). ``penalty_factors`` are 1 for every
    column but the intercept unless given. ``tol`` bounds the slope of the log-evidence by the logs of the variances.
    Where ``time_limit`` (seconds, or a Deadline) ends before the variances are known, or leaves no time for the
    eigenvalues, the variances are those that the search begins with, and there is no posterior (``late``). ``keep`` says that
    the caller can predict about a center, the array ``center`` of the fit, and knows of the ``center`` of the covariance.
    """
    for name, value in (("noise", noise), ("prior", prior), ("alpha_init", alpha_init), ("lambda_init", lambda_init)):
        if value is not None and not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{name} is {value}; it must be a finite number above 0.")
    if source.head().y.shape[1] != 1:
        raise InputError("the evidence is for one target; fit the targets one by one.")
    columns = len(source.columns)
    if penalty_factors is None:
        penalty_factors = np.ones(columns)
        penalty_factors[: int(source.columns[:1] == ("(intercept)",))] = 0.0
    deadline = Deadline.of(time_limit)
    plain = beforehand(deadline, lambda: Problem.of(source, Squared(1), NoPenalty(columns), moments))
    hyper = (alpha_1, alpha_2, lambda_1, lambda_2)
    # about another center the evidence is the same, and columns far from zero have more digits there
    framed = None if penalty_factors[0] > 0.0 else centered(plain, 1e3)
    about = plain if framed is None else framed.problem
    curve = in_time(deadline, lambda: Curve.of(about, penalty_factors, hyper, deadline), lambda: None)
    if curve is None:
        begin = noise or 1.0 / (alpha_init or 1.0 / (_spread(source) + EPS)), prior or 1.0 / (lambda_init or 1.0)
        return _unknown(source, penalty_factors, plain.moments, begin, tol, deadline)
    free = (noise is None, prior is None)
    logs = _beginnings(curve, noise, prior, alpha_init, lambda_init)
    curve, top, trace = _resolved(curve, logs, free, tol, max_iter, progress)
    alpha, lam = math.exp(top.logs[0]), math.exp(top.logs[1])
    strength = lam / (alpha * curve.total)
    # a short table is looked at again sooner than it is solved step by step
    short = source.whole is not None and brief(plain.moments.rows, columns)
    known = None if short else plain.moments
    fit = fitting.fit(
        source, Squared(1), Ridge(strength, penalty_factors), moments=known, time_limit=deadline, keep=keep
    )
    late = fit.verdict.kind == "budget" and deadline is not None and deadline.passed
    spread, center = np.full((columns, columns), np.nan), fit.arrays.get("center")
    if not late and keep and center is None and framed is not None:
        center = framed.center
        spread, _ = inverse(framed.problem.at(fit.problem.penalty), framed.inward(fit.coef))
    elif not late:
        spread, _ = inverse(fit.problem, fit.coef)
    sigma2, tau2 = 1.0 / alpha, 1.0 / lam
    return Evidence(
        coef=fit.coef,
        verdict=_verdict(fit, top, curve, free, tol, trace, plain),
        noise=sigma2,
        prior=tau2,
        degrees=top.degrees,
        log_evidence=top.value,
        covariance=sigma2 * spread,
        trace=trace,
        fit=fit,
        center=center,
    )


def _beginnings(
    curve: Curve, noise: float | None, prior: float | None, alpha_init: float | None, lambda_init: float | None
) -> list[tuple[float, float]]:
    """Return where the search begins, as logs of alpha and lambda."""
    alpha = 1.0 / noise if noise else alpha_init or 1.0 / (max(curve.baseline, 0.0) / curve.total + EPS)
    # scikit-learn begins at lambda = 1, which is nowhere in columns of other units: begin at their scale as well.
    typical = alpha * float(np.mean(curve.eigenvalues)) if len(curve.eigenvalues) else 0.0
    begins = [1.0, typical] if typical > 0.0 else [1.0]
    if prior:
        begins = [1.0 / prior]
    elif lambda_init:
        begins = [lambda_init]
    return [(math.log(alpha), math.log(lam)) for lam in begins]


def _spread(source: Source) -> float:
    """Return the variance of the target."""
    scatter = source.sum(Spread())
    return scatter.scatter / scatter.total


@dataclass(frozen=True)
class Scatter:
    """Weight, mean, and the summed squares of what differs from the mean."""

    total: float
    mean: float
    scatter: float

    def __add__(self, other: Scatter) -> Scatter:
        both = self.total + other.total
        if both == 0.0:
            return self
        apart = other.mean - self.mean
        between = apart**2 * self.total * other.total / both
        return Scatter(both, self.mean + apart * other.total / both, self.scatter + other.scatter + between)


@dataclass(frozen=True)
class Spread:
    """The task that sums up how the target, less its offset, varies."""

    def __call__(self, block: Block) -> Scatter:
        """Sum over one block."""
        y = block.y[:, 0] if block.offset is None else block.y[:, 0] - block.offset[:, 0]
        total, level = float(block.weights.sum()), float(block.weights @ y)
        mean = level / total if total > 0.0 else 0.0
        return Scatter(total, mean, float(block.weights @ (y - mean) ** 2))


def _unknown(
    source: Source, penalty_factors: Array, moments: Moments, begin: Pair, tol: float, deadline: Deadline | None
) -> Evidence:
    """Return the ridge of the variances that the search begins with, unproven: there was no time to look for better ones."""
    strength = begin[0] / (begin[1] * moments.weight_sum)
    fit = fitting.fit(source, Squared(1), Ridge(strength, penalty_factors), moments=moments, time_limit=deadline)
    proof = Proof(fit.objective, math.nan, None, reason="a proof would have taken longer")
    verdict, _ = judge(fit.problem, fit.objective, proof, tol, LATE, None)
    fit = replace(fit, verdict=verdict, arrays={})
    nothing = np.full((len(penalty_factors), len(penalty_factors)), np.nan)
    return Evidence(fit.coef, verdict, *begin, math.nan, math.nan, nothing, fit.trace, fit)


def _maximise(
    curve: Curve, logs: Pair, free: Free, tol: float, most: int, progress: Callable[[Record], None] | None
) -> tuple[Point, Trace]:
    """Climb the log-evidence: Newton steps where it is concave, MacKay's elsewhere; never down."""
    trace, began, here = Trace(), time.monotonic(), curve.at(logs)
    for number in range(most + 1):
        norm = here.norm(free)
        record = Record(number, -here.value, norm, 0, time.monotonic() - began)
        trace.add(record)
        if progress is not None:
            progress(record)
        if norm <= 0.5 * tol:  # the rest is for rounding
            break
        better: list[Point] = []
        noise = 1e-13 * abs(here.value)
        for step in (_newton(here, free), _only(here.again, here.logs, free)):
            if step is None or max(abs(step[0]), abs(step[1])) >= 300.0:
                continue
            there = curve.at(step)
            # Near the top the climb drowns in rounding, and the slope tells.
            if there.value > here.value + noise or (there.value >= here.value - noise and there.norm(free) < norm):
                better.append(there)
            if better and there.norm(free) <= 0.01 * norm:
                break  # MacKay's step would not do better
        if not better:
            break
        here = min(better, key=lambda there: there.norm(free))
    return here, trace


def _highest(
    curve: Curve, begins: list[Pair], free: Free, tol: float, most: int, progress: Callable[[Record], None] | None
) -> tuple[Point, Trace]:
    """Return the more likely end of climbs from several places."""
    climbs = [_maximise(curve, logs, free, tol, most, progress) for logs in begins]
    return max(climbs, key=lambda climb: climb[0].value)


def _resolved(
    curve: Curve, begins: list[Pair], free: Free, tol: float, most: int, progress: Callable[[Record], None] | None
) -> tuple[Curve, Point, Trace]:
    """Return the most likely end; where rounding leaves its slope in doubt, by eigenvalues with more digits."""
    top, trace = _highest(curve, begins, free, tol, most, progress)
    slope_error = curve.slope_error(top.logs, free)
    if top.norm(free) + slope_error > tol or slope_error > 1e-2 * tol:
        finer = curve.resolved()
        again = _highest(finer, [*begins, top.logs], free, tol, most, progress)
        if finer.slope_error(again[0].logs, free) < slope_error:
            return finer, *again
    return curve, top, trace


def _only(to: Pair, logs: Pair, free: Free) -> Pair:
    """Return a pair of which only what is free has moved."""
    return to[0] if free[0] else logs[0], to[1] if free[1] else logs[1]


def _newton(here: Point, free: Free) -> Pair | None:
    """Return the Newton step by what is free, or None where the evidence is not concave in it."""
    first, last = (-here.bend[0] if free[0] else 1.0), (-here.bend[2] if free[1] else 1.0)
    both = -here.bend[1] if all(free) else 0.0
    volume = first * last - both * both
    if not (first > 0.0 and volume > 0.0):
        return None
    step = (
        (last * here.slope[0] - both * here.slope[1]) / volume,
        (first * here.slope[1] - both * here.slope[0]) / volume,
    )
    to = here.logs[0] + min(max(step[0], -3.0), 3.0), here.logs[1] + min(max(step[1], -3.0), 3.0)
    return _only(to, here.logs, free)


def _verdict(fit: Fit, top: Point, curve: Curve, free: Free, tol: float, trace: Trace, problem: Problem) -> Verdict:
    """Return the verdict: that of the ridge where both variances are given, else of the search for them."""
    if not any(free) or not fit.verdict.proven:
        return fit.verdict
    norm, slope_error = top.norm(free), curve.slope_error(top.logs, free)
    figures: dict[str, object] = {"slope_norm": norm, "tol": tol, "log_evidence": top.value}
    figures |= {"noise": math.exp(-top.logs[0]), "prior": math.exp(-top.logs[1]), "ridge": dict(fit.verdict.evidence)}
    names = [name for name, estimated in zip(("noise", "prior"), free, strict=True) if estimated]
    figures |= {"free": names, "hyper": list(curve.hyper)}
    if not norm + slope_error <= tol:
        stopped = f"the search for the variances ended after {len(trace)} steps"
        if norm <= tol or slope_error > 1e-3 * norm:  # what can be said is that it is no larger
            norm += slope_error
            figures["slope_norm"] = norm
            stopped = explained(problem, fit.plain, HIDDEN)
        sentence = f"Stopped without a proof: {stopped}, where the slope of the log-evidence is still {norm:.2g}."
        return Verdict("budget", sentence, None, None, figures, stopped)
    reason = "the evidence need not be concave, so another pair of variances may be more likely"
    sentence = (
        f"Stationary: the log-evidence has no slope in the variances (norm {norm:.2g}); that makes them a local optimum, "
        "which may not be the only one. Given them, the coefficients are proven optimal."
    )
    return Verdict("stationary", sentence, None, None, figures, reason)
