"""The least number of mistakes of any halfspace: counted exactly, and bounded from below by sets of rows.

If sum a z = 0 over some rows with every a > 0, no w has z'w > 0 for all of them: every halfspace mistakes one. So it gives up
at least as much weight as the lightest choice of rows that meets every such set. That choice is an integer program, solved
again here; rows that are equal are chosen together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import EPS, Array, Index, signs, total
from lineal.verify.claims.model import Claims
from lineal.verify.evidence.gaps import GAP_FIGURES, check_within
from lineal.verify.evidence.sentences import check_ending, check_keys, check_reason, check_sentence, of_mistakes
from lineal.verify.evidence.separability import integers
from lineal.verify.problem.dependence import NotProvenError
from lineal.verify.problem.formulas import Problem
from lineal.verify.proof.halfspaces import Halfspaces
from lineal.verify.report import Report

MILP_ROUNDING = 4e-9
"""What rounding in the solver of the integer program may leave of a gap, as a share of all weight."""


def check_mistakes(report: Report, claims: Claims, problem: Problem) -> None:
    """Check the number of mistakes, every set of rows, and the bound that follows from them."""
    report.check("the verdict on a halfspace is optimal or budget", claims.kind in ("optimal", "budget"), claims.kind)
    report.check(
        "a halfspace has no penalty and no offset", claims.penalty_name == "none" and not np.any(problem.offset)
    )
    report.check("a row on the boundary is a mistake", claims.evidence.get("tie") == "mistake")
    own = (problem.y[:, 0] > 0.5).astype(np.intp)
    side = np.where(own == 1, 1, -1) * signs(problem.x, claims.coef[:, 0])
    mistaken = total(problem.q[side <= 0])
    slack = 64 * EPS
    stated = claims.figure("mistakes"), claims.figure("objective")
    counted = mistaken * claims.weight_sum, mistaken
    report.check(
        "the mistakes of the halfspace are as stated, a row on the boundary being one",
        all(b is not None and abs(a - b) <= slack * max(a, 1.0) for a, b in zip(counted, stated, strict=True)),
        f"{counted[0]!r}, stated {stated[0]!r}",
    )
    sets = _sets(report, claims, problem, own)
    least = claims.figure("least")
    group, weight = _groups(problem, own)
    bound = _lightest(sets, group, weight, claims.weight_sum, least or 0.0)
    report.check(
        "no choice of rows that meets all these sets is lighter than stated",
        least is not None and least >= 0.0 and bound >= least / claims.weight_sum - MILP_ROUNDING,
        f"{bound * claims.weight_sum:.9g}, stated {least!r}",
    )
    _figures(report, claims, problem, own, mistaken, (least or 0.0) / claims.weight_sum)


def _sets(report: Report, claims: Claims, problem: Problem, own: Index) -> list[Index]:
    """Return the sets as places among the rows of positive weight; each must have a positive combination that is zero."""
    listed = claims.evidence.get("cuts")
    place = {int(number): k for k, number in enumerate(problem.numbers)}
    cloud, sets, bad = Halfspaces(problem.x, own, 2), [], ""
    for number, cut in enumerate(listed if isinstance(listed, list) else [None]):
        try:
            rows = [place[int(row)] for row in cut["rows"]]
            weights = integers(cut["weights"], "weights")
            bad = bad if len(set(rows)) == len(rows) else f"set {number}: a row is there twice"
            cloud.check_sum(rows, weights, [1 - int(own[row]) for row in rows])
            sets.append(np.array(rows, dtype=np.intp))
        except (NotProvenError, ModelFileError, KeyError, TypeError, ValueError, IndexError) as error:
            bad = bad or f"set {number}: {error}"
    report.check(
        "every set of rows has a positive combination that is exactly zero", not bad, bad or f"{len(sets)} sets"
    )
    return sets


def _groups(problem: Problem, own: Index) -> tuple[Index, Array]:
    """Return for every row the number of its set of equal rows, and the share of weight of each."""
    table = np.column_stack([own, problem.x + 0.0])
    group = np.asarray(np.unique(table, axis=0, return_inverse=True)[1]).reshape(-1)
    return group, np.bincount(group, problem.q).astype(np.float64)


def _lightest(sets: list[Index], group: Index, weight: Array, whole: float, least: float) -> float:
    """Return a lower bound of the share of weight that meets every set, 0 without sets."""
    from scipy import optimize, sparse

    if not sets:
        return 0.0
    met = [np.unique(group[rows]) for rows in sets]
    rows = np.repeat(np.arange(len(met)), [len(part) for part in met])
    table = sparse.csr_array((np.ones(len(rows)), (rows, np.concatenate(met))), shape=(len(met), len(weight)))
    limits = [optimize.LinearConstraint(table, lb=np.ones(len(met)))]
    counts = weight * whole
    plain = bool(np.all(np.abs(counts - np.rint(counts)) <= 1e-9 * np.maximum(counts, 1.0))) and whole < 1e6
    cost: Array = np.rint(counts) if plain else weight / float(weight.mean())
    if plain:  # whole numbers: it is enough that one less is impossible
        limits.append(optimize.LinearConstraint(cost[None], ub=[np.ceil(least - 1e-6) - 1.0]))
    result: Any = optimize.milp(
        cost,
        constraints=limits,
        integrality=np.ones(len(cost), dtype=np.int64),
        bounds=optimize.Bounds(0.0, 1.0),
        options={"time_limit": 300.0, "mip_rel_gap": 0.0},  # seconds; a bound is had also after them,
    )
    if plain and result.status == 2:
        return least / whole
    bound = result.mip_dual_bound
    lower = 0.0 if bound is None or not np.isfinite(bound) else float(bound)
    return (float(np.ceil(lower - 1e-6)) if plain else lower) * (1.0 / whole if plain else float(weight.mean()))


def _figures(
    report: Report, claims: Claims, problem: Problem, own: npt.NDArray[np.intp], mistaken: float, least: float
) -> None:
    """Check gap, lower bound, baseline objective and relative gap."""
    slack = 256 * EPS
    gap, lower = claims.gap, claims.figure("lower_bound")
    report.check(
        "the gap is the mistakes less the bound, and the lower bound follows",
        gap is not None
        and lower is not None
        and abs(gap - (mistaken - least)) <= slack
        and abs(mistaken - gap - lower) <= slack,
        f"{mistaken - least!r}, stated {gap!r}",
    )
    parts = [total(problem.q[own == k]) for k in (0, 1)]
    baseline = max(min(parts) if problem.intercept else 1.0, mistaken)
    stated = claims.figure("null_objective")
    report.check(
        "the objective of the null fit is as stated",
        stated is not None and abs(baseline - stated) <= slack,
        f"{baseline!r}, stated {stated!r}",
    )
    gap = 0.0 if gap is None else gap
    relative = gap / (baseline - least) if baseline - least > slack and gap > MILP_ROUNDING else 0.0
    claimed = claims.relative_gap
    report.check(
        "the relative gap is the gap over what there is to gain",
        claimed is not None and abs(claimed - relative) <= 1e-9 * max(relative, 1.0),
        f"{relative!r}, stated {claimed!r}",
    )
    report.check("the tolerance in the evidence is that of the file", claims.figure("tol") == claims.tol)
    if claims.kind == "optimal":
        check_within(report, claimed, claims.tol)
        check_reason(report, claims.reason)
    else:
        report.check("the relative gap is above the tolerance, so the fit is unfinished", (claimed or 0.0) > claims.tol)
        check_ending(report, claims.reason)
    check_keys(report, claims.evidence, *GAP_FIGURES, "tie", "mistakes", "least", "cuts")
    for cut in claims.evidence["cuts"]:
        check_keys(report, cut, "rows", "weights")
    plain = bool(np.all(problem.q == problem.q[0])) and claims.weight_sum == len(problem.q)
    check_sentence(report, claims.sentence, of_mistakes(claims, claims.weight_sum, plain=plain))
