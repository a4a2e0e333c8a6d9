"""Dual coordinate ascent: ridge problems row by row, for margins and for losses with corners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.problem.frame import centered
from lineal.problem.problem import Problem
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step
from lineal.sources.source import Access, Block

Index = npt.NDArray[np.int64]
Marks = npt.NDArray[np.uint8]
Kept = Mask

CHUNK_ENTRIES = 20_000_000
"""Entries of the rows that one native call visits, so that Ctrl-C is answered soon."""

GROUP_ROWS = 16
"""Neighbours that are visited together, in random order: rows anywhere in memory take three times as long."""


@dataclass(frozen=True)
class DualAscent(Solver):
    """Maximise ``-(1/S) sum s loss*(theta) - sum_j |x_j'(s theta)/S|^2 / (2 D_j)`` one theta_i at a time, in random order.

    The coefficients ``b_j = -x_j'(s theta) / (S D_j)`` follow. Rows at an end of their domain are left out until the others
    are done. The intercept is not penalized, which would tie all theta by ``sum s theta = 0``: instead it pays
    ``(rho / 2)(b_0 - c)^2``, with c moved to where b_0 went after every epoch, so that in the end it pays nothing.
    """

    seed: int = 0
    name: ClassVar[str] = "dual-ascent"
    words: ClassVar[str] = "{loss} loss with ridge and {columns} columns: one row at a time in the dual"
    needs: ClassVar[Access] = Access.RESIDENT
    missing: ClassVar[str] = "it visits rows at random, so they have to be in memory"
    corners: ClassVar[bool] = True
    sure: ClassVar[float] = 0.95

    def declines(self, problem: Problem) -> str | None:
        """Decline losses without an interval or a simplex of dual points, penalties other than ridge, and streams."""
        if problem.loss.dual_step() is None:
            return f"the {problem.loss.name} loss has no closed step in its dual"
        if not (problem.penalty.square and problem.penalty.parameters):
            return f"it needs a ridge penalty, not {problem.penalty.name}"
        if len(problem.unpenalized) > int(problem.intercept):
            return "it needs a ridge penalty on every column but the intercept"
        if not problem.source.head().design.compiled:
            return self.missing
        return None

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield a step for every look at the gap, which takes as long as an epoch: the goal says when it is worth one."""
        # a mean of more than one standard deviation couples the rows through its column
        if (frame := centered(problem, 1.0)) is None:
            yield from self._steps(problem, start, goal)
            return
        yield from frame.steps(self._steps(frame.problem, frame.inward(start), goal))

    def _steps(self, problem: Problem, start: Array, goal: Goal) -> Iterator[Step]:
        state = _State(problem, start, np.random.default_rng(self.seed))
        alone, epoch, stalled, best, ratio, shown = problem.shape[1] == 1, 0, 0, np.inf, self.sure, 0.0
        while True:
            # after 16 epochs, later after an eighth of those so far, the gap is looked at in any case
            for _ in range(max(16 if alone else 1, epoch // 8)):
                last, shown = shown, state.epoch()
                epoch += 1
                # rows moved on since they showed it; lanes swing too much to predict how far
                left = shown * (shown / last) if shown < last and not state.lanes else shown
                if alone and left <= ratio * goal.near * goal.gain(state.guess):
                    break
            look = state.look()
            aim = goal.near * goal.gain(look.value)
            settle = look.gap <= (aim if goal.near else 0.01 * abs(look.value))
            yield Step(
                look.coef,
                look.value,
                look.gap,
                problem.passes,
                f"epoch {epoch}",
                theta=state.theta(settle=settle),
            )
            # a gap that was small enough did not end the fit: the proof lost some of it
            ratio = 0.5 * min(ratio, left / aim) if settle and aim else self.sure * max(left / look.gap, 0.5)
            state.guess = look.value
            if look.gap > shown:
                state.wake()
            stalled = 0 if look.gap < 0.99 * best else stalled + 1
            best = min(best, look.gap)
            if look.gap <= 1e-15 * abs(look.value) or stalled > 12:
                return


@dataclass(frozen=True)
class _Look:
    """Coefficients, their objective, and its gap to the dual's, with about what it costs to settle the intercept."""

    coef: Array
    value: float
    gap: float


class _State:
    """Dual points of all rows, the coefficients that follow from them, and the rows still worth a visit."""

    def __init__(self, problem: Problem, start: Array, rng: np.random.Generator) -> None:
        self.problem, self.rng, self.intercept = problem, rng, problem.intercept
        step = problem.loss.dual_step()
        assert step is not None
        self.rows = [_Rows(problem, block, margin=step.margin) for block in problem.source.held() if block.n_rows]
        damping = problem.penalty.curvature()
        self.inverse = 1.0 / np.where(damping > 0.0, damping, 1.0)
        if problem.intercept:
            self.inverse[0] = 0.0
        for rows in self.rows:
            rows.measure(self.inverse)
        self.coef = np.zeros(problem.shape)
        self.centre = start[0].copy() if problem.intercept else np.zeros(problem.shape[1])
        if problem.intercept:
            # rho: the intercept as one more column, a hundredth of the others together (measured: 0.01 to 1 do alike,
            # but neighbours that are visited together would swing a larger one)
            total = sum(float(np.sum(rows.weight * rows.square)) for rows in self.rows)
            # margins are of the size of one: a column of 20 finds its place in a few epochs where the penalty is so
            # strong that all others together are small
            unit = 20.0 if step.margin else 0.0
            self.inverse[0] = max(0.01 * total, min(unit, total), 1e-10)
            for rows in self.rows:
                rows.square += self.inverse[0]
            self.coef[0] = self.centre
        self.epsilon, self.bend, self.cost = step.epsilon, step.bend, step.cost
        self.limit = np.inf
        self.lanes = any(rows.batch for rows in self.rows)
        self.means = [self.coef]
        self.guess = np.inf

    def epoch(self) -> float:
        """Visit every active row once, then let the intercept go; return the gap the rows showed when they were visited."""
        loss, off, shown, active, joined = 0.0, 0.0, 0.0, 0, 0
        full = all(len(rows.active) == rows.height for rows in self.rows)
        total = np.zeros_like(self.coef) if self.lanes else None
        for rows in self.rows:
            if rows.group == 1:
                places = order = self.rng.permutation(rows.active)
            else:
                places = _shuffled(self.rng, len(rows.active), rows.group)
                order = rows.active[places]
            keep = np.empty(len(order), dtype=np.bool_)
            for first, last in _chunks(len(order), rows.width):
                batch = rows.batch if last - first >= 2 * rows.batch else 0
                marks = keep[first:last].view(np.uint8)
                chunk_loss, chunk_off, chunk_gap = self._visit(rows, order[first:last], marks, total, batch)
                loss, off, shown = loss + chunk_loss, max(off, chunk_off), shown + chunk_gap
                joined += -(-(last - first) // (2 * batch)) if batch else 0
            rows.active = order[keep] if rows.group == 1 else rows.active[_back(keep, places)]
            active += len(rows.active)
        # rows that would leave their domain by more than 1.5 times what others are off their optimum rest
        self.limit = 1.5 * off
        if full:
            # of the optimum: rows were visited on the way there
            self.guess = loss + self.problem.penalty.value(self.coef) - 0.5 * shown
        if total is not None:
            self.means = [self.means[-1], total / joined if joined else self.coef.copy()]
        if self.intercept:
            drift = self.coef[0] - self.centre
            self.centre = self.coef[0].copy()
            self.coef[0] += drift
        if active == 0:
            self.wake()
        return shown

    def wake(self) -> None:
        """Visit all rows again."""
        for rows in self.rows:
            rows.active = np.arange(rows.height)

    def _visit(
        self, rows: _Rows, order: Index, keep: Marks, total: Array | None, batch: int
    ) -> tuple[float, float, float]:
        return _core.ascend(
            rows.parts,
            order,
            rows.at,
            rows.low,
            rows.high,
            rows.offset,
            rows.weight,
            rows.square,
            self.inverse,
            self.epsilon,
            self.bend,
            self.cost,
            self.limit,
            self.coef,
            rows.theta,
            keep,
            total,
            batch,
        )

    def look(self) -> _Look:
        """Return how far coefficients, with the intercept that is best for them, are from the dual points.

        Lanes leave those that most rows share swinging: their mean over two epochs is nearer to the optimum.
        """
        problem = self.problem
        coef = 0.5 * (self.means[0] + self.means[1]) if self.lanes else self.coef.copy()
        problem.source.pass_count.made += 1
        scores = [rows.scores(coef) for rows in self.rows]
        if problem.shape[1] == 1:
            parts = [
                (score, rows.at, rows.low, rows.high, rows.weight, rows.theta)
                for rows, score in zip(self.rows, scores, strict=True)
            ]
            whole = parts[0] if len(parts) == 1 else [np.concatenate(column) for column in zip(*parts, strict=True)]
            score, at, low, high, weight, theta = whole
            value, gap, shift = _core.look(
                score, at, low, high, weight, theta, self.epsilon, self.bend, problem.intercept
            )
            coef[0] += shift
        else:
            loss, value, gap = problem.loss, 0.0, 0.0
            for rows, score in zip(self.rows, scores, strict=True):
                value += float(np.sum(rows.weight * loss.value(rows.y, score)))
                gap += float(np.sum(rows.weight * loss.mismatch(rows.y, score, rows.theta)))
        penalty_factor = problem.penalty.curvature()[:, None]
        if self.lanes:
            gap += 0.5 * float(np.sum(penalty_factor * (coef - self.coef) ** 2))
        # made up for by rows near their corners, whose mismatch hardly changes
        owed = sum(rows.weight @ rows.theta for rows in self.rows)
        debt = 0.1 * float(np.sum(np.abs(owed))) if problem.intercept else 0.0
        return _Look(coef, value + problem.penalty.value(coef), gap + debt)

    def theta(self, *, settle: bool = True) -> Array:
        """Return the dual points of all rows of the source, moved, if asked, so that the intercept is owed nothing."""
        theta = np.concatenate([rows.theta for rows in self.rows])
        if self.problem.shape[1] > 1 or not self.problem.intercept or not settle:
            return theta
        weight, low, high = (
            np.concatenate([getattr(rows, name) for rows in self.rows]) for name in ("weight", "low", "high")
        )
        # those between the ends of their domain move, the more the farther from both
        free = np.flatnonzero((theta[:, 0] > low) & (theta[:, 0] < high))
        owed = float(weight @ theta[:, 0])
        inner, weight, low, high = theta[free, 0], weight[free], low[free], high[free]
        for _ in range(4):
            below, above = inner - low, high - inner
            with np.errstate(invalid="ignore"):
                slack = below * (above / (high - low))
            slack = np.where(np.isfinite(slack), slack, np.minimum(np.minimum(below, above), 1.0))
            total = float(weight @ slack)
            if not total > 0.0 or abs(owed) <= 1e-15:
                break
            moved = np.clip(inner - min(max(owed / total, -0.9), 0.9) * slack, low, high)
            owed += float(weight @ (moved - inner))
            inner = moved
        theta[free, 0] = inner
        return theta


def _shuffled(rng: np.random.Generator, count: int, group: int) -> Index:
    """Return the first numbers in random order, neighbours in groups; where groups begin is left to chance too."""
    first = int(rng.integers(group))
    groups = -(-(count + first) // group)
    odd, by = 2 * rng.integers(group // 2, size=(groups, 1)) + 1, rng.integers(group, size=(groups, 1))
    inside = (np.arange(group) * odd + by) & (group - 1)
    places = (rng.permutation(groups)[:, None] * group + inside).ravel() - first
    return places[(places >= 0) & (places < count)]


def _back(keep: Kept, places: Index) -> Kept:
    """Return the marks in the order the places were taken from."""
    in_place = np.empty_like(keep)
    in_place[places] = keep
    return in_place


def _chunks(rows: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield where chunks of rows begin and end."""
    count = max(1, CHUNK_ENTRIES // width)
    for first in range(0, rows, count):
        yield first, min(rows, first + count)


class _Rows:
    """A block of rows as the kernel wants it."""

    def __init__(self, problem: Problem, block: Block, *, margin: bool) -> None:
        design = block.design
        self.design, self.parts, self.height = design, list(design.parts), block.n_rows
        entries, columns = design.entries, design.shape[1]
        self.width = max(1, entries // block.n_rows)
        self.group = 1 if entries <= 1_000_000 else GROUP_ROWS  # up to a million entries stay in the cache
        # Lanes are merged after a million entries, or 16 per coefficient, which a merge costs. With fewer columns than
        # rows in a lane, each moves as far as both together should, and they overshoot.
        batch = max(1_000_000, 16 * columns) // self.width
        self.batch = batch if batch <= columns and problem.shape[1] == 1 else 0
        weight = block.weights
        self.weight = weight / problem.moments.weight_sum
        present = (weight > 0.0)[:, None]
        self.all = bool(np.all(present))
        self.y = np.where(present, block.y, 0.0)
        self.offset = None if block.offset is None else np.ascontiguousarray(np.where(present, block.offset, 0.0))
        self.theta = np.zeros((block.n_rows, problem.shape[1]))
        self.active: Index = np.arange(block.n_rows)
        self.square = np.zeros(block.n_rows)
        box = problem.loss.box(self.y)
        self.at = np.ascontiguousarray(self.y[:, 0])
        self.low = self.high = np.zeros(0)
        if box is not None:
            self.low, self.high = (np.ascontiguousarray(side[:, 0]) for side in box)
            if margin:
                self.at = np.where(self.at > 0.5, 1.0, -1.0)

    def measure(self, inverse: Array) -> None:
        """Learn ``sum_j x_ij^2 / D_j`` of every row."""
        _core.row_squares(self.parts, inverse, self.square)
        self.square[self.weight == 0.0] = 0.0

    def scores(self, coef: Array) -> Array:
        """Return the scores of rows of positive weight, zero for the others."""
        score = self.design.times(coef)
        if self.offset is not None:
            score = score + self.offset
        return score if self.all else np.where((self.weight > 0.0)[:, None], score, 0.0)
