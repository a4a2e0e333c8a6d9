"""What all offsets have in common, which an intercept makes up for: taken off before a fit, put back after it.

    eta = b_0 + x b + offset = (b_0 + c) + x b + (offset - c)

Differences of doubles that are within a factor of two of each other are exact (Sterbenz), so that it is the same problem.
With c = 1e9 in every offset, scores of order one would be known to 1e-7; without it they are known to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lineal.certify import prove
from lineal.null import spread
from lineal.problem import Problem
from lineal.records import dataclass
from lineal.source import Block, Source
from lineal.sources.memory import Blocks
from lineal.verdict import Verdict
from lineal.wording import judge

Array = npt.NDArray[np.float64]

DIGITS = "the intercept has too few digits beside offsets so far from zero"


@dataclass(frozen=True)
class Level:
    """A constant ``c`` per output, and the problem with offsets less by it."""

    constant: Array
    problem: Problem

    @staticmethod
    def of(problem: Problem) -> Level | None:
        """Return what can be taken off the offsets exactly; None where that is nothing, or no intercept is free."""
        if problem.moments.offset == 0.0 or not problem.intercept or problem.penalty.charged[0]:
            return None
        low, _, high = spread(problem)
        near = np.where(low > 0.0, high <= 2.0 * low, (high < 0.0) & (low >= 2.0 * high))
        if not near.any():
            return None
        constant, level = np.where(near, low, 0.0), bool(np.all(low == high) and near.all())
        left = 0.0 if level else float(np.max(np.maximum(np.abs(low - constant), np.abs(high - constant))))

        def lower(block: Block) -> Block:
            offset = None if level or block.offset is None else block.offset - constant
            if offset is not None and block.weight is not None:
                offset[block.weight == 0.0] = 0.0  # nobody looks at them, and theirs may be anything
            return replace(block, offset=offset)

        source: Source = problem.source.map(lower)
        if problem.source.resident:
            source = Blocks(list(source.blocks()), problem.source.columns)
        moments = replace(problem.moments, offset=left)
        return Level(constant, Problem(source, problem.loss, problem.penalty, moments, passes=problem.passes))

    def inward(self, coef: Array | None) -> Array | None:
        """Return a start of the problem as it is as one of the problem within."""
        if coef is None or len(coef) == 0:
            return coef
        moved = np.array(coef, dtype=np.float64)
        moved[0] += self.constant
        return moved

    def outward(
        self,
        coef: Array,
        problem: Problem,
        theta: Array | None,
        verdict: Verdict,
        tol: float,
        labels: Sequence[str] | None,
    ) -> tuple[Array, float | None, Verdict]:
        """Return coefficients with the intercept of the problem as it is, F of them where it changed, and what is proven.

        The intercept is rounded again. What is proven is what is given: the proof is repeated where that moved it.
        ``problem`` is the one of ``coef``: the one within, or that in columns about a center.
        """
        given = coef.copy()
        given[0] -= self.constant
        exact = coef.copy()
        exact[0] = given[0] + self.constant  # exact but for the last digit, which a bound on scores counts already
        if np.array_equal(exact, coef) or verdict.gap is None:
            return given, None, verdict
        proof = prove(problem, exact, theta=theta)
        return given, proof.objective, judge(problem, proof.objective, proof, tol, DIGITS, None, labels)[0]
