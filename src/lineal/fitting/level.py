"""What all offsets have in common, which an intercept makes up for: taken off before a fit, put back after it.

    eta = b_0 + x b + offset = (b_0 + c) + x b + (offset - c)

Differences of doubles that are within a factor of two of each other are exact (Sterbenz), so that it is the same problem.
With c = 1e9 in every offset, scores of order one would be known to 1e-7; without it they are known to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lineal.algebra.doubled import two_sum
from lineal.certify import prove
from lineal.certify.baseline import spread
from lineal.certify.wording import judge
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.problem import Problem
from lineal.sources.source import Block


@dataclass(frozen=True)
class Level:
    """A constant ``c`` per output, and the problem with offsets less by it."""

    constant: Array
    problem: Problem

    @property
    def moved(self) -> tuple[Array, Array]:
        """By how much intercepts make up for it, rounded, and what rounding leaves.

        What the scores of all classes share moves no score's place among them, and no intercept.
        """
        shared = float(np.mean(self.constant)) if self.problem.loss.coupled else 0.0
        return two_sum(self.constant, np.full_like(self.constant, -shared))

    @staticmethod
    def of(problem: Problem) -> Level | None:
        """Return what can be taken off the offsets exactly; None where that is nothing, or no intercept is free."""
        if problem.moments.offset == 0.0 or not problem.intercept or problem.penalty.penalized[0]:
            return None
        low, _, high = spread(problem)
        near = np.where(low > 0.0, high <= 2.0 * low, (high < 0.0) & (low >= 2.0 * high))
        if not near.any():
            return None
        constant, level = np.where(near, low, 0.0), bool(np.all(low == high) and near.all())
        left = 0.0 if level else float(np.max(np.maximum(np.abs(low - constant), np.abs(high - constant))))
        source = problem.source.map(Lower(constant, level), keep=True)
        moments = replace(problem.moments, offset=left)
        return Level(constant, Problem(source, problem.loss, problem.penalty, moments, problem.before))

    def inward(self, coef: Array) -> Array:
        """Return coefficients of the problem as it is as those of the problem within."""
        moved = np.array(coef, dtype=np.float64)
        moved[:1] += self.moved[0]
        return moved

    def plain(self, coef: Array) -> Array:
        """Return coefficients of the problem within as those of the problem as it is, the intercept rounded."""
        moved = coef.copy()
        moved[:1] -= self.moved[0]
        return moved

    def outward(self, inner: Fit, problem: Problem, tol: float, labels: Sequence[str] | None) -> Fit:
        """Return a fit of the problem within as one of the problem as it is.

        The intercept is rounded again. What is proven is what is given: the proof is repeated where that moved it.
        """
        coef = self.plain(inner.coef)
        exact, (moved, rest) = inner.coef.copy(), self.moved
        exact[0], lost = two_sum(coef[0], moved)
        lost = lost + rest
        if (np.array_equal(exact, inner.coef) and not lost.any()) or inner.verdict.gap is None:
            return replace(inner, coef=coef, problem=problem)
        proof = prove(_raised(self.problem, lost), exact, theta=inner.arrays.get("theta"))
        stopped = "the intercept has too few digits beside offsets so far from zero"
        verdict = judge(self.problem, proof.objective, proof, tol, stopped, None, labels)[0]
        return replace(inner, coef=coef, problem=problem, verdict=verdict, objective=proof.objective)


def _raised(problem: Problem, constant: Array) -> Problem:
    """Return the problem with offsets larger by a constant, per output."""
    if not constant.any():
        return problem
    moments = replace(problem.moments, offset=problem.moments.offset + float(np.max(np.abs(constant))))
    return Problem(problem.source.map(Higher(constant)), problem.loss, problem.penalty, moments)


@dataclass(frozen=True)
class Lower:
    """The change of a block whose offsets are ``constant`` less; ``level`` says that nothing is left of them."""

    constant: Array
    level: bool

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        offset = None if self.level or block.offset is None else block.offset - self.constant
        if offset is not None and block.weight is not None:
            offset[block.weight == 0.0] = 0.0  # nobody looks at them, and theirs may be anything
        return replace(block, offset=offset)


@dataclass(frozen=True)
class Higher:
    """The change of a block whose offsets are ``constant`` more."""

    constant: Array

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        offset = np.zeros((block.n_rows, len(self.constant))) if block.offset is None else block.offset
        return replace(block, offset=offset + self.constant)
