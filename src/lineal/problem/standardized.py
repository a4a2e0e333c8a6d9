"""A problem in other columns: the same objective, centred and scaled for solvers that follow gradients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lineal.designs import Affine
from lineal.ground.records import dataclass
from lineal.problem.problem import Problem
from lineal.sources.memory import Blocks
from lineal.sources.source import Block

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """A problem in other columns, and the way back: ``x_j -> (x_j - shift_j) / scale_j``."""

    problem: Problem
    shift: Array
    scale: Array

    @staticmethod
    def of(problem: Problem, shift: Array, scale: Array) -> View:
        """Return the view; charges change so that every coefficient pays what it paid before."""
        seen: list[tuple[Block, Block]] = []

        def change(block: Block) -> Block:
            if seen and seen[0][0] is block:
                return seen[0][1]
            changed = replace(block, design=Affine(block.design, shift, scale))
            if problem.source.resident:
                seen[:] = [(block, changed)]
            return changed

        moments = replace(
            problem.moments,
            mean=(problem.moments.mean - shift) / scale,
            scatter=problem.moments.scatter / scale**2,
            largest=(problem.moments.largest + np.abs(shift)) / scale,
        )
        source, penalty = problem.source, problem.penalty.rescaled(scale)
        # blocks that stay are changed once, not in every pass
        moved = (
            Blocks([change(block) for block in source.blocks()], source.columns)
            if source.resident
            else source.map(change)
        )
        return View(Problem(moved, problem.loss, penalty, moments), shift, scale)

    def inner_coef(self, coef: Array) -> Array:
        """Return coefficients on the original columns."""
        inner = coef / self.scale[:, None]
        inner[0] -= self.shift @ inner
        return np.asarray(inner)

    def outer_gradient(self, gradient: Array) -> Array:
        """Return a gradient by the view's columns, of one by the original columns."""
        return np.asarray((gradient - self.shift[:, None] * gradient[0]) / self.scale[:, None])

    def outer_coef(self, coef: Array) -> Array:
        """Return coefficients on the view's columns."""
        outer = coef * self.scale[:, None]
        outer[0] += self.shift @ coef
        return np.asarray(outer)


def equilibrated(problem: Problem) -> View:
    """Return the problem in centred and scaled columns, for solvers that follow gradients; F is the same."""
    moments = problem.moments
    centred = problem.intercept and 0 in problem.uncharged
    shift = moments.mean.copy() if centred else np.zeros(problem.shape[0])
    scale = np.sqrt(moments.sd**2 + (moments.mean - shift) ** 2)
    # A column that hardly varies is not blown up: rounding would be all that is left of it.
    scale = np.where(scale > 1e-8 * moments.largest, scale, np.where(moments.largest > 0.0, moments.largest, 1.0))
    if problem.intercept:
        shift[0], scale[0] = 0.0, 1.0
    return View.of(problem, shift, scale)
