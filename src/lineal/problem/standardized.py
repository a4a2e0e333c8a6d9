"""A problem in other columns: the same objective, centred and scaled for solvers that follow gradients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lineal.designs import Affine
from lineal.designs.standardization import Standardization
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.problem import Problem
from lineal.sources.source import Block


@dataclass(frozen=True)
class Rescale(Standardization):
    """The change of a block's columns ``x_j -> (x_j - shift_j) / scale_j``."""

    def __call__(self, block: Block) -> Block:
        """Return the block in other columns."""
        return replace(block, design=Affine(block.design, self.shift, self.scale))


@dataclass(frozen=True)
class Standardized(Standardization):
    """A problem in other columns, and the way back: ``x_j -> (x_j - shift_j) / scale_j``."""

    problem: Problem

    @staticmethod
    def of(problem: Problem, shift: Array, scale: Array) -> Standardized:
        """Return the standardized problem; penalty factors change so that the penalty of every coefficient does not."""
        moments = replace(
            problem.moments,
            mean=(problem.moments.mean - shift) / scale,
            scatter=problem.moments.scatter / scale**2,
            largest=(problem.moments.largest + np.abs(shift)) / scale,
        )
        moved = problem.source.map(Rescale(shift, scale), keep=True)
        return Standardized(shift, scale, Problem(moved, problem.loss, problem.penalty.rescaled(scale), moments))


def standardize(problem: Problem) -> Standardized:
    """Return the problem in centred and scaled columns, for solvers that follow gradients; F is the same."""
    moments = problem.moments
    centred = problem.intercept and 0 in problem.unpenalized
    shift = moments.mean.copy() if centred else np.zeros(problem.shape[0])
    scale = np.sqrt(moments.sd**2 + (moments.mean - shift) ** 2)
    # A column that hardly varies is not scaled up: only rounding errors would be left of it.
    scale = np.where(scale > 1e-8 * moments.largest, scale, np.where(moments.largest > 0.0, moments.largest, 1.0))
    if problem.intercept:
        shift[0], scale[0] = 0.0, 1.0
    return Standardized.of(problem, shift, scale)
