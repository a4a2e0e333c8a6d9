"""Ridge on a short table in one native call: first look, null fit, solution and proof.

The same sums, factor and bounds as ``moments``, ``null``, ``solvers.direct`` and ``certify`` make one after the other; there a
table of a few hundred rows would wait for Python most of the time. Whatever is unusual (NaN, weak charges, columns
that nearly depend on each other, a gap that is not small at once) is left to them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lineal.factor import SMALL
from lineal.loss import Loss
from lineal.moments import FARTHEST, Moments
from lineal.null import Null
from lineal.penalty import Penalty
from lineal.problem import EPS, Problem
from lineal.proof import Proof, unit
from lineal.solvers.direct import ENOUGH
from lineal.source import Source
from lineal.trace import Record, Trace

Array = npt.NDArray[np.float64]

PASSES: Final = 3


@dataclass(frozen=True)
class Closed:
    """Coefficients, the problem they solve, and how well that is proven."""

    coef: Array
    problem: Problem
    proof: Proof
    trace: Trace


def close(source: Source, loss: Loss, penalty: Penalty, tol: float) -> Closed | None:
    """Return the minimiser of squared loss and a ridge that spares the intercept alone, or None where that is not the case."""
    block = source.whole
    if block is None or not (loss.quadratic and penalty.square) or loss.native is None or block.offset is not None:
        return None
    rows, square = block.design.rows, penalty.curvature()
    if rows is None or not 0 < len(square) == block.design.shape[1] <= SMALL or source.leading != "(intercept)":
        return None
    began = time.monotonic()
    found = rows.closed(block.y, block.weight, square, FARTHEST, EPS / ENOUGH)
    if found is None:
        return None
    total, count, mean, scatter, largest, constant, baseline, coef, value, estimate, gap, blur = found
    proof = Proof(value, baseline, gap, unit=unit(blur, baseline))
    gain = baseline - value
    # as near as Direct's own step has to come before it asks for a proof
    if not (gain > 16 * EPS * abs(baseline) and estimate <= 0.02 * tol * gain and proof.within(tol)):
        return None
    begin = np.zeros(coef.shape)
    begin[0] = constant
    moments = Moments(count, total, mean, scatter, largest, constant * total, 0.0)
    problem = Problem(source, loss, penalty, moments, passes=PASSES, null=Null(begin, baseline))
    record = Record(0, value, estimate, PASSES, time.monotonic() - began, "normal equations")
    return Closed(coef, problem, proof, Trace([record]))
