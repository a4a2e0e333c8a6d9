"""A path in memory: a few columns are worked on, some are watched, and one pass over all columns serves many points.

For a stretch of strengths the strong rule says which columns could come into use: these are watched, the columns in use are
worked on. At the end of the stretch one pass over all columns gives the gradients of all its points together; a column that
the rule missed is taken up, and the stretch repeated from the first point it concerns. Those gradients are also what the
certificates of the points need of the columns that are not in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lineal.certify import prove
from lineal.certify.baseline import Baseline, baseline_fit
from lineal.certify.wording import judge
from lineal.fitting.causes import ROUNDING, explained
from lineal.ground.arrays import Array, Index
from lineal.paths.point import Point
from lineal.penalties.penalty import Penalty
from lineal.problem.passes import Dual, Kept
from lineal.problem.problem import Evaluation, Problem
from lineal.solvers import NEWTON_MAX_COEFFICIENTS, Coordinate
from lineal.solvers.columns import GRADIENT_SLACK, Columns
from lineal.solvers.prox_newton import iterates


class Lookahead:
    """The path of a penalty that makes most coefficients zero, a stretch of strengths at a time."""

    def __init__(self, problem: Problem, penalty: Penalty, tol: float, labels: Sequence[str] | None) -> None:
        self.problem, self.penalty, self.tol, self.labels = problem, penalty, tol, labels
        self.columns = Columns(problem)
        self.base = baseline_fit(problem)
        self.coef = self.base.coef
        self.work = problem.unpenalized if len(problem.unpenalized) else np.zeros(1, dtype=np.intp)
        self.part = self._restricted(self.work)
        self.origin = self._gradients([self.coef])[0]

    @staticmethod
    def fits(problem: Problem) -> bool:
        """Whether it is worth it: many columns in memory, nothing but the intercept unpenalized, zero within the bounds."""
        many = problem.shape[0] * problem.shape[1] > NEWTON_MAX_COEFFICIENTS
        kinked = not problem.penalty.smooth and problem.unpenalized.tolist() in ([], [0])
        zero = not problem.penalty.prox(np.zeros(problem.shape), np.zeros(problem.shape[0])).any()
        return many and kinked and zero and Coordinate().refuses(problem) is None

    def points(self, grid: Array) -> Iterator[Point]:
        """Yield every point."""
        gradient = self.origin
        before, at = max(float(grid[0]), self.penalty.entry_strengths(gradient).max(initial=0.0)), 0
        while at < len(grid):
            # at most 12 strengths, down to three quarters of the last one solved
            ahead = grid[at:]
            stretch = ahead[: max(1, min(12, int(np.count_nonzero(ahead >= 0.75 * before))))]
            watched = self._watched(gradient, 2.0 * float(stretch[-1]) - before)
            coefs, steps = zip(*(self._solve(float(strength), watched) for strength in stretch), strict=True)
            for strength, coef, slopes, taken in zip(stretch, coefs, self._gradients(coefs), steps, strict=True):
                missed = self._missed(slopes, coef, float(strength))
                if len(missed):
                    self._take_up(missed, self.penalty.entry_strengths(slopes))
                    self.coef = coef
                    break
                yield self._judged(float(strength), coef, slopes, taken)
                gradient, before, at = slopes, float(strength), at + 1

    def _restricted(self, columns: Index) -> Problem:
        part = self.columns.problem_of(columns)
        part.baseline = Baseline(self.base.coef[columns], self.base.value)
        return part

    def _watched(self, gradient: Array, least: float) -> tuple[Index, Problem]:
        """Return the columns that the strong rule lets come into use, with those worked on, and their problem."""
        near = np.flatnonzero(self.penalty.entry_strengths(gradient) >= least)
        watched = np.union1d(near, self.work)
        return watched, self._restricted(watched)

    def _take_up(self, missed: Index, scores: Array) -> None:
        """Work on more columns: those that must be, and some that soon may be."""
        spare = scores.copy()
        spare[self.work] = -np.inf
        spare[missed] = -np.inf
        count = max(50, len(self.work) // 5)
        soon = np.argsort(-spare, kind="stable")[:count]
        soon = soon[spare[soon] >= 0.8 * float(np.max(scores[missed], initial=0.0))]
        self.work = np.union1d(self.work, np.concatenate([missed, soon]))
        self.part = self._restricted(self.work)

    def _missed(self, gradient: Array, coef: Array, strength: float, columns: Index | None = None) -> Index:
        """Return the columns not worked on whose gradient is too large for zero."""
        penalty = self.penalty.at(strength)
        if columns is not None:
            penalty = penalty.take(columns)
        excess = np.max(penalty.slack(coef, gradient), axis=1)
        out = np.flatnonzero((excess > GRADIENT_SLACK * penalty.linear) & ~coef.any(axis=1))
        return np.setdiff1d(out if columns is None else columns[out], self.work)

    def _solve(self, strength: float, watched: tuple[Index, Problem]) -> tuple[Array, int]:
        """Return the coefficients at one strength, optimal among the watched columns, and how many steps they took."""
        (index, wider), steps = watched, 0
        while True:
            part = self.part.at(self.penalty.at(strength).take(self.work))
            coef, taken = self._descend(part, self.coef[self.work])
            steps += taken
            self.coef = np.zeros(self.problem.shape)
            self.coef[self.work] = coef
            inner = wider.at(self.penalty.at(strength).take(index))
            evaluation = inner.evaluate(self.coef[index])
            gradient = np.zeros(self.problem.shape)
            gradient[index] = evaluation.gradient - inner.penalty.gradient(self.coef[index])
            missed = self._missed(gradient[index], self.coef[index], strength, index)
            if not len(missed):
                return self.coef, steps
            self._take_up(missed, self.penalty.entry_strengths(gradient))

    def _descend(self, part: Problem, coef: Array) -> tuple[Array, int]:
        """Return the minimizer over the columns worked on, to rounding: few columns are cheap, a pass over all is not."""
        steps = -1  # the first iterate is where it begins
        for point, *_ in iterates(part, coef):
            coef, steps = point, steps + 1
        return coef, max(steps, 0)

    def _gradients(self, coefs: Sequence[Array]) -> list[Array]:
        """Return the gradients of the loss at some coefficients, in one pass over all columns."""
        loss, k = self.problem.loss, self.problem.shape[1]
        inner = np.hstack([coef[self.work] for coef in coefs])
        total = np.zeros((self.problem.shape[0], k * len(coefs)))
        self.problem.source.pass_count.made += 1
        for block, few in zip(self.columns.blocks, self.part.source.held(), strict=True):
            eta = few.design.times(np.ascontiguousarray(inner))
            weight = block.weights[:, None]
            y = np.where(weight > 0.0, block.y, 0.0)
            for m in range(len(coefs)):
                part = eta[:, m * k : (m + 1) * k]
                part = np.where(weight > 0.0, part if block.offset is None else part + block.offset, 0.0)
                eta[:, m * k : (m + 1) * k] = weight * loss.slope(y, part)
            total += block.design.transpose_times(eta)
        total /= self.problem.moments.weight_sum
        return [np.ascontiguousarray(total[:, m * k : (m + 1) * k]) for m in range(len(coefs))]

    def _judged(self, strength: float, coef: Array, slopes: Array, steps: int) -> Point:
        penalty = self.penalty.at(strength)
        part = self.part.at(penalty.take(self.work))
        lifted = Lifted(self.problem, penalty, part, self.work, coef, slopes)
        proof = prove(lifted, coef, hint=np.zeros(self.problem.shape))
        stopped = ROUNDING if proof.within(self.tol) else explained(lifted, coef, ROUNDING, proof.gap)
        verdict, _ = judge(lifted, proof.objective, proof, self.tol, stopped, None, self.labels)
        return Point(strength, coef, proof.objective, verdict, steps)


class Lifted(Problem):
    """A problem of which one point is known: its scores through the columns in use, its gradient in all columns."""

    def __init__(
        self, whole: Problem, penalty: Penalty, part: Problem, columns: Index, point: Array, slopes: Array
    ) -> None:
        super().__init__(whole.source, whole.loss, penalty, whole.moments, baseline=whole.baseline)
        self.part, self.columns, self.point, self.slopes = part, columns, point, slopes

    def evaluate(self, coef: Array, hessian: int = 0, sample: int = 1, kept: Kept | None = None) -> Evaluation:
        """Return what the columns in use tell of F at the point, with the gradient in all columns."""
        if not np.array_equal(coef, self.point) or hessian > self.lead or sample > 1:
            return super().evaluate(coef, hessian, sample, kept)
        evaluation = self.part.evaluate(coef[self.columns], hessian=hessian)
        second = evaluation.hessian
        if second is not None and hessian:
            k = self.shape[1] if self.loss.coupled else 1
            width = second.shape[1] // k
            tiles = second.reshape(len(second), k, width, k, width)[:, :, :hessian, :, :hessian]
            second = np.ascontiguousarray(tiles).reshape(len(second), k * hessian, k * hessian)
        error = evaluation.error + float(
            (self.score_error(coef) - self.part.score_error(coef[self.columns])) @ evaluation.slope
        )
        return Evaluation(evaluation.value, error, self.slopes + self.penalty.gradient(coef), evaluation.slope, second)

    def dual(self, coef: Array, shift: Array, scale: float = 1.0, unscaled: Dual | None = None) -> Dual:
        """Return the dual point of the scaled slopes: its mismatch needs the columns in use only."""
        if shift.any() or not np.array_equal(coef, self.point):
            return super().dual(coef, shift, scale, unscaled)
        dual = self.part.dual(coef[self.columns], shift[self.columns], scale, unscaled)
        return Dual(dual.high, dual.low, scale * self.slopes, dual.largest_shift, dual.slope_sum)
