"""Newton's method without the second derivative: products with it, and conjugate gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from lineal.factor import Cholesky
from lineal.losses import Squared
from lineal.passes import Evaluate, Sums
from lineal.problem import EPS, Problem
from lineal.solver import Array, Solver, Step
from lineal.source import Block

FORCING = 0.3
"""How exactly each Newton system is solved. Measured on softmax problems: tighter wastes products, looser steps."""


@dataclass(frozen=True)
class NewtonCG(Solver):
    """``b <- b - t d`` with ``H d ~ g`` solved roughly by preconditioned conjugate gradients.

    The columns are centred and scaled; the preconditioner is ``c G + D`` with ``G`` the gram of (some of) the rows,
    ``c`` the mean curvature met so far and ``D`` the ridge charges; with too many columns for a gram, its diagonal.
    """

    rounds: int = 200
    gram: int = 2000
    name: ClassVar[str] = "newton-cg"

    def declines(self, problem: Problem) -> str | None:
        """Decline what has kinks."""
        if not (problem.loss.smooth and problem.penalty.smooth):
            return "it needs a smooth loss and a smooth penalty"
        return None

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield one step per Newton step."""
        view = problem.equilibrated()
        coef = view.outer_coef(start)
        here = view.problem.evaluate(coef)
        ease = Preconditioner.of(view.problem, self.gram)
        while True:
            shift = self._solve(view.problem, coef, here.gradient, ease)
            fall = float(np.sum(shift * here.gradient))
            passes = problem.passes + view.problem.passes
            yield Step(view.inner_coef(coef), here.value, 0.5 * abs(fall), passes, hint=view.inner_coef(shift))
            if not fall > 0.0:
                return
            step = 1.0
            for _ in range(40):
                trial = coef - step * shift
                there = view.problem.evaluate(trial)
                if fall <= 128 * EPS * abs(here.value) + 2 * here.error:
                    if np.sum(there.gradient**2) < 0.25 * np.sum(here.gradient**2):
                        break
                    return
                if there.value <= here.value - 1e-4 * step * fall:
                    break
                step *= 0.5
            else:
                return
            coef, here = trial, there

    def _solve(self, problem: Problem, coef: Array, gradient: Array, ease: Preconditioner) -> Array:
        """Return d with |H d - g| <= FORCING |g| in the preconditioner's norm."""
        solution = np.zeros_like(gradient)
        residual = gradient.copy()
        z = ease.solve(residual)
        direction, rho = z, float(np.sum(residual * z))
        # a quadratic is solved by one system: there is no point in solving it roughly several times
        goal = (1e-8 if problem.loss.quadratic else FORCING) ** 2 * rho
        for number in range(self.rounds):
            if rho <= goal:
                break
            image = problem.curve(coef, direction)
            bend = float(np.sum(direction * image))
            if not bend > 0.0:
                break
            if number == 0:
                ease.learn(direction, bend)
            step = rho / bend
            solution = solution + step * direction
            residual = residual - step * image
            z = ease.solve(residual)
            rho, before = float(np.sum(residual * z)), rho
            direction = z + (rho / before) * direction
        return solution if np.any(solution) else ease.solve(gradient)


@dataclass
class Preconditioner:
    """``c G + D``: what the second derivative would be if all rows had curvature c."""

    gram: Array | None
    diagonal: Array
    charges: Array
    mean: float
    factor: Cholesky | None = field(default=None)
    changed: float = 0.0

    @staticmethod
    def of(problem: Problem, largest: int) -> Preconditioner:
        """Make the gram from at most about ten rows per column."""
        moments = problem.moments
        columns = problem.shape[0]
        diagonal = moments.mean**2 + moments.sd**2
        gram = None
        if columns <= largest:
            sample = max(1, moments.rows // max(10 * columns, 2000))
            problem.passes += 1
            sums = problem.source.sum(_Gram(columns, sample))
            assert sums.hessian is not None
            gram = sums.hessian[0] / max(sums.weight_sum, 1e-300)
        return Preconditioner(gram, diagonal, problem.penalty.curvature(), 0.5 * problem.steepest)

    def learn(self, direction: Array, bend: float) -> None:
        """Take the mean curvature from one product d'Hd."""
        charged = float(np.sum(self.charges[:, None] * direction**2))
        image = self.diagonal[:, None] * direction if self.gram is None else self.gram @ direction
        flat = float(np.sum(direction * image))
        if flat > 0.0 and bend > charged:
            self.mean = max((bend - charged) / flat, 1e-12)

    def solve(self, residual: Array) -> Array:
        """Return (c G + D)^-1 residual."""
        if self.gram is None:
            scale = self.mean * self.diagonal + self.charges
            return np.asarray(residual / np.where(scale > 0.0, scale, 1.0)[:, None])
        if self.factor is None or not 0.5 < self.changed / self.mean < 2.0:
            # a little of the diagonal keeps directions alive that the sampled rows do not see
            safe = np.diag(self.charges + 1e-3 * self.mean * np.where(self.diagonal > 0.0, self.diagonal, 1.0))
            self.factor, self.changed = Cholesky.of(self.mean * self.gram + safe), self.mean
        return self.factor.solve(residual)


@dataclass(frozen=True)
class _Gram:
    """The task that sums a gram over a sample of the rows."""

    columns: int
    sample: int

    def __call__(self, block: Block) -> Sums:
        task = Evaluate(Squared(1), np.zeros((self.columns, 1)), self.columns, self.sample)
        return task(replace(block, y=np.zeros((block.n_rows, 1)), offset=None))
