"""Coefficients without loss: where classes are separated, a loss with a margin is zero far enough along a separator.

Newton's method and interior points may creep towards such an optimum: beside weights of 1e10, rows of weight 1e-10 pull no
harder than rounding does. Which rows are separated has nothing to do with weights, and is decided exactly.
"""

from __future__ import annotations

import numpy as np

from lineal.algebra.integers import floats, reduced
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, LateError
from lineal.problem.problem import Problem
from lineal.separation.cloud import centred
from lineal.separation.directions import SEARCH_SECONDS
from lineal.separation.gathering import gather
from lineal.separation.search import decide

MAX_CELLS = 100_000
"""Rows times columns up to which the question is worth its answer: well below a second."""


def lossless(problem: Problem, deadline: Deadline | None = None) -> Array | None:
    """Return coefficients of an unpenalized problem at which no row has a loss; None where there are none, or too many rows.

    >>> from lineal.designs import as_design
    >>> from lineal.losses import SquaredHinge
    >>> from lineal.penalties import NoPenalty
    >>> from lineal.sources.memory import Memory
    >>> rows = Memory(as_design(np.array([[1.0], [2.0], [4.0]])), np.array([0.0, 0.0, 1.0]))
    >>> problem = Problem.of(rows, SquaredHinge(), NoPenalty(2))
    >>> problem.evaluate(lossless(problem)).value
    0.0
    """
    loss, cells = problem.loss, problem.moments.rows * problem.shape[0]
    if loss.targets not in ("two classes", "classes") or loss.unbounded or cells > MAX_CELLS:
        return None
    if problem.penalty.penalized.any() or not np.all(problem.penalty.recession()):
        return None
    try:
        cloud = gather(problem.source, outputs=loss.outputs)
        limit = Deadline.after(SEARCH_SECONDS) if deadline is None else deadline.within(SEARCH_SECONDS)
        decision = decide(cloud, limit, two_way=True)
    except (LateError, MemoryError):
        return None
    if decision.kind != "complete" or decision.direction is None:
        return None
    coef = floats(reduced(centred(cloud, decision.direction)))
    coef /= float(np.max(problem.moments.largest @ np.abs(coef)))
    for _ in range(100):  # doublings: from scores of at most 1 to a margin of 1, of which offsets take their part
        coef *= 2.0
        if problem.evaluate(coef).value == 0.0:
            return np.asarray(2.0 * coef)
    return None
