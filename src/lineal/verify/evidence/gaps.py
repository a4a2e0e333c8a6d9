"""What a verdict with a gap states, against the gap that is proven: gap, lower bound, baseline fit, relative gap and radius."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lineal.verify.arithmetic import EPS, Index
from lineal.verify.claims.ground import figure, number
from lineal.verify.claims.model import Claims
from lineal.verify.evidence.tolerances import (
    GAP_SLACK_SHARE,
    LARGEST_TOL,
    NULL_PATH_SHARE,
    NULL_SHARE,
    PROOF_ROUNDING_SHARE,
    STATED_GAP_FACTOR,
    above,
    check_objective,
    unseen,
)
from lineal.verify.problem.centering import centered
from lineal.verify.problem.dependence import NotProvenError
from lineal.verify.problem.formulas import Point
from lineal.verify.proof.baseline import baseline_objective
from lineal.verify.proof.bound import Gap, eased_gap
from lineal.verify.proof.lighter import lighter_bound
from lineal.verify.report import Report

GAP_FIGURES = ("objective", "lower_bound", "null_objective", "tol")
"""What the evidence of a gap holds; with a ridge on every column but the intercept also ``radius``."""


@dataclass(frozen=True)
class Stated:
    """The figures of a verdict, or of the ridge within one, about a gap."""

    gap: float
    relative: float | None
    objective: float
    lower: float
    baseline: float
    tol: float
    radius: float | None = None


def stated_gap(report: Report, evidence: Mapping[str, Any], gap: float | None, relative: float | None) -> Stated:
    """Return what the evidence states about a gap; every figure must be there."""
    absent = [name for name in GAP_FIGURES if not number(evidence.get(name))]
    report.check(
        "the evidence holds objective, lower bound, null objective and tolerance", not absent, ", ".join(absent)
    )
    report.check("a gap is stated", gap is not None and math.isfinite(gap), f"{gap!r}")
    objective, lower, baseline, tol = (float(evidence[name]) for name in GAP_FIGURES)
    return Stated(gap or 0.0, relative, objective, lower, baseline, tol, figure(evidence, "radius"))


def check_gap(report: Report, claims: Claims, point: Point, columns: Index, stated: Stated) -> None:
    """Prove a gap at the coefficients and compare the stated figures with it; what is stated may be weaker, not stronger."""
    check_objective(report, point, stated.objective)
    if claims.loss.cornered:
        report.check("the file holds a dual point, since the loss has corners", "theta" in claims.arrays)
    here, baseline = centered(point, columns), baseline_objective(point.problem)
    size = max(abs(point.objective), baseline - point.objective)
    own = GAP_SLACK_SHARE * size + here.rounding
    try:
        proven = lighter_bound(here, columns, stated.gap + own)
        detail = f"{proven.gap!r} proven, stated {stated.gap!r}"
    except NotProvenError as error:
        proven, detail = Gap(math.inf, math.inf), str(error)
    report.check("a gap can be proven, so a finite optimum exists", math.isfinite(proven.gap), detail)
    own += min(proven.rounding, PROOF_ROUNDING_SHARE * size) + 2.0 * GAP_SLACK_SHARE * proven.gap  # F may be zero
    report.check(
        "the stated gap is not below the proven one", proven.gap <= stated.gap + own, f"{detail}, slack {own:.1e}"
    )
    _not_far_above(report, claims, point, columns, stated, proven, baseline)
    report.check(
        "the lower bound is the objective less the gap",
        abs(stated.objective - stated.gap - stated.lower) <= 4 * EPS * max(abs(stated.objective), abs(stated.gap)),
        f"{stated.objective - stated.gap!r}, stated {stated.lower!r}",
    )
    # of several columns and a loss with corners it is where a path ends, in the fit and here: a yardstick of six digits
    share = NULL_PATH_SHARE if claims.loss.cornered and len(point.problem.unpenalized) > 1 else NULL_SHARE
    report.check(
        "the objective of the null fit is as stated",
        abs(baseline - stated.baseline) <= share * abs(baseline) + point.allowance,
        f"{baseline!r}, stated {stated.baseline!r}",
    )
    relative, claimed = relative_gap(point, stated), math.inf if stated.relative is None else stated.relative
    gain = stated.baseline - stated.lower
    report.check(
        "the relative gap is the gap over what there is to gain",
        claimed == relative or (gain > 0.0 and abs(claimed * gain - stated.gap) <= 1e-9 * stated.gap),
        f"{relative!r}, stated {claimed!r}",
    )
    _radius(report, claims, point, stated)


def relative_gap(point: Point, stated: Stated) -> float:
    """Return the gap over what there is to gain; 0 where doubles cannot see it."""
    gain = stated.baseline - stated.lower
    if unseen(point, stated.baseline, stated.gap, gain):
        return 0.0
    return stated.gap / gain if gain > 0.0 else math.inf


def check_within(report: Report, relative: float | None, tol: float) -> None:
    """Check what makes a gap an optimum: it is within a tolerance, and the tolerance is one."""
    report.check(
        "the tolerance is one by which something may be called optimal",
        0.0 <= tol <= LARGEST_TOL,
        f"{tol!r}, at most {LARGEST_TOL!r}",
    )
    report.check(
        "the relative gap is within the tolerance",
        relative is not None and relative <= tol,
        f"{relative!r} against {tol!r}",
    )


def _not_far_above(
    report: Report, claims: Claims, point: Point, columns: Index, stated: Stated, proven: Gap, baseline: float
) -> None:
    """Check that a gap is not stated much wider than it is; a weaker bound that an honest fit may have found is true, too."""
    weakest, room = proven.weakest, above(point, baseline, baseline - (point.objective - proven.gap))
    # an unfinished fit of a loss that cannot be below zero may know no more than that; only Poisson's can
    if claims.kind == "budget" and not claims.loss.exponential:
        weakest = max(weakest, point.objective)
    # a fit of many coefficients builds its dual point without the whole second derivative
    if stated.gap > STATED_GAP_FACTOR * weakest + room:
        weakest = max(weakest, eased_gap(centered(point, columns), columns))
    detail = f"{proven.gap!r} proven, stated {stated.gap!r}"
    report.check(
        "the stated gap is not far above the proven one", stated.gap <= STATED_GAP_FACTOR * weakest + room, detail
    )


def _radius(report: Report, claims: Claims, point: Point, stated: Stated) -> None:
    """Check ``sum_j factor_j |b_j - b*_j|^2 <= radius^2 = 2 gap / strength``, where a ridge penalizes all but the intercept."""
    if stated.radius is None:
        return
    every = len(point.problem.unpenalized) <= int(claims.intercept) and claims.penalty_name == "ridge"
    every = every and point.problem.penalty.smooth and claims.strength > 0.0
    expected = math.sqrt(2.0 * stated.gap / claims.strength) if every else math.inf
    report.check(
        "the radius that holds the exact coefficients follows from the gap",
        abs(stated.radius - expected) <= 1e-9 * expected and every,
        f"{expected!r}, stated {stated.radius!r}",
    )
