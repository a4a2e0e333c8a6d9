"""Dual coordinate ascent: ridge problems row by row, for margins and for losses with corners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.designs.native import Native
from lineal.ground.records import dataclass
from lineal.losses.sparsemax import Sparsemax
from lineal.problem.frame import centered
from lineal.problem.problem import Problem
from lineal.solvers.columns import stored
from lineal.solvers.solver import Array, Solver, Step
from lineal.sources.source import Block

Index = npt.NDArray[np.int64]
Marks = npt.NDArray[np.uint8]
Kept = npt.NDArray[np.bool_]

CHUNK = 20_000_000
"""Entries of rows one call works on, so that Ctrl-C is answered soon."""

MOST_EPOCHS = 16
"""After so many epochs (later after an eighth of those so far) the gap is looked at whatever the rows visited show."""

SURE = 0.95
"""The gap is looked at when what visited rows show foretells this share of the one asked for."""

NEAR = 0.01
"""Without a goal, dual points are made ready for a proof where the gap is at most this share of the objective."""

GROUP = 16
"""So many neighbours are visited together, in an order of their own: rows anywhere in memory take three times as long."""

CACHED = 1_000_000
"""Up to this many entries are near enough to the cores, and every row has a place of its own in the order."""

LANE = 1_000_000
"""Entries of a lane between the times both lanes are brought together; at least 16 for each coefficient, which that costs."""

REST = 1.5
"""Rows that would go beyond an end of their domain by so many times what others are off their best are left out."""

MARGIN = 20.0
"""What the intercept of losses of margins is worth as a column, if that is not more than all others together are."""

LOSSES = {
    "hinge": (0.0, 0.0),
    "squared-hinge": (0.0, 1.0),
    "absolute": (0.0, 0.0),
    "quantile": (0.0, 0.0),
    "huber": (0.0, 1.0),
    "epsilon-insensitive": (1.0, 0.0),
    "squared-epsilon-insensitive": (1.0, 1.0),
    "crammer-singer": (0.0, 0.0),
    "sparsemax": (0.0, 1.0),
}
"""Whether epsilon enters the conjugate, and how it bends."""

KEPT = ("at", "low", "high", "weight", "theta")


FAR = 1.0
"""A mean of more than this many standard deviations couples the rows through its column; below, little is won."""


@dataclass(frozen=True)
class DualAscent(Solver):
    """Maximise ``-(1/S) sum s loss*(theta) - sum_j |x_j'(s theta)/S|^2 / (2 D_j)`` one theta_i at a time, in random order.

    The coefficients ``b_j = -x_j'(s theta) / (S D_j)`` follow. Rows at an end of their domain are left out until the others
    are done. The intercept is not charged, which would tie all theta by ``sum s theta = 0``: instead it pays
    ``(rho / 2)(b_0 - c)^2``, with c moved to where b_0 went after every epoch, so that in the end it pays nothing.
    """

    seed: int = 0
    goal: float = 0.0
    baseline: float = 0.0
    name: ClassVar[str] = "dual-ascent"
    corners: ClassVar[bool] = True
    sure: ClassVar[float] = SURE

    def declines(self, problem: Problem) -> str | None:
        """Decline losses without an interval or a simplex of dual points, penalties other than ridge, and streams."""
        if problem.loss.name not in LOSSES:
            return f"the {problem.loss.name} loss has no closed step in its dual"
        if problem.penalty.name != "ridge":
            return f"it needs a ridge penalty, not {problem.penalty.name}"
        if len(problem.uncharged) > int(problem.intercept):
            return "it needs a ridge penalty on every column but the intercept"
        first, again = next(problem.source.blocks()).design, next(problem.source.blocks()).design
        if first is not again or not isinstance(first, Native):
            return "it visits rows at random, so they have to be in memory"
        return None

    def towards(self, goal: float, tol: float, baseline: float) -> DualAscent:
        """Look at the gap when it seems to be that small: a look takes as long as an epoch."""
        return replace(self, goal=goal, baseline=baseline)

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield a step whenever the gap was looked at: whenever the rows visited show that it fell far enough."""
        if (frame := centered(problem, FAR)) is None:
            yield from self._steps(problem, start)
            return
        yield from frame.steps(self._steps(frame.problem, frame.inward(start)))

    def _steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        state = _State(problem, start, np.random.default_rng(self.seed))
        alone, epoch, stalled, best, ratio, shown = problem.shape[1] == 1, 0, 0, np.inf, SURE, 0.0
        while True:
            for _ in range(max(MOST_EPOCHS if alone else 1, epoch // 8)):
                last, shown = shown, state.epoch()
                epoch += 1
                # rows moved on since they showed it; lanes swing too much to foretell how far
                left = shown * (shown / last) if shown < last and not state.lanes else shown
                if alone and left <= ratio * self.goal * max(self.baseline - state.guess, 0.0):
                    break
            found = state.look()
            aim = self.goal * max(self.baseline - found.value, 0.0)
            settle = found.gap <= (aim if self.goal else NEAR * abs(found.value))
            yield Step(
                found.coef,
                found.value,
                found.gap,
                problem.passes + state.passes,
                f"epoch {epoch}",
                theta=state.theta(settle=settle),
            )
            # asked for more though this was enough: the proof lost some of it
            ratio = 0.5 * min(ratio, left / aim) if settle and aim else SURE * max(left / found.gap, 0.5)
            state.guess = found.value
            if found.gap > shown:
                state.wake()
            stalled = 0 if found.gap < 0.99 * best else stalled + 1
            best = min(best, found.gap)
            if found.gap <= 1e-15 * abs(found.value) or stalled > 12:
                return


@dataclass(frozen=True)
class _Look:
    """Coefficients, their objective, and how far it is from the dual's, with about what it costs to settle the intercept."""

    coef: Array
    value: float
    gap: float


class _State:
    """Dual points of all rows, the coefficients that follow from them, and the rows still worth a visit."""

    def __init__(self, problem: Problem, start: Array, rng: np.random.Generator) -> None:
        self.problem, self.rng, self.intercept = problem, rng, problem.intercept
        self.passes = 0
        loss = problem.loss
        self.rows = [_Rows(problem, block) for block in problem.source.blocks() if block.n_rows]
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
            # margins are of the size of one, and a column a good deal larger than that finds its place in a few epochs
            # where the charge is so strong that all others together are small
            unit = MARGIN if loss.name in ("hinge", "squared-hinge") else 0.0
            self.inverse[0] = max(0.01 * total, min(unit, total), 1e-10)
            for rows in self.rows:
                rows.square += self.inverse[0]
            self.coef[0] = self.centre
        epsilon, self.bend = LOSSES[loss.name]
        self.epsilon = epsilon * float(getattr(loss, "epsilon", 0.0))
        self.cost = 1.0 if loss.name == "crammer-singer" else 0.0
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
                found = self._visit(rows, order[first:last], keep[first:last].view(np.uint8), total, batch)
                loss, off, shown = loss + found[0], max(off, found[1]), shown + found[2]
                joined += -(-(last - first) // (2 * batch)) if batch else 0
            rows.active = order[keep] if rows.group == 1 else rows.active[_back(keep, places)]
            active += len(rows.active)
        self.limit = REST * off
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
        self.passes += 1
        scores = [rows.scores(coef) for rows in self.rows]
        if problem.shape[1] == 1:
            parts = [
                (score, *(getattr(rows, name) for name in KEPT)) for rows, score in zip(self.rows, scores, strict=True)
            ]
            whole = parts[0] if len(parts) == 1 else [np.concatenate(column) for column in zip(*parts, strict=True)]
            score, at, low, high, weight, theta = whole
            found = _core.look(score, at, low, high, weight, theta, self.epsilon, self.bend, problem.intercept)
            value, gap, shift = found
            coef[0] += shift
        else:
            loss, value, gap = problem.loss, 0.0, 0.0
            for rows, score in zip(self.rows, scores, strict=True):
                value += float(np.sum(rows.weight * loss.value(rows.y, score)))
                gap += float(np.sum(rows.weight * loss.mismatch(rows.y, score, rows.theta)))
        charge = problem.penalty.curvature()[:, None]
        gap += 0.5 * float(np.sum(charge * (coef - self.coef) ** 2)) if self.lanes else 0.0
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
                room = below * (above / (high - low))
            room = np.where(np.isfinite(room), room, np.minimum(np.minimum(below, above), 1.0))
            total = float(weight @ room)
            if not total > 0.0 or abs(owed) <= 1e-15:
                break
            moved = np.clip(inner - min(max(owed / total, -0.9), 0.9) * room, low, high)
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
    found = np.empty_like(keep)
    found[places] = keep
    return found


def _chunks(rows: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield where pieces of rows begin and end, each with about CHUNK entries at most."""
    count = max(1, CHUNK // width)
    for first in range(0, rows, count):
        yield first, min(rows, first + count)


class _Rows:
    """A block of rows as the kernel wants it."""

    def __init__(self, problem: Problem, block: Block) -> None:
        design = block.design
        assert isinstance(design, Native)
        self.design, self.parts, self.height = design, list(design.parts), block.n_rows
        entries, columns = stored(design), design.shape[1]
        self.width = max(1, entries // block.n_rows)
        self.group = 1 if entries <= CACHED else GROUP
        # with fewer columns than rows in a lane, each finds all by itself that both need, and together they overshoot
        batch = max(LANE, 16 * columns) // self.width
        self.batch = batch if batch <= columns and problem.shape[1] == 1 else 0
        weight = np.ones(block.n_rows) if block.weight is None else block.weight
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
            if problem.loss.name.endswith("hinge"):
                self.at = np.where(self.at > 0.5, 1.0, -1.0)
        assert box is not None or isinstance(problem.loss, Sparsemax)

    def measure(self, inverse: Array) -> None:
        """Learn ``sum_j x_ij^2 / D_j`` of every row."""
        _core.row_squares(self.parts, inverse, self.square)
        self.square[self.weight == 0.0] = 0.0

    def scores(self, coef: Array) -> Array:
        """Return the scores of rows of positive weight, zero for the others."""
        score = self.design.times(coef)
        score = score if self.offset is None else score + self.offset
        return score if self.all else np.where((self.weight > 0.0)[:, None], score, 0.0)
