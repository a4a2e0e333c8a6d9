"""Choosing a penalty's strength on rows that the fit does not see."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, Final, Literal

import numpy as np

from lineal.fitting.fitting import fit
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, LateError, watched
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.metrics.metrics import ClassFigures, NumberFigures
from lineal.metrics.scoring import Score
from lineal.model.trace import Record
from lineal.paths.strengths import critical_strength
from lineal.penalties.penalty import Penalty
from lineal.problem.moments import Moments, Survey
from lineal.problem.problem import Problem
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block, Source
from lineal.tables.table import uniform

Interrupt = Literal["raise", "budget"]

GRID: Final = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
"""The ridge strengths tried, strongest first: each fit starts where the one before ended."""

WORD_GRID: Final = (*GRID, 1e-7, 1e-8)
"""The ridge strengths tried where words of a text are penalized as they are."""

FOLDS: Final = 5
"""Parts of the training rows, of which one validates."""

KEPT_MAX_ROWS: Final = 2_000_000
"""Up to this many rows, a fold keeps which of them are its own (16 bytes a row) instead of drawing them in every pass."""

TRIAL_TOLERANCE, COARSE_TRIAL_TOLERANCE = 1e-4, 1e-3
"""The relative gap at which a trial ends, of a large table the second: trials are compared by their loss, and not kept."""

WORSE: Final = 1.1
"""How much larger than the best a loss has to be to end coarse trials: weaker penalties take ever more steps."""

SAMPLE_MIN_ROWS: Final = 10_000
"""The least number of rows that a sample has, out of which strengths are picked."""

FALLBACK: Final = 0.01
"""The ridge strength taken, and named in the report, where no trial could be made."""


@dataclass(frozen=True)
class Part:
    """The change of a block that keeps one part of the rows: the others get weight 0, which is absent.

    Row i is in fold ``floor(FOLDS u(seed, i))``, whatever the partition into blocks; nothing is copied.
    """

    seed: int
    validates: bool
    fold: int = 0

    def __call__(self, block: Block) -> Block:
        """Return the block with the weights of the other part set to zero."""
        rows = np.arange(block.start, block.start + block.n_rows, dtype=np.int64)
        drawn = np.floor(uniform(self.seed, rows) * FOLDS) == self.fold
        return replace(block, weight=np.where(drawn == self.validates, block.weights, 0.0))


@dataclass(frozen=True)
class Drawn:
    """The change of a block that draws a share of the rows, by a hash of their numbers, and leaves the others out."""

    seed: int
    share: float

    def __call__(self, block: Block) -> Block:
        """Return the rows that were drawn."""
        rows = np.arange(block.start, block.start + block.n_rows, dtype=np.int64)
        kept = np.flatnonzero(uniform(self.seed, rows) < self.share)
        weight, offset = (None if one is None else one[kept] for one in (block.weight, block.offset))
        return Block(block.design.take_rows(kept), block.y[kept], weight, offset)


def sample(source: Source, rows: int, expected: int, seed: int) -> Source:
    """Return about ``expected`` of the ``rows`` of a source, drawn and kept in memory; the source itself if it has fewer.

    >>> from lineal.designs import as_design
    >>> whole = Memory(as_design(np.arange(100.0).reshape(-1, 1)), np.zeros(100))
    >>> drawn = sample(whole, 100, 20, seed=1)
    >>> 10 < drawn.head().n_rows < 30, sample(whole, 100, 60, seed=1) is whole
    (True, True)
    """
    if rows < 2 * expected:
        return source
    return Blocks(source.collect(Drawn(seed, expected / rows)), source.columns)


@dataclass(frozen=True)
class Choice:
    """The strength that was chosen, the reason in words, and every trial: (strength, validation loss).

    ``errors`` are the standard errors of the validation losses, from fold to fold; ``start`` are coefficients of the best
    trial; ``interrupted`` says that Ctrl-C ended the trials.
    """

    strength: float
    reason: str
    rows: int
    metric: str
    trials: tuple[tuple[float, float], ...] = ()
    start: Array | None = None
    interrupted: bool = False
    folds: int = 1
    errors: tuple[float, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether strengths were compared, and nobody asked to stop."""
        return bool(self.trials) and not self.interrupted

    @property
    def loss(self) -> float:
        """The loss of the strength on the rows left out; infinite where none was tried."""
        return min((value for strength, value in self.trials if strength == self.strength), default=math.inf)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a report."""
        trials: list[dict[str, float | None]] = [
            {"strength": s, self.metric: v if math.isfinite(v) else None} for s, v in self.trials
        ]
        for trial, error in zip(trials, self.errors, strict=False):
            trial["error"] = error if math.isfinite(error) else None
        return {
            "strength": self.strength,
            "reason": self.reason,
            "folds": self.folds,
            "validation_rows": self.rows,
            "trials": trials,
        }


def strengths(
    source: Source, loss: Loss, family: Penalty, moments: Moments, *, words: bool = False
) -> tuple[float, ...]:
    """Return the strengths to try, strongest first: GRID, or for a penalty that makes zeros from the critical one down.

    GRID is for standardized columns; for others it is moved by the power of ten that is nearest to what they vary by. With
    ``words`` of a text among them, of which a row has few, it is WORD_GRID: all of them together vary like one such column.
    """
    critical = critical_strength(Problem.of(source, loss, family, moments))
    if not (math.isfinite(critical) and critical > 0.0):
        if words:
            return WORD_GRID
        unit = unit_of(family, moments)
        return GRID if unit == 1.0 else tuple(unit * strength for strength in GRID)
    return tuple(float(critical * 10.0 ** (-step / 4)) for step in range(13))  # three decades, four strengths each


def unit_of(family: Penalty, moments: Moments) -> float:
    """Return the power of ten nearest to the mean of ``variance_j / factor_j``; 1 where columns count as standardized.

    A ridge of strength ``s`` on raw columns is about one of ``s / variance`` on standardized ones.
    """
    variance, factors = moments.scatter / moments.weight_sum, family.penalty_factors
    factors = factors if family.without_bounds().factor_unit == "variance" else factors**2
    varied = (variance > 0.0) & (factors > 0.0)
    if not varied.any():
        return 1.0
    return 10.0 ** round(math.log10(float(np.mean(variance[varied] / factors[varied]))))


def falling(family: Penalty, moments: Moments, points: int, ratio: float) -> tuple[float, ...]:
    """Return strengths of a penalty without zeros, from where coefficients are a hundredth of their size down to ratio times it.

    A ridge of strength s divides the coefficient of a standardized column that is like no other by about 1 + s.
    """
    top = 100.0 * unit_of(family, moments)
    return tuple(np.geomspace(top, ratio * top, points).tolist())


def cross_validate(
    source: Source,
    loss: Loss,
    family: Penalty,
    grid: Sequence[float],
    seed: int,
    *,
    classes: bool,
    unseen: Source | None = None,
    folds: int = FOLDS,
    fallback: float = FALLBACK,
    deadline: Deadline | None = None,
    progress: Callable[[Record], None] | None = None,
    interrupt: Interrupt = "raise",
    weight_sum: float | None = None,
    coarse: bool = False,
) -> Choice:
    """Return the strength of a grid with the least loss on rows that its fits did not see.

    ``unseen`` are rows of their own for that; without them, each of the first ``folds`` of the FOLDS folds that leave a row
    of every class is left out in turn and predicted. Every fold's fits go from the strongest penalty to the weakest, each
    started from the one before. The grid ends early after two orders of magnitude in which no strength is better than the
    best, at the deadline, and at Ctrl-C.

    ``weight_sum`` S says that the rows are a sample, of weight T, of those that will be fitted. A trial has the strength
    times S / T then: the same penalty on the sum of the losses, so the same prior, as the strength has on all rows.
    ``coarse`` trials end at a larger gap, and with the first one that is a tenth worse than the best.
    """
    metric, tol = loss.figure, COARSE_TRIAL_TOLERANCE if coarse else TRIAL_TOLERANCE
    parts: list[_Fold] = []
    tried = _Tried(metric)
    interrupted, ended = False, ""
    try:
        with watched(deadline):
            parts = _folds(source, unseen, loss, seed, folds, classes)
            if not parts or (unseen is None and parts[0].rows + parts[0].moments.rows < 2 * FOLDS):
                reason = (
                    "taken by default, since there are too few rows, or of a class, to set some aside for validation"
                )
                return Choice(fallback, reason, 0, metric, folds=0)
            rate = 1.0 if weight_sum is None else weight_sum / source.sum(Survey(loss)).weight_sum
            for strength in grid:
                figures = [part.trial(family.at(rate * strength), tol, progress) for part in parts]
                tried.add(strength, figures, parts[0].coef)
                if strength <= 0.0101 * tried.best[0] or (coarse and tried.trials[-1][1] > WORSE * tried.best[1]):
                    break
    except KeyboardInterrupt:
        if interrupt == "raise":
            raise
        interrupted, ended = True, "Ctrl-C came"
    except LateError:
        if deadline is None:
            raise
        ended = "its share of the time limit was over"
    rows = sum(part.rows for part in parts)
    if not tried.trials:
        reason = f"taken by default, since {ended} before the first trial ended"
        return Choice(fallback, reason, rows, metric, interrupted=interrupted, folds=len(parts))
    where = f"{rows} rows left out in {len(parts)} folds" if unseen is None and folds > 1 else f"{rows} validation rows"
    where += "" if weight_sum is None else f", after fits of a sample of {parts[0].moments.rows} rows"
    reason = f"of {len(tried.trials)} strengths tried it has the least {metric.replace('_', ' ')} on {where}"
    if ended and not interrupted:
        reason += f"; {ended} before all were"
    if tried.best[0] == grid[-1]:
        reason += ", and is the weakest of them"
    done = tuple(tried.trials), tried.start, interrupted, len(parts), tuple(tried.errors)
    return Choice(tried.best[0], reason, rows, metric, *done)


@dataclass
class _Tried:
    """The trials so far, and coefficients of the best of them."""

    metric: str
    trials: list[tuple[float, float]] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    best: tuple[float, float] = (math.nan, math.inf)
    start: Array | None = None

    def add(self, strength: float, figures: Sequence[NumberFigures | ClassFigures], coef: Array | None) -> None:
        """Note the figures of all folds at one strength."""
        value = float(sum(figures[1:], start=figures[0]).figures()[self.metric])
        self.trials.append((strength, value))
        self.errors.append(_error([float(one.figures()[self.metric]) for one in figures]))
        if len(self.trials) == 1 or value < self.best[1]:
            self.best, self.start = self.trials[-1], coef


def _folds(source: Source, unseen: Source | None, loss: Loss, seed: int, folds: int, classes: bool) -> list[_Fold]:
    """Return the folds that leave enough rows on both sides."""
    if unseen is not None:
        part = _Fold.of_parts(source, unseen, loss, classes)
        return [] if part is None else [part]
    parts: list[_Fold] = []
    for k in range(FOLDS):  # where one of a few folds has the only row of a class, the next one takes its place
        part = _Fold.of(source, loss, seed, k, classes) if len(parts) < folds else None
        parts += [] if part is None else [part]
    return parts


@dataclass
class _Fold:
    """One fold: the rows its fits see, the rows they do not, and where the last fit ended."""

    loss: Loss
    seen: Source
    unseen: Source
    moments: Moments
    rows: int
    classes: bool
    coef: Array | None = field(default=None)

    @staticmethod
    def of(source: Source, loss: Loss, seed: int, fold: int, classes: bool) -> _Fold | None:
        """Return the fold, or None if it leaves too few rows (or no row of a class) on one of the sides."""
        seen, unseen = (_part(source, Part(seed, validates, fold)) for validates in (False, True))
        return _Fold.of_parts(seen, unseen, loss, classes)

    @staticmethod
    def of_parts(seen: Source, unseen: Source, loss: Loss, classes: bool) -> _Fold | None:
        """Return the fold of these rows, or None if one of the sides has too few."""
        moments, rows = seen.sum(Survey(loss)), unseen.sum(Survey(loss)).rows
        if (
            rows == 0
            or moments.rows < 2
            or not np.all(np.isfinite(loss.constant(moments.statistic / moments.weight_sum)))
        ):
            return None
        return _Fold(loss, seen, unseen, moments, rows, classes)

    def trial(
        self, penalty: Penalty, tol: float, progress: Callable[[Record], None] | None
    ) -> NumberFigures | ClassFigures:
        """Fit with one penalty and return the figures of the rows left out."""
        fitted = fit(
            self.seen,
            self.loss,
            penalty,
            start=self.coef,
            tol=tol,
            max_iter=100,
            moments=self.moments,
            progress=progress,
            keep=True,
        )
        self.coef = fitted.plain
        return self.unseen.sum(Score(self.loss, fitted.coef, self.classes, center=fitted.arrays.get("center")))


def _part(source: Source, part: Part) -> Source:
    """Return one part of the rows; its weights are kept where the rows are in memory and few enough."""
    block = source.whole
    if block is None or block.n_rows > KEPT_MAX_ROWS:
        return source.map(part)
    own = part(block)
    return Memory(own.design, own.y, own.weight, own.offset, source.columns)


def _error(values: Sequence[float]) -> float:
    """Return the standard error of a mean over folds; NaN for one fold."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
