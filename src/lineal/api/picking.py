"""Picking a strength on rows that the fit does not see, and how much blocks of words pay beside each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from lineal.api.dataset import Dataset
from lineal.api.options import PenaltyRequest
from lineal.api.penalizing import Units
from lineal.api.request import Ready, Request, Run
from lineal.ground.arrays import Array
from lineal.ground.deadline import in_time, on_trial
from lineal.paths.selection import FALLBACK, FOLDS, SAMPLE_MIN_ROWS, Choice, cross_validate, sample, strengths
from lineal.penalties import Bounds, by_name
from lineal.penalties.penalty import Penalty
from lineal.problem.moments import Moments
from lineal.sources.source import Source

CROSS_VALIDATED_MAX_CELLS: Final = 2_000_000
"""Training cells (numbers stored x outputs) up to which all folds validate a strength; above, one fold is enough."""

SEARCH_MAX_CELLS: Final = 100_000_000
"""Training cells above which a strength is picked on a sample of the rows that has about as many."""

BLOCK_MULTIPLE: Final = 100.0
"""How much more a block of words pays that is better kept small: its columns count as if they were a tenth."""

BLOCK_MIN_GAIN: Final = 0.01
"""The share of the validation loss that a block has to save to be kept small."""


def build(request: PenaltyRequest, strength: float, squares: Array, limits: tuple[Array, Array] | None) -> Penalty:
    """Return a penalty on ``c_j b_j``, the ``squares`` being ``c_j^2``: variances where columns are standardized."""
    kind = by_name()[request.name]
    factors = squares if kind.factor_unit == "variance" else np.sqrt(squares)
    penalty = kind.make(factors, strength=strength, l1_ratio=0.5 if request.l1_ratio is None else request.l1_ratio)
    return penalty if limits is None else Bounds(*limits, penalty)


def pick(dataset: Dataset, request: Request, ready: Ready, run: Run) -> tuple[Choice, Ready]:
    """Return a strength: cross-validated where rows are few, on one fold where one is enough; and the units of the columns.

    With several columns of text, those that are better kept small pay BLOCK_MULTIPLE times as much: one after the other
    is tried so, and the best one kept, as long as that saves BLOCK_MIN_GAIN of the validation loss.
    """
    loss, moments = ready.loss, ready.moments
    family = build(request.penalty, 1.0, ready.units.squares, ready.limits)
    if len(family.conflicts()):
        reason = "taken by default, since the bounds exclude each other"
        return Choice(FALLBACK, reason, 0, loss.figure, folds=0), ready
    trying = on_trial(run.deadline)
    words = bool(ready.units.texts)
    grid = in_time(trying, lambda: strengths(dataset.train, loss, family, moments, words=words), lambda: ())
    if not grid:
        reason = "taken by default, since its share of the time limit was over before any was tried"
        return Choice(FALLBACK, reason, 0, loss.figure, folds=0), ready
    cells = _cells(dataset.train, moments) * loss.outputs
    rows = _sampled(dataset.train, moments, cells, run.seed + 2)

    def search(units: Units, strongest: float) -> Choice:
        return cross_validate(
            rows,
            loss,
            build(request.penalty, 1.0, units.squares, ready.limits),
            [strength for strength in grid if strength <= strongest],
            run.seed + 1,
            classes=dataset.target.kind == "classes",
            unseen=dataset.validation,
            folds=FOLDS if cells <= CROSS_VALIDATED_MAX_CELLS else 1,
            fallback=(FALLBACK if family.smooth else 0.1) * grid[0],
            deadline=trying,
            progress=run.progress,
            interrupt=run.interrupt,
            weight_sum=None if rows is dataset.train else moments.weight_sum,
            coarse=cells > CROSS_VALIDATED_MAX_CELLS,
        )

    choice = search(ready.units, grid[0])
    if choice.folds == 0 and rows is not dataset.train:  # the sample lacks a rare class
        rows = dataset.train
        choice = search(ready.units, grid[0])
    if len(ready.units.texts) < 2 or not (ready.units.free and family.smooth):
        return choice, ready
    choice, units = _weighed(choice, ready.units, search)
    return choice, replace(ready, units=units)


def _weighed(choice: Choice, units: Units, search: Callable[[Units, float], Choice]) -> tuple[Choice, Units]:
    """Return the best choice with some blocks of words kept small, one after the other, and the units that it has."""
    while choice.complete and len(units.multiples) < len(units.texts) - 1:
        tried = []
        for name in units.texts.keys() - units.multiples.keys():
            smaller = replace(units, multiples={**units.multiples, name: BLOCK_MULTIPLE})
            tried.append((search(smaller, 10.0 * choice.strength), smaller, name))
        if any(one.interrupted for one, _, _ in tried):
            return replace(choice, interrupted=True), units
        best, smaller, name = min(tried, key=lambda one: (one[0].loss, one[2]))
        if not (best.complete and best.loss < (1.0 - BLOCK_MIN_GAIN) * choice.loss):
            break
        metric = choice.metric.replace("_", " ")
        words = f"; words of {name!r} pay {BLOCK_MULTIPLE:g} times as much, which lowers the {metric} from {choice.loss:.4g}"
        choice, units = replace(best, reason=f"{best.reason}{words} to {best.loss:.4g}"), smaller
    return choice, units


def _sampled(source: Source, moments: Moments, cells: int, seed: int) -> Source:
    """Return the rows on which strengths are tried: all, or a sample of a very large number."""
    if cells <= SEARCH_MAX_CELLS:
        return source
    return sample(source, moments.rows, max(SAMPLE_MIN_ROWS, int(moments.rows * SEARCH_MAX_CELLS / cells)), seed)


def _cells(source: Source, moments: Moments) -> int:
    """Return how many numbers the rows store, zeros of sparse ones left aside; all cells where they are not in memory."""
    if not source.resident:
        return int(moments.rows * len(moments.mean))
    return sum(block.design.entries for block in source.held())
