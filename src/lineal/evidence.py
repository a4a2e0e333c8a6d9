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
from dataclasses import field

import numpy as np
import numpy.typing as npt

from lineal import fitting
from lineal.algebra.doubled import Doubled
from lineal.blas import alone
from lineal.covariance import inverse, root
from lineal.design import Design
from lineal.errors import InputError
from lineal.losses import Squared
from lineal.penalties import NoPenalty, Ridge
from lineal.problem import EPS, Problem
from lineal.records import dataclass
from lineal.source import Source
from lineal.trace import Record, Trace
from lineal.verdict import TOLERANCE, Verdict

Array = npt.NDArray[np.float64]
Pair = npt.NDArray[np.float64]

SMALL = 1e-13
"""Eigenvalues below this share of the largest are rounding errors of zero."""


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
    fit: fitting.Fit = field(repr=False)

    @property
    def strength(self) -> float:
        """The strength of the ridge penalty, ``sigma^2 / (tau^2 S)``."""
        return self.noise / (self.prior * self.fit.problem.moments.weight_sum)

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
    progress: Callable[[Record], None] | None = None,
) -> Evidence:
    """Return the posterior of a ridge; a variance that is not given maximises the evidence.

    ``noise`` is sigma^2, ``prior`` tau^2; the others are scikit-learn's BayesianRidge's: gamma hyperpriors of
    alpha = 1/sigma^2 and lambda = 1/tau^2 (shape _1, rate _2) and where their search begins (without
    lambda_init at two places, of which the more likely end is taken). ``charges`` are 1 for every
    column but the intercept unless given. ``tol`` bounds the slope of the log-evidence by the logs of the variances.
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
    plain = Problem.of(source, Squared(1), NoPenalty(columns))
    hyper = (alpha_1, alpha_2, lambda_1, lambda_2)
    curve = _Curve.of(plain, charges, hyper)
    free = np.array([noise is None, prior is None])
    alpha = 1.0 / noise if noise else alpha_init or 1.0 / (max(curve.null, 0.0) / curve.total + EPS)
    # scikit-learn begins at lambda = 1, which is nowhere in columns of other units: begin at their scale as well.
    typical = alpha * float(np.mean(curve.eigenvalues)) if len(curve.eigenvalues) else 0.0
    begins = [1.0 / prior] if prior else [lambda_init] if lambda_init else [1.0, *([typical] if typical > 0.0 else [])]
    climbs = [_maximise(curve, np.log([alpha, lam]), free, tol, max_iter, progress) for lam in begins]
    logs, trace = max(climbs, key=lambda climb: curve.value(climb[0]))
    alpha, lam = (float(value) for value in np.exp(logs))
    strength = lam / (alpha * curve.total)
    fit = fitting.fit(source, Squared(1), Ridge(strength, charges), moments=plain.moments)
    spread, _ = inverse(fit.problem, fit.coef)
    sigma2, tau2 = 1.0 / alpha, 1.0 / lam
    return Evidence(
        coef=fit.coef,
        verdict=_verdict(fit, curve, logs, free, tol, trace),
        noise=sigma2,
        prior=tau2,
        degrees=curve.degrees(logs),
        log_evidence=curve.value(logs),
        covariance=sigma2 * spread,
        trace=trace,
        fit=fit,
    )


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
    hyper: tuple[float, float, float, float]

    @staticmethod
    def of(problem: Problem, charges: Array, hyper: tuple[float, float, float, float]) -> _Curve:
        """Project the uncharged columns out of the gram of [X y], in double-double, and decompose the rest."""
        normal = problem.normal
        if normal is None:
            raise InputError(f"{problem.shape[0]} columns are too many for the evidence, which needs their gram.")
        scale = normal.scale[:, None] * normal.scale
        gram = Doubled(normal.gram.high / scale, normal.gram.low / scale)
        charged = charges > 0.0
        for j in np.flatnonzero(~charged):
            gram = _eliminated(gram, int(j))
        whole = gram.round()
        keep = np.flatnonzero(charged)
        unit = 1.0 / np.sqrt(charges[keep])
        values, vectors = np.linalg.eigh(whole[np.ix_(keep, keep)] * unit[:, None] * unit)
        real = values > SMALL * max(float(values.max(initial=0.0)), 0.0)
        target = np.where(real, vectors.T @ (unit * whole[keep, -1]), 0.0)
        residual = max(float(normal.residual_squares()[0]), 0.0)
        return _Curve(
            np.where(real, values, 0.0), target, residual, float(whole[-1, -1]), problem.moments.weight_sum, hyper
        )

    def _parts(self, logs: Pair) -> tuple[float, float, float, float, Array]:
        """Return alpha, lambda, the residual sum of squares, |b|^2 and the posterior precisions."""
        alpha, lam = (float(value) for value in np.exp(logs))
        precision = alpha * self.eigenvalues + lam
        coef = alpha * self.target / precision
        held = np.where(self.eigenvalues > 0.0, self.eigenvalues, 1.0)
        # RSS = RSS of least squares + sum d (b - q/d)^2, and b - q/d = -lambda q / (d (alpha d + lambda))
        squares = self.residual + float(np.sum((lam * self.target / precision) ** 2 / held))
        return alpha, lam, squares, float(np.sum(coef**2)), precision

    def degrees(self, logs: Pair) -> float:
        """Return how many charged coefficients the data determine."""
        alpha, _, _, _, precision = self._parts(logs)
        return float(np.sum(alpha * self.eigenvalues / precision))

    def value(self, logs: Pair) -> float:
        """Return the log-evidence, with the hyperpriors' terms (scikit-learn's score)."""
        alpha, lam, squares, size, precision = self._parts(logs)
        alpha_1, alpha_2, lambda_1, lambda_2 = self.hyper
        prior = lambda_1 * logs[1] - lambda_2 * lam + alpha_1 * logs[0] - alpha_2 * alpha
        fit = len(precision) * logs[1] + self.total * logs[0] - alpha * squares - lam * size
        return float(prior + 0.5 * (fit - np.sum(np.log(precision)) - self.total * math.log(2.0 * math.pi)))

    def slope(self, logs: Pair) -> Pair:
        """Return the derivative of the log-evidence by (log alpha, log lambda)."""
        alpha, lam, squares, size, precision = self._parts(logs)
        gamma = float(np.sum(alpha * self.eigenvalues / precision))
        alpha_1, alpha_2, lambda_1, lambda_2 = self.hyper
        return np.array(
            [
                0.5 * (self.total - gamma - alpha * squares) + alpha_1 - alpha_2 * alpha,
                0.5 * (gamma - lam * size) + lambda_1 - lambda_2 * lam,
            ]
        )

    def again(self, logs: Pair) -> Pair:
        """Return MacKay's next pair: each precision as its slope would be zero with the other terms as they are."""
        _, _, squares, size, _ = self._parts(logs)
        gamma = self.degrees(logs)
        alpha_1, alpha_2, lambda_1, lambda_2 = self.hyper
        return np.log(
            [
                max(self.total - gamma + 2.0 * alpha_1, 1e-300) / max(squares + 2.0 * alpha_2, 1e-300),
                max(gamma + 2.0 * lambda_1, 1e-300) / max(size + 2.0 * lambda_2, 1e-300),
            ]
        )


def _maximise(
    curve: _Curve,
    logs: Pair,
    free: npt.NDArray[np.bool_],
    tol: float,
    most: int,
    progress: Callable[[Record], None] | None,
) -> tuple[Pair, Trace]:
    """Climb the log-evidence: Newton steps where it is concave, MacKay's elsewhere; never down."""
    trace, began = Trace(), time.monotonic()
    for number in range(most + 1):
        slope = np.where(free, curve.slope(logs), 0.0)
        norm, value = float(np.linalg.norm(slope)), curve.value(logs)
        record = Record(number, -value, norm, 0, time.monotonic() - began)
        trace.add(record)
        if progress is not None:
            progress(record)
        if norm <= tol:
            break
        candidates = (_newton(curve, logs, slope, free), np.where(free, curve.again(logs), logs))
        better = [c for c in candidates if c is not None and np.all(np.abs(c) < 300.0)]
        values = [curve.value(c) for c in better]
        # Near the top the climb drowns in rounding, and the slope tells.
        norms = [float(np.linalg.norm(np.where(free, curve.slope(c), 0.0))) for c in better]
        noise = 1e-13 * abs(value)
        chosen = [
            (n, c)
            for c, v, n in zip(better, values, norms, strict=True)
            if v > value + noise or (v >= value - noise and n < norm)
        ]
        if not chosen:
            break
        logs = min(chosen, key=lambda pair: pair[0])[1]
    return logs, trace


def _newton(curve: _Curve, logs: Pair, slope: Pair, free: npt.NDArray[np.bool_]) -> Pair | None:
    """Return the Newton step from slopes on both sides, or None where the evidence is not concave."""
    size = 1e-4
    hessian = np.eye(2)
    for j in np.flatnonzero(free):
        move = size * np.eye(2)[j]
        hessian[:, j] = (curve.slope(logs - move) - curve.slope(logs + move)) / (2.0 * size)
    hessian[~free] = np.eye(2)[~free]
    hessian = 0.5 * (hessian + hessian.T) if free.all() else hessian
    if np.any(np.linalg.eigvals(hessian).real <= 0.0):
        return None
    step = np.linalg.solve(hessian, slope)
    return np.asarray(logs + np.clip(step, -3.0, 3.0))


def _verdict(
    fit: fitting.Fit, curve: _Curve, logs: Pair, free: npt.NDArray[np.bool_], tol: float, trace: Trace
) -> Verdict:
    """Return the verdict: that of the ridge where both variances are given, else of the search for them."""
    if not free.any() or not fit.verdict.proven:
        return fit.verdict
    norm = float(np.linalg.norm(np.where(free, curve.slope(logs), 0.0)))
    found: dict[str, object] = {"slope_norm": norm, "tol": tol, "log_evidence": curve.value(logs)}
    found |= {"noise": math.exp(-logs[0]), "prior": math.exp(-logs[1]), "ridge": dict(fit.verdict.evidence)}
    names = [name for name, estimated in zip(("noise", "prior"), free.tolist(), strict=True) if estimated]
    found |= {"free": names, "hyper": list(curve.hyper)}
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
    left = gram + -(row[:, None] * (row[None, :] * Doubled(reciprocal.high[None, None], reciprocal.low[None, None])))
    for part in (left.high, left.low):
        part[j, :] = 0.0
        part[:, j] = 0.0
    return left
