"""Points that are said to have no slope: Firth's likelihood and the evidence of a ridge, differentiated in 640 bits.

Only the functions themselves are written down here; slopes are differences of them at points 2^-160 apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import flint
import numpy as np
from flint import arb, arb_mat

import lineal

from . import designs
from .designs import Draw, pick, power
from .doors import Case, Claim, claim_of
from .judge import EPS, Violation, judge
from .losses import ZERO, Row
from .outcome import Outcome, of_claims
from .problem import BITS, Problem, exact

STEP = arb(2) ** -160
DOORS = ("firth", "bayes", "BayesianRidge")


def drawn(seed: int, index: int, only: str | None = None, *, plain: bool = False) -> Case:
    """Return case number ``index`` of a seed."""
    draw = np.random.default_rng([seed, index, 3])
    door = only if only in DOORS else str(draw.choice(DOORS))
    x, tags = designs.matrix(draw, only, plain=plain)
    x = np.repeat(x, 3, axis=0) if len(x) < 3 else x
    params: dict[str, Any] = {}
    if door == "firth":
        y, tag = designs.classes(draw, x, 2, plain=plain)
        params = {"model": "logistic", "penalty": "firth"}
    else:
        y, tag = designs.numbers(draw, x, plain=plain)
        params = {"model": "bayes"} if door == "bayes" else _hyper(draw)
    if draw.random() < 0.15:
        params["fit_intercept" if door == "BayesianRidge" else "intercept"] = False
        tags.append("no intercept")
    weight, heavy = designs.weights(draw, len(x), plain=plain)
    offset, shifted = designs.offsets(draw, len(x), 1, 1.0 if plain else 30.0)
    X, store = designs.stored(draw, x)
    called = door if door == "BayesianRidge" else "fit"
    return Case(called, params, X, y, weight, offset, [*tags, tag, f"weights {heavy}", f"offset {shifted}", store])


def _hyper(draw: Draw) -> dict[str, Any]:
    return pick(draw, {}, {}, {"alpha_1": power(draw, -3, 0), "lambda_2": power(draw, -3, 0)})


def ask(case: Case) -> list[Outcome]:
    """Make the call, and return its outcomes."""
    if case.door == "fit":
        model = lineal.fit(case.X, case.y, weight=case.weight, offset=case.offset, **case.params)
        verdict = model.verdict
    else:
        more = {} if case.offset is None else {"offset": case.offset}
        estimator = getattr(lineal, case.door)(**case.params).fit(case.X, case.y, sample_weight=case.weight, **more)
        model, verdict = estimator.model_, estimator.verdict_
    if verdict.kind not in ("stationary", "budget") or "slope_norm" not in verdict.evidence:
        return of_claims(case, [claim_of(model, case, verdict, None)])
    claim = claim_of(model, case, verdict, None)
    if model.loss.name == "logistic":
        return [Outcome("firth", verdict.kind, verdict.sentence, lambda: _firth(claim, _total(case)))]
    inner = verdict.evidence["ridge"]
    strength, radius = model.penalty.to_dict()["strength"], inner.get("radius")
    apart = inner["objective"] - inner["lower_bound"] + EPS * abs(inner["objective"])  # a difference of rounded numbers
    gap = apart if radius is None else strength * radius**2 / 2
    # only where the slope is none is the ridge said to be optimal; its gap is stated in any case
    kind = "optimal" if verdict.kind == "stationary" else "budget"
    ridge = Claim(**{**claim.__dict__, "verdict": lineal.Verdict(kind, "", gap, 0.0, inner)})
    if kind == "optimal":
        found = Outcome("evidence", verdict.kind, verdict.sentence, lambda: _evidence(claim, _total(case)))
        return [found, *of_claims(case, [ridge])]
    both = partial(_both, claim, ridge, _total(case))
    return [Outcome("evidence", verdict.kind, verdict.sentence, both)]


def _both(claim: Claim, ridge: Claim, total: arb) -> list[Violation]:
    return [*_evidence(claim, total), *judge(ridge)]


def _total(case: Case) -> arb:
    """Return S, exactly."""
    with flint.ctx.workprec(BITS):
        return arb(case.X.shape[0]) if case.weight is None else sum((arb(float(v)) for v in case.weight), ZERO).mid()


def _slopes(value: Callable[[Row], arb], at: Row) -> Row:
    """Return the derivatives of a function, by differences on both sides."""
    found = []
    for j in range(len(at)):
        up, down = ([v + (sign * STEP if k == j else 0) for k, v in enumerate(at)] for sign in (1, -1))
        found.append(((value(up) - value(down)) / (2 * STEP)).mid())
    return found


# ---------------------------------------------------------------- Firth


def _information(problem: Problem, total: arb, b: Row) -> tuple[arb_mat, Row]:
    """Return ``X'SWX`` and the scores."""
    eta = [row[0] for row in problem.scores([[v] for v in b])]
    w = [q * total / ((1 + e.exp()) * (1 + (-e).exp())) for q, e in zip(problem.share, eta, strict=True)]
    n, p = problem.x.nrows(), problem.columns
    return problem.x.transpose() * arb_mat(n, p, [w[i] * problem.x[i, j] for i in range(n) for j in range(p)]), eta


def _likelihood(problem: Problem, total: arb, b: Row) -> arb:
    """Return ``log L + 1/2 log det X'SWX``."""
    info, eta = _information(problem, total, b)
    rows = [q * total * problem.loss.value(y, [e]) for q, y, e in zip(problem.share, problem.y, eta, strict=True)]
    return info.det().log() / 2 - sum(rows, ZERO)


def _firth(claim: Claim, total: arb) -> list[Violation]:
    with flint.ctx.workprec(BITS):
        problem, b = claim.problem, [row[0] for row in exact(claim.coef)]
        slope = _slopes(lambda at: _likelihood(problem, total, at), b)
        info, _ = _information(problem, total, b)
        p = len(b)
        step, spread = info.solve(arb_mat(p, 1, slope)), info.inv()
        norm = math.sqrt(max(float(sum((g * step[j, 0] for j, g in enumerate(slope)), ZERO)), 0.0))
        value = float(-_likelihood(problem, total, b) / total)
        # a score that is off by e moves the slope by at most e sqrt(sum s w) standard errors; its exponential is as exact
        size = max(
            sum(abs(float(problem.x[i, j]) * float(b[j])) for j in range(p)) + abs(float(problem.offset[i][0]))
            for i in range(problem.x.nrows())
        )
        noise = 8 * (p + 4) * EPS * (1 + size) * math.sqrt(float(total))
        steep = sum(float((info[j, j] * spread[j, j]).mid()) for j in range(p))  # what rounding does to a determinant
        out = _compared(claim, norm, noise, "objective", value, EPS * 64 * (1 + size + steep / float(total)))
        if claim.verdict.kind == "stationary":
            out += _peak(lambda at: _likelihood(problem, total, at), b, info, norm)
        return out


def _compared(claim: Claim, norm: float, noise: float, name: str, value: float, off: float) -> list[Violation]:
    """Compare the norm of a slope, and what it is the slope of, with what is stated."""
    evidence, kind, out = claim.verdict.evidence, claim.verdict.kind, []
    stated, tol = float(evidence["slope_norm"]), float(evidence["tol"])
    hidden = (claim.verdict.reason or "").startswith("rounding hides how small the slope is")  # then it is a bound
    if (norm - stated if hidden else abs(stated - norm)) > 1e-3 * norm + noise:
        out.append(Violation("slope", abs(stated - norm) / tol, f"slope {stated:.4g} stated, {norm:.4g} is true"))
    if kind == "stationary" and norm > tol * (1 + 1e-3) + noise:
        out.append(Violation("stationary", norm / tol, f"stationary at tol {tol:g}, but the slope is {norm:.4g}"))
    off += stated if hidden else 0.0
    if abs(float(evidence[name]) - value) > 1e-10 * (1 + abs(value)) + off:
        out.append(Violation("objective", 1.0, f"{name} {evidence[name]!r}, but {value!r}"))
    return out


def _peak(value: Callable[[Row], arb], b: Row, info: arb_mat, norm: float) -> list[Violation]:
    """A local optimum is no lower than points a hundredth of a standard error away, but for its slope."""
    here, away = value(b), arb(1) / 100
    for j in range(len(b)):
        for sign in (1, -1):
            width = away / info[j, j].sqrt()
            there = value([v + (sign * width if k == j else 0) for k, v in enumerate(b)])
            rise = float(there - here)
            if rise > 2 * norm / 100 + 1e-12:
                return [Violation("local", rise, f"a point beside the local optimum is higher by {rise:.3g}")]
    return []


# ---------------------------------------------------------------- evidence


def _marginal(problem: Problem, total: arb, penalty_factors: Row, hyper: Row, logs: Row) -> arb:
    """Return the log of the evidence at the logs of both precisions, unpenalized columns at their best; hyperpriors added."""
    alpha, lam = logs[0].exp(), logs[1].exp()
    x, n, p = problem.x, problem.x.nrows(), problem.columns
    s = [q * total for q in problem.share]
    y = [t[0] - o[0] for t, o in zip(problem.y, problem.offset, strict=True)]
    scaled = arb_mat(n, p, [s[i] * x[i, j] for i in range(n) for j in range(p)])
    gram, right = x.transpose() * scaled, scaled.transpose() * arb_mat(n, 1, y)
    penalized = [j for j in range(p) if penalty_factors[j] > 0]
    free = [j for j in range(p) if not penalty_factors[j] > 0]
    whole = arb_mat(
        p, p, [alpha * gram[i, j] + (lam * penalty_factors[j] if i == j else 0) for i in range(p) for j in range(p)]
    )
    b = whole.solve(arb_mat(p, 1, [alpha * right[j, 0] for j in range(p)]))
    eta = x * b
    rss = sum((w * (t - eta[i, 0]) ** 2 for i, (w, t) in enumerate(zip(s, y, strict=True))), ZERO)
    size = sum((penalty_factors[j] * b[j, 0] ** 2 for j in penalized), ZERO)
    # det of the penalized part, the free columns projected out: a quotient of two determinants
    det = whole.det()
    for j in penalized:
        det /= penalty_factors[j]
    if free:
        det /= arb_mat(len(free), len(free), [alpha * gram[i, j] for i in free for j in free]).det()
    found = (
        len(penalized) * logs[1] + total * (logs[0] - (2 * arb.pi()).log()) - alpha * rss - lam * size - det.log()
    ) / 2
    return found + hyper[2] * logs[1] - hyper[3] * lam + hyper[0] * logs[0] - hyper[1] * alpha


def _evidence(claim: Claim, total: arb) -> list[Violation]:
    with flint.ctx.workprec(BITS):
        problem, evidence = claim.problem, claim.verdict.evidence
        strength = arb(problem.penalty.strength)
        penalty_factors = [(v / strength).mid() for v in problem.penalty.ridge]
        hyper = [arb(v) for v in evidence["hyper"]]
        logs = [-arb(evidence["noise"]).log(), -arb(evidence["prior"]).log()]
        try:
            slopes = _slopes(lambda at: _marginal(problem, total, penalty_factors, hyper, at), logs)
            value = float(_marginal(problem, total, penalty_factors, hyper, logs))
        except ZeroDivisionError:
            return []  # unpenalized columns that depend on each other
        units = max(1.0, float(total) / 1e7)  # the slope by the noise counts per 1e7 of weight where there is more
        slopes[0] /= units
        norm = math.hypot(
            *(float(s) for s, name in zip(slopes, ("noise", "prior"), strict=True) if name in evidence["free"])
        )
        noise = 1e-9 * float(total) / units
        # the residual sum of squares may be zero but for rounding: alpha multiplies that
        out = _compared(claim, norm, noise, "log_evidence", value, 1e-9 * float(total))
        agreed = float(strength * arb(evidence["prior"]) * total / arb(evidence["noise"]))
        if abs(agreed - 1.0) > 1e-9:
            out.append(Violation("strength", 1.0, f"strength is {agreed!r} times noise / (prior S)"))
        return out
