"""Witnesses: dependencies that a file holds, and directions along which a loss falls for ever, each checked row by row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.verify.arithmetic import Array, Index, signs
from lineal.verify.problem.dependence import NotProvenError
from lineal.verify.problem.formulas import Problem


def independent(null_space: Array, scale: Array, candidates: Index) -> Index:
    """Return candidates that stay when one column per dependency is set aside (elimination, largest entry first)."""
    work = (null_space * scale[:, None]).T.copy()
    gone: list[int] = []
    for row in range(len(work)):
        pivot = int(np.argmax(np.abs(work[row])))
        if not abs(work[row, pivot]) > 1e-9 * np.max(scale * np.max(np.abs(null_space), axis=1), initial=0.0):
            raise NotProvenError("the dependencies depend on each other")
        gone.append(pivot)
        below = work[row + 1 :]
        below -= np.outer(below[:, pivot] / work[row, pivot], work[row])
        below[:, pivot] = 0.0
    return np.setdiff1d(candidates, gone)


def strict_rows(problem: Problem, direction: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which rows lose strictly along ``direction``; NotProvenError if the loss of any row grows. Exact.

    ``direction`` holds doubles or integers. logistic: (2 y - 1) x_i'd >= 0; softmax: x_i'(d_y - d_k) >= 0 for every class k;
    Poisson: x_i'd <= 0 where y is 0, and x_i'd = 0 elsewhere.
    """
    strict = np.zeros(len(problem.y), dtype=bool)
    for rows, gains in _row_signs(problem, direction):
        if np.any(gains < 0):
            raise NotProvenError(f"the loss of {int(np.sum(gains < 0))} rows grows along the direction")
        strict[rows] |= gains > 0
    return strict


def _row_signs(problem: Problem, direction: npt.NDArray[Any]) -> Iterator[tuple[Index, npt.NDArray[np.int64]]]:
    """Yield rows with 1 where they gain for ever, -1 where they lose, 0 where nothing changes."""
    if problem.loss.coupled:
        for own, other in itertools.permutations(range(problem.outputs), 2):
            rows = np.flatnonzero(problem.y[:, own] == 1.0)
            yield rows, _difference_signs(problem.x[rows], direction[:, own], direction[:, other])
        return
    none, some = np.flatnonzero(problem.y[:, 0] == 0.0), np.flatnonzero(problem.y[:, 0] > 0.0)
    yield none, -signs(problem.x[none], direction[:, 0])
    up = signs(problem.x[some], direction[:, 0])
    yield some, up if problem.loss.logit else -np.abs(up)


def _difference_signs(x: Array, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the exact signs of X (a - b); a - b itself may not be a double, so both stay as they are."""
    return signs(np.hstack([x, x]), np.concatenate([a, -b]))
