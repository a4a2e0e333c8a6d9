"""How far stated figures may be from what the checker computes. None of these numbers comes from a file."""

from __future__ import annotations

from typing import Final

import numpy as np

from lineal.verify.arithmetic import EPS
from lineal.verify.problem.formulas import Point
from lineal.verify.report import Report

GAP_SLACK_SHARE: Final = 1e-12
"""A gap that is too small by no more than this share of the objective, or of what there is to gain, is not noticed."""
PROOF_ROUNDING_SHARE: Final = 1e-9
"""Rounding that the checker itself finds in its proof is not held against a file, up to this share."""
NULL_SHARE: Final = 1e-9
"""The objective of the null fit, the yardstick of the relative gap, may be off by this share of itself."""
NULL_PATH_SHARE: Final = 1e-6
"""The same where an interior path leads to it: of several unpenalized columns, and a loss with corners."""
DEFAULT_TOL: Final = 1e-6
"""The relative gap of a fit that was asked for nothing else."""
LARGEST_TOL: Final = 0.1
"""A larger relative gap, or slope, is not called optimal, or stationary, whatever tolerance a file states."""
STATED_GAP_FACTOR: Final = 4.0
"""A fit may state a gap up to this many times the proven one: its bounds on rounding are wider than ours."""


def above(point: Point, baseline: float, gain: float) -> float:
    """Return how much larger than `STATED_GAP_FACTOR` times the proven gap a stated one may be: true, but weaker.

    It is a millionth of what there is to gain, what sums of thousands of rows in plain float64 do not show of F, and a gap that
    doubles cannot see, which is all there is where a fit meets every row.
    """
    share = 1e-6 * max(gain, point.objective * EPS) + 2.0**-38 * abs(point.objective)
    return share + point.allowance + box_slack(point) + unit(point, baseline)


def box_slack(point: Point) -> float:
    """Return what a gradient known to 1e-9 of its terms may cost coefficients that roam freely between two finite bounds.

    In plain float64 and columns that are nearly dependent a fit knows no more of it.
    """
    p = point.problem
    roaming = p.penalty.inside(point.coef, both=True) & ~p.penalty.inside(point.coef, both=False)
    if not np.any(roaming):
        return 0.0
    parts = (np.abs(at.block.x).T @ (at.block.q[:, None] * np.abs(at.rows.slope)) for at in point.blocks())
    size = np.asarray(sum(parts))
    width = np.where(roaming, (p.penalty.upper - p.penalty.lower)[:, None], 0.0)
    return 1e-9 * float(np.sum(size * width))


def unseen(point: Point, baseline: float, gap: float, gain: float) -> bool:
    """Return whether doubles cannot see a gap: it then counts as zero, up to a small share of what there is to gain.

    Scores are known to 32 of their rounding errors, slopes to 1024 EPS, squared. At a corner, and where the border of a
    domain is near, an error counts in full; and a dual point may have been moved into its domain, or into what a kink of the
    penalty allows, by a share of 1e-11.
    """
    last_bit = EPS * abs(baseline)
    if gap <= last_bit and gain <= 16.0 * last_bit:
        return True
    return gap <= unit(point, baseline) and (gap <= DEFAULT_TOL * gain or gain <= dust(point, baseline))


def dust(point: Point, baseline: float) -> float:
    """Return the gain that cannot be distinguished from zero: rounding errors of the baseline fit, whatever the coefficients are.

    A constant score is no larger than targets and offsets, or than the logarithm of any share or mean that is a double. Bounds
    may hold other coefficients off zero.
    """
    p = point.problem
    held = p.extent.x @ np.abs(np.clip(0.0, p.penalty.lower, p.penalty.upper))
    size = p.extent.offset + float(held) + (p.extent.y if p.loss.residual else 800.0)
    score_error = (len(point.coef) + 4) * EPS * size
    if p.loss.flat or not p.penalty.smooth:
        steep = min(1.0, 2.0 * baseline) if p.loss.entropy else 1.0
        return 4.0 * score_error * p.outputs * steep + (256 * EPS + 4e-11) * abs(baseline)
    least = 16.0 * EPS * abs(baseline) + 8.0 * (1024 * EPS) ** 2 * abs(baseline)
    if not p.loss.entropy:
        return least + (32.0 * score_error) ** 2 * p.outputs
    # slopes and second derivatives of losses of probabilities are no larger than twice their value
    return least + 2.0 * score_error * baseline + min(1.0, 2.0 * baseline) * (32.0 * score_error) ** 2 * p.outputs


def unit(point: Point, baseline: float) -> float:
    """Return the gap that doubles cannot see."""
    p = point.problem
    size = p.extent.x @ np.abs(point.coef) + p.extent.offset
    score_error = (len(point.coef) + 4) * EPS * size
    full = 4.0 * float(np.sum(score_error)) + (256 * EPS + 2e-11) * abs(baseline) if p.loss.flat else 0.0
    full = full if p.penalty.smooth else max(full, 2e-11 * abs(baseline))
    return max(full, float(np.sum((32.0 * score_error) ** 2)) + 8.0 * (1024 * EPS) ** 2 * abs(baseline))


def check_objective(report: Report, point: Point, stated: float | None) -> None:
    """Check the objective that the evidence states."""
    report.check(
        "the objective at the coefficients is as stated",
        stated is not None and abs(point.objective - stated) <= point.allowance,
        f"{point.objective!r}, stated {stated!r}, rounding {point.allowance:.1e}",
    )
