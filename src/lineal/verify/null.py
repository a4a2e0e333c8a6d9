"""The null fit, the yardstick of the relative gap: what can be reached without the columns whose worth is in question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lineal.verify.arithmetic import Array, times, total
from lineal.verify.charges import Charges
from lineal.verify.dependence import NotProvenError
from lineal.verify.formulas import CORNERED, FLAT, Problem
from lineal.verify.proof import descend


def null_objective(problem: Problem) -> float:
    """Return F of the best fit of the uncharged columns alone (of the intercept alone where nothing is charged).

    The other coefficients are zero, or as near to it as their bounds allow. For a loss with corners it is the intercept
    alone in any case.
    """
    columns, charges = problem.uncharged, problem.charges
    if len(columns) == problem.x.shape[1] or problem.loss in CORNERED:
        columns = np.arange(int(problem.intercept))
    rest = np.clip(np.zeros(problem.x.shape[1]), charges.lower, charges.upper)[:, None].repeat(problem.outputs, axis=1)
    small = replace(
        problem,
        x=problem.x[:, columns],
        offset=times(problem.x, rest, problem.offset),
        charges=Charges.ridge(np.zeros(len(columns))),
    )
    alone = len(columns) == 1 and problem.intercept
    return _best(small, alone=alone) + total(charges.terms(rest))


def _best(problem: Problem, *, alone: bool) -> float:
    """Return the least loss that uncharged columns reach; ``alone``: they are one column of ones."""
    shares = problem.q @ problem.y
    level = not np.any(problem.offset)
    if alone and problem.loss == "crammer-singer":
        return _value(problem, (shares > 0.5).astype(np.float64))
    if alone and problem.loss in FLAT and problem.outputs == 1:
        return _bisected(problem)
    if alone and level and problem.loss == "sparsemax":
        return _value(problem, shares)
    if alone and level and problem.loss in ("logistic", "softmax"):
        shares = np.hstack([shares, 1.0 - shares]) if problem.loss == "logistic" else shares
        return -total(shares * np.log(np.where(shares > 0.0, shares, 1.0)))
    if alone and level and problem.loss == "poisson":
        mean = float(shares[0])
        return mean - mean * np.log(mean) if mean > 0.0 else 0.0
    point = problem.at(np.zeros((problem.x.shape[1], problem.outputs)))
    for _ in range(200 if problem.x.shape[1] else 0):
        try:
            there = descend(point)
        except NotProvenError:
            break
        done = point.objective - there.objective <= 1e-15 * abs(there.objective)
        point = there
        if done:
            break
    return point.objective


def _value(problem: Problem, scores: Array) -> float:
    return total(problem.q * problem.rows(scores + problem.offset).value)


def _bisected(problem: Problem) -> float:
    """Return the loss at the constant where the summed slope changes sign."""
    at = problem.y if not problem.loss.endswith("hinge") else 2.0 * problem.y - 1.0
    wide = problem.parameter + 1.0
    left, right = float(np.min(at - problem.offset)) - wide, float(np.max(at - problem.offset)) + wide
    for _ in range(2000):
        middle = 0.5 * (left + right)
        if not left < middle < right:
            break
        slope = total(problem.q[:, None] * problem.rows(middle + problem.offset).slope)
        left, right = (left, middle) if slope > 0.0 else (middle, right)
    return min(_value(problem, np.array([left])), _value(problem, np.array([right])))
