"""Does the loss fall for ever? A direction along which no row loses and some row gains, checked exactly.

With z_i = y_i (1, x_i) for two classes, and z_ik = (e_yi - e_k) (x) x_i for k != y_i for several, a likelihood has no
finite maximum iff some d has z'd >= 0 for all z and z'd > 0 for one (Albert and Anderson 1984). The coefficients
themselves may be such a d; else ``search.decide`` finds one or proves that there is none. Every sign is computed exactly.
Coefficients that a penalty penalizes stay where they are, and bounded ones go only where they have no bound.
For counts, a Poisson likelihood has none iff some d has x'd <= 0 where y = 0, x'd = 0 where y > 0, and x'd < 0 for one.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lineal.algebra.doubled import two_product
from lineal.algebra.integers import Whole, floats, reduced, whole
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.deadline import Deadline, LateError
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.problem.problem import Problem
from lineal.separation.cloud import Cloud, centred
from lineal.separation.gathering import gather, stacked
from lineal.separation.search import decide, strict_rows
from lineal.sources.source import Block

SEARCH_SECONDS = 30.0
"""Seconds the exact search may take."""

MAX_NAMED_ROWS = 5
"""How many of the rows that gain for ever are named."""


@dataclass(frozen=True)
class Direction:
    """``z'd >= 0`` for every row of positive weight, ``> 0`` for ``strict`` of them (the first few are named).

    ``exact`` is d in integers; ``direction`` is the same in doubles, rounded where doubles have too few digits.
    """

    direction: Array
    exact: Whole
    strict: int
    rows: tuple[int, ...]
    total: int


@dataclass(frozen=True)
class Answer:
    """A direction along which the loss falls for ever; or none, with the reason where that is not proven."""

    direction: Direction | None = None
    reason: str = ""


def look(problem: Problem, coef: Array) -> Direction | None:
    """Return the coefficients as a direction, as far as the penalty lets them go for ever, if they separate the rows; one pass.

    They are rounded to 30 bits below the largest of their column, so that differences between outputs are exact.
    """
    size = np.max(np.abs(coef), axis=1, keepdims=True)
    grid = np.exp2(np.ceil(np.log2(np.where(size > 0.0, size, 1.0))) - 30.0)
    candidate = np.round(coef / grid) * grid
    down, up = problem.penalty.recession()
    gone = ((candidate < 0.0) & down[:, None]) | ((candidate > 0.0) & up[:, None])
    return check(problem, np.where(gone, candidate, 0.0))


def seek(problem: Problem, coef: Array, deadline: Deadline | None = None) -> Answer:
    """Decide whether the loss falls for ever along a direction that the penalty allows; exact, or not at all.

    It takes SEARCH_SECONDS seconds at most, or the time until the deadline.
    """
    if not problem.loss.unbounded:
        return Answer()
    direction = look(problem, coef)
    if direction is not None:
        return Answer(direction)
    down, up = problem.penalty.recession()
    columns = np.flatnonzero(down | up)
    if not len(columns):
        return Answer()
    try:
        cloud = gather(problem.source, problem.loss.recession, problem.loss.outputs, columns)
        cloud = _edged(cloud, down[columns], up[columns])
        decision = decide(
            cloud, Deadline.after(SEARCH_SECONDS) if deadline is None else deadline.within(SEARCH_SECONDS)
        )
    except LateError:
        return Answer(reason="time was not enough to decide whether the classes overlap")
    except MemoryError as error:
        return Answer(reason=str(error))
    rows = np.unique(cloud.numbers[strict_rows(cloud, decision)])
    rows = rows[rows >= 0]
    if decision.direction is None or not len(rows):
        return Answer()
    exact = np.zeros(problem.shape, dtype=object)
    exact[columns] = _allowed(centred(cloud, decision.direction), down[columns], up[columns])
    exact = reduced(exact)
    return Answer(
        Direction(
            direction=floats(exact),
            exact=exact,
            strict=len(rows),
            rows=tuple(rows[:MAX_NAMED_ROWS].tolist()),
            total=int(np.count_nonzero(np.unique(cloud.numbers) >= 0)),
        )
    )


def _edged(cloud: Cloud, down: Mask, up: Mask) -> Cloud:
    """Return the cloud with a row of its own, without a number, for every coefficient that may go to one side only.

    The direction that is found is strict wherever one can be: rows of the table gain for ever along it if any can.
    Several classes need none: adding the same to the coefficients of all classes changes no row.
    """
    if cloud.outputs > 1 or np.all(down & up):
        return cloud
    single = np.flatnonzero(down ^ up)
    edges = np.zeros((len(single), len(up)))
    edges[np.arange(len(single)), single] = 1.0
    return replace(
        cloud,
        x=stacked([cloud.x, edges]),
        own=np.concatenate([cloud.own, up[single].astype(np.intp)]),
        numbers=np.concatenate([cloud.numbers, np.full(len(single), -1)]),
    )


def _allowed(direction: Whole, down: Mask, up: Mask) -> Whole:
    """Return the direction of several classes with the same added to all of them, where they may go to one side only."""
    if direction.shape[1] == 1:
        return direction
    low, high = direction.min(axis=1, keepdims=True), direction.max(axis=1, keepdims=True)
    return np.asarray(direction - np.where(down & up, 0, np.where(up, low[:, 0], high[:, 0]))[:, None])


def check(problem: Problem, direction: Array) -> Direction | None:
    """Return the direction with its strict rows if every sign holds exactly, else None."""
    if not problem.loss.unbounded or not np.any(direction) or not np.all(np.isfinite(direction)):
        return None
    gain = problem.source.sum(Gains(problem.loss, problem.moments.largest, direction))
    if gain.losing or not gain.strict:
        return None
    exact = reduced(whole(direction.reshape(-1))).reshape(direction.shape)
    return Direction(direction, exact, gain.strict, gain.rows, gain.total)


@dataclass(frozen=True)
class Gain:
    """Whether a row of positive weight loses along a direction, how many gain, the first of them, and how many there are."""

    losing: bool
    strict: int
    rows: tuple[int, ...]
    total: int

    def __add__(self, other: Gain) -> Gain:
        rows = (self.rows + other.rows)[:MAX_NAMED_ROWS]
        return Gain(self.losing or other.losing, self.strict + other.strict, rows, self.total + other.total)


@dataclass(frozen=True)
class Gains:
    """The task that asks which rows gain along a direction, every sign computed exactly; ``largest`` bounds columns."""

    loss: Loss
    largest: Array
    direction: Array

    def __call__(self, block: Block) -> Gain:
        """Look at one block."""
        signs, present = self._signs(block), block.weights > 0.0
        if np.any(signs[present].min(axis=1, initial=1) < 0):
            return Gain(True, 0, (), 0)
        gains = present & (signs.max(axis=1, initial=0) > 0)
        rows = block.start + np.flatnonzero(gains)[:MAX_NAMED_ROWS]
        return Gain(False, int(np.count_nonzero(gains)), tuple(rows.tolist()), int(np.count_nonzero(present)))

    def _signs(self, block: Block) -> npt.NDArray[np.int8]:
        """Return the sign of z'd, shape ``(rows, outputs or 1)``: floats where they are sure, else exact sums."""
        outputs, direction = self.loss.outputs, self.direction
        if outputs == 1:
            up, held = self.loss.recession(block.y[:, 0])
            return self._margins(block, direction[:, 0], np.where(up, 1.0, -1.0), held)[:, None]
        signs = np.ones((block.n_rows, outputs), dtype=np.int8)
        own = block.y[:, 0].astype(np.intp)
        for k in range(outputs):
            for mine in range(outputs):
                rows = np.flatnonzero(own == mine)
                if k == mine or not len(rows):
                    continue
                high, low = direction[:, mine] - direction[:, k], _lost(direction[:, mine], direction[:, k])
                if np.any(low):
                    return -np.ones_like(signs)
                margins = self._margins(block, high, np.ones(block.n_rows), np.zeros(block.n_rows, dtype=bool))
                signs[rows, k] = margins[rows]
        signs[np.arange(block.n_rows), own] = 0
        return signs

    def _margins(self, block: Block, vector: Array, flip: Array, inner: Mask) -> npt.NDArray[np.int8]:
        """Return sign(flip_i x_i.d) exactly; an inner row, whose loss has a minimum of its own, must have x_i.d = 0."""
        score = block.design.times(vector[:, None])[:, 0]
        size = float(self.largest @ np.abs(vector))
        unsure = np.flatnonzero(np.abs(score) <= 4 * (len(vector) + 4) * np.finfo(np.float64).eps * size)
        used = np.flatnonzero(vector)
        for chunk in np.array_split(unsure, max(1, len(unsure) // 4096)):
            if not len(chunk):
                continue
            dense = _rows(block, chunk)[:, used]
            high, low = two_product(dense, np.broadcast_to(vector[used], dense.shape))
            exact = [math.fsum(row) for row in np.hstack([high, low])]
            score[chunk] = exact
        signs = np.sign(score * flip).astype(np.int8)
        signs[inner & (signs != 0)] = -1
        return signs


def _lost(a: Array, b: Array) -> Array:
    """Return the rounding error of a - b."""
    s = a - b
    c = s - a
    return np.asarray((a - (s - c)) + (-b - c))


def _rows(block: Block, rows: Index) -> Array:
    """Return some rows of a design as a plain array."""
    return np.vstack([block.design.slice(int(row), int(row) + 1).dense() for row in rows])
