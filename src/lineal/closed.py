"""A charged fit of a short table in one native call: first look, null fit, steps and proof.

The same sums, factors, steps and bounds as ``moments``, ``null``, ``solvers`` and ``certify`` make one after the other;
there a table of a few hundred rows would wait for Python most of the time. Whatever is unusual (NaN, weak charges, columns
that nearly depend on each other, one class, a gap that is not small at once) is left to them.
"""

from __future__ import annotations

import time
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from lineal.algebra.factor import SMALL
from lineal.certify.proof import Proof, unit
from lineal.loss import Loss
from lineal.moments import FARTHEST, Moments
from lineal.null import Null
from lineal.penalty import Penalty
from lineal.problem import EPS, Problem
from lineal.solvers import closed_form, whole_second_derivative
from lineal.solvers.descent import MOST
from lineal.solvers.direct import ENOUGH, Direct
from lineal.solvers.newton import Newton
from lineal.source import Source
from lineal.trace import Record, Trace

Array = npt.NDArray[np.float64]

LAST: Final = 2e-8
"""From an estimate of this share of the gain on, one step more is enough: Newton's steps square what is left."""

SHARE: Final = 1e-11
"""An estimate of this share needs none. The coefficients then have six digits, and the proof is as tight as doubles allow."""

NEAR: Final = 0.02
"""A proof is asked for where the step that is left would gain this share of ``tol``."""


class Closed(NamedTuple):
    """Coefficients, the problem they solve, how they were found, and how well that is proven."""

    coef: Array
    problem: Problem
    proof: Proof
    solver: str
    reason: str
    trace: Trace


def close(source: Source, loss: Loss, penalty: Penalty, tol: float) -> Closed | None:
    """Return the minimiser of a smooth loss and a ridge that spares the intercept alone, or None where that is not the case."""
    block = source.whole
    if block is None or not penalty.square or not _suits(loss) or loss.native is None or block.offset is not None:
        return None
    rows, square = block.design.rows, penalty.curvature()
    if rows is None or not 0 < len(square) == block.design.shape[1] <= SMALL or source.leading != "(intercept)":
        return None
    began, near = time.monotonic(), NEAR * tol
    limits = (loss.steepest, loss.reach, loss.room, FARTHEST, EPS / ENOUGH)
    found = rows.closed(loss.native, block.y, block.weight, square, limits, min(SHARE, near), MOST, LAST, loss.endless)
    if found is None:
        return None
    total, count, mean, scatter, largest, target, baseline, begin, coef, values, estimates, passes, gap, blur = found
    value, gain = values[-1], baseline - values[-1]
    proof = Proof(value, baseline, gap, unit=unit(blur, baseline))
    if not (gain > 16 * EPS * abs(baseline) and abs(estimates[-1]) <= near * gain and proof.within(tol)):
        return None
    moments = Moments(count, total, mean, scatter, largest, target * total, 0.0)
    problem = Problem(source, loss, penalty, moments, passes=passes[-1] + 2, null=Null(begin, baseline))
    seconds = time.monotonic() - began
    if loss.quadratic:
        trace = Trace([Record(0, value, abs(estimates[-1]), problem.passes, seconds, "normal equations")])
        return Closed(coef, problem, proof, Direct.name, closed_form(len(coef)), trace)
    problem.passes += 1
    steps = enumerate(zip(values, estimates, passes, strict=True))
    trace = Trace([Record(i, at, abs(left), 2 + number, seconds) for i, (at, left, number) in steps])
    return Closed(coef, problem, proof, Newton.name, whole_second_derivative(coef.size), trace)


def _suits(loss: Loss) -> bool:
    """Whether one mean says what the best constant is, and a Newton step what the best step is."""
    return loss.smooth and loss.pooled and not loss.coupled and loss.majorant() is None
