"""The multi-class hinge (Crammer and Singer) by an interior point: every row has a dual point on a simplex.

    min sum_i w_i (xi_i - eta_iy) + penalty(B),      u_ik = xi_i - [k != y] - eta_ik >= 0,      w = s / S,

with multipliers q_ik >= 0 of sum one; theta = q - e_y, and ``u q = mu`` on the path. A Newton step has, row by row,

    dq = a - D c + M dB'x,    D = q / u,   M = diag(D) - D D' / sum(D),   c = sum(a) / sum(D),   u a = mu - u q,

so that it takes one gram with the weights w M: ``(X' w M X + curvature + corners) dB = -slope - X' w (a - D c)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lineal.algebra.cholesky import Cholesky
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.sparsemax import hot
from lineal.problem.problem import Problem
from lineal.solvers.penalty_corners import CORNER_MAX_DISTANCE, PenaltyCorners
from lineal.solvers.solver import Step
from lineal.sources import rowwise
from lineal.sources.rowwise import Targets


def steps(problem: Problem, start: Array) -> Iterator[Step]:
    """Yield one step per point of the path; where rounding led it astray, the best of them again at its end."""
    path = _Path(problem, start)
    best: Step | None = None
    stalled = 0
    while True:
        coef = problem.penalty.prox(path.rounded(), np.zeros(problem.shape[0]))
        value, gap = problem.evaluate(coef).value, path.gap()
        last = Step(coef, value, gap, problem.passes, theta=path.theta())
        yield last
        stalled = 0 if best is None or gap < 0.9 * best.estimate else stalled + 1
        if best is None or gap < best.estimate:
            best = last
        if not np.isfinite(gap) or stalled > 20 or gap <= 1e-15 * abs(value) or not path.advance():
            break
    if best is not last:
        yield best


class _Path:
    """A point of the path: coefficients, u and q of every row and class; distances and theta of the penalty's corners."""

    def __init__(self, problem: Problem, start: Array) -> None:
        self.problem, self.coef = problem, start.copy()
        fields = zip(*problem.source.collect(Targets(problem.shape[1])), strict=True)
        y, weight, offset = (rowwise.joined(parts) for parts in fields)
        self.weight, self.hot = weight / problem.moments.weight_sum, hot(y, problem.shape[1])
        self.cost = offset + (1.0 - self.hot)
        self.square = problem.penalty.curvature()[:, None]
        self.own = PenaltyCorners.of(problem, 1.0, np.zeros(problem.shape[0]))
        scores = self.times(self.coef) + self.cost
        top = np.max(scores, axis=1, keepdims=True)
        spread = float(self.weight @ (top - np.min(scores, axis=1, keepdims=True))[:, 0])
        self.u = top + max(spread, 1e-8) - scores
        self.q = (1.0 / self.u) / np.sum(1.0 / self.u, axis=1, keepdims=True)
        r = self.own_times(self.coef) - self.own.at[:, None]
        self.above, self.below = np.maximum(r, 0.0) + max(spread, 1e-8), np.maximum(-r, 0.0) + max(spread, 1e-8)
        low, high = self.own.low[:, None], self.own.high[:, None]
        self.lean = low + (high - low) * (self.above / (self.above + self.below))

    def times(self, coef: Array) -> Array:
        """Return X coef, zero for absent rows."""
        return np.where((self.weight > 0.0)[:, None], rowwise.times(self.problem.source, coef), 0.0)

    def transpose(self, values: Array) -> Array:
        """Return X' w values."""
        return rowwise.transpose_times(self.problem.source, self.weight[:, None] * values)

    def own_times(self, coef: Array) -> Array:
        """Return the scores of the penalty's corners."""
        return np.asarray(self.own.unit[:, None] * coef[self.own.places])

    def own_transpose(self, values: Array) -> Array:
        """Return their part of a gradient."""
        result = np.zeros(self.problem.shape)
        np.add.at(result, self.own.places, (self.own.weight * self.own.unit)[:, None] * values)
        return result

    def factor(self, d: Array, corners: Array) -> Cholesky:
        """Return the factored X' w M X + curvature + corners, output-major."""
        p, k = self.problem.shape
        total = np.sum(d, axis=1)
        full = np.zeros((k, p, k, p))
        for a in range(k):
            for b in range(a + 1):
                m = self.weight * (d[:, a] * (float(a == b) - d[:, b] / total))
                full[a, :, b, :] = full[b, :, a, :] = rowwise.gram(self.problem.source, m)
        diagonal = np.zeros(self.problem.shape) + self.square
        np.add.at(diagonal, self.own.places, (self.own.weight * self.own.unit**2)[:, None] * corners)
        size = np.einsum("ajaj->j", full) / k
        for j in range(p):
            full[np.arange(k), j, np.arange(k), j] += diagonal[j]
            if j not in self.own.places:
                # what all classes share costs nothing, or is zero: it may be filled with any size
                full[:, j, :, j] += (size[j] if size[j] > 0.0 else 1.0) / k
        return Cholesky.of(full.reshape(k * p, k * p))

    def gap(self) -> float:
        """Return sum w u q, and the same of the penalty's corners with what is missing to their residuals."""
        r = self.own_times(self.coef) - self.own.at[:, None]
        low, high = self.own.low[:, None], self.own.high[:, None]
        lost = np.abs(r - self.above + self.below) * (high - low)
        own = self.above * (high - self.lean) + self.below * (self.lean - low) + lost
        return float(self.weight @ np.sum(self.u * self.q, axis=1) + self.own.weight @ np.sum(own, axis=1))

    def rounded(self) -> Array:
        """Return the coefficients, those that the path leads into a corner of the penalty there already."""
        size = float(self.weight @ np.mean(self.u, axis=1))
        over, under = self.own.high[:, None] - self.lean, self.lean - self.own.low[:, None]
        active = (self.above < CORNER_MAX_DISTANCE * size * over) & (self.below < CORNER_MAX_DISTANCE * size * under)
        return self.own.put(self.coef, active)

    def theta(self) -> Array:
        """Return the dual point of every row, zero where it is absent."""
        return np.where((self.weight > 0.0)[:, None], self.q - self.hot, 0.0)

    def _products(
        self, primal: float = 0.0, dual: float = 0.0, move: _Move | None = None
    ) -> tuple[Array, Array, Array]:
        """Return u q, and the products of both sides of the penalty's corners, after a share of a move."""
        over, under = self.own.high[:, None] - self.lean, self.lean - self.own.low[:, None]
        if move is None:
            return self.u * self.q, self.above * over, self.below * under
        return (
            (self.u + primal * move.u) * (self.q + dual * move.q),
            (self.above + primal * move.above) * (over - dual * move.lean),
            (self.below + primal * move.below) * (under + dual * move.lean),
        )

    def _mean(self, products: tuple[Array, Array, Array]) -> float:
        """Return mu: the weighted mean of all products."""
        rows, first, second = (np.sum(part, axis=1) for part in products)
        count = self.q.shape[1] * (float(np.sum(self.weight)) + 2.0 * float(np.sum(self.own.weight)))
        total = float(self.weight @ rows) + float(self.own.weight @ (first + second))
        return float(total / count)

    def _lengths(self, move: _Move) -> tuple[float, float]:
        over, under = self.own.high[:, None] - self.lean, self.lean - self.own.low[:, None]
        primal = _longest((self.u, move.u), (self.above, move.above), (self.below, move.below))
        return primal, _longest((self.q, move.q), (over, -move.lean), (under, move.lean))

    def advance(self) -> bool:
        """Take one predictor-corrector step; False where rounding allows none."""
        system = _System.of(self)
        if system is None:
            return False
        rows, first, second = self._products()
        mu = self._mean((rows, first, second))
        move = system.solve(-rows, -first, -second)
        primal, dual = self._lengths(move)
        target = (max(self._mean(self._products(primal, dual, move)), 0.0) / mu) ** 3 * mu
        bold = min(primal, dual) >= 0.1
        if not bold:
            # Where even the predictor is short, its square is no guide: go back to the middle of the path first.
            target = max(target, 0.5 * mu)
        move = system.solve(
            target - rows - bold * move.u * move.q,
            target - first + bold * move.above * move.lean,
            target - second - bold * move.below * move.lean,
        )
        primal, dual = (min(0.9995 * length, 1.0) for length in self._lengths(move))
        if np.any(self.square):
            primal = dual = min(primal, dual)  # a quadratic ties both sides
        for _ in range(20):
            products = self._products(primal, dual, move)
            if np.min(products[0]) >= 1e-4 * self._mean(products):  # central enough for a long step after it
                break
            primal, dual = 0.8 * primal, 0.8 * dual
        if not np.all(np.isfinite(move.coef)) or max(primal, dual) < 1e-12:
            return False
        self.coef = self.coef + primal * move.coef
        self.u, self.q = self.u + primal * move.u, self.q + dual * move.q
        self.above, self.below = self.above + primal * move.above, self.below + primal * move.below
        self.lean = self.lean + dual * move.lean
        return bool(np.all(self.u > 0.0) and np.all(self.q > 0.0))


class _Move(NamedTuple):
    """A step of everything that a point of the path holds."""

    coef: Array
    u: Array
    q: Array
    above: Array
    below: Array
    lean: Array


@dataclass(frozen=True)
class _System:
    """The Newton system at a point of the path."""

    path: _Path
    d: Array
    bend: Array
    factor: Cholesky
    off: Array
    slope: Array

    @staticmethod
    def of(path: _Path) -> _System | None:
        """Return the factored system; None where distances have underflowed."""
        own, lean = path.own, path.lean
        d = path.q / path.u
        bend = 1.0 / (path.above / (own.high[:, None] - lean) + path.below / (lean - own.low[:, None]))
        if not (np.all(np.isfinite(d)) and np.all(np.isfinite(bend))):
            return None
        off = path.own_times(path.coef) - own.at[:, None] - path.above + path.below
        slope = path.transpose(path.theta()) + path.square * path.coef + path.own_transpose(lean)
        return _System(path, d, bend, path.factor(d, bend), off, slope)

    def solve(self, rows: Array, first: Array, second: Array) -> _Move:
        """Return the step that changes u q by ``rows``, the products of the penalty's corners by ``first`` and ``second``."""
        path, d, bend = self.path, self.d, self.bend
        over, under = path.own.high[:, None] - path.lean, path.lean - path.own.low[:, None]
        total = np.sum(d, axis=1, keepdims=True)
        a = rows / path.u
        c = np.sum(a, axis=1, keepdims=True) / total
        lost = first / over - second / under - self.off
        right = path.own_transpose(bend * lost) - self.slope - path.transpose(a - d * c)
        flat = self.factor.solve(np.ascontiguousarray(right.T).ravel())
        coef = np.ascontiguousarray(flat.reshape(right.T.shape).T)
        scores = path.times(coef)
        u = c + np.sum(d * scores, axis=1, keepdims=True) / total - scores
        lean = bend * (path.own_times(coef) - lost)
        above, below = (first + path.above * lean) / over, (second - path.below * lean) / under
        return _Move(coef, u, a - d * u, above, below, lean)


def _longest(*pairs: tuple[Array, Array]) -> float:
    """Return the longest step for which all stay positive, at most 1 / 0.9995."""
    worst = max((float(np.max(-move / value, initial=0.0)) for value, move in pairs), default=0.0)
    return min(1.0 / worst, 1.0 / 0.9995) if worst > 0.0 else 1.0 / 0.9995
