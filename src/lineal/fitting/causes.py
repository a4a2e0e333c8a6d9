"""What in the data stands in the way of a proof, as far as that can be told: rounding alone explains nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lineal.problem.problem import Problem
from lineal.sources.source import Block

Array = npt.NDArray[np.float64]

WEIGHT_RATIO = 1e10
"""Beside weights so many times as large, rounding errors of heavy rows hide the light ones."""

NEAR_SHARE = 1e-6
"""Columns nearer than this share of their length to combinations of others leave coefficients ten digits at most."""

THRESHOLD_SHARE = 1e-6
"""Scores that are rounded by more than this share of a threshold hide what a fit may leave to gain, 1e-6 of it."""

MAX_CELLS = 1_000_000
"""Cells up to which singular values are looked at: a second at most."""


def explained(problem: Problem, coef: Array, stopped: str) -> str:
    """Return why a fit ended, with what in its data explains that; rows on disk are not read once more for it."""
    if (block := problem.source.whole) is None:
        return stopped
    found = (_weights(block), _threshold(problem, coef), _near(block, intercept=problem.intercept))
    return "; ".join([stopped, *(cause for cause in found if cause)])


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
