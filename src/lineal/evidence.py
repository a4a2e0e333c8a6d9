"""The evidence of a ridge: noise and prior variance given or estimated, and the posterior of the coefficients (MAP).

    y = X b + noise,   noise ~ N(0, sigma^2),   b_j ~ N(0, tau^2 / charge_j),   uncharged columns at their best.

The posterior mean minimises ``sum s (y - eta)^2 / (2 sigma^2) + sum charge_j b_j^2 / (2 tau^2)``: it is the ridge of
``strength = sigma^2 / (tau^2 S)``. With the eigenvalues d of the charged columns' gram (the uncharged ones projected out)
the evidence costs one sum over d at any pair of variances, so its maximum is found without touching the rows again.
It may have several: the verdict is ``stationary``, and says "local".
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lineal import _core, fitting
from lineal.algebra.doubled import Doubled
from lineal.algebra.spectrum import decomposed
from lineal.blas import alone
from lineal.certify.proof import Proof
from lineal.closed import brief
from lineal.covariance import inverse, root
from lineal.deadline import LATE, Deadline, Limit, beforehand, in_time
from lineal.design import Design
from lineal.errors import InputError
from lineal.frame import centered
from lineal.losses import Squared
from lineal.moments import Moments
from lineal.penalties import NoPenalty, Ridge
from lineal.problem import EPS, Problem
from lineal.records import dataclass
from lineal.source import Source
from lineal.stopping import Fit
from lineal.trace import Record, Trace
from lineal.verdict import TOLERANCE, Verdict
from lineal.wording import judge

Array = npt.NDArray[np.float64]
Pair = tuple[float, float]
Free = tuple[bool, bool]
Hyper = tuple[float, float, float, float]

FAR = 1e6
"""Columns so many standard deviations from zero are looked at about their center."""


@dataclass(frozen=True)
class Evidence:
    """A ridge with its variances: ``noise`` = sigma^2, ``prior`` = tau^2, and the posterior they give.

    ``covariance`` is that of all coefficients, ``sigma^2 (X'SX + sigma^2/tau^2 D)^-1``, the uncharged ones with a flat
    prior; ``degrees`` counts the charged coefficients the data determine, ``sum d / (d + sigma^2/tau^2)``;
    ``log_evidence`` is the log of the probability of y given the variances, with the hyperpriors' terms.
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
        return np.asarray(self.noise + np.sum(design.times(root(self.covariance)) ** 2, axis=1))


@alone
def evidence(
    source: Source,
    *,
    noise: float | None = None,
    prior: float | None = None,
    charges: Array | None = None,
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
) -> Evidence:
    """Return the posterior of a ridge; a variance that is not given maximises the evidence.

    ``noise`` is sigma^2, ``prior`` tau^2; the others are scikit-learn's BayesianRidge's: gamma hyperpriors of
    alpha = 1/sigma^2 and lambda = 1/tau^2 (shape _1, rate _2) and where their search begins (without
    lambda_init at two places, of which the more likely end is taken). ``charges`` are 1 for every
    column but the intercept unless given. ``tol`` bounds the slope of the log-evidence by the logs of the variances.
    Where ``time_limit`` (seconds, or a Deadline) ends before the variances are known, or leaves no time for the
    eigenvalues, the variances are those that the search begins with, and there is no posterior (``late``).
    """
    for name, value in (("noise", noise), ("prior", prior), ("alpha_init", alpha_init), ("lambda_init", lambda_init)):
        if value is not None and not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{name} is {value}; it must be a finite number above 0.")
    if next(iter(source.blocks())).y.shape[1] != 1:
        raise InputError("the evidence is for one target; fit the targets one by one.")
    columns = len(source.columns)
    if charges is None:
        charges = np.ones(columns)
        charges[: int(source.columns[:1] == ("(intercept)",))] = 0.0
    deadline = Deadline.of(time_limit)
    plain = beforehand(deadline, lambda: Problem.of(source, Squared(1), NoPenalty(columns), moments))
    hyper = (alpha_1, alpha_2, lambda_1, lambda_2)
    # about another center the evidence is the same, and columns far from zero have more digits there
    framed = None if charges[0] > 0.0 else centered(plain, FAR)
    about = plain if framed is None else framed.problem
    curve = in_time(deadline, lambda: _Curve.of(about, charges, hyper, deadline), lambda: None)
    if curve is None:
        begin = noise or 1.0 / (alpha_init or 1.0 / (_spread(source) + EPS)), prior or 1.0 / (lambda_init or 1.0)
        return _unknown(source, charges, plain.moments, begin, tol, deadline)
    free = (noise is None, prior is None)
    alpha = 1.0 / noise if noise else alpha_init or 1.0 / (max(curve.null, 0.0) / curve.total + EPS)
    # scikit-learn begins at lambda = 1, which is nowhere in columns of other units: begin at their scale as well.
    typical = alpha * float(np.mean(curve.eigenvalues)) if len(curve.eigenvalues) else 0.0
    begins = [1.0 / prior] if prior else [lambda_init] if lambda_init else [1.0, *([typical] if typical > 0.0 else [])]
    climbs = [_maximise(curve, (math.log(alpha), math.log(lam)), free, tol, max_iter, progress) for lam in begins]
    top, trace = max(climbs, key=lambda climb: climb[0].value)
    alpha, lam = math.exp(top.logs[0]), math.exp(top.logs[1])
    strength = lam / (alpha * curve.total)
    # a short table is looked at again sooner than it is solved step by step
    short = source.whole is not None and brief(plain.moments.rows, columns)
    known = None if short else plain.moments
    fit = fitting.fit(source, Squared(1), Ridge(strength, charges), moments=known, time_limit=deadline)
    late = fit.verdict.kind == "budget" and deadline is not None and deadline.passed
    spread = np.full((columns, columns), np.nan) if late else inverse(fit.problem, fit.coef)[0]
    sigma2, tau2 = 1.0 / alpha, 1.0 / lam
    return Evidence(
        coef=fit.coef,
        verdict=_verdict(fit, top, curve.hyper, free, tol, trace),
        noise=sigma2,
        prior=tau2,
        degrees=top.degrees,
        log_evidence=top.value,
        covariance=sigma2 * spread,
        trace=trace,
        fit=fit,
    )


def _spread(source: Source) -> float:
    """Return the variance of the target."""
    total, mean, rest = 0.0, 0.0, 0.0
    for block in source.blocks():
        y = block.y[:, 0] if block.offset is None else block.y[:, 0] - block.offset[:, 0]
        weight = np.ones(len(y)) if block.weight is None else block.weight
        added, level = float(weight.sum()), float(weight @ y)
        level = level / added if added > 0.0 else mean
        rest += float(weight @ (y - level) ** 2)
        if total + added > 0.0:
            rest += (level - mean) ** 2 * total * added / (total + added)
            mean += (level - mean) * added / (total + added)
        total += added
    return rest / total


def _unknown(
    source: Source, charges: Array, moments: Moments, begin: Pair, tol: float, deadline: Deadline | None
) -> Evidence:
    """Return the ridge of the variances that the search begins with, unproven: there was no time to look for better ones."""
    strength = begin[0] / (begin[1] * moments.weight_sum)
    fit = fitting.fit(source, Squared(1), Ridge(strength, charges), moments=moments, time_limit=deadline)
    proof = Proof(fit.objective, math.nan, None, reason="a proof would have taken longer")
    verdict, _ = judge(fit.problem, fit.objective, proof, tol, LATE, None)
    fit = replace(fit, verdict=verdict, arrays={})
    nothing = np.full((len(charges), len(charges)), np.nan)
    return Evidence(fit.coef, verdict, *begin, math.nan, math.nan, nothing, fit.trace, fit)


class _Point(NamedTuple):
    """The log-evidence at a pair (log alpha, log lambda), and what is known there."""

    logs: Pair
    value: float
    slope: Pair
    bend: tuple[float, float, float]
    """Its second derivatives: by log alpha twice, by both, by log lambda twice."""
    degrees: float
    """How many charged coefficients the data determine."""
    again: Pair
    """MacKay's next pair: each precision as its slope would be zero with the other terms as they are."""

    def norm(self, free: Free) -> float:
        """Return the size of the slope by what is free."""
        return math.hypot(self.slope[0] if free[0] else 0.0, self.slope[1] if free[1] else 0.0)


@dataclass(frozen=True)
class _Curve:
    """The log-evidence as a function of (log alpha, log lambda), after one eigendecomposition."""

    eigenvalues: Array
    target: Array
    """The target's products with the eigenvectors."""
    residual: float
    """Residual sum of squares of least squares."""
    null: float
    """Sum of squares of what the uncharged columns leave."""
    total: float
    hyper: Hyper

    @staticmethod
    def of(problem: Problem, charges: Array, hyper: Hyper, deadline: Deadline | None = None) -> _Curve:
        """Project the uncharged columns out of the gram of [X y], in double-double, and decompose the rest."""
        normal = problem.normal
        if normal is None:
            raise InputError(f"{problem.shape[0]} columns are too many for the evidence, which needs their gram.")
        scale = normal.scale[:, None] * normal.scale
        gram = Doubled(normal.gram.high / scale, normal.gram.low / scale)
        charged = charges > 0.0
        for j in np.flatnonzero(~charged):
            _core.heed()
            gram = _eliminated(gram, int(j))
        whole = gram.round()
        keep = np.flatnonzero(charged)
        unit = 1.0 / np.sqrt(charges[keep])
        parts = whole[np.ix_(keep, keep)] * unit[:, None] * unit, unit * whole[keep, -1]
        values, target = decomposed(*parts, deadline)
        residual = max(float(normal.residual_squares()[0]), 0.0)
        return _Curve(values, target, residual, float(whole[-1, -1]), problem.moments.weight_sum, hyper)

    @cached_property
    def held(self) -> Array:
        """The eigenvalues, and 1 where there is none."""
        return np.where(self.eigenvalues > 0.0, self.eigenvalues, 1.0)

    def at(self, logs: Pair) -> _Point:
        """Return the log-evidence (scikit-learn's score, with the hyperpriors' terms) and its derivatives."""
        alpha, lam = math.exp(logs[0]), math.exp(logs[1])
        alpha_1, alpha_2, lambda_1, lambda_2 = self.hyper
        precision = alpha * self.eigenvalues + lam
        coef, kept, rest = alpha * self.target / precision, alpha * self.eigenvalues / precision, lam / precision
        degrees, size = float(np.add.reduce(kept)), float(coef @ coef)
        # RSS = RSS of least squares + sum d (b - q/d)^2, and b - q/d = -lambda q / (d (alpha d + lambda))
        lack = rest * self.target
        squares = self.residual + float(lack @ (lack / self.held))
        value = lambda_1 * logs[1] - lambda_2 * lam + alpha_1 * logs[0] - alpha_2 * alpha
        value += 0.5 * (len(coef) * logs[1] + self.total * (logs[0] - math.log(2.0 * math.pi)))
        value -= 0.5 * (alpha * squares + lam * size + float(np.add.reduce(np.log(precision))))
        # by log alpha, kept changes by kept rest, and lam size / 2 by what alpha squares / 2 loses: lam sum b^2 rest
        moved, traded = 0.5 * float(kept @ rest), lam * float((coef * rest) @ coef)
        return _Point(
            logs,
            value,
            (
                0.5 * (self.total - degrees - alpha * squares) + alpha_1 - alpha_2 * alpha,
                0.5 * (degrees - lam * size) + lambda_1 - lambda_2 * lam,
            ),
            (
                traded - moved - 0.5 * alpha * squares - alpha_2 * alpha,
                moved - traded,
                traded - moved - 0.5 * lam * size - lambda_2 * lam,
            ),
            degrees,
            (
                _log((self.total - degrees + 2.0 * alpha_1), squares + 2.0 * alpha_2),
                _log(degrees + 2.0 * lambda_1, size + 2.0 * lambda_2),
            ),
        )


def _log(above: float, below: float) -> float:
    """Return the log of a ratio whose terms may have vanished."""
    return math.log(max(above, 1e-300)) - math.log(max(below, 1e-300))


def _maximise(
    curve: _Curve, logs: Pair, free: Free, tol: float, most: int, progress: Callable[[Record], None] | None
) -> tuple[_Point, Trace]:
    """Climb the log-evidence: Newton steps where it is concave, MacKay's elsewhere; never down."""
    trace, began, here = Trace(), time.monotonic(), curve.at(logs)
    for number in range(most + 1):
        norm = here.norm(free)
        record = Record(number, -here.value, norm, 0, time.monotonic() - began)
        trace.add(record)
        if progress is not None:
            progress(record)
        if norm <= tol:
            break
        better: list[_Point] = []
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


def _only(to: Pair, logs: Pair, free: Free) -> Pair:
    """Return a pair of which only what is free has moved."""
    return to[0] if free[0] else logs[0], to[1] if free[1] else logs[1]


def _newton(here: _Point, free: Free) -> Pair | None:
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


def _verdict(fit: Fit, top: _Point, hyper: Hyper, free: Free, tol: float, trace: Trace) -> Verdict:
    """Return the verdict: that of the ridge where both variances are given, else of the search for them."""
    if not any(free) or not fit.verdict.proven:
        return fit.verdict
    norm = top.norm(free)
    found: dict[str, object] = {"slope_norm": norm, "tol": tol, "log_evidence": top.value}
    found |= {"noise": math.exp(-top.logs[0]), "prior": math.exp(-top.logs[1]), "ridge": dict(fit.verdict.evidence)}
    names = [name for name, estimated in zip(("noise", "prior"), free, strict=True) if estimated]
    found |= {"free": names, "hyper": list(hyper)}
    if norm > tol:
        stopped = f"the search for the variances ended after {len(trace)} steps"
        sentence = f"Stopped without a proof: {stopped}, where the slope of the log-evidence is still {norm:.2g}."
        return Verdict("budget", sentence, None, None, found, stopped)
    reason = "the evidence need not be concave, so another pair of variances may be more likely"
    sentence = (
        f"Stationary: the log-evidence has no slope in the variances (norm {norm:.2g}); that makes them a local optimum, "
        "which may not be the only one. Given them, the coefficients are proven optimal."
    )
    return Verdict("stationary", sentence, None, None, found, reason)


def _eliminated(gram: Doubled, j: int) -> Doubled:
    """Return the gram of what column j cannot explain of the others; its own row and column become zero."""
    pivot = gram[j, j]
    if not pivot.high > 0.0:
        return gram
    guess = Doubled.of(1.0 / pivot.high)
    reciprocal = guess * (Doubled.of(2.0) + -(pivot * guess))
    row = gram[j]
    left = gram + -row[:, None].times((row * reciprocal)[None, :])
    for part in (left.high, left.low):
        part[j, :] = 0.0
        part[:, j] = 0.0
    return left
