"""What each kind of verdict claims, against what the proof finds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lineal.verify.arithmetic import EPS, Array, Index
from lineal.verify.claims.model import Claims
from lineal.verify.evidence.covariance import check_variances, covariance, nearest, posterior
from lineal.verify.evidence.gaps import GAP_FIGURES, check_gap, check_within, stated_gap
from lineal.verify.evidence.infinity import check_infinity
from lineal.verify.evidence.mistakes import check_mistakes
from lineal.verify.evidence.perceptron import check_perceptron
from lineal.verify.evidence.sentences import (
    check_ending,
    check_keys,
    check_reason,
    check_sentence,
    combinations,
    equations,
    of_gap,
)
from lineal.verify.evidence.stable_step import check_stable_step
from lineal.verify.evidence.stationary import check_infeasible, check_slope, check_stationary
from lineal.verify.evidence.tolerances import check_objective
from lineal.verify.losses import Perceptron, ZeroOne
from lineal.verify.problem.dependence import DEPENDENCE_SHARE, NotProvenError, dependence, spanned
from lineal.verify.problem.formulas import Point, Training
from lineal.verify.proof.witnesses import independent
from lineal.verify.report import Report


def check_verdict(report: Report, claims: Claims, problem: Training) -> None:
    """Check every claim of the verdict, and the covariance where there is one."""
    if claims.loss is Perceptron:
        check_perceptron(report, claims, problem)
        return
    checks = {
        "optimal": _optimal,
        "not_unique": _not_unique,
        "at_infinity": check_infinity,
        "infeasible": check_infeasible,
        "stationary": check_stationary,
        "budget": _budget,
    }
    if claims.kind == "progressive":
        _progressive(report, claims)
    if claims.kind not in checks:
        report.check(f"this checker does not know verdicts of kind {claims.kind!r}", False)
    if claims.loss is ZeroOne:
        check_mistakes(report, claims, problem.whole())
        return
    point = problem.at(claims.coef)
    if claims.kind == "infeasible":
        check_infeasible(report, claims, point)
        return
    if problem.penalty.bounded.any():
        report.check("every coefficient is within its bounds", problem.penalty.within(claims.coef))
    finite = point.figures.finite and math.isfinite(point.objective)
    if not finite and claims.kind == "budget" and claims.gap is None:
        _diverged(report, claims, point)
        return
    report.check("every score of a training row is a finite number", finite)
    _gauge(report, claims, problem)
    if "slope_norm" in claims.evidence:
        check_slope(report, claims, point)
    else:
        same = claims.evidence.get("tol", claims.tol) == claims.tol
        report.check("the tolerance in the evidence is that of the file", same)
        if "objective" in claims.evidence:
            check_objective(report, point, claims.figure("objective"))
    checks[claims.kind](report, claims, point)
    _covariance(report, claims, point)


def _diverged(report: Report, claims: Claims, point: Point) -> None:
    """Check a fit whose steps left the finite numbers: it claims nothing but that."""
    report.check("no objective is stated where it is not finite", claims.figure("objective") is None)
    _budget(report, claims, point)


def _progressive(report: Report, claims: Claims) -> None:
    """Check the figures, then refuse: rows came once, in an order that was not kept, so that nothing can be proven."""
    mean, loss, weight = (claims.figure(name) for name in ("mean", "loss_sum", "weight_sum"))
    whole = mean is not None and loss is not None and weight is not None and weight > 0.0
    report.check("the evidence holds the loss of the stream, its weight and their ratio", whole)
    if mean is not None and loss is not None and weight is not None:
        report.check("the mean loss is the sum over the weight", abs(mean - loss / weight) <= 4 * EPS * abs(mean))
    report.check("no gap is claimed for a stream", claims.gap is None and claims.relative_gap is None)
    words = "the loss of each row before it was learned is known to who learned them, in that order; fit the data for a proof"
    report.check(words, False)


def _gauge(report: Report, claims: Claims, problem: Training) -> None:
    """Scores that only differences of matter are kept with zero sum over the classes, where the penalty has no say."""
    if not claims.loss.coupled:
        return
    even = problem.penalty.group or problem.penalty.smooth
    coef = claims.coef if even else claims.coef[problem.unpenalized]
    off = np.max(np.abs(np.sum(coef, axis=1)) - 1e-9 * np.max(np.abs(coef), axis=1, initial=0.0), initial=0.0)
    report.check("the coefficients of every column sum to zero over the classes", bool(off <= 1e-12), f"{off:.1e}")


def _optimal(report: Report, claims: Claims, point: Point) -> None:
    problem = point.problem
    # of dependent columns a dual point has to respect a basis, where no claim of uniqueness is made
    _within(report, claims, point, spanned(problem)[0] if problem.loss.flat else problem.unpenalized)
    _said(report, claims, *GAP_FIGURES, "radius")


def _said(report: Report, claims: Claims, *keys: str, flat: str = "") -> None:
    """Check that a verdict with a gap says what its figures make, and holds nothing else."""
    check_keys(report, claims.evidence, *keys)
    if claims.kind == "budget":
        check_ending(report, claims.reason, claims.columns)
    else:
        check_reason(report, claims.reason)
    relative = math.inf if claims.relative_gap is None else claims.relative_gap
    check_sentence(report, claims.sentence, of_gap(claims.kind, claims.gap or 0.0, relative, claims.reason, flat))


def _within(report: Report, claims: Claims, point: Point, columns: Index) -> None:
    stated = stated_gap(report, claims.evidence, claims.gap, claims.relative_gap)
    check_within(report, claims.relative_gap, claims.tol)
    check_gap(report, claims, point, columns, stated)


def _not_unique(report: Report, claims: Claims, point: Point) -> None:
    """Dependencies row by row, one column set aside for each, and the rest proven as if they were all."""
    null_space, listed = claims.arrays.get("null_space"), claims.evidence.get("dependencies")
    if null_space is None and listed is None:
        _not_unique_unnamed(report, claims, point)
        return
    kept_in_file = null_space is not None and null_space.ndim == 2 and null_space.shape[1] > 0
    report.check("the file holds the null space and its dependencies", kept_in_file and isinstance(listed, list))
    if null_space is None or not isinstance(listed, list):
        return
    problem = point.problem
    penalized = np.any(null_space[problem.penalty.seen] != 0.0)
    report.check("no charged column takes part in a dependency", not penalized)
    worst = max(dependence(block.x, direction) for block in problem.blocks() for direction in null_space.T)
    report.check(
        "every dependency is zero in every row, to rounding",
        worst <= DEPENDENCE_SHARE,
        f"at most {worst:.1e} of its terms",
    )
    report.check("the dependencies by name are the null space", _spelled(claims, null_space, listed), f"{len(listed)}")
    try:
        scale = problem.extent.x
        kept = independent(null_space, np.where(scale > 0.0, scale, 1.0), problem.unpenalized)
        bad = ""
    except NotProvenError as error:
        kept, bad = problem.unpenalized, str(error)
    detail = bad or f"rank {len(kept)} of {len(problem.unpenalized)}"
    report.check("the dependencies are independent of each other", not bad, detail)
    kept, bad = spanned(problem)
    exact = not bad and len(kept) == len(problem.unpenalized) - null_space.shape[1]
    report.check("so many columns are combinations of the others in every digit", exact, bad)
    _within(report, claims, point, kept)
    first = 1 if claims.intercept else 0
    part, coef = null_space[first:], claims.coef[first:]
    inner = np.abs(part.T @ coef)
    size = np.linalg.norm(part, axis=0)[:, None] * np.linalg.norm(coef, axis=0)
    report.check(
        "the coefficients are the smallest of their flat", bool(np.all(inner <= 1e-8 * size)), "intercept not counted"
    )
    spelled = [{claims.columns[j]: float(d[j]) for j in np.flatnonzero(d)} for d in null_space.T]
    _said(report, claims, *GAP_FIGURES, "radius", "dependencies", flat=equations(spelled))


def _not_unique_unnamed(report: Report, claims: Claims, point: Point) -> None:
    """Find the dependencies where the null space was too large to keep; smallest coefficients are rows combined."""
    problem = point.problem
    kept, bad = spanned(problem)
    report.check(
        "some columns are combinations of others", len(kept) < len(problem.unpenalized), bad or f"rank {len(kept)}"
    )
    _within(report, claims, point, kept)
    first = 1 if claims.intercept else 0
    free = problem.unpenalized[first:]
    block, coef = problem.whole(), claims.coef[free]
    rows = block.x[:, free] - (block.q @ block.x[:, free] if claims.intercept else 0.0)
    off = np.linalg.norm(coef - np.linalg.pinv(rows) @ (rows @ coef), axis=0)
    smallest = bool(np.all(off <= 1e-8 * np.linalg.norm(coef, axis=0)))
    report.check("the coefficients are the smallest of their flat", smallest, "intercept not counted")
    _said(report, claims, *GAP_FIGURES, "radius", flat=combinations(len(problem.unpenalized) - len(kept)))


def _budget(report: Report, claims: Claims, point: Point) -> None:
    check_stable_step(report, claims.reason, point.problem)
    if claims.gap is None:
        report.check("no gap is claimed, and a reason is given", claims.relative_gap is None and bool(claims.reason))
        if "slope_norm" not in claims.evidence:  # else it is said with the slope
            check_keys(report, claims.evidence, "objective")
            check_ending(report, claims.reason, claims.columns)
            check_sentence(report, claims.sentence, f"Stopped without a proof: {claims.reason}.")
        return
    columns = spanned(point.problem)[0]
    check_gap(report, claims, point, columns, stated_gap(report, claims.evidence, claims.gap, claims.relative_gap))
    relative = claims.relative_gap
    above = relative is None or relative > claims.tol
    report.check("the relative gap is above the tolerance, so the fit is unfinished", above, f"{relative!r}")
    _said(report, claims, *GAP_FIGURES, "radius")


def _covariance(report: Report, claims: Claims, point: Point) -> None:
    """Compare each entry in units of the standard errors: 1e-7 is far above rounding, far below anything of interest."""
    if claims.variances is not None:
        check_variances(report, claims, point)
    stated = claims.arrays.get("covariance")
    if stated is None:
        return
    allowed = claims.kind in ("optimal", "stationary", "budget")
    if claims.variances is None:
        allowed = allowed and not point.problem.penalty.seen.any() and claims.loss.likelihood
        report.check("a covariance is given for a unique fit without a penalty, or a posterior", allowed)
        matrix = covariance(point, claims.weight_sum)
        if claims.loss.quadratic and stated.shape == matrix.shape:
            matrix = nearest(matrix, stated, point, claims.gap or 0.0)
    else:
        report.check("a covariance is given for a unique fit without a penalty, or a posterior", allowed)
        matrix = posterior(point.problem, claims.weight_sum, claims.penalty_factors, *claims.variances)
    error = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    off = ~(np.abs(matrix - stated) <= 1e-7 * np.outer(error, error))  # (NaN is off, too)
    report.check(
        "the covariance of the coefficients is as stated", not np.any(off), f"{int(np.sum(off))} entries differ"
    )


def _spelled(claims: Claims, null_space: Array, listed: list[Any]) -> bool:
    """Return whether the dependencies by name are the columns of the null space."""
    if len(listed) != null_space.shape[1]:
        return False
    for direction, names in zip(null_space.T, listed, strict=True):
        stated = {claims.columns[j]: float(direction[j]) for j in np.flatnonzero(direction)}
        if names != stated:
            return False
    return True
