"""How far stated figures may be from what the checker computes. None of these numbers comes from a file."""

from __future__ import annotations

from typing import Final

import numpy as np

from lineal.verify.arithmetic import EPS
from lineal.verify.formulas import FLAT, RESIDUAL, Point
from lineal.verify.report import Report

SLACK: Final = 1e-12
"""A gap that is too small by no more than this share of the objective, or of what there is to gain, is not noticed."""
ROUNDING: Final = 1e-9
"""Rounding that the checker itself finds in its proof is not held against a file, up to this share."""
TOLERANCE: Final = 1e-6
"""The relative gap of a fit that was asked for nothing else."""
LARGEST_TOL: Final = 0.1
"""A larger relative gap, or slope, is not called optimal, or stationary, whatever tolerance a file states."""
UNSEEN: Final = TOLERANCE
"""What doubles cannot see counts as zero up to this share of what there is to gain."""

FACTOR: Final = 4.0
"""A fit may state a gap up to this many times the proven one: its bounds on rounding are wider than ours."""
ABOVE: Final = 1e-6
"""And beyond that, up to this share of what there is to gain,"""
COARSE: Final = 2.0**-38
"""and up to this share of the objective: sums of thousands of rows in plain float64 are known to no more."""


def above(point: Point, gain: float) -> float:
    """Return how much larger than `FACTOR` times the proven gap a stated one may be: true, but weaker."""
    return ABOVE * max(gain, point.objective * EPS) + COARSE * abs(point.objective) + point.allowance + box_slack(point)


def box_slack(point: Point) -> float:
    """Return what a gradient known to 1e-9 of its terms may cost coefficients that roam freely between two finite bounds.

    In plain float64 and columns that are nearly dependent a fit knows no more of it.
    """
    p = point.problem
    roaming = p.charges.inside(point.coef, both=True) & ~p.charges.inside(point.coef, both=False)
    if not np.any(roaming):
        return 0.0
    parts = (np.abs(at.block.x).T @ (at.block.q[:, None] * np.abs(at.rows.slope)) for at in point.blocks())
    size = np.asarray(sum(parts))
    width = np.where(roaming, (p.charges.upper - p.charges.lower)[:, None], 0.0)
    return 1e-9 * float(np.sum(size * width))


def unseen(point: Point, null: float, gap: float, gain: float) -> bool:
    """Return whether doubles cannot see a gap: it then counts as zero, up to a small share of what there is to gain.

    Scores are known to 32 of their rounding errors, slopes to 1024 EPS, squared. At a corner, and where the border of a
    domain is near, an error counts in full; and a dual point may have been moved into its domain, or into what a kink of the
    penalty allows, by a share of 1e-11.
    """
    last_bit = EPS * abs(null)
    if gap <= last_bit and gain <= 16.0 * last_bit:
        return True
    return gap <= unit(point, null) and (gap <= UNSEEN * gain or gain <= dust(point, null))


def dust(point: Point, null: float) -> float:
    """Return what cannot be told from nothing to gain: rounding errors of the null fit, whatever the coefficients are.

    A constant score is no larger than targets and offsets, or than the logarithm of any share or mean that is a double.
    """
    p = point.problem
    size = p.extent.offset + (p.extent.y if p.loss in RESIDUAL else 800.0)
    blur = (len(point.coef) + 4) * EPS * size
    if p.loss in FLAT or not p.charges.smooth:
        return 4.0 * blur * p.outputs + (256 * EPS + 4e-11) * abs(null)
    return 16.0 * EPS * abs(null) + (32.0 * blur) ** 2 * p.outputs + 8.0 * (1024 * EPS) ** 2 * abs(null)


def unit(point: Point, null: float) -> float:
    """Return the gap that doubles cannot see."""
    p = point.problem
    size = p.extent.x @ np.abs(point.coef) + p.extent.offset
    blur = (len(point.coef) + 4) * EPS * size
    full = 4.0 * float(np.sum(blur)) + (256 * EPS + 2e-11) * abs(null) if p.loss in FLAT else 0.0
    full = full if p.charges.smooth else max(full, 2e-11 * abs(null))
    return max(full, float(np.sum((32.0 * blur) ** 2)) + 8.0 * (1024 * EPS) ** 2 * abs(null))


def check_objective(report: Report, point: Point, stated: float | None) -> None:
    """Check the objective that the evidence states."""
    report.check(
        "the objective at the coefficients is as stated",
        stated is not None and abs(point.objective - stated) <= point.allowance,
        f"{point.objective!r}, stated {stated!r}, rounding {point.allowance:.1e}",
    )
