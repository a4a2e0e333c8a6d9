"""`lineal.sweep`: one setting of a model from simple to complex, its training and validation loss beside each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

import numpy as np

from lineal.api.dataset import Dataset, Roles, from_table, with_offsets
from lineal.api.estimate import name, prepare
from lineal.api.folding import Folds, deal, tabulated, without
from lineal.api.options import Limits
from lineal.api.penalizing import Penalized
from lineal.api.picking import build
from lineal.api.request import Request, Run
from lineal.api.steps import Step, read_over, spelled
from lineal.api.training import finish
from lineal.errors import InputError
from lineal.features.formula import Formula
from lineal.features.splitting import Split
from lineal.features.splitting import read as read_split
from lineal.features.text_options import TextOptions
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, Limit, beforehand, shared
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.metrics.labels import LabelScore
from lineal.metrics.scoring import Score
from lineal.model.tabled import Grid, Tabled, short
from lineal.model.verdict import TOLERANCE, Verdict, worst
from lineal.paths.folds import pick
from lineal.paths.selection import falling, strengths
from lineal.paths.strengths import path
from lineal.solvers.solver import Solver
from lineal.tables.marked import Said

FOLDS: Final = 5
"""Folds where neither a number nor validation rows are asked for."""

LOSSES: Final = {"rmse": "mean squared error", "log_loss": "log loss"}
"""What the loss of a row on average is called, by the figure of the loss; otherwise it is the mean loss."""


@dataclass(frozen=True)
class SweepPoint:
    """One setting: its losses on the rows that were fitted and on those that were not, for each fold.

    ``columns`` and ``rows`` are those of the design (the fewest rows of a fold); ``interpolates`` says that there are as many
    columns as rows and no penalty, so that the rows can be fitted exactly; ``settings`` are the options of ``lineal.fit``
    that mean the point.
    """

    value: float
    settings: Mapping[str, Any]
    columns: int
    rows: int
    training: tuple[float, ...]
    validation: tuple[float, ...]
    interpolates: bool
    verdict: Verdict = field(repr=False)

    @property
    def error(self) -> float:
        """The standard error of the mean validation loss, from fold to fold; NaN for one fold."""
        several = len(self.validation) > 1
        return float(np.std(self.validation, ddof=1) / math.sqrt(len(self.validation))) if several else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "value": self.value,
            "settings": dict(self.settings),
            "columns": self.columns,
            "rows": self.rows,
            "interpolates": self.interpolates,
            "training": float(np.mean(self.training)),
            "validation": float(np.mean(self.validation)),
            "error": self.error,
            "training_folds": list(self.training),
            "validation_folds": list(self.validation),
            "verdict": self.verdict.kind,
        }


@dataclass(frozen=True)
class Sweep(Tabled):
    """The points of a sweep, simplest first.

    ``best`` has the least mean validation loss; ``one_se`` is the simplest point whose mean is within one standard error of
    that (None where there is one fold); ``threshold`` the first point that has as many columns as rows.
    """

    picture = "capacity"

    over: str
    loss: str
    model: str
    target: str
    words: str
    points: tuple[SweepPoint, ...]
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> int:
        """The place of the point with the least mean validation loss."""
        return pick(self._losses())

    @property
    def one_se(self) -> int | None:
        """The place of the simplest point within one standard error of the best; None for one fold."""
        return pick(self._losses(), rule="one-se") if len(self.points[0].validation) > 1 else None

    @property
    def threshold(self) -> int | None:
        """The place of the first point that can interpolate its training rows; None if no point can."""
        return next((place for place, point in enumerate(self.points) if point.interpolates), None)

    @property
    def headline(self) -> str:
        """The best point, and how it was found."""
        best = self.points[self.best]
        return f"{self.model} of {self.target}: the least {self.loss} is at {self.over} {best.value:g} ({self.words})"

    def grids(self) -> list[Grid]:
        """Return the points with their losses."""
        head = (self.over, "verdict", "columns", "training", "validation", "error")
        lines = [
            (f"{point.value:g}", point.verdict.kind, str(point.columns),
             *map(short, (float(np.mean(point.training)), float(np.mean(point.validation)), point.error)))
            for point in self.points
        ]  # fmt: skip
        return [Grid((head, *lines), texts=2)]

    def _losses(self) -> Array:
        return np.array([point.validation for point in self.points])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: all that a picture needs."""
        return {
            "over": self.over,
            "loss": self.loss,
            "model": self.model,
            "target": self.target,
            "how": self.words,
            "points": [point.to_dict() for point in self.points],
            "best": self.best,
            "one_se": self.one_se,
            "threshold": self.threshold,
            "notes": list(self.notes),
        }


def sweep(
    data: object,
    target: Any = None,
    *,
    over: str,
    model: str = "auto",
    penalty: str | float | None = None,
    penalize: Penalized | None = None,
    bounds: Limits | None = None,
    solver: Solver | str = "auto",
    weight: Any = None,
    offset: Any = None,
    drop: Sequence[str] = (),
    intercept: bool = True,
    formula: str | None = None,
    poly: int = 1,
    types: Mapping[str, str] | None = None,
    text: TextOptions = (),
    max_levels: int | None = None,
    missing: str = "mark",
    positive: str | None = None,
    na: Said = None,
    folds: int | str | None = None,
    validation_size: float = 0.0,
    test_size: float = 0.0,
    split: str | None = None,
    seed: int = 0,
    tol: float = TOLERANCE,
    time_limit: Limit = None,
    progress: Callable[[Any], None] | None = None,
) -> Sweep:
    """Fit a model at every value of one setting and measure each on rows it saw and on rows it did not.

    ``over`` is "degree=0:15" (powers of the one column; every product of up to that many columns where there are several; or
    the word ``degree`` in a formula: ``y ~ poly(x, degree) + z``), "strength", "strength=0.001:10" (or a list), or "columns",
    "columns=1:40": the first so many columns of the table. Other arguments are those of ``lineal.fit``; degrees and columns are
    swept without a penalty unless one is given, strengths are those of ``penalty`` ("ridge" unless it is "l1",
    "elastic:RATIO" or "group"). ``folds`` (5 unless ``validation_size`` is given) is a number, or a column whose every value
    is a fold; rows of ``test_size`` are left alone. With more columns than rows least squares has the smallest coefficients
    of all that fit the rows exactly.

    >>> x = [k / 20 for k in range(60)]
    >>> table = {"x": x, "y": [value**2 + 0.05 * ((k * 7) % 5) for k, value in enumerate(x)]}
    >>> swept = sweep(table, "y", over="degree=0:4")
    >>> swept.points[swept.one_se].value, swept.loss
    (2, 'mean squared error')
    """
    deadline = Deadline.of(time_limit)
    if formula is not None and poly > 1:
        raise InputError("a formula says itself which products there are; leave poly out.")
    roles = Roles.of(
        target, None, poly, intercept=intercept, weight=weight, offset=offset, drop=drop, types=types, text=text,
        max_levels=max_levels, missing=missing, positive=positive, na=na,
    )  # fmt: skip
    roles = replace(
        roles, target=target if target is not None or formula is None else formula.partition("~")[0].strip()
    )
    table, roles = tabulated(data, roles)
    parts = read_split(split, seed, test_size, validation_size)
    dealt = beforehand(deadline, lambda: deal(table, parts, folds, roles.target, FOLDS))
    roles = without(roles, dealt)
    steps, family = read_over(over, penalty, table, roles, formula)
    if family is None:
        ask = Request.of(model, "none" if penalty is None else penalty, bounds, solver, penalize)
    else:
        ask = Request.of(model, spelled(family, 1.0), bounds, solver, penalize)
    if family is not None and formula is not None:
        roles = replace(roles, formula=Formula.read(formula))
    roles = roles.read_by(ask.model.method)
    walk = _by_shape if family is None else _by_strength
    about, losses = walk(dealt, roles, ask, Run(seed, tol, deadline, progress), steps)
    words = LOSSES.get(about.loss.figure, "mean loss")
    points = _points(about, losses, unpenalized=ask.penalty.name == "none")
    return Sweep(over.partition("=")[0], words, about.model, about.target, dealt.words, points, about.notes)


@dataclass(frozen=True)
class _Fold:
    """What one fold says of all points: losses on both sides, verdicts, and the shape of the design."""

    losses: list[tuple[float, float]]
    verdicts: list[Verdict]
    shapes: list[tuple[int, int]]


@dataclass(frozen=True)
class _About:
    """What is said of a whole sweep."""

    steps: Sequence[Step]
    loss: Loss
    model: str
    target: str
    notes: tuple[str, ...]


def _by_shape(dealt: Folds, roles: Roles, ask: Request, run: Run, steps: Sequence[Step]) -> tuple[_About, list[_Fold]]:
    """Fit every fold at every step, each with its own columns."""
    folds = []
    left = len(dealt.pairs) * len(steps)
    for seen, held in dealt.pairs:
        fold = _Fold([], [], [])
        for step in steps:
            dataset = from_table(seen, step.shaped(roles), ask.wanted, Split(run.seed, 0.0), held)
            fitted = finish(dataset, ask, replace(run, deadline=shared(run.deadline, left)), measured=False)
            fold.losses.append(_losses(dataset, fitted.measure()))
            fold.verdicts.append(fitted.verdict)
            fold.shapes.append((len(fitted.columns), int(fitted.training["rows"])))
            left -= 1
        folds.append(fold)
    notes = tuple(dataset.about.get("notes", ()))
    return _About(steps, fitted.loss, fitted.heading, fitted.target.name, notes), folds


def _by_strength(
    dealt: Folds, roles: Roles, ask: Request, run: Run, steps: Sequence[Step]
) -> tuple[_About, list[_Fold]]:
    """Walk every fold from the strongest penalty to the weakest, each fit started from the one before."""
    folds = []
    for place, (seen, held) in enumerate(dealt.pairs):
        dataset = from_table(seen, roles, ask.wanted, Split(run.seed, 0.0), held)
        ready = prepare(dataset, ask, run.deadline, run.first)
        dataset = dataset if ready.moments.offset == 0.0 else with_offsets(dataset, ready.loss.outputs)
        penalty = build(ask.penalty, 1.0, ready.units.squares, ready.limits)
        if not steps:
            grid = (
                falling(penalty, ready.moments, 33, 1e-8)
                if penalty.smooth
                else strengths(dataset.train, ready.loss, penalty, ready.moments)
            )
            steps = [Step(value, {"penalty": spelled(ask.penalty, value)}) for value in grid]
        walked = path(
            dataset.train, ready.loss, penalty, [step.value for step in steps], solver=ask.solver, tol=run.tol,
            time_limit=shared(run.deadline, len(dealt.pairs) - place), moments=ready.moments, labels=ready.labels,
        )  # fmt: skip
        shape = (len(dataset.train.columns), ready.moments.rows)
        classes = dataset.target.kind == "classes"
        losses = [_losses(dataset, Score(ready.loss, point.coef, classes)) for point in walked.points]
        folds.append(_Fold(losses, [point.verdict for point in walked.points], [shape] * len(steps)))
    notes = tuple(dataset.about.get("notes", ()))
    return _About(steps, ready.loss, name(ready.loss, ask.penalty.name), dataset.target.name, notes), folds


def _losses(dataset: Dataset, score: Score | LabelScore) -> tuple[float, float]:
    """Return the mean loss on the rows that were fitted and on those that were not; of squared loss the squares."""
    figure = score.loss.figure
    assert dataset.test is not None  # (every pair has both)
    with np.errstate(over="ignore", invalid="ignore"):
        values = [float(source.sum(score).figures()[figure]) for source in (dataset.train, dataset.test)]
    values = [value**2 for value in values] if figure == "rmse" else values
    return values[0], values[1]


def _points(about: _About, folds: Sequence[_Fold], *, unpenalized: bool) -> tuple[SweepPoint, ...]:
    """Return what all folds together say of every step."""
    points = []
    for k, step in enumerate(about.steps):
        verdicts, shapes = [fold.verdicts[k] for fold in folds], [fold.shapes[k] for fold in folds]
        points.append(
            SweepPoint(
                value=step.value,
                settings=step.settings,
                columns=max(size[0] for size in shapes),
                rows=min(size[1] for size in shapes),
                training=tuple(fold.losses[k][0] for fold in folds),
                validation=tuple(fold.losses[k][1] for fold in folds),
                interpolates=unpenalized and max(size[0] for size in shapes) >= min(size[1] for size in shapes),
                verdict=verdicts[worst(verdicts)],
            )
        )
    return tuple(points)
