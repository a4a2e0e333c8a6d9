"""The penalty factors of a file, each checked against what the file says that it is."""

from __future__ import annotations

import numpy as np

from lineal.verify import terms
from lineal.verify.arithmetic import EPS
from lineal.verify.claims.model import Claims
from lineal.verify.problem.centering import moments
from lineal.verify.problem.formulas import Training
from lineal.verify.report import Report


def _one_factor_per_text(report: Report, claims: Claims) -> None:
    """Check that a factor that is a number is that of all words of a text, and that all of these have one."""
    units, at = claims.factor_units or (), int(claims.intercept)
    if not any(isinstance(unit, float) for unit in units):
        return
    wrong = ""
    for term in claims.terms:
        own = units[at : at + len(terms.names(term))]
        at += len(own)
        if any(isinstance(unit, float) for unit in own) and (term["kind"] != "text" or len(set(own)) > 1):
            wrong = wrong or f"{term['kind']} term {term.get('column')!r}"
    report.check("a charge that is neither 1 nor measured is one number for all words of a text", not wrong, wrong)


def penalty_factors(report: Report, claims: Claims, problem: Training) -> None:
    """Check the penalty factors: none below zero, the intercept free unless said, each what the file says it is."""
    factors, units = claims.penalty_factors, claims.factor_units
    if claims.strength > 0.0:
        free = not claims.intercept or factors[0] == 0.0 or (units is not None and units[0] == "raw")
        words = "no charge is below zero, and the intercept is not charged unless the file says so"
        report.check(words, bool(np.all(factors >= 0.0)) and free)
    if units is None:
        return
    variance = moments(problem, "x")[1]
    variance[: int(claims.intercept)] = 0.0
    # a mean is known to about EPS times the largest entry; so much of it may remain in a variance
    slack = 1e-9 * variance + (64 * EPS * problem.extent.x) ** 2
    root = np.array([unit == "sd" for unit in units])
    measured = np.array([unit == "variance" for unit in units]) | root
    fixed = {"raw": 1.0, "none": 0.0}
    expected = np.array([fixed.get(unit, 0.0) if isinstance(unit, str) else unit for unit in units])
    expected = np.where(measured, variance, expected)
    _one_factor_per_text(report, claims)
    off = np.abs(np.where(root, factors**2, factors) - expected) > np.where(measured, slack, 0.0)
    worst = int(np.argmax(off))
    stated = f"{claims.columns[worst]}: {float(expected[worst]) ** (0.5 if root[worst] else 1.0)!r}"
    whose = "every column" if measured[int(claims.intercept) :].all() else "every standardized column"
    report.check(
        f"the charge of {whose} is its {'standard deviation' if root.any() else 'variance'} in the training rows"
        if measured.any()
        else "every column is charged as it is",
        not bool(np.any(off)),
        f"{stated}, stated {float(factors[worst])!r}" if np.any(off) else "",
    )
