"""Columns moved to mean zero: where there is an intercept, nothing is lost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lineal.algebra.doubled import two_product
from lineal.design import Design
from lineal.designs import Dense, Stack
from lineal.problem import Problem
from lineal.solver import Array, Step
from lineal.sources.memory import Blocks

FAR = 1.0
"""A mean of more than so many standard deviations couples the rows through its column; below, little is won."""
CELLS = 20_000_000
"""At most so many cells are copied."""


class Centring:
    """``eta = b_0 + x b = (b_0 + m b) + (x - m) b``: the same scores from columns with mean zero."""

    def __init__(self, problem: Problem, far: float = FAR) -> None:
        """Centre the dense columns of a problem in memory whose mean is far from zero; ``problem`` is the one to solve.

        A mean is far if it is more than ``far`` standard deviations away.
        """
        self.problem, self.mean = problem, np.zeros(problem.shape[0])
        moments = problem.moments
        away = np.abs(moments.mean) > far * moments.sd
        if not (problem.intercept and away[1:].any()):
            return
        away[0] = False
        blocks = list(problem.source.blocks())
        dense = _dense(blocks[0].design)
        if sum(block.n_rows for block in blocks) * int(dense.sum()) > CELLS:
            return
        self.mean = np.where(away & dense, moments.mean, 0.0)
        moved = [replace(block, design=_moved(block.design, self.mean)) for block in blocks]
        self.problem = Problem.of(Blocks(moved, problem.source.columns), problem.loss, problem.penalty, moments)

    def inward(self, coef: Array) -> Array:
        """Return coefficients as those of the centred columns."""
        return self._shifted(coef, 1.0)

    def plain(self, coef: Array) -> Array:
        """Return coefficients of the centred columns as those of the columns as they are."""
        return self._shifted(coef, -1.0)

    def exact(self, coef: Array) -> Array:
        """Return what ``inward`` does, each intercept rounded once: the scores are the same to its last digit."""
        found = coef.copy()
        for output, column in enumerate(coef.T):
            products = np.concatenate(two_product(self.mean, column))
            found[0, output] = math.fsum([float(column[0]), *products.tolist()])
        return found

    def spread(self, covariance: Array) -> Array:
        """Return the covariance, output-major, of coefficients of the columns as they are, from that of the centred ones."""
        one = np.eye(len(self.mean))
        one[0] -= self.mean
        turn = np.kron(np.eye(len(covariance) // len(one)), one)
        return np.asarray(turn @ covariance @ turn.T)

    def outward(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Yield the same steps in coefficients of the columns as they are."""
        for step in steps:
            yield step._replace(coef=self.plain(step.coef))

    def _shifted(self, coef: Array, sign: float) -> Array:
        if not self.mean.any():
            return coef
        found = coef.copy()
        found[0] += sign * (self.mean @ coef)
        return found


def _parts(design: Design) -> list[Design]:
    return list(design.designs) if isinstance(design, Stack) else [design]


def _dense(design: Design) -> npt.NDArray[np.bool_]:
    """Return which columns stand in plain matrices."""
    return np.concatenate([np.full(part.shape[1], isinstance(part, Dense)) for part in _parts(design)])


def _moved(design: Design, mean: Array) -> Design:
    """Return the design with these means taken off its plain matrices."""
    parts: list[Design] = []
    at = 0
    for part in _parts(design):
        own = mean[at : at + part.shape[1]]
        at += part.shape[1]
        parts.append(Dense(part.array - own) if isinstance(part, Dense) and own.any() else part)
    return Stack(parts)
