"""A penalized fit of a short table: first look, baseline and steps in one native call, then a proof from its sums.

The same sums, factors and steps as ``moments``, ``baseline`` and ``solvers`` make one after the other; there a table of
a few hundred rows would wait for Python most of the time. Whatever is unusual (NaN, weak penalty factors, columns that
nearly depend on each other, one class, a gap that is not small at once) is left to them.
"""

from __future__ import annotations

import math
import time
from typing import Final

from lineal import _core
from lineal.algebra.cholesky import COMPILED_MAX_COLUMNS
from lineal.certify import prove
from lineal.certify.baseline import Baseline
from lineal.certify.proof import Proof
from lineal.certify.proving import of_quadratic
from lineal.ground.arrays import Array
from lineal.losses.loss import Loss
from lineal.model.trace import Record, Trace
from lineal.model.verdict import TOLERANCE
from lineal.penalties.penalty import Penalty
from lineal.problem.moments import MAX_MAGNITUDE, Moments
from lineal.problem.problem import EPS, SHORT_PASS_MAX_WORK, Evaluation, Problem
from lineal.solvers.direct import CHOLESKY_MAX_LOSS, Direct
from lineal.solvers.newton import Newton
from lineal.solvers.solver import Solver
from lineal.sources.source import Source

STEPS_END_SHARE: Final = 1e-11
"""Steps end at an estimate of this share of the gain: coefficients then have six digits, proofs are as tight as doubles allow."""

NATIVE_MAX_STEPS: Final = 50
"""Newton steps of one native call."""


class SmallFit:
    """Coefficients and how well they are proven; their record is written when first asked for. It holds no rows."""

    __slots__ = ("_seconds", "_sums", "coef", "columns", "loss", "moments", "passes", "penalty", "proof")

    def __init__(self, sums: _core.SmallFit, coef: Array, proof: Proof, problem: Problem, seconds: float) -> None:
        self._sums, self._seconds = sums, seconds
        self.coef, self.proof, self.passes = coef, proof, problem.passes
        self.loss, self.penalty, self.moments = problem.loss, problem.penalty, problem.moments
        self.columns = problem.source.columns

    @property
    def solver(self) -> str:
        """The name of the solver whose steps were taken."""
        return Direct.name if self.loss.quadratic else Newton.name

    @property
    def reason(self) -> str:
        """Why it was chosen."""
        return (Direct if self.loss.quadratic else Newton).words.format(columns=len(self.coef), size=self.coef.size)

    @property
    def steps(self) -> int:
        """How many steps it took; a closed form is one."""
        return 1 if self.loss.quadratic else len(self._sums.passes) - 1

    @property
    def trace(self) -> Trace:
        """The recorded steps."""
        sums, seconds = self._sums, self._seconds
        if self.loss.quadratic:
            last = Record(0, sums.value, abs(sums.estimate), sums.passes[-1] + 2, seconds, "normal equations")
            return Trace([last])
        steps = enumerate(zip(sums.values, sums.estimates, sums.passes, strict=True))
        return Trace([Record(i, at, abs(left), 2 + number, seconds) for i, (at, left, number) in steps])

    def problem(self, source: Source) -> Problem:
        """Return the problem that the coefficients solve, on its rows."""
        sums = self._sums
        baseline = Baseline(sums.start, sums.baseline_value)
        before = source.pass_count.made - self.passes
        return Problem(source, self.loss, self.penalty, self.moments, before, baseline)


def small_fit(
    source: Source,
    loss: Loss,
    penalty: Penalty,
    solver: Solver | str = "auto",
    start: Array | None = None,
    tol: float = TOLERANCE,
    max_iter: int | None = None,
) -> SmallFit | None:
    """Return the minimizer of a smooth loss and a ridge that spares the intercept alone, proven, of a short table.

    None where ``declines`` says why, where anything is unusual in the rows, and where the proof is not good enough at once.
    """
    if declines(source, loss, penalty, solver, start, max_iter) is not None:
        return None
    block = source.whole
    assert block is not None
    assert block.design.rows is not None
    assert loss.native is not None
    began, near = time.monotonic(), 0.02 * tol  # a proof is asked for where the step that is left would gain this
    sums = block.design.rows.small_fit(
        loss.native, block.y, block.weight, penalty.curvature(), MAX_MAGNITUDE,
        min(STEPS_END_SHARE, near), NATIVE_MAX_STEPS, loss.unbounded,
    )  # fmt: skip
    gain = 0.0 if sums is None else sums.baseline_value - sums.value
    if sums is None or not (gain > 16 * EPS * abs(sums.baseline_value) and abs(sums.estimate) <= near * gain):
        return None
    problem, coef = posed(sums, source, loss, penalty), sums.coef
    proof = proven(problem, coef, sums)
    return SmallFit(sums, coef, proof, problem, time.monotonic() - began) if proof and proof.within(tol) else None


def declines(
    source: Source, loss: Loss, penalty: Penalty, solver: Solver | str, start: Array | None, max_iter: int | None
) -> str | None:
    """Return why a fit is not made in one native call, the first reason that holds; None where it is."""
    block = source.whole
    if block is None or block.design.rows is None:
        return "the rows are not one compiled block"
    if not brief(block.n_rows, block.design.shape[1]):
        return "the table is not short"
    if start is not None or not (max_iter is None or loss.quadratic):
        return "a start or a limit of steps is given"
    if solver not in ("auto", "direct" if loss.quadratic else "newton"):
        return "another solver is asked for"
    if block.offset is not None or source.leading != "(intercept)":
        return "there are offsets, or no intercept"
    if not penalty.square or not 0 < len(penalty.penalty_factors) == len(source.columns) <= COMPILED_MAX_COLUMNS:
        return "the penalty is not a ridge, or not on few columns"
    if loss.native is None or not _suits(loss):
        return "no mean says what the best constant is, or no Newton step what the best step is"
    return None


def posed(sums: _core.SmallFit, source: Source, loss: Loss, penalty: Penalty) -> Problem:
    """Return the problem with what the native call learned of it: moments and baseline."""
    total = sums.weight_sum
    moments = Moments(sums.rows, total, sums.mean, sums.scatter, sums.largest, sums.target * total, 0.0)
    baseline, before = Baseline(sums.start, sums.baseline_value), source.pass_count.made
    source.pass_count.made += sums.passes[-1] + 2
    return Problem(source, loss, penalty, moments, before, baseline)


def proven(problem: Problem, coef: Array, sums: _core.SmallFit) -> Proof | None:
    """Return the proof of the coefficients; None where normal equations leave so few digits that they need refinement."""
    quadratic = problem.loss.quadratic
    hessian = None if quadratic else sums.hessian
    here = Evaluation(sums.value, sums.error, sums.gradient, sums.slope, hessian)
    if not quadratic:
        problem.keep(coef, here)
        return prove(problem, coef)
    norm, (spread, condition) = math.sqrt(max(2.0 * sums.estimate, 0.0)), sums.spread
    return (
        of_quadratic(problem, coef, here, norm, spread[:, None], condition)
        if condition > EPS / CHOLESKY_MAX_LOSS
        else None
    )


def _suits(loss: Loss) -> bool:
    """Whether one mean says what the best constant is, and a Newton step what the best step is."""
    return loss.smooth and loss.has_mean_statistic and not loss.coupled and loss.majorant() is None


def brief(rows: int, columns: int) -> bool:
    """Whether a table is so short that a fit would wait for Python most of the time."""
    return rows * columns**2 <= SHORT_PASS_MAX_WORK
