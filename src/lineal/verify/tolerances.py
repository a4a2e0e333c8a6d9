"""How far the figures of a fit in plain float64 may be from what the checker computes with twice the digits."""

from __future__ import annotations

from typing import Final

import numpy as np

from lineal.verify.formulas import Point
from lineal.verify.report import Report

FACTOR: Final = 4.0
"""A fit may state a gap up to this many times the proven one: its bounds on rounding are wider than ours."""
SLACK: Final = 1e-9
"""And beyond that, up to this share of what there is to gain,"""
COARSE: Final = 2.0**-38
"""and up to this share of the objective: sums of thousands of rows in plain float64 are known to no more."""
LEAST: Final = 1e-2
"""A proof may miss a stated gap by this share of the tolerance, of what there is to gain: the verdict is the same."""


def box_slack(point: Point) -> float:
    """Return what a gradient known to 1e-9 of its terms may cost coefficients that roam freely between two finite bounds.

    In plain float64 and columns that are nearly dependent a fit knows no more of it.
    """
    p = point.problem
    roaming = p.charges.inside(point.coef, both=True) & ~p.charges.inside(point.coef, both=False)
    size = np.abs(p.x).T @ (p.q[:, None] * np.abs(point.rows.slope))
    width = np.where(roaming, (p.charges.upper - p.charges.lower)[:, None], 0.0)
    return 1e-9 * float(np.sum(size * width))


def check_objective(report: Report, point: Point, stated: float | None) -> None:
    """Check the objective that the evidence states."""
    report.check(
        "the objective at the coefficients is as stated",
        stated is not None and abs(point.objective - stated) <= point.allowance,
        f"{point.objective!r}, stated {stated!r}, rounding {point.allowance:.1e}",
    )
