"""Newton steps where passes are short: many of them in one call of the compiled core."""

from __future__ import annotations

from typing import Final

from lineal.algebra.factor import SMALL
from lineal.ground.records import dataclass
from lineal.problem.problem import Evaluation, Problem
from lineal.solvers.solver import Array, Step

SHORT: Final = 2e7
"""Rows times columns squared up to which a pass takes about as long as the Python between two passes, a millisecond."""

SHARE: Final = 2e-8
"""Enough for the proof that the default ``tol`` asks for: an estimate below this share of what was gained so far."""

MOST: Final = 50


@dataclass(frozen=True)
class Walk:
    """Steps taken, where they ended, and whether a step was reported there."""

    steps: list[Step]
    coef: Array
    here: Evaluation
    told: bool


def descend(problem: Problem, coef: Array, here: Evaluation) -> Walk | None:
    """Take Newton steps from ``coef`` until they are near the optimum or need a closer look; None where passes are long.

    The same steps as ``newton.search`` takes, b <- b - t H^-1 g with t by halving, on one block in memory.
    """
    block, loss, penalty = problem.source.whole, problem.loss, problem.penalty
    columns = problem.shape[0]
    if block is None or block.design.rows is None or loss.native is None or loss.coupled or not penalty.square:
        return None
    long = columns > SMALL or problem.moments.rows * columns**2 > SHORT
    if long or here.hessian is None or loss.majorant() is not None:
        return None
    moments = problem.moments
    coefs, values, estimates, passes, count, value, error, gradient, slope, hessian = block.design.rows.descend(
        loss.native,
        block.y,
        block.weight,
        block.offset,
        coef,
        (here.value, here.error, here.gradient, here.hessian.reshape(-1, columns)),
        penalty.curvature(),
        moments.largest,
        moments.offset,
        here.value if problem.null is None else problem.null.value,
        SHARE,
        MOST,
        unbounded=loss.unbounded,
        parameter=loss.parameter,
    )
    before = problem.passes
    steps = [Step(coefs[i], values[i], abs(estimates[i]), before + passes[i]) for i in range(len(values))]
    problem.passes = before + count
    if slope is None:
        return Walk(steps, coef, here, bool(steps))
    end = Evaluation(value, error, gradient, slope, hessian)
    problem.keep(coefs[-1], end)
    return Walk(steps, coefs[-1], end, len(values) == len(coefs))
