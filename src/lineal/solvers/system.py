"""The linear system of a Newton step, solved by preconditioned conjugate gradients as far as a step or a proof needs it."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

import numpy as np

from lineal.algebra import lapack
from lineal.algebra.cholesky import Cholesky
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.passes import Diagonal, Kept
from lineal.problem.problem import Problem

FORCING = 0.3
"""How exactly each Newton system is solved. Measured on softmax problems: tighter wastes products, looser steps."""

PROOF_MAX_SHARE = 0.7
"""The share of a wanted gap below which a proof is tried: rounding errors and unpenalized columns come on top."""

STEP_MAX_SHARE = 0.5
"""The share of a wanted gap that the step before the proof aims at."""


@dataclass
class System:
    """``H d = g`` at one point: ``d`` after as many products with ``H``, that of one row in ``sample``, as were asked for.

    Every ``turn`` has other rows, or what some do not show would never be seen. ``known`` are the curvatures of all rows,
    where they were kept.
    ``estimate`` guesses ``F - F* ~ g'd / 2`` before there is any product, from the preconditioner.
    """

    problem: Problem
    coef: Array
    gradient: Array
    preconditioner: Preconditioner
    rounds: int
    sample: int = 1
    turn: int = 0
    known: Kept | None = None
    forcing: float = FORCING

    def __post_init__(self) -> None:
        self.closing: Array | None = None
        self.rest: Array | None = None
        self._begin()
        self.estimate = 0.5 * self.rho * self.preconditioner.ratio

    @cached_property
    def cost(self) -> Array:
        """What a square of the gradient costs a proof, for every column."""
        penalty_factors = self.problem.penalty.curvature()[:, None]
        cost = np.where(penalty_factors > 0.0, 0.5 / np.where(penalty_factors > 0.0, penalty_factors, 1.0), 0.0)
        if self.problem.intercept and penalty_factors[0] == 0.0:
            # the square that settling it leaves in a standardized column (measured: 0.05 to 0.3)
            cost[0] = 0.25 * np.sum(cost)
        return cost

    def _begin(self) -> None:
        self.count = 0
        self.kept = self.known or ({} if self.problem.source.resident else None)
        self.solution = np.zeros_like(self.gradient)
        self.residual = self.gradient.copy()
        self.preconditioner.refresh()
        self.direction = self.preconditioner.solve(self.residual)
        self.rho = self.first = max(float(np.vdot(self.residual, self.direction)), 0.0)

    def newton(self) -> Array:
        """Return d with |H d - g| <= forcing |g| in the preconditioner's norm, or with the residual a proof wanted."""
        # a quadratic is solved by one system: there is no point in solving it roughly several times
        goal = (1e-8 if self.problem.loss.quadratic else self.forcing) ** 2 * self.first
        while self.closing is None and self.rho > goal and self.count < self.rounds and self._product():
            pass
        if self.count == 0:
            return self.preconditioner.solve(self.gradient)
        if self.first > 0.0:
            self.preconditioner.ratio = min(max(float(np.vdot(self.solution, self.gradient)) / self.first, 1e-2), 1e2)
        shift = self.solution if self.closing is None else self.closing
        if self.problem.loss.coupled and self.problem.penalty.even:
            # Scores that move together move nothing; what rounding makes of that would grow from step to step.
            shift = shift - shift @ np.full((shift.shape[1], 1), 1.0 / shift.shape[1])
        return shift

    def proof(self, goal: float | None) -> Array | None:
        """Return d from which to prove a gap of ``goal``, or None where it is better to take a step first.

        The slopes alone (d = 0) prove ``sum g_j^2 / (2 D_j)``, ``D`` the penalty factors. Where that is too much, and the
        optimum near, the step is made the last one: a residual ``r = g - H d``, which will be the next gradient, with
        ``sum r_j^2 / (2 D_j)`` well within the goal. Dual points of d itself often leave the domain in some row.
        Without a goal, d is what a Newton step on all rows would take.
        """
        if self.sample > 1 and (goal is None or self.count > 0):
            self.sample = 1
            self._begin()
        if goal is None:
            return self.newton()
        if self.count == 0 and float(np.sum(self.cost * self.gradient**2)) <= PROOF_MAX_SHARE * goal:
            return self.solution
        if self.sample > 1:
            self.sample = 1
            self._begin()
        self._close(STEP_MAX_SHARE * goal, 2.0 * STEP_MAX_SHARE * goal)
        return None

    def end(self, near: float, goal: float) -> None:
        """Make the step the last one before a proof of ``goal``: it will leave an estimate of ``near``."""
        if self.count == 0 and self.closing is None and self.sample == 1 and not self.problem.loss.coupled:
            self._close(STEP_MAX_SHARE * goal, np.inf, near)

    def bent(self, gradient: Array) -> float:
        """Return how far the gradient after the step is from the one foreseen, over the square of the one before it."""
        off = gradient - (self.residual if self.rest is None else self.rest)
        return float(np.sqrt(max(float(np.vdot(off, self.preconditioner.solve(off))), 0.0))) / max(self.first, 1e-300)

    def _close(self, goal: float, far: float, near: float = np.inf) -> None:
        """Take products until ``sum cost r^2`` is within the goal, along a path on which it never grows.

        Residuals of conjugate gradients are bumpy; a mean of the last two iterates that makes the sum least is not. It is
        given up where the optimum is more than ``far`` away, and goes on where an estimate at its end would be above ``near``.
        """
        smooth, rest = self.solution.copy(), self.residual.copy()
        # rho is what an estimate is made of
        near = 2.0 * near / self.preconditioner.ratio
        ended = False
        while not ended and self.count < self.rounds and self._product():
            if 0.5 * float(np.vdot(self.solution, self.gradient)) > far:
                return  # the optimum is farther than the goal: an ordinary step will do
            turn = self.residual - rest
            size = float(np.sum(self.cost * turn**2))
            share = -float(np.sum(self.cost * rest * turn)) / size if size > 0.0 else 1.0
            smooth, rest = smooth + share * (self.solution - smooth), rest + share * turn
            ended = float(np.sum(self.cost * rest**2)) <= goal and self.rho <= near
        if ended:
            self.closing, self.rest = smooth, rest

    def _product(self) -> bool:
        """Take one more product; False where there is nothing left to gain."""
        if not self.rho > 1e-24 * self.first:
            return False
        point = (self.coef, self.direction, self.sample, self.turn, self.kept)
        image = self.problem.curve(*point)
        bend = float(np.vdot(self.direction, image))
        if not bend > 0.0:
            return False
        if self.count == 0:
            self.preconditioner.learn(self.direction, bend)
        step = self.rho / bend
        self.solution = self.solution + step * self.direction
        self.residual = self.residual - step * image
        z = self.preconditioner.solve(self.residual)
        self.rho, before = float(np.vdot(self.residual, z)), self.rho
        self.direction = z + (self.rho / before) * self.direction
        self.count += 1
        return True


@dataclass
class Preconditioner:
    """``c G + D``: what the second derivative would be if all rows had curvature c; later its own blocks on the diagonal.

    ``ratio`` is g'd of the last system over what the preconditioner alone made of it. One block for each output, of a loss
    that couples them, takes two thirds of the products away (benchmark softmax-small: 22 instead of 59), and costs ``price``
    products: as many are taken first.
    """

    gram: Array | None
    diagonal: Array
    penalty_factors: Array
    mean: float
    sample: int = 1
    price: float = np.inf
    taken: int = 0
    ratio: float = 1.0
    changed: float = 0.0
    inverse: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    @staticmethod
    def of(problem: Problem, largest: int) -> Preconditioner:
        """Make the gram from at most about ten rows per column."""
        moments = problem.moments
        columns = problem.shape[0]
        diagonal = moments.mean**2 + moments.sd**2
        gram, sample, price = None, 1, np.inf
        if columns <= largest:
            sample = max(1, moments.rows // max(10 * columns, 2000))
            sums = problem.source.sum(Diagonal(problem.loss, None, sample))
            gram = sums.array[0] / max(sums.weight_sum, 1e-300)
            if problem.loss.coupled:
                # multiplications, those of a product weighing 10: they wait for memory, those of grams and inverses do not
                price = 0.1 * columns / sample + columns**2 / max(moments.rows, 1)
                # blocks that leave the cache are cleared and merged out of memory: 45 products were measured where this said 13
                price *= max(1.0, problem.shape[1] * columns**2 / 2**18)
        return Preconditioner(gram, diagonal, problem.penalty.curvature(), 0.5 * problem.curvature_bound, sample, price)

    def learn(self, direction: Array, bend: float) -> None:
        """Take the mean curvature from one product d'Hd."""
        if self.gram is not None and self.gram.ndim == 3:
            return
        penalized = float(np.sum(self.penalty_factors[:, None] * direction**2))
        image = self.diagonal[:, None] * direction if self.gram is None else self.gram @ direction
        flat = float(np.vdot(direction, image))
        if flat > 0.0 and bend > penalized:
            self.mean = max((bend - penalized) / flat, 1e-12)

    def renew(self, problem: Problem, count: int, kept: Kept | None, sample: int) -> None:
        """After a system of ``count`` products: take the blocks of the second derivative, where that promises to pay."""
        self.taken += count
        price = self.price * sample
        # Systems of at most three products need no better preconditioner, and one that costs more than 20 products comes
        # too late (benchmark softmax: 65, and the fit took 1.7 times as long).
        if count <= 3 or self.taken < price or price > 20.0 or not kept:
            return
        if any((block.start, block.n_rows) not in kept for block in problem.source.held()):
            return
        sums = problem.source.sum(Diagonal(problem.loss, kept, self.sample))
        self.gram = sums.array / max(sums.weight_sum, 1e-300)
        self.mean, self.changed, self.taken = 1.0, 0.0, 0

    def refresh(self) -> None:
        """Take up the mean curvature learned; not within a system, whose directions would no longer be conjugate."""
        if 0.5 < self.changed / self.mean < 2.0:
            return
        self.changed = self.mean
        if self.gram is None:
            scale = self.mean * self.diagonal + self.penalty_factors
            self.inverse = 1.0 / np.where(scale > 0.0, scale, 1.0)[:, None]
            return
        # a little of the diagonal keeps directions alive that the sampled rows do not see
        own = self.diagonal if self.gram.ndim == 2 else np.einsum("kjj->kj", self.gram)
        safe = self.penalty_factors + 1e-3 * self.mean * np.where(own > 0.0, own, 1.0)
        # no digits are needed here, and a product with the inverse takes a fifth of the time of two triangles
        if self.gram.ndim == 2:
            self.inverse = _inverse(self.mean * self.gram + np.diag(safe))
        else:
            self.inverse = np.stack(
                [_inverse(part + np.diag(more)) for part, more in zip(self.gram, safe, strict=True)]
            )

    def solve(self, residual: Array) -> Array:
        """Return (c G + D)^-1 residual."""
        if self.gram is None:
            return np.asarray(self.inverse * residual)
        if self.gram.ndim == 2:
            return np.asarray(self.inverse @ residual)
        return np.ascontiguousarray((self.inverse @ residual.T[:, :, None])[:, :, 0].T)


def _inverse(matrix: Array) -> Array:
    """Return the inverse of a symmetric matrix, by its Cholesky factor as it is where there is one."""
    upper, info = lapack.dpotrf(matrix, lower=0, clean=1)
    if info != 0:
        return Cholesky.of(matrix).inverse()
    half, _ = lapack.dpotri(upper, lower=0, overwrite_c=1)
    whole = half + half.T
    np.einsum("jj->j", whole)[:] *= 0.5
    return np.asarray(whole)
