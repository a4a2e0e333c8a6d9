"""What a verdict with a gap states, against the gap that is proven: gap, lower bound, null fit, relative gap and radius."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lineal.verify.arithmetic import EPS
from lineal.verify.centring import centred
from lineal.verify.claims import Claims
from lineal.verify.dependence import NotProvenError
from lineal.verify.formulas import CORNERED, FLAT, Index, Point
from lineal.verify.ground import figure, number
from lineal.verify.light import lighter_bound
from lineal.verify.null import null_objective
from lineal.verify.proof import Gap, eased_gap
from lineal.verify.report import Report
from lineal.verify.tolerances import FACTOR, LARGEST_TOL, ROUNDING, SLACK, above, check_objective, unseen

FIGURES = ("objective", "lower_bound", "null_objective", "tol")
"""What the evidence of a gap holds; with a ridge on every column but the intercept also ``radius``."""


@dataclass(frozen=True)
class Stated:
    """The figures of a verdict, or of the ridge within one, about a gap."""

    gap: float
    relative: float | None
    objective: float
    lower: float
    null: float
    tol: float
    radius: float | None = None


def stated_gap(report: Report, evidence: Mapping[str, Any], gap: float | None, relative: float | None) -> Stated:
    """Return what the evidence states about a gap; every figure must be there."""
    absent = [name for name in FIGURES if not number(evidence.get(name))]
    report.check(
        "the evidence holds objective, lower bound, null objective and tolerance", not absent, ", ".join(absent)
    )
    report.check("a gap is stated", gap is not None and math.isfinite(gap), f"{gap!r}")
    objective, lower, null, tol = (float(evidence[name]) for name in FIGURES)
    return Stated(gap or 0.0, relative, objective, lower, null, tol, figure(evidence, "radius"))


def check_gap(report: Report, claims: Claims, point: Point, columns: Index, stated: Stated) -> None:
    """Prove a gap at the coefficients and compare the stated figures with it; what is stated may be weaker, not stronger."""
    check_objective(report, point, stated.objective)
    if claims.loss in CORNERED:
        report.check("the file holds a dual point, since the loss has corners", "theta" in claims.arrays)
    here, null = centred(point, columns), null_objective(point.problem)
    size = max(abs(point.objective), null - point.objective)
    own = SLACK * size + here.rounding
    try:
        found = lighter_bound(here, columns, stated.gap + own)
        detail = f"{found.gap!r} proven, stated {stated.gap!r}"
    except NotProvenError as error:
        found, detail = Gap(math.inf, math.inf), str(error)
    report.check("a gap can be proven, so a finite optimum exists", math.isfinite(found.gap), detail)
    own += min(found.rounding, ROUNDING * size)
    report.check(
        "the stated gap is not below the proven one", found.gap <= stated.gap + own, f"{detail}, slack {own:.1e}"
    )
    _not_far_above(report, claims, point, columns, stated, found, null)
    report.check(
        "the lower bound is the objective less the gap",
        abs(stated.objective - stated.gap - stated.lower) <= 4 * EPS * max(abs(stated.objective), abs(stated.gap)),
        f"{stated.objective - stated.gap!r}, stated {stated.lower!r}",
    )
    report.check(
        "the objective of the null fit is as stated",
        abs(null - stated.null) <= 1e-9 * abs(null) + point.allowance,
        f"{null!r}, stated {stated.null!r}",
    )
    relative, claimed = relative_gap(point, stated), math.inf if stated.relative is None else stated.relative
    gain = stated.null - stated.lower
    report.check(
        "the relative gap is the gap over what there is to gain",
        claimed == relative or (gain > 0.0 and abs(claimed * gain - stated.gap) <= 1e-9 * stated.gap),
        f"{relative!r}, stated {claimed!r}",
    )
    _radius(report, claims, point, stated)


def relative_gap(point: Point, stated: Stated) -> float:
    """Return the gap over what there is to gain; 0 where doubles cannot see it."""
    gain = stated.null - stated.lower
    if unseen(point, stated.null, stated.gap, gain):
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
    report: Report, claims: Claims, point: Point, columns: Index, stated: Stated, found: Gap, null: float
) -> None:
    """Check that a gap is not stated much wider than it is; a weaker bound that an honest fit may have found is true, too."""
    weakest, room = found.weakest, above(point, null - (point.objective - found.gap))
    # an unfinished fit of a loss that cannot be below zero may know no more than that
    if claims.kind == "budget" and claims.loss in FLAT:
        weakest = max(weakest, point.objective)
    # a fit of many coefficients builds its dual point without the whole second derivative
    if stated.gap > FACTOR * weakest + room:
        weakest = max(weakest, eased_gap(centred(point, columns), columns))
    detail = f"{found.gap!r} proven, stated {stated.gap!r}"
    report.check("the stated gap is not far above the proven one", stated.gap <= FACTOR * weakest + room, detail)


def _radius(report: Report, claims: Claims, point: Point, stated: Stated) -> None:
    """Check ``sum_j charge_j |b_j - b*_j|^2 <= radius^2 = 2 gap / strength``, where a ridge charges all but the intercept."""
    if stated.radius is None:
        return
    every = len(point.problem.uncharged) <= int(claims.intercept) and claims.penalty == "ridge"
    every = every and point.problem.charges.smooth and claims.strength > 0.0
    expected = math.sqrt(2.0 * stated.gap / claims.strength) if every else math.inf
    report.check(
        "the radius that holds the exact coefficients follows from the gap",
        abs(stated.radius - expected) <= 1e-9 * expected and every,
        f"{expected!r}, stated {stated.radius!r}",
    )
