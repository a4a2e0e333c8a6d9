"""A charged fit of a short table in one native call: first look, null fit, steps and proof.

The same sums, factors, steps and bounds as ``moments``, ``null``, ``solvers`` and ``certify`` make one after the other;
there a table of a few hundred rows would wait for Python most of the time. Whatever is unusual (NaN, weak charges, columns
that nearly depend on each other, one class, a gap that is not small at once) is left to them.
"""

from __future__ import annotations

import time
from typing import Final

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.algebra.factor import SMALL
from lineal.certify.baseline import Null
from lineal.certify.proof import Proof, unit
from lineal.losses.loss import Loss
from lineal.model.trace import Record, Trace
from lineal.model.verdict import TOLERANCE
from lineal.penalties.penalty import Penalty
from lineal.problem.moments import FARTHEST, Moments
from lineal.problem.problem import EPS, SHORT, Problem
from lineal.solvers import closed_form, whole_second_derivative
from lineal.solvers.descent import MOST
from lineal.solvers.direct import ENOUGH, Direct
from lineal.solvers.newton import Newton
from lineal.solvers.solver import Solver
from lineal.sources.source import Source

Array = npt.NDArray[np.float64]

LAST: Final = 2e-8
"""From an estimate of this share of the gain on, one step more is enough: Newton's steps square what is left. Already where two
more promise to be, no second derivative is made any more."""

SHARE: Final = 1e-11
"""An estimate of this share needs none. The coefficients then have six digits, and the proof is as tight as doubles allow."""

NEAR: Final = 0.02
"""A proof is asked for where the step that is left would gain this share of ``tol``."""


class Closed:
    """Coefficients and how well they are proven; how they were found is written down when somebody asks. It holds no rows."""

    __slots__ = ("_found", "_seconds", "coef", "columns", "loss", "penalty", "proof")

    def __init__(
        self,
        found: _core.Closed,
        proof: Proof,
        loss: Loss,
        penalty: Penalty,
        columns: tuple[str, ...],
        seconds: float,
    ) -> None:
        self._found, self._seconds = found, seconds
        self.coef = found.coef
        self.proof, self.loss, self.penalty, self.columns = proof, loss, penalty, columns

    @property
    def solver(self) -> str:
        """The name of the solver whose steps were taken."""
        return Direct.name if self.loss.quadratic else Newton.name

    @property
    def reason(self) -> str:
        """Why it was chosen."""
        return closed_form(len(self.coef)) if self.loss.quadratic else whole_second_derivative(self.coef.size)

    @property
    def steps(self) -> int:
        """How many steps it took; a closed form is one."""
        return 1 if self.loss.quadratic else len(self._found.passes) - 1

    @property
    def moments(self) -> Moments:
        """The first look at the rows."""
        found = self._found
        total = found.weight_sum
        return Moments(found.rows, total, found.mean, found.scatter, found.largest, found.target * total, 0.0)

    @property
    def trace(self) -> Trace:
        """The recorded steps."""
        found, seconds = self._found, self._seconds
        if self.loss.quadratic:
            last = Record(0, found.value, abs(found.estimate), found.passes[-1] + 2, seconds, "normal equations")
            return Trace([last])
        steps = enumerate(zip(found.values, found.estimates, found.passes, strict=True))
        return Trace([Record(i, at, abs(left), 2 + number, seconds) for i, (at, left, number) in steps])

    def problem(self, source: Source) -> Problem:
        """Return the problem that the coefficients solve, on its rows."""
        found = self._found
        passes = found.passes[-1] + (2 if self.loss.quadratic else 3)
        null = Null(found.start, found.null_value)
        return Problem(source, self.loss, self.penalty, self.moments, passes=passes, null=null)


def close(
    rows: _core.Rows,
    y: Array,
    weight: Array | None,
    loss: Loss,
    penalty: Penalty,
    columns: tuple[str, ...],
    tol: float,
) -> Closed | None:
    """Return the minimiser of a smooth loss and a ridge that spares the intercept alone, or None where that is not the case.

    The first of the columns is the intercept.
    """
    if not penalty.square or loss.native is None or not _suits(loss):
        return None
    square = penalty.curvature()
    if not 0 < len(square) == len(columns) <= SMALL:
        return None
    began, near = time.monotonic(), NEAR * tol
    limits = (loss.curvature_bound, loss.reach, loss.room, FARTHEST, EPS / ENOUGH)
    found = rows.closed(loss.native, y, weight, square, limits, min(SHARE, near), MOST, LAST, loss.unbounded)
    if found is None:
        return None
    value, baseline = found.value, found.null_value
    gain = baseline - value
    proof = Proof(value, baseline, found.gap, unit=unit(found.blur, baseline))
    if not (gain > 16 * EPS * abs(baseline) and abs(found.estimate) <= near * gain and proof.within(tol)):
        return None
    return Closed(found, proof, loss, penalty, columns, time.monotonic() - began)


def _suits(loss: Loss) -> bool:
    """Whether one mean says what the best constant is, and a Newton step what the best step is."""
    return loss.smooth and loss.has_mean_statistic and not loss.coupled and loss.majorant() is None


def short(
    source: Source,
    loss: Loss,
    penalty: Penalty,
    solver: Solver | str = "auto",
    start: Array | None = None,
    tol: float = TOLERANCE,
    max_iter: int | None = None,
) -> Closed | None:
    """Return the fit of a short table from one native call, proven; None where ``solve`` has to look closer."""
    block = source.whole
    if block is None or start is not None or not brief(block.n_rows, block.design.shape[1]):
        return None
    rows, whole = block.design.rows, max_iter is None
    if block.offset is not None or source.leading != "(intercept)":
        return None
    return at_once(rows, block.y, block.weight, loss, penalty, source.columns, solver, tol, whole=whole)


def at_once(
    rows: _core.Rows | None,
    y: Array,
    weight: Array | None,
    loss: Loss,
    penalty: Penalty,
    columns: tuple[str, ...],
    solver: Solver | str,
    tol: float,
    *,
    whole: bool,
) -> Closed | None:
    """Do what ``short`` does for rows without an offset, the intercept first; ``whole`` says that their number has no limit."""
    if solver not in ("auto", "direct" if loss.quadratic else "newton") or not (whole or loss.quadratic):
        return None
    return None if rows is None else close(rows, y, weight, loss, penalty, columns, tol)


def brief(rows: int, columns: int) -> bool:
    """Whether a table is so short that a fit would wait for Python most of the time."""
    return rows * columns**2 <= SHORT
