"""Losses made of corners by an interior point: Frisch and Newton, with Mehrotra's predictor and corrector."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import ClassVar

import numpy as np

from lineal.algebra.cholesky import Cholesky
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.problem.frame import FAR_MEAN_SDS, centered
from lineal.problem.problem import Problem
from lineal.solvers import row_screening, simplex_path
from lineal.solvers.penalty_corners import CORNER_MAX_DISTANCE, PenaltyCorners
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step
from lineal.sources import rowwise
from lineal.sources.rowwise import Targets

CENTRALITY_MIN_SHARE = 1e-3
"""No product u p or v q may fall below this share of their mean: from a point near a bound steps are short."""


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """Follow the central path of ``min sum_i w_i sum_m max(low (eta_i - a_im), high (eta_i - a_im)) + b'Db/2``, w = s / S.

    Every corner has two distances, ``eta - a = u - v``, and a dual point with room on both sides, ``p = high - theta``
    and ``q = theta - low``; on the path ``u p = v q = mu``, the same for every corner, and mu falls to zero:

        (D + X' W c X) db = r,   c = 1 / (u / p + v / q),   dtheta = c (X db - ...),

    one weighted gram for each step. An l1 penalty is a corner at zero in a row of its own, ``x = e_j``, a bound one whose
    other side is steeper than any gradient. The multi-class hinge has a path of its own (``simplex_path.py``).
    """

    largest: int = 4000
    name: ClassVar[str] = "interior-point"
    words: ClassVar[str] = "{loss} loss is piecewise linear: one weighted gram per interior point"
    corners: ClassVar[bool] = True

    def declines(self, problem: Problem) -> str | None:
        """Decline what is not piecewise linear, and what has too many columns."""
        loss, penalty = problem.loss, problem.penalty
        if loss.smooth:
            return f"the {loss.name} loss is not a sum of corners"
        size = problem.shape[0] * problem.shape[1]
        if size > self.largest:
            return f"{size} coefficients need a gram that size squared; the limit is {self.largest}"
        if penalty.costs(problem.shape[1]) is not None:
            return None
        return f"the {penalty.name} penalty is neither quadratic nor made of corners; use l1, elastic or ridge"

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield one step per point of the path; of a long table first those of its rows near their corners."""
        if (frame := centered(problem, FAR_MEAN_SDS)) is None:
            yield from self._steps(problem, start)
            return
        yield from frame.steps(self._steps(frame.problem, frame.inward(start)))

    def _steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        if problem.loss.coupled:
            yield from simplex_path.steps(problem, start)
            return
        if row_screening.worthwhile(problem):
            for step in row_screening.steps(problem, start, _solve):
                yield step
                start = step.coef
        state = _State(problem, start)
        if not state.own.bounded:
            yield from self._path(problem, state, 20)
            return
        last = yield from self._path(problem, state, 5)
        if last.estimate > 1e-9 * abs(last.objective):
            # the path crept along heavy bounds; light ones lead far out along a flat without an end
            light = yield from self._path(problem, _State(problem, start, light=True), 20)
            if light.estimate > last.estimate:
                yield last

    def _path(self, problem: Problem, state: _State, patience: int) -> Generator[Step, None, Step]:
        """Yield the steps of a path until its gap stays as it is for ``patience`` of them; return the last step."""
        best = np.inf
        stalled = 0
        while True:
            coef = problem.penalty.prox(state.rounded(), np.zeros(problem.shape[0]))  # within its bounds
            value = problem.penalty.value(coef) + state.value()
            gap = state.gap()
            last = Step(coef, value, gap, problem.passes, theta=state.by_row(state.theta))
            yield last
            if gap <= 1e-9 * abs(value) and (exact := state.corner(0.1 * gap)) is not None:
                last = exact
                yield last
            stalled = 0 if gap < 0.9 * best else stalled + 1
            best = min(best, gap)
            if not np.isfinite(gap) or stalled > patience or gap <= 1e-15 * abs(value) or not state.advance():
                return last


def _dot(a: Array, b: Array) -> float:
    """Return a.b without BLAS, whose threads change bits and wait for each other on long vectors."""
    return float(np.einsum("i,i->", a, b))


def _solve(problem: Problem, start: Array, linear: Array, tol: float) -> tuple[Array, Array, float]:
    """Return coefficients, dual points and gap far along the path of a problem with ``linear.b`` added."""
    state = _State(problem, start, linear)
    gap = state.gap()
    for _ in range(100):
        if gap <= tol * abs(state.value()) or not state.advance():
            break
        gap = state.gap()
    return problem.penalty.prox(state.rounded(), np.zeros(problem.shape[0])), state.by_row(state.theta), gap


class _State:
    """A point of the path: coefficients, and for every corner u, v and theta."""

    def __init__(self, problem: Problem, start: Array, linear: Array | None = None, *, light: bool = False) -> None:
        self.problem, self.light = problem, light
        self.linear = np.zeros(problem.shape) if linear is None else linear
        self.coef = start.copy()
        self.smooth = problem.penalty.curvature()
        self._corners()
        self._begin()

    def _corners(self) -> None:
        """Lay out the corners of all rows, one array per corner of a row, and those of the penalty behind."""
        problem = self.problem
        fields = zip(*problem.source.collect(Targets(1)), strict=True)
        y, weight, offset = (rowwise.joined(parts) for parts in fields)
        weight, offset, kinks = weight / problem.moments.weight_sum, offset[:, 0], problem.loss.kinks(y)
        self.present = weight > 0.0
        self.weight = weight[self.present]
        rows, corners = len(self.weight), len(kinks)
        slopes = np.zeros(rows)
        for kink in kinks:
            slopes += np.maximum(np.abs(kink.low), np.abs(kink.high))[self.present, 0]
        own = PenaltyCorners.of(problem, float(np.sqrt(_dot(self.weight, slopes**2))), self.linear[:, 0])
        if self.light:
            own = own.bounds_as_rows(1.0 / max(rows, 1))
        self.own, self.places, self.unit = own, own.places, own.unit
        size = corners * rows + len(own.places)
        self.at, self.low, self.high = np.zeros(size), np.zeros(size), np.ones(size)
        self.w = np.ones(size)
        for m in range(corners):
            place = slice(m * rows, (m + 1) * rows)
            for to, name in ((self.at, "at"), (self.low, "low"), (self.high, "high")):
                to[place] = getattr(kinks[m], name)[self.present, 0]
            self.at[place] -= offset[self.present]
            self.w[place] = self.weight
        for to, values in ((self.at, own.at), (self.low, own.low), (self.high, own.high), (self.w, own.weight)):
            to[corners * rows :] = values
        self.corners, self.rows = corners, rows

    def _begin(self) -> None:
        """Start with distances that keep away from zero, and every theta where u p = v q: all nearly the same."""
        r = self.residual = self._times(self.coef) - self.at
        size = _dot(self.w, np.abs(r)) / float(np.sum(self.w))
        floor = max(5.0 * size, 1e-8 * float(np.max(np.abs(r), initial=0.0)), 1e-12)
        self.u, self.v = np.maximum(r, 0.0) + floor, np.maximum(-r, 0.0) + floor
        own = slice(self.corners * self.rows, None)
        for side, steep in (
            (self.u, self.high),
            (self.v, -self.low),
        ):  # how far beyond a bound: as little as it is steep
            side[own] = np.minimum(side[own], np.where(steep[own] > 1.0, floor / np.maximum(steep[own], 1.0), np.inf))
        self.theta = self.low + (self.high - self.low) * (self.u / (self.u + self.v))

    def _times(self, coef: Array) -> Array:
        """Return X coef for every corner."""
        eta = rowwise.times(self.problem.source, coef)[self.present, 0]
        return np.concatenate([eta] * self.corners + [self.unit * coef[self.places, 0]])

    def _transpose(self, values: Array) -> Array:
        """Return X' values summed over all corners."""
        result = rowwise.transpose_times(self.problem.source, self._by_row(values)[:, None])
        np.add.at(result[:, 0], self.places, self.unit * values[self.corners * self.rows :])
        return result

    def _by_row(self, values: Array) -> Array:
        """Return the sum of a row's corners, zero for absent rows."""
        inner = values[: self.corners * self.rows].reshape(self.corners, self.rows).sum(axis=0)
        if self.rows == len(self.present):
            return np.asarray(inner)
        result = np.zeros(len(self.present))
        result[self.present] = inner
        return result

    def _gram(self, weights: Array) -> Array:
        """Return X' diag(weights) X + D."""
        result = rowwise.gram(self.problem.source, self._by_row(weights))
        diagonal = self.smooth.copy()
        np.add.at(diagonal, self.places, self.unit**2 * weights[self.corners * self.rows :])
        np.einsum("jj->j", result)[:] += diagonal
        return result

    def value(self) -> float:
        """Return the mean loss at the coefficients."""
        r = self.residual[: self.corners * self.rows]
        low, high = self.low[: len(r)], self.high[: len(r)]
        return _dot(self.w[: len(r)], np.maximum(low * r, high * r))

    def gap(self) -> float:
        """Return sum w (u p + v q), the gap once both sides are feasible, and how far they are from that."""
        p, q = self.high - self.theta, self.theta - self.low
        lost = np.abs(self.residual - self.u + self.v) * (p + q)
        return _dot(self.w, self.u * p + self.v * q + lost)

    def rounded(self) -> Array:
        """Return the coefficients, those that the path leads into a corner of the penalty there already."""
        own = slice(self.corners * self.rows, None)
        size = CORNER_MAX_DISTANCE * _dot(self.w, np.abs(self.residual)) / float(np.sum(self.w))
        steep = np.maximum(np.maximum(self.high, -self.low)[own], 1.0)
        over, under = (self.high - self.theta)[own] / steep, (self.theta - self.low)[own] / steep
        return self.own.put(self.coef, ((self.u[own] < size * over) & (self.v[own] < size * under))[:, None])

    def corner(self, enough: float) -> Step | None:
        """Guess which corners the optimum is in, solve for it, and return it where its gap is small enough.

        In a corner the score is the corner's place and theta is free; elsewhere theta is low or high:
        ``D db + X_B' W dtheta_B = -slope``, ``X_B db = -residual_B``.
        """
        problem = self.problem
        p, q, width = self.high - self.theta, self.theta - self.low, self.high - self.low
        size = _dot(self.w, np.abs(self.residual)) / float(np.sum(self.w))
        active = np.flatnonzero((self.u * width < p * size) & (self.v * width < q * size))
        columns = problem.shape[0]
        if len(active) > columns + 20 or columns > 1000:
            return None
        theta = np.where(self.u > self.v, self.high, self.low)
        theta[active] = self.theta[active]
        rows = self._rows(active)
        slope = self._transpose(self.w * theta) + self.smooth[:, None] * self.coef
        left = rows * self.w[active][:, None]
        matrix = np.block([[np.diag(self.smooth), left.T], [rows, np.zeros((len(active), len(active)))]])
        right = -np.concatenate([slope[:, 0], self.residual[active]])
        scale = np.sqrt(np.maximum(np.max(np.abs(matrix), axis=1, initial=0.0), 1e-300))
        solution = np.linalg.lstsq(matrix / scale[:, None] / scale, right / scale, rcond=None)[0] / scale
        coef = self.coef + solution[:columns, None]
        own = active[active >= self.corners * self.rows]
        which = own - self.corners * self.rows
        coef[self.places[which], 0] = self.at[own] / self.unit[which]
        coef = problem.penalty.prox(coef, np.zeros(columns))
        theta[active] = np.clip(theta[active] + solution[columns:], self.low[active], self.high[active])
        r, slope = self._times(coef) - self.at, self._transpose(self.w * theta)
        tied = self.smooth > 0.0
        if np.any(np.abs(slope[~tied, 0]) > 1e-12 * problem.moments.largest[~tied]):
            return None
        off = slope[tied, 0] + self.smooth[tied] * coef[tied, 0]
        gap = _dot(self.w, np.maximum(r, 0.0) * (self.high - theta) + np.maximum(-r, 0.0) * (theta - self.low))
        gap += 0.5 * float(np.sum(off**2 / self.smooth[tied]))
        if not gap <= enough:
            return None
        evaluation = problem.evaluate(coef)
        return Step(coef, evaluation.value, gap, problem.passes, "at a corner", theta=self.by_row(theta))

    def _rows(self, corners: Index) -> Array:
        """Return the rows of some corners as a plain array."""
        result = np.zeros((len(corners), self.problem.shape[0]))
        own = corners >= self.corners * self.rows
        which = corners[own] - self.corners * self.rows
        result[np.flatnonzero(own), self.places[which]] = self.unit[which]
        rows = np.flatnonzero(self.present)[corners[~own] % self.rows]
        numbers, place = np.unique(rows, return_inverse=True)
        result[~own] = np.concatenate(self.problem.source.collect(rowwise.Cells(numbers)))[place]
        return result

    def by_row(self, theta: Array) -> Array:
        """Return the dual point of every row of the source from those of its corners."""
        return self._by_row(theta)[:, None]

    def advance(self) -> bool:
        """Take one predictor-corrector step; False where rounding allows none."""
        u, v, theta = self.u, self.v, self.theta
        p, q = self.high - theta, theta - self.low
        c = 1.0 / (u / p + v / q)
        gram = self._gram(self.w * c)
        if not np.all(np.isfinite(gram)):
            return False  # every row is met exactly: the distances have underflowed
        factor = Cholesky.of(gram)
        off = self.residual - u + v
        slope = self._transpose(self.w * theta) + self.smooth[:, None] * self.coef + self.linear
        total = 2.0 * float(np.sum(self.w))
        mu = _dot(self.w, u * p + v * q) / total
        if not mu > 0.0:
            return False  # the products have underflowed: this is the end of the path

        def solve(first: Array, second: Array) -> tuple[Array, Array, Array, Array, Array]:
            """Return the Newton step towards u p = first + u p, v q = second + v q and feasibility."""
            gap = first / p - second / q - off
            right = self._transpose(self.w * c * gap) - slope
            coef = factor.solve(right)
            move = self._times(coef)
            angle = c * (move - gap)
            return coef, move, (first + u * angle) / p, (second - v * angle) / q, angle

        _, _, du, dv, angle = solve(-u * p, -v * q)
        primal, dual = _length(u, du, v, dv), _length(p, -angle, q, angle)
        after = _dot(self.w, (u + primal * du) * (p - dual * angle) + (v + primal * dv) * (q + dual * angle))
        target = (max(after, 0.0) / total / mu) ** 3 * mu
        second = angle
        if min(primal, dual) < 0.1:
            # Where even the predictor is short, its square is no guide: go back to the middle of the path first.
            second, target = np.zeros_like(angle), max(target, 0.5 * mu)
        coef, move, du, dv, angle = solve(target - u * p + du * second, target - v * q - dv * second)
        primal, dual = 0.9995 * _length(u, du, v, dv), 0.9995 * _length(p, -angle, q, angle)
        if np.any(self.smooth):
            primal = dual = min(primal, dual)  # a quadratic ties both sides
        primal, dual = min(primal, 1.0), min(dual, 1.0)
        for _ in range(20):
            products = (u + primal * du) * (p - dual * angle), (v + primal * dv) * (q + dual * angle)
            middle = (_dot(self.w, products[0]) + _dot(self.w, products[1])) / total
            if min(float(np.min(products[0])), float(np.min(products[1]))) >= CENTRALITY_MIN_SHARE * middle:
                break
            primal, dual = 0.8 * primal, 0.8 * dual
        if not np.all(np.isfinite(coef)) or max(primal, dual) < 1e-12:
            return False
        self.coef = self.coef + primal * coef
        self.residual = self.residual + primal * move
        self.u, self.v = u + primal * du, v + primal * dv
        self.theta = theta + dual * angle
        inside = (self.theta > self.low) & (self.theta < self.high)
        return bool(np.all(self.u > 0) and np.all(self.v > 0) and np.all(inside))


def _length(a: Array, da: Array, b: Array, db: Array) -> float:
    """Return the longest step for which a and b stay positive, at most 1 / 0.9995."""
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = max(float(np.max(-da / a, initial=0.0)), float(np.max(-db / b, initial=0.0)))
    return min(1.0 / worst, 1.0 / 0.9995) if worst > 0.0 else 1.0 / 0.9995
