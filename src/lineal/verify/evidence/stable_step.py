"""The step that a verdict calls proven to descend: recomputed from the rows, as 2/L with L a bound on the curvature of F."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from lineal.verify.losses.loss import Loss
from lineal.verify.problem.formulas import Problem, Streamed
from lineal.verify.report import Report

STABLE: Final = re.compile(
    r"every step below ([-+0-9.e]+) is proven to (descend|lower the loss of its rows) \(2/L with L = ([-+0-9.e]+)\)"
)
"""What is said of steps that were too long."""

ROUNDING: Final = 1e-9
"""What eigenvalues and sums of these sizes may be off, as a share; sums of fewer than a million rows are far nearer."""


def check_stable_step(report: Report, reason: str | None, problem: Problem | Streamed) -> None:
    """Check a step that is called stable: ``step * L <= 2``; the gram's largest eigenvalue is found by numpy."""
    match = STABLE.search(reason or "")
    if match is None:
        return
    step, kind, stated = float(match[1]), match[2], float(match[3])
    above = _curvature(problem) if kind == "descend" else _curvature_by_row(problem)
    right = step > 0.0 and step * above <= 2.0 * (1.0 + ROUNDING)
    report.check("steps below the stated one are stable", right, f"{match[1]}, at most 2 / {above:.5g}")
    same = abs(step * stated - 2.0) <= 4e-3  # both have four digits, one of them rounded down
    report.check("the stable step is two over the stated curvature", same, f"{match[1]} x {match[3]}")


def _largest(loss: type[Loss]) -> float:
    """Return the largest curvature of a loss: of a Bernoulli, of a multinomial; losses of squares bend by one."""
    if loss.cornered or loss.exponential:
        return np.inf
    return {"logistic": 0.25, "softmax": 0.5}.get(loss.name, 1.0)


def _curvature(problem: Problem | Streamed) -> float:
    """Return the largest eigenvalue of ``c X'QX + P``; of many columns no more than the trace is known."""
    bound = _largest(problem.loss)
    if not np.isfinite(bound):
        return np.inf
    if problem.columns > 1000:
        squares = sum(float(np.sum(block.q @ block.x**2)) for block in problem.blocks())
        return bound * squares + float(np.max(problem.penalty.square))
    gram = sum((block.x.T * block.q) @ block.x for block in problem.blocks())
    return float(np.linalg.eigvalsh(bound * gram + np.diag(problem.penalty.square))[-1])


def _curvature_by_row(problem: Problem | Streamed) -> float:
    """Return the largest ``c N q_i |x_i|^2``, and what the penalty bends."""
    rows = max(float(np.max(block.q * np.sum(block.x**2, axis=1))) for block in problem.blocks())
    return _largest(problem.loss) * problem.rows * rows + float(np.max(problem.penalty.square))
