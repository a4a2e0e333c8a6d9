"""What in the data stands in the way of a proof, as far as that can be told: rounding alone explains nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from lineal.certify.baseline import baseline_fit, spread
from lineal.ground.arrays import Array
from lineal.problem.problem import Problem
from lineal.sources.source import Block

ROUNDING = "rounding error allows no further progress"

FAR_MEAN_SDS = 1e6
"""A mean of this many standard deviations leaves ten digits of a score."""

WEIGHT_RATIO = 1e10
"""Beside weights this many times as large, rounding errors of heavy rows hide the light ones."""

NEAR_SHARE = 1e-6
"""Columns nearer than this share of their length to combinations of others leave coefficients ten digits at most."""

THRESHOLD_SHARE = 1e-6
"""Scores that are rounded by more than this share of a threshold hide what a fit may leave to gain, 1e-6 of it."""

GAIN_SHARE = 2e-8
"""Where no more than this share of the loss is to gain, the millionth part of that is next to its last digit."""

OFFSET_SPREAD = 50.0
"""Rows of a loss of probabilities whose scores are so far apart are not heard beside each other: e^-50 is 1e-22."""

SIZE_RATIO = 1e8
"""Penalties of columns whose sizes are so far apart are 1e16 apart."""

MAX_CELLS = 1_000_000
"""Cells up to which singular values are looked at: a second at most."""


def explained(problem: Problem, coef: Array, stopped: str, gap: float | None = None) -> str:
    """Return why a fit ended, with what in its data explains that; rows on disk are not read once more for it.

    ``gap`` is what F may still fall by, as far as that is proven.
    """
    causes = [cause for cause in (*_causes(problem, coef), _gain(problem, coef, gap)) if cause]
    bare = not causes and stopped.startswith("rounding")
    return "; ".join([stopped, *(_sizes(problem, coef) if bare else causes)])


def _causes(problem: Problem, coef: Array) -> Iterator[str]:
    """Yield what is known to leave too few digits, or nothing where it is not so."""
    yield _far(problem)
    if (block := problem.source.whole) is not None:
        yield _weights(block)
    yield _threshold(problem, coef)
    if block is not None:
        yield _near(block, intercept=problem.intercept)
    yield _offsets(problem)
    yield _scales(problem)


def _far(problem: Problem) -> str:
    """Say it of columns whose means take the digits of what differs between rows."""
    moments = problem.moments
    if not np.any(np.abs(moments.mean) > FAR_MEAN_SDS * moments.sd, where=moments.scatter > 0.0):
        return ""
    why = "their means could not be taken off" if problem.intercept else "there is no intercept to take their means off"
    return f"columns are far from zero, and {why}"


def _weights(block: Block) -> str:
    """Say it of weights that differ too much."""
    present = block.weights[block.weights > 0.0]
    ratio = float(np.max(present) / np.min(present)) if len(present) else 1.0
    return f"weights differ by a factor of {ratio:.0e}" if ratio >= WEIGHT_RATIO else ""


def _threshold(problem: Problem, coef: Array) -> str:
    """Say it of scores whose rounding is not small beside the narrowest part of the loss."""
    narrow, error = problem.loss.narrowest, float(np.max(problem.score_error(coef), initial=0.0))
    if not THRESHOLD_SHARE * narrow < error < np.inf:
        return ""
    return f"scores are rounded by up to {error:.0e}, which is not small beside a threshold of {narrow:g}"


def _near(block: Block, *, intercept: bool) -> str:
    """Say it of columns that are nearly combinations of others, beside an intercept after their means."""
    rows, columns = block.design.shape
    if rows * columns > MAX_CELLS:
        return ""
    x = block.design.times(np.eye(columns))[block.weights > 0.0]
    x = x[:, 1:] - np.mean(x[:, 1:], axis=0) if intercept else x
    length = np.linalg.norm(x, axis=0)
    x = x[:, length > 0.0] / length[length > 0.0]
    if not np.all(np.isfinite(x)) or not 1 < x.shape[1] <= len(x):
        return ""
    values = np.linalg.svd(x, compute_uv=False)
    return "columns are nearly combinations of others" if values[-1] < NEAR_SHARE * values[0] else ""


def _offsets(problem: Problem) -> str:
    """Say it of offsets that leave the rows of a loss of probabilities no curvature."""
    if problem.moments.offset <= 0.5 * OFFSET_SPREAD or not problem.loss.unbounded:
        return ""
    low, _, high = spread(problem)
    apart = float(np.max(high - low))
    return f"offsets differ by up to {apart:.2g}" if apart > OFFSET_SPREAD else ""


def _scales(problem: Problem) -> str:
    """Say it of penalized columns in units that are far apart."""
    size = problem.moments.largest[problem.penalty.penalized & (problem.moments.largest > 0.0)]
    ratio = float(np.max(size) / np.min(size)) if len(size) else 1.0
    return f"penalized columns differ in size by a factor of {ratio:.0e}" if ratio >= SIZE_RATIO else ""


def _gain(problem: Problem, coef: Array, gap: float | None) -> str:
    """Say it where the columns have next to nothing to gain over the null fit."""
    baseline = baseline_fit(problem).value
    return little_to_gain(math.inf if gap is None else baseline - problem.evaluate(coef).value + gap, baseline)


def little_to_gain(gain: float, baseline: float) -> str:
    """Say it of a gain that is next to nothing beside the null loss.

    >>> little_to_gain(1e-4, 1e9), little_to_gain(1.0, 2.0)
    ('the columns gain at most 0.0001 over a null loss of 1e+09', '')
    """
    if not gain <= GAIN_SHARE * abs(baseline):
        return ""
    return f"the columns gain at most {gain:.2g} over a null loss of {baseline:.2g}"


def _sizes(problem: Problem, coef: Array) -> list[str]:
    """Return how large the terms of scores are, and their rounding errors: what is said where nothing else is known."""
    terms = float(np.max(problem.moments.largest @ np.abs(coef), initial=0.0)) + problem.moments.offset
    error = float(np.max(problem.score_error(coef), initial=0.0))
    return (
        [f"scores are sums of terms up to {terms:.0e}, and rounded by up to {error:.0e}"] if np.isfinite(error) else []
    )
