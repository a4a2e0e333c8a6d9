"""Steps by picked rows, one or a few at a time, each recorded: stochastic gradient descent as the textbook writes it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.problem.passes import Evaluate
from lineal.problem.problem import Problem
from lineal.solvers.presentation import cut, hashed
from lineal.sources.source import Block

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Present:
    """The task that numbers the rows of weight above zero."""

    def __call__(self, block: Block) -> Rows:
        """Return those of one block."""
        return np.asarray(block.start + np.flatnonzero(block.weights > 0.0), dtype=np.int64)


@dataclass(frozen=True)
class Gradient:
    """The task that sums ``s_i`` times the gradient of the loss of row i over ``rows``, each as often as it is there."""

    loss: Loss
    coef: Array
    rows: tuple[int, ...]

    def __call__(self, block: Block) -> Array:
        """Sum over one block."""
        total, evaluate = np.zeros_like(self.coef), Evaluate(self.loss, self.coef)
        for row in self.rows:
            if 0 <= (at := row - block.start) < block.n_rows:
                total = total + evaluate(cut(block, at, at + 1)).gradient
        return total


@dataclass(frozen=True)
class Picker:
    """Picks ``batch`` rows for step k = 0, 1, ...: drawn by a hash of (seed, k), or from one shuffled epoch after another."""

    problem: Problem
    present: Rows
    batch: int
    order: str
    seed: int

    @staticmethod
    def of(problem: Problem, batch: int, order: str, seed: int) -> Picker:
        """Return what picks among all rows of weight above zero: a pass over them."""
        return Picker(problem, np.concatenate(problem.source.collect(Present())), batch, order, seed)

    def rows(self, number: int) -> tuple[int, ...]:
        """Return the rows of a step; the last batch of an epoch has those that are left."""
        count = len(self.present)
        if self.order == "drawn":
            places = hashed(self.seed, number, np.arange(self.batch)) % np.uint64(count)
            return tuple(self.present[places.astype(np.int64)].tolist())
        epoch, turn = divmod(number, -(-count // self.batch))
        present = self.present
        if self.order == "shuffled":
            present = present[np.argsort(hashed(self.seed, epoch + 1, present))]
        return tuple(present[turn * self.batch : (turn + 1) * self.batch].tolist())

    def gradient(self, coef: Array, number: int) -> tuple[Array, tuple[int, ...]]:
        """Return the gradient of the picked rows' mean loss and of the penalty, and their numbers, counted from 1.

        A row counts ``s_i N / S``, so that the mean over all picks is the gradient of F.
        """
        problem, rows = self.problem, self.rows(number)
        share = len(self.present) / (problem.moments.weight_sum * len(rows))
        gradient = share * problem.source.sum(Gradient(problem.loss, coef, rows)) + problem.penalty.gradient(coef)
        return gradient, tuple(row + 1 for row in rows)
