"""Verdicts without an optimum to prove: bounds that exclude each other, and points without slope."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from lineal.verify.claims.ground import figure, number
from lineal.verify.claims.model import Claims
from lineal.verify.evidence import criteria
from lineal.verify.evidence.gaps import GAP_FIGURES, check_gap, check_within, relative_gap, stated_gap
from lineal.verify.evidence.sentences import (
    EVIDENCE,
    FIRTH,
    HIDDEN,
    check_ending,
    check_keys,
    check_reason,
    check_sentence,
    of_clashes,
    of_slope,
)
from lineal.verify.evidence.tolerances import DEFAULT_TOL, LARGEST_TOL
from lineal.verify.problem.formulas import Point
from lineal.verify.report import Report


def check_infeasible(report: Report, claims: Claims, point: Point) -> None:
    """Check that bounds exclude each other.

    ``u (b - lower) + v (upper - b) >= 0`` with u = v > 0 would say that the upper bound is at least the lower one.
    """
    penalty, listed = point.problem.penalty, claims.evidence.get("clashes")
    true = [claims.columns[j] for j in np.flatnonzero(penalty.lower > penalty.upper)]
    report.check("some column has a lower bound above its upper one", bool(true), f"{len(true)} columns")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    report.check("the clashes name these columns", [entry.get("column") for entry in entries] == true)
    for entry, name in zip(entries, true, strict=True):
        j, pair = claims.columns.index(name), entry.get("multipliers")
        bounds = [entry.get("lower"), entry.get("upper")] == [float(penalty.lower[j]), float(penalty.upper[j])]
        report.check("the bounds of a clash are those of the penalty", bounds, name)
        proof = isinstance(pair, list) and len(pair) == 2 and number(pair[0]) and pair[0] == pair[1] and pair[0] > 0
        report.check("the multipliers of a clash cancel its coefficient, and are above zero", proof, f"{name}: {pair}")
    report.check(
        "no gap is claimed where there are no coefficients", claims.gap is None and claims.relative_gap is None
    )
    check_keys(report, claims.evidence, "clashes")
    for entry in entries:
        check_keys(report, entry, "column", "lower", "upper", "multipliers")
    check_reason(report, claims.reason, "the bounds exclude each other")
    check_sentence(report, claims.sentence, of_clashes(entries))


def check_stationary(report: Report, claims: Claims, _point: Point) -> None:
    """Check that the slope, compared before, is small enough for the word, and that nothing more is claimed."""
    norm, tol = claims.figure("slope_norm"), claims.figure("tol")
    report.check(
        "the slope is within the tolerance of the evidence",
        norm is not None and tol is not None and 0.0 <= norm <= tol <= LARGEST_TOL,
        f"{norm!r} against {tol!r}",
    )
    report.check("no gap is claimed where nothing is convex", claims.gap is None and claims.relative_gap is None)


def check_slope(report: Report, claims: Claims, point: Point) -> None:
    """Compare the norm of the slope, and the value of what was maximized, with the stated ones."""
    given = claims.evidence
    ridge = claims.loss.quadratic and claims.penalty_name == "ridge" and not point.problem.penalty.bounded.any()
    jeffreys = claims.loss.logit and not point.problem.penalty.seen.any()
    report.check("a slope is stated for Firth's likelihood or the evidence of a ridge only", ridge or jeffreys)
    if ridge:
        names = ("noise", "prior")
        whole = all((claims.figure(name) or 0.0) > 0.0 for name in names) and isinstance(given.get("ridge"), dict)
        hyper, free = given.get("hyper"), given.get("free")
        whole = whole and isinstance(hyper, list) and len(hyper) == 4 and all(map(number, hyper))
        whole = whole and isinstance(free, list) and free in (["noise"], ["prior"], ["noise", "prior"])
        report.check("the evidence holds noise, prior, what was estimated and the ridge", whole)
        expected = given["noise"] / (given["prior"] * claims.weight_sum)
        agreed = abs(claims.strength - expected) <= 1e-9 * expected
        report.check("the strength is noise / (prior S)", agreed, f"{expected!r}, stated {claims.strength!r}")
        slope = criteria.evidence(point, claims.weight_sum, claims.penalty_factors, given)
        _ridge(report, claims, point, given["ridge"])
    else:
        slope = criteria.firth(point, claims.weight_sum)
    _slope_figures(report, claims, slope)
    more = ("log_evidence", "noise", "prior", "ridge", "free", "hyper") if ridge else ("objective",)
    check_keys(report, given, "slope_norm", "tol", *more)
    if claims.kind == "budget":
        check_ending(report, claims.reason)
    else:
        check_reason(report, claims.reason, EVIDENCE if ridge else FIRTH)
    norm = claims.figure("slope_norm") or 0.0
    check_sentence(report, claims.sentence, of_slope(claims.kind, norm, claims.reason, ridge=ridge))


def _slope_figures(report: Report, claims: Claims, slope: criteria.Stationary) -> None:
    stated, value = claims.figure("slope_norm"), claims.figure(slope.name)
    off = 1e-3 * slope.norm + slope.allowance
    hidden = claims.kind == "budget" and (claims.reason or "").split("; ")[0] == HIDDEN  # then a bound is stated
    report.check(
        "the norm of the slope is as stated",
        stated is not None
        and math.isfinite(slope.norm)
        and slope.norm - off <= stated <= (math.inf if hidden else slope.norm + off),
        f"{slope.norm!r}, stated {stated!r}",
    )
    tol = claims.figure("tol") or 0.0
    if claims.kind == "stationary" and stated is not None and stated <= tol:  # otherwise nothing is claimed
        report.check(
            "the slope is within the tolerance, rounding included",
            slope.norm + slope.norm_error <= tol * (1.0 + 1e-3),
            f"{slope.norm!r}, known to {slope.norm_error!r}",
        )
    report.check(
        "the value of what was maximised is as stated",
        value is not None
        and abs(value - slope.value) <= 1e-10 * (1.0 + abs(slope.value)) + (slope.norm_error if hidden else 0.0),
        f"{slope.value!r}, stated {value!r}",
    )


def _ridge(report: Report, claims: Claims, point: Point, given: dict[str, Any]) -> None:
    """Prove the coefficients of a ridge whose variances were estimated; its gap is what the radius says."""
    radius, objective, lower = (figure(given, name) for name in ("radius", "objective", "lower_bound"))
    apart = None if objective is None or lower is None else objective - lower
    stated = stated_gap(report, given, apart if radius is None else 0.5 * claims.strength * radius * radius, None)
    report.check("the ridge is proven to the default tolerance", stated.tol == DEFAULT_TOL, f"{stated.tol!r}")
    stated = replace(stated, relative=relative_gap(point, stated))
    check_within(report, stated.relative, stated.tol)
    check_gap(report, claims, point, point.problem.unpenalized, stated)
    check_keys(report, given, *GAP_FIGURES, "radius")
