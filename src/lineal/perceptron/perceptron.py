"""The perceptron and its family: rows one after another, an update after every mistake, until an epoch without one.

    two classes: w <- w + rate y x, y = +-1;    several: w_own <- w_own + rate x, w_predicted <- w_predicted - rate x

If the rows are separable with margin gamma and lie within radius R, it ends after at most R^2 / gamma^2 mistakes (zero start;
twice that for several classes). Otherwise it never ends and its weights stay bounded; on rows that are exact in floating
point a fixed order brings a state back, which is noticed and said.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.deadline import LATE, Deadline
from lineal.ground.records import dataclass
from lineal.model.trace import Record, Trace
from lineal.perceptron.lengths import length, radius
from lineal.perceptron.pocket import Pocket
from lineal.perceptron.step_log import Line, StepLog
from lineal.perceptron.voters import Voters
from lineal.solvers.presentation import Segment, Window, hashed, windows
from lineal.sources.source import Source

Order = npt.NDArray[np.int64]

Tie = Literal["positive", "negative", "mistake"]
Variant = Literal["plain", "averaged", "voted", "pocket"]

TIES: Final = {"positive": 1, "negative": -1, "mistake": 0}
"""What a score of 0 is, and its number in the kernels: the later class, the earlier one, always a mistake."""

VARIANTS: Final = ("plain", "averaged", "voted", "pocket")
LOG_MAX_NUMBERS: Final = 50_000_000
"""Numbers that a recorded table of steps may hold."""

CELLS_BETWEEN_CHECKS: Final = 2**27
"""Entries and products between two looks at the clock and at Ctrl-C."""

NO_LIMIT: Final = 2**62

LENGTH_SAFETY_FACTOR: Final = 1.0 + 1e-6
"""The longest row is at most this factor longer than its computed length."""

View = tuple[Window, _core.Presenter, Callable[[int], Order] | None, Order | None]
"""Rows, the kernels' view of them, the order of an epoch (None: as they come), how often each is presented (None: once)."""


@dataclass(frozen=True)
class Plan:
    """How rows are presented.

    ``tie`` says what a score of 0 is, ``epochs`` how many there may be, ``rate`` what updates are multiplied by. ``seed``
    None keeps the order of the rows; else every epoch has its own, drawn by a hash of the rows' contents, so that it does
    not depend on how the table is sorted and equal rows follow each other (a row of weight 3 is the same as three rows).
    ``patience`` epochs in a row that each save no more than ``tol`` mistakes per row end the run. The first ``record``
    presentations are kept. After the ``deadline`` no row is presented; ``interrupt`` says whether Ctrl-C is raised or a
    budget.
    """

    tie: Tie = "mistake"
    variant: Variant = "plain"
    epochs: int = 100
    rate: float = 1.0
    seed: int | None = None
    tol: float | None = None
    patience: int = 5
    record: int = 0
    deadline: Deadline | None = None
    interrupt: Literal["raise", "budget"] = "raise"
    progress: Callable[[Record], None] | None = None


@dataclass
class Run:
    """How a perceptron ended: ``coef`` as last held (columns, outputs), ``mistakes`` made, ``epochs`` taken.

    ``clean``: the last epoch had no mistake; else ``stopped`` says why it ended. ``repeated`` are two epochs after which the
    weights were the same, ``longest`` is the largest length they had after an epoch, ``radius`` that of a row. ``average`` is
    the mean of the weights over all presentations, ``pocket`` the first of the weights it held with the fewest training
    mistakes, ``voters`` all weights with the rows each survived. ``presented`` counts presentations.
    """

    coef: Array
    mistakes: int = 0
    epochs: int = 0
    presented: int = 0
    clean: bool = False
    stopped: str = ""
    overflowed: bool = False
    repeated: tuple[int, int] | None = None
    longest: float = 0.0
    radius: float = 0.0
    average: Array | None = None
    pocket: Array | None = None
    voters: Voters | None = None
    ledger: StepLog | None = None
    trace: Trace = field(default_factory=Trace)

    @property
    def kept(self) -> Array:
        """The weights of the variant: the average, the pocket's, or the last."""
        if self.average is not None:
            return self.average
        return self.coef if self.pocket is None else self.pocket


def present(source: Source, outputs: int, plan: Plan, start: Array | None = None) -> Run:
    """Present the rows of a source until an epoch is clean, a state returns, or the plan ends.

    Targets are class numbers; ``outputs`` is 1 for two classes, of which 1 has the positive score. Row weights are whole
    numbers of presentations. ``start`` are the weights to begin with, zero if not given.

    >>> from lineal.designs import as_design
    >>> from lineal.sources.memory import Memory
    >>> x = np.array([[1.0, 1], [3, 2], [2, 4], [3, 4], [2, 3]])
    >>> rows = Memory(as_design(x), np.array([0.0, 1, 1, 1, 0]))
    >>> run = present(rows, 1, Plan(epochs=1), np.array([[-1.0], [0], [0]]))
    >>> run.coef[:, 0].tolist(), run.mistakes
    ([-1.0, 1.0, -1.0], 2)
    """
    work = _Work(source, outputs, plan, start)
    try:
        work.go()
    except KeyboardInterrupt:
        if plan.interrupt == "raise":
            raise
        work.run.stopped = "it was interrupted"
    return work.finish()


def order_of(view: _core.Presenter, rows: Window, columns: int, seed: int) -> Callable[[int], Order]:
    """Return the order of each epoch: rows sorted by a hash of their contents, the seed and the epoch."""
    vector = np.random.default_rng(20).normal(size=columns)
    prints = (view.project(vector) + 0.0).view(np.int64)
    own = np.concatenate([segment[1][:, 0] for segment in rows.segments]).astype(np.int64)
    prints = prints * 2654435761 + own
    present = np.flatnonzero(rows.weight > 0.0)
    return lambda epoch: present[np.argsort(hashed(seed, epoch, prints[present]))].astype(np.int64)


def repeats_of(weight: Array) -> Order | None:
    """Return weights as numbers of presentations, None where every row counts once; refuse what is no such number."""
    if np.all(weight == 1.0):
        return None
    if np.any(weight != np.rint(weight)) or np.max(weight, initial=0.0) > 1e6:
        raise InputError(
            "a weight is not a whole number (or above a million); a perceptron counts mistakes, and presents a row a whole "
            "number of times. Give whole weights, or use a model whose loss can be weighted (SGDClassifier, svm)."
        )
    return weight.astype(np.int64)


class _Work:
    """The state of a run between presentations; weights are held as the kernels want them."""

    def __init__(self, source: Source, outputs: int, plan: Plan, start: Array | None) -> None:
        self.source, self.outputs, self.plan = source, outputs, plan
        self.columns = len(source.columns)
        coef = np.zeros((self.columns, outputs)) if start is None else np.array(start, dtype=np.float64) + 0.0
        self.run = Run(coef)
        self.start = coef
        self.held: list[View] = []
        first = source.head().design
        self.wide = max(1, min(first.row_entries, self.columns))
        # The kernels hold weights output by output where rows are dense, column by column elsewhere.
        self.across = outputs == 1 or first.plain
        self.coef = self._in(coef)
        self.drift = np.zeros_like(self.coef) if plan.variant == "averaged" else None
        self.state = np.zeros(5, dtype=np.int64)
        self.log = np.empty((1024, 3), dtype=np.int64) if plan.variant == "voted" else None
        self.pocket: Pocket | None = None
        if plan.variant == "pocket":
            self.pocket = Pocket(source, TIES[plan.tie], plan.rate, plan.deadline)
            self.log, self.base = np.empty((self.pocket.room(self.wide), 3), dtype=np.int64), coef
        self.ledger = StepLog(list(source.columns)) if plan.record else None
        self.epoch, self.began = 0, time.monotonic()
        self.squares, self.within = 0.0, 0.0
        if plan.variant == "voted" and not source.resident:
            raise InputError("a voted perceptron keeps the rows it mistook, so they must be in memory; use averaged.")

    def go(self) -> None:
        """Present epochs until one ends the run."""
        seen = {_digest(self.start): 0}
        best, waited = math.inf, 0
        for epoch in range(1, self.plan.epochs + 1):
            self.epoch, before, rows = epoch, int(self.state[3]), int(self.state[1])
            kept = self._out(self.coef)
            if not self._windows():
                return
            made, shown = int(self.state[3]) - before, int(self.state[1]) - rows
            coef = self._out(self.coef)
            if not np.all(np.isfinite(coef)):
                self.coef = self._in(kept)
                self.run.overflowed = True
                self.run.stopped = f"the weights overflowed in epoch {epoch}; give the columns in larger units"
                return
            self.run.epochs = epoch
            self.within = LENGTH_SAFETY_FACTOR * math.sqrt(self.squares)  # every row has been seen
            self.run.longest = max(self.run.longest, length(coef))
            self._tell(epoch, made / max(shown, 1), f"{made} mistakes")
            if made == 0:
                self.run.clean = True
                return
            if self.plan.seed is None:
                digest = _digest(coef)
                if digest in seen:
                    self.run.repeated = (seen[digest], epoch)
                    return
                seen[digest] = epoch
            if self.plan.tol is not None:
                waited = 0 if made < best - self.plan.tol * shown else waited + 1
                best = min(best, made)
                if waited >= self.plan.patience:
                    self.run.stopped = f"{waited} epochs in a row saved hardly any mistake"
                    return
        self.run.stopped = f"no epoch of {self.plan.epochs} was without a mistake"

    def finish(self) -> Run:
        """Return the run with what its variant asks for."""
        run = self.run
        run.coef = self._out(self.coef)
        run.longest = max(run.longest, length(self.start))
        run.mistakes, run.presented = int(self.state[3]), int(self.state[1])
        known = run.epochs > 0 and self.squares < math.inf  # an epoch cut short has not seen every row
        run.radius = math.sqrt(self.squares) if known else radius(self.source)
        run.ledger = self.ledger
        if self.drift is not None and run.presented:
            run.average = run.coef - self._out(self.drift) / run.presented
        if self.pocket is not None:
            if self.pocket.coef is None:  # no row was presented, or the time limit passed before the first look
                self.pocket.coef = self.start
            run.pocket = self.pocket.coef
        elif self.log is not None:
            log = self.log[: self.state[4]]
            run.voters = Voters.of(self.source, log, run.presented, self.start, TIES[self.plan.tie], self.plan.rate)
        return run

    def _windows(self) -> bool:
        """Present every row once; False if time is over."""
        return all(self._window(*held) for held in self._views())

    def _views(self) -> Iterator[View]:
        """Yield the rows: all of them at once where they are in memory, else in windows, read again in every epoch."""
        if self.held:
            yield from self.held
            return
        resident = self.source.resident
        for rows in [Window(self.source.held())] if resident else windows(self.source):
            if any(segment[3] is not None for segment in rows.segments):
                raise InputError("a perceptron has no offset; leave it out.")
            plain: list[Segment] = [(stored, y, None, None) for stored, y, _, _ in rows.segments]
            view = _core.Presenter(plain, self.columns, self.outputs, self.across)
            seed = self.plan.seed
            order = None if seed is None else order_of(view, rows, self.columns, seed)
            once = all(segment[2] is None for segment in rows.segments)
            part = (rows, view, order, None if once else repeats_of(rows.weight))
            if resident:
                self.held = [part]
            yield part

    def _window(
        self, rows: Window, view: _core.Presenter, drawn: Callable[[int], Order] | None, repeats: Order | None
    ) -> bool:
        order = None if drawn is None else drawn(self.epoch)
        if repeats is not None:
            order = np.arange(rows.rows) if order is None else order
            order = np.repeat(order, repeats[order]).astype(np.int64)
        length = rows.rows if order is None else len(order)
        chunk = max(256, CELLS_BETWEEN_CHECKS // (self.wide * (1 + self.outputs)))
        self.state[0] = 0
        while self.state[0] < length:
            if self.plan.deadline is not None and self.plan.deadline.passed:
                self.run.stopped = LATE
                return False
            self._chunk(rows, view, order, min(int(self.state[0]) + (1 if self._recording else chunk), length))
        if self.pocket is not None:
            self._look(rows)
        return True

    def _chunk(self, rows: Window, view: _core.Presenter, order: Order | None, until: int) -> None:
        """Present rows up to ``until``, pausing where the log is full."""
        while self.state[0] < until:
            at, mistakes = int(self.state[0]), int(self.state[3])
            before = self._out(self.coef) if self._recording else None
            squares = view.run(
                order, until, self.coef, self.drift, self.state, TIES[self.plan.tie], self.plan.rate,
                NO_LIMIT, self.log, self.epoch == 1, self.within,
            )  # fmt: skip
            self.squares = max(self.squares, squares)
            if before is not None and self.state[0] > at:
                row = at if order is None else int(order[at])
                self._note(rows, view, row, before, mistaken=int(self.state[3]) > mistakes)
            if self.log is not None and self.state[4] == len(self.log):
                if self.pocket is None:
                    self.log = np.concatenate([self.log, np.empty_like(self.log)])
                else:
                    self._look(rows)

    @property
    def _recording(self) -> bool:
        return self.ledger is not None and len(self.ledger) < self.plan.record

    def _look(self, rows: Window) -> None:
        """Let the pocket judge the weights held since its last look."""
        assert self.pocket is not None
        assert self.log is not None
        self.pocket.look(self.base, self.log[: self.state[4]], rows)
        self.state[4], self.base = 0, self._out(self.coef)

    def _note(self, rows: Window, view: _core.Presenter, row: int, before: Array, *, mistaken: bool) -> None:
        assert self.ledger is not None
        lines, score = self.ledger.lines, view.scores
        if len(lines) * before.size > LOG_MAX_NUMBERS:
            raise InputError(
                f"the recorded table has become too large ({len(lines):,} steps of {before.size:,} weights); record fewer "
                "rows or epochs, or leave recording out (--json and -o on the command line)."
            )
        x, own = self._row(rows, row)
        signs = np.zeros(self.outputs)
        if mistaken and self.outputs == 1:
            signs[0] = 1.0 if own == 1 else -1.0
        elif mistaken:
            signs[own], signs[_rival(score, own, TIES[self.plan.tie])] = 1.0, -1.0
        place = int(rows.numbers[row])
        rate = self.plan.rate
        lines.append(Line(self.epoch, len(lines) + 1, place, before, score, not mistaken, rate * x, signs, rate))

    def _row(self, rows: Window, row: int) -> tuple[Array, int]:
        """Return a row as numbers, and its class."""
        for block in rows.blocks:
            at = int(rows.numbers[row]) - block.start
            if 0 <= at < block.n_rows:
                return block.design.slice(at, at + 1).dense()[0], int(block.y[at, 0])
        raise AssertionError(f"there is no row {row}")

    def _tell(self, epoch: int, share: float, note: str) -> None:
        record = Record(epoch, share, math.nan, epoch, time.monotonic() - self.began, note)
        self.run.trace.add(record)
        if self.plan.progress is not None:
            self.plan.progress(record)

    def _in(self, coef: Array) -> Array:
        """Return weights (columns, outputs) as the kernels want them."""
        return np.array(coef.T if self.across else coef, dtype=np.float64, order="C")

    def _out(self, coef: Array) -> Array:
        """Return weights as (columns, outputs)."""
        return np.array(coef.T if self.across else coef, order="C")


def _rival(score: Array, own: int, tie: int) -> int:
    """Return the class whose weights a mistake lowers: the best other one, the later of equals if ties go there."""
    others = np.where(np.arange(len(score)) == own, -np.inf, score)
    return int(len(score) - 1 - np.argmax(others[::-1])) if tie > 0 else int(np.argmax(others))


def _digest(coef: Array) -> bytes:
    return hashlib.sha256((coef + 0.0).tobytes()).digest()  # + 0.0: the two zeros are one state
