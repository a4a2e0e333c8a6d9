"""The covariance of the coefficients: of a unique fit without a penalty, or of a posterior."""

from __future__ import annotations

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.claims.model import Claims
from lineal.verify.problem.formulas import Point, Training
from lineal.verify.proof.basis import basis
from lineal.verify.proof.plan import Plan
from lineal.verify.report import Report


def covariance(point: Point, weight_sum: float) -> Array:
    """Return the covariance of unpenalized coefficients, output-major: sigma^2 (X'SX)^-1, or the inverse information."""
    p, k = point.problem, point.problem.outputs
    columns = p.columns
    base = basis(Plan(point), np.ones((columns, k), dtype=bool))
    change = np.zeros((k * columns, k * columns))
    for output, part in enumerate(base.parts):
        place = slice(output * columns, (output + 1) * columns)
        change[place, place] = part.change
    matrix = change @ base.inverse @ change.T / weight_sum
    if p.loss.quadratic:
        freedom = weight_sum - columns
        spread = weight_sum * np.asarray(sum(at.block.q @ at.rows.slope**2 for at in point.blocks())) / freedom
        matrix = matrix * np.repeat(spread, columns)[:, None]
    return np.asarray(matrix)


def nearest(matrix: Array, stated: Array, point: Point, gap: float) -> Array:
    """Return the covariance of squared loss that is nearest to a stated one: residuals are those of the optimum, not of b.

    Their squares sum to no more than those at b, and to at most 2 S gap less: all of them, where they are rounding alone.
    """
    mean = np.asarray(sum(at.block.q @ at.rows.slope**2 for at in point.blocks()))
    columns = point.problem.columns
    places = np.arange(len(mean)) * columns
    known, own = stated[places, places], matrix[places, places]
    share = np.where(own > 0.0, known / np.where(own > 0.0, own, 1.0), 1.0)
    least = 1.0 - 2.0 * gap / np.where(mean > 0.0, mean, np.inf)
    return np.asarray(matrix * np.repeat(np.clip(share, np.maximum(least, 0.0), 1.0), columns)[:, None])


def posterior(problem: Training, weight_sum: float, factors: Array, noise: float, prior: float) -> Array:
    """Return ``noise (X'SX + noise/prior D)^-1``, D the penalty factors, from the triangle of [S^1/2 X; (noise/prior D)^1/2].

    Columns are divided by powers of two first, so that their units cost no digits.
    """
    size = np.sqrt(np.asarray(sum(weight_sum * (block.q @ block.x**2) for block in problem.blocks())))
    ridge = np.sqrt(noise / prior * factors)
    scale = np.exp2(np.round(np.log2(np.where(size + ridge > 0.0, size + ridge, 1.0))))
    triangle = np.diag(ridge / scale)
    for block in problem.blocks():
        rows = np.sqrt(weight_sum * block.q)[:, None] * (block.x / scale)
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, rows]), mode="r"))
    if not np.all(np.abs(np.diag(triangle)) > 0.0):
        return np.full((len(factors), len(factors)), np.nan)
    half = np.linalg.solve(triangle, np.eye(len(factors))) / scale[:, None]
    return np.asarray(noise * half @ half.T)


def check_variances(report: Report, claims: Claims, point: Point) -> None:
    """Check that the variances of a posterior are those of its ridge, and of its evidence where they were estimated."""
    noise, prior = claims.variances or (0.0, 0.0)
    ridge = claims.loss.quadratic and claims.penalty_name == "ridge" and claims.outputs == 1
    ridge = ridge and not point.problem.penalty.bounded.any()
    report.check("the variances of a posterior are stated for a ridge of squared loss only", ridge)
    expected = noise / (prior * claims.weight_sum)
    report.check(
        "the strength is noise / (prior S) of the posterior",
        abs(claims.strength - expected) <= 1e-9 * expected,
        f"{expected!r}, stated {claims.strength!r}",
    )
    if claims.kind == "stationary":
        pairs = ((claims.figure("noise"), noise), (claims.figure("prior"), prior))
        same = all(known is not None and abs(known - stated) <= 1e-12 * stated for known, stated in pairs)
        report.check("the variances of the posterior are those of the evidence", same)
