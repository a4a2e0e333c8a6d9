"""Smoothed shares of what was counted, and the scores that the estimators of counts make of them.

Multinomial: ``log p(k) + sum_j x_j log [(N_kj + a) / (N_k + a p)]``, N_k the sum of the N_kj. Complement: minus the logarithms of
all other classes together. Bernoulli: ``log p(k) + sum_j [x_j log p_kj + (1 - x_j) log (1 - p_kj)]`` with
``p_kj = (N_kj + a) / (N_k + 2 a)``. Categorical: the multinomial share within each range of columns, which are one category's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.claims.training import Examples
from lineal.verify.maps.claims import MapClaims
from lineal.verify.maps.exact_moments import ClassTotals
from lineal.verify.report import Report

Evidence = Mapping[str, Any]
Found = tuple[Array, str, tuple[str, ...]]
"""Scores by column and class, what the sentence says beside the rows, and the options that the evidence states."""


def option(report: Report, evidence: Evidence, name: str, least: float) -> float:
    """Return a number that the evidence states, at least ``least``."""
    value = evidence.get(name)
    report.check(f"the evidence states {name}", _number(value, least), f"{value!r}")
    return float(value)  # type: ignore[arg-type]


def _number(value: object, least: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= least


def priors(report: Report, evidence: Evidence, weight: Sequence[Fraction]) -> tuple[Array, tuple[str, ...]]:
    """Return the probabilities of the classes, counted unless the evidence has a ``prior``, and that name if it has."""
    if "prior" not in evidence:
        return np.array([float(one / sum(weight)) for one in weight]), ()
    given = evidence["prior"]
    fine = isinstance(given, list) and len(given) == len(weight) and all(_number(one, 0.0) and one > 0 for one in given)
    report.check("the prior that was given is a number above zero for every class", fine, f"{given!r}")
    return np.array(given, dtype=np.float64), ("prior",)


def logs(counts: Sequence[Fraction], alpha: float | Sequence[float]) -> list[float]:
    """Return the logarithms of smoothed shares; where nothing was counted, all are equal.

    >>> [round(math.exp(log), 12) for log in logs([Fraction(2), Fraction(0)], 1.0)]
    [0.75, 0.25]
    """
    added = [alpha] * len(counts) if isinstance(alpha, float) else alpha
    raised = [count + Fraction(more) for count, more in zip(counts, added, strict=True)]
    whole = sum(raised)
    if not whole:
        return [-math.log(len(counts))] * len(counts)
    return [math.log(one / whole) if one > 0 else -math.inf for one in raised]


def _alphas(report: Report, evidence: Evidence, count: int) -> list[float]:
    """Return the smoothing of every column (or category) from one number, or one for each."""
    value = evidence.get("alpha")
    if not isinstance(value, list):
        return [option(report, evidence, "alpha", 0.0)] * count
    fine = len(value) == count and all(_number(one, 0.0) for one in value)
    report.check("the evidence states alpha", fine, f"{len(value)} numbers")
    return [float(one) for one in value]


def multinomial(report: Report, claims: MapClaims, evidence: Evidence, _: Examples, counted: ClassTotals) -> Found:
    """Return the scores of words that are drawn one after another."""
    prior, more = priors(report, evidence, counted.weight)
    alpha = _alphas(report, evidence, len(claims.columns) - 1)
    weights = np.array([logs(own, alpha) for own in counted.sums]).T
    return np.vstack([np.log(prior)[None, :], weights]), "", ("alpha", *more)


def complement(report: Report, claims: MapClaims, evidence: Evidence, _: Examples, counted: ClassTotals) -> Found:
    """Return the scores by how improbable words are in all other classes; priors play no part."""
    alpha, normed = _alphas(report, evidence, len(claims.columns) - 1), evidence.get("norm")
    report.check("the evidence states norm", isinstance(normed, bool), f"{normed!r}")
    whole = [sum(column) for column in zip(*counted.sums, strict=True)]
    others = [[one - part for one, part in zip(whole, own, strict=True)] for own in counted.sums]
    weights = -np.array([logs(rest, alpha) for rest in others]).T
    weights = weights / np.sum(weights, axis=0) if normed else weights
    return np.vstack([np.zeros((1, len(counted.weight))), weights]), "", ("alpha", "norm")


def bernoulli(report: Report, claims: MapClaims, evidence: Evidence, rows: Examples, counted: ClassTotals) -> Found:
    """Return the scores of columns of zeros and ones, about which their absence speaks, too."""
    marks = all(bool(np.all((block["x"] == 0.0) | (block["x"] == 1.0))) for block in rows.store)
    report.check("every cell is zero or one", marks)
    prior, more = priors(report, evidence, counted.weight)
    alpha = _alphas(report, evidence, len(claims.columns) - 1)
    there, base = np.zeros((len(alpha), len(prior))), np.log(prior)
    for k, (weight, own) in enumerate(zip(counted.weight, counted.sums, strict=True)):
        for j, (ones, more_of) in enumerate(zip(own, alpha, strict=True)):
            absent, present = logs([weight - ones, ones], more_of)
            there[j, k] = present - absent
            base[k] += absent
    return np.vstack([base[None, :], there]), "", ("alpha", *more)


def categorical(report: Report, claims: MapClaims, evidence: Evidence, _: Examples, counted: ClassTotals) -> Found:
    """Return the scores of categories, each a range of columns of which a row has a one in one."""
    sizes, width = evidence.get("categories"), len(claims.columns) - 1
    fine = isinstance(sizes, list) and all(type(size) is int and size > 0 for size in sizes) and sum(sizes) == width
    report.check("the columns are those of the categories", fine, f"{sizes!r}")
    assert isinstance(sizes, list)
    prior, more = priors(report, evidence, counted.weight)
    alpha, weights, start = _alphas(report, evidence, len(sizes)), np.zeros((width, len(prior))), 0
    for size, own in zip(sizes, alpha, strict=True):
        for k, sums in enumerate(counted.sums):
            weights[start : start + size, k] = logs(sums[start : start + size], own)
        start += size
    return np.vstack([np.log(prior)[None, :], weights]), "", ("alpha", "categories", *more)
