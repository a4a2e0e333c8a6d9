"""Newton steps where passes are short: many of them in one call of the compiled core."""

from __future__ import annotations

from typing import Final

from lineal.algebra.cholesky import COMPILED_MAX_COLUMNS
from lineal.ground.records import dataclass
from lineal.problem.problem import Evaluation, Problem
from lineal.solvers.solver import Array, Step

NATIVE_MAX_WORK: Final = 2e7
"""Rows times columns squared up to which a pass takes no longer than the Python between two passes, a millisecond."""

NATIVE_MAX_STEPS: Final = 50
"""Newton steps of one native call."""


@dataclass(frozen=True)
class Descent:
    """Steps taken, where they ended, and whether a step was reported there."""

    steps: list[Step]
    coef: Array
    evaluation: Evaluation
    reported: bool


def descend(problem: Problem, coef: Array, evaluation: Evaluation) -> Descent | None:
    """Take Newton steps from ``coef`` until they are near the optimum or need a closer look; None where passes are long.

    The same steps as ``newton.search`` takes, b <- b - t H^-1 g with t by halving, on one block in memory.
    """
    block, loss, penalty = problem.source.whole, problem.loss, problem.penalty
    columns = problem.shape[0]
    if block is None or block.design.rows is None or loss.native is None or loss.coupled or not penalty.square:
        return None
    long = columns > COMPILED_MAX_COLUMNS or problem.moments.rows * columns**2 > NATIVE_MAX_WORK
    if long or evaluation.hessian is None or loss.majorant() is not None:
        return None
    moments = problem.moments
    coefs, values, estimates, passes, count, value, error, gradient, slope, hessian = block.design.rows.descend(
        loss.native,
        block.y,
        block.weight,
        block.offset,
        coef,
        (evaluation.value, evaluation.error, evaluation.gradient, evaluation.hessian.reshape(-1, columns)),
        penalty.curvature(),
        moments.largest,
        moments.offset,
        evaluation.value if problem.baseline is None else problem.baseline.value,
        2e-8,  # an estimate below this share of the gain is enough for a proof at the default ``tol``
        NATIVE_MAX_STEPS,
        unbounded=loss.unbounded,
        parameter=loss.parameter,
    )
    before = problem.passes
    steps = [Step(coefs[i], values[i], abs(estimates[i]), before + passes[i]) for i in range(len(values))]
    problem.source.pass_count.made += count
    if slope is None:
        return Descent(steps, coef, evaluation, bool(steps))
    end = Evaluation(value, error, gradient, slope, hessian)
    problem.keep(coefs[-1], end)
    return Descent(steps, coefs[-1], end, len(values) == len(coefs))
