"""Choosing a penalty's strength on rows that the fit does not see."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from lineal.fitting import fit
from lineal.loss import Loss
from lineal.metrics import Score
from lineal.passes import Survey
from lineal.penalties import Ridge
from lineal.source import Block, Source
from lineal.table import uniform
from lineal.trace import Record

Array = npt.NDArray[np.float64]

GRID: Final = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
"""The strengths tried, strongest first: each fit starts where the one before ended."""

SHARE: Final = 0.2
"""The share of the training rows that validates."""

FALLBACK: Final = 0.01
"""The strength taken, and said, where no trial could be made."""


@dataclass(frozen=True)
class Part:
    """The change of a block that keeps one part of the rows: the others get weight 0, which is absent.

    Row i validates iff ``u(seed, i) < SHARE``, whatever the partition into blocks; nothing is copied.
    """

    seed: int
    validates: bool

    def __call__(self, block: Block) -> Block:
        """Return the block with the weights of the other part set to zero."""
        drawn = uniform(self.seed, np.arange(block.start, block.start + block.n_rows, dtype=np.int64)) < SHARE
        weight = np.ones(block.n_rows) if block.weight is None else block.weight
        return Block(block.design, block.y, np.where(drawn == self.validates, weight, 0.0), block.offset, block.start)


@dataclass(frozen=True)
class Choice:
    """The strength that was chosen, the reason in words, and every trial: (strength, validation loss).

    ``start`` are the coefficients of the best trial; ``interrupted`` says that Ctrl-C ended the trials.
    """

    strength: float
    reason: str
    rows: int
    metric: str
    trials: tuple[tuple[float, float], ...] = ()
    start: Array | None = None
    interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a report."""
        trials = [{"strength": s, self.metric: v if math.isfinite(v) else None} for s, v in self.trials]
        return {"strength": self.strength, "reason": self.reason, "validation_rows": self.rows, "trials": trials}


def choose_strength(
    source: Source,
    loss: Loss,
    charges: Array,
    seed: int,
    deadline: float | None = None,
    progress: Callable[[Record], None] | None = None,
    interrupt: Literal["raise", "budget"] = "raise",
) -> Choice:
    """Return the ridge strength of GRID with the least loss on validation rows.

    The fits use the rows with ``u(seed, row) >= SHARE``, strongest penalty first, each started from the one before. The
    grid ends early after two strengths in a row that are worse than the best, at the deadline, and at Ctrl-C.
    """
    seen, unseen = source.map(Part(seed, validates=False)), source.map(Part(seed, validates=True))
    classes = loss.name != "squared"
    metric = "log_loss" if classes else "rmse"
    known, rows = seen.sum(Survey(loss)), unseen.sum(Survey(loss)).rows
    if rows == 0 or known.rows < 2 or not np.all(np.isfinite(loss.constant(known.statistic / known.weight_sum))):
        reason = "taken by default, since there are too few rows to set some aside for validation"
        return Choice(FALLBACK, reason, 0, metric)
    trials: list[tuple[float, float]] = []
    best = best_coef = coef = None
    interrupted = False
    try:
        for strength in GRID:
            left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            penalty = Ridge(strength, charges)
            coef = fit(seen, loss, penalty, start=coef, time_limit=left, moments=known, progress=progress).coef
            value = float(unseen.sum(Score(loss, coef, classes)).figures()[metric])
            trials.append((strength, value))
            if best is None or value < best[1]:
                best, best_coef = trials[-1], coef
            late = deadline is not None and time.monotonic() >= deadline
            if late or len(trials) - 1 - trials.index(best) == 2:
                break
    except KeyboardInterrupt:
        if interrupt == "raise":
            raise
        interrupted = True
    if best is None:
        return Choice(
            FALLBACK, "taken by default, since Ctrl-C came before the first trial ended", rows, metric, interrupted=True
        )
    reason = f"of {len(trials)} strengths tried it has the least {metric.replace('_', ' ')} on {rows} validation rows"
    reason += ", and is the weakest of them" if best[0] == GRID[-1] else ""
    return Choice(best[0], reason, rows, metric, tuple(trials), best_coef, interrupted)
