"""How long a step of gradient descent may be: below 2/L it is proven to descend, L a bound on the curvature of F."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from lineal import _core
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.problem import EPS, Problem
from lineal.solvers.learner import Frame
from lineal.solvers.presentation import Window, windows
from lineal.sources.source import Access, Block

EIGENVALUE_MAX_COLUMNS: Final = 1000
"""Columns up to which the largest eigenvalue is found, in a fraction of a second; of more, the trace bounds it."""


@dataclass(frozen=True)
class Gram:
    """The task that sums ``X'SX``."""

    def __call__(self, block: Block) -> Array:
        """Sum over one block."""
        return block.design.gram(block.weight)


def curvature_above(problem: Problem) -> float:
    """Return an upper bound L on the largest eigenvalue of the second derivative of F, anywhere; infinity if it has none.

    ``L = lambda_max(c X'SX / S + P)``, c the largest curvature of the loss and P that of the penalty. What rounding may have
    done to the gram of N rows and to its eigenvalue is at most ``(N + 10 p) eps`` times its trace, and is added.
    """
    bound, moments, columns = problem.loss.curvature_bound, problem.moments, problem.shape[0]
    if not (math.isfinite(bound) and problem.loss.smooth):
        return math.inf
    penalty = np.asarray(problem.penalty.curvature(), dtype=np.float64)
    size = bound * float(np.sum(moments.square)) + float(np.max(penalty, initial=0.0))
    error = (moments.rows + 10 * columns + 100) * EPS * size
    if columns > EIGENVALUE_MAX_COLUMNS or not math.isfinite(size):
        return size + error
    gram = problem.source.sum(Gram()) / moments.weight_sum
    return float(np.linalg.eigvalsh(bound * gram + np.diag(penalty))[-1]) + error


def curvature_above_by_row(problem: Problem) -> float:
    """Return an upper bound on the curvature of any one row's loss and the penalty: ``c N s_i |x_i|^2 / S + max P``."""
    loss, moments = problem.loss, problem.moments
    if not (math.isfinite(loss.curvature_bound) and loss.smooth) or Access.ITERATE not in problem.source.offers:
        return math.inf
    frame = Frame(np.ones(problem.shape[0]))
    share = loss.curvature_bound * moments.rows / moments.weight_sum
    largest = share * max(largest_row(rows, frame) for rows in windows(problem.source))
    size = largest + float(np.max(problem.penalty.curvature(), initial=0.0))
    return size * (1.0 + 4 * (problem.shape[0] + 10) * EPS)


def largest_row(rows: Window, frame: Frame) -> float:
    """Return the largest ``s_i |x_i|^2`` of some rows in the columns of a frame."""
    order = rows.order(0, 0, shuffle=False)
    segments: list[tuple[tuple[_core.Part, ...], Array | None, Array | None, Array | None]]
    segments = [(held, None, weight, None) for held, _, weight, _ in rows.segments]
    return _core.largest_row(segments, order, frame.rate, frame.shift)


def too_long(problem: Problem, objectives: Sequence[float], step: float, *, by_row: bool) -> str:
    """Say it of steps up to ``step`` after which F rose, with the length below which it is proven to fall; else empty.

    ``by_row`` says that steps followed single rows: F may then rise now and then, but not above where it began.
    """
    first, last = objectives[0], objectives[-1]
    slack = 1e-12 * abs(first)
    rises = sum(1 for before, after in pairwise(objectives) if not after <= before + slack)
    if not last <= first + slack:
        end = f"to {last:.4g}" if math.isfinite(last) else "beyond all numbers"
        what = f"the steps diverged: the objective rose from {first:.4g} {end}"
    elif rises and not by_row:
        what = f"the steps are too long: the objective rose in {rises} of {len(objectives) - 1}"
    else:
        return ""
    above = curvature_above_by_row(problem) if by_row else curvature_above(problem)
    if not math.isfinite(problem.loss.curvature_bound):
        return f"{what}; the {problem.loss.name} loss bends without limit, so no length is proven stable"
    if not 0.0 < above < math.inf:
        return what
    if step < 2.0 / above:  # rows that were picked have lost what others gained, or rounding has
        return ""
    proven = "is proven to lower the loss of its rows" if by_row else "is proven to descend"
    return f"{what}; every step below {_down(2.0 / above)} {proven} (2/L with L = {above:.4g})"


def _down(value: float) -> str:
    """Return a number rounded down to four digits.

    >>> _down(0.123456), _down(19999.0)
    ('0.1234', '1.999e+04')
    """
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    for steps in (0, 1):
        text = f"{(math.floor(value / unit) - steps) * unit:.4g}"
        if float(text) <= value:
            return text
    return f"{0.999 * value:.3g}"
