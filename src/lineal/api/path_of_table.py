"""A regularisation path of a table: which columns enter as the penalty weakens, every point with its verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from lineal.api.dataset import Dataset, Roles, from_table, with_offsets
from lineal.api.estimate import prepare
from lineal.api.options import Limits, PenaltyRequest, read_ratio
from lineal.api.penalizing import Penalized
from lineal.api.picking import build
from lineal.api.request import Request
from lineal.errors import InputError, near
from lineal.features.splitting import read as read_split
from lineal.features.text_options import TextOptions
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, Limit, beforehand
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.metrics.scoring import Score
from lineal.model.verdict import TOLERANCE
from lineal.paths.point import Point
from lineal.paths.selection import falling
from lineal.paths.strengths import Path, path
from lineal.penalties import by_name
from lineal.penalties.penalty import Penalty
from lineal.solvers.solver import Solver
from lineal.tables.marked import Said


@dataclass(frozen=True)
class TablePath:
    """The points of a path, the names of columns and outputs, and how well each point predicts the held-out rows.

    ``critical`` is the least strength at which nothing is used, of a ridge the first. ``charges`` say what the penalty sees of
    each column, as in a model file.
    ``losses`` holds the figure called ``metric`` on the rows held out, nothing where none are. ``reached`` is how many of the
    points there was time for; the others repeat the coefficients of the last of them.
    """

    points: tuple[Point, ...]
    critical: float
    columns: tuple[str, ...]
    loss: Loss
    penalty: PenaltyRequest
    family: Penalty
    metric: str
    losses: tuple[float, ...]
    dataset: Dataset = field(repr=False)
    fitted: int
    reached: int
    charges: str | list[str | float] = "sd"
    center: Array | None = None
    """What is taken off the columns before coefficients are applied; mostly None."""

    @property
    def texts(self) -> list[str]:
        """The columns of text among those of the table."""
        encoder = self.dataset.encoder
        return [] if encoder is None else [term.column for term in encoder.texts]

    @property
    def best(self) -> int | None:
        """The point that predicts the held-out rows best."""
        return int(np.nanargmin(self.losses)) if np.isfinite(self.losses).any() else None

    def used(self, point: Point) -> list[str]:
        """Return the columns with a coefficient that is not zero, the intercept aside."""
        return [
            name
            for name, row in zip(self.columns, point.coef, strict=True)
            if row.any() and name != "(intercept)"
        ]  # fmt: skip


def read_family(penalty: str) -> PenaltyRequest:
    """Read the penalty of a path, which has no strength of its own.

    >>> read_family("elastic:0.5")
    PenaltyRequest(name='elastic', strength=None, l1_ratio=0.5)
    """
    name, colon, rest = penalty.partition(":")
    families = {name: kind for name, kind in by_name().items() if kind.parameters}
    if name not in families or bool(colon) != ("l1_ratio" in families[name].parameters):
        *most, last = (kind.spelling(given=("strength",)) for kind in families.values())
        accepted = f"accepted are {', '.join(most)} and {last}; the strengths are what a path goes through."
        raise InputError(f"the penalty of the path is {penalty!r}; {accepted}{near(name, families)}")
    ratio = read_ratio(rest) if colon else None
    if ratio == 0.0:
        raise InputError("an elastic net of ratio 0 is a ridge, which makes nothing zero: no column would ever enter.")
    return PenaltyRequest(name, None, ratio)


def table_path(
    data: Any,
    target: Any = None,
    *,
    model: str = "auto",
    penalty: str = "l1",
    penalize: Penalized | None = None,
    points: int = 30,
    ratio: float | None = None,
    bounds: Limits | None = None,
    weight: str | None = None,
    offset: str | None = None,
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
    test_size: float = 0.0,
    split: str | None = None,
    seed: int = 0,
    tol: float = TOLERANCE,
    time_limit: Limit = None,
    solver: Solver | str = "auto",
    progress: Callable[[Point], None] | None = None,
) -> TablePath:
    """Fit a table at many strengths, from the one at which nothing is used down to ``ratio`` (0.001) times it.

    A ridge makes nothing zero: its strengths begin where coefficients are about a hundredth of their size, and its ``ratio``
    is 1e-6.

    >>> table = {"dose": [0.0, 1.0, 2.0, 3.5], "noise": [1.0, -1.0, 0.5, 0.0], "effect": [0.1, 1.1, 1.9, 3.6]}
    >>> result = table_path(table, "effect", model="linear", points=3)
    >>> [result.used(point) for point in result.points]
    [[], ['dose'], ['dose', 'noise']]
    """
    family, deadline = read_family(penalty), Deadline.of(time_limit)
    request = _request(model, bounds, solver, family, penalize)
    roles = Roles.of(
        target,
        formula,
        poly,
        intercept=intercept,
        weight=weight,
        offset=offset,
        drop=drop,
        types=types,
        text=text,
        max_levels=max_levels,
        missing=missing,
        positive=positive,
        na=na,
    )
    parts = read_split(split, seed, test_size, 0.0)
    dataset = beforehand(deadline, lambda: from_table(data, roles, request.wanted, parts))
    ready = prepare(dataset, request, deadline, deadline)
    dataset = dataset if ready.moments.offset == 0.0 else with_offsets(dataset, ready.loss.outputs)
    charging = build(family, 1.0, ready.units.squares, ready.limits)
    if len(charging.conflicts()):
        raise InputError("the bounds exclude each other: a lower one is above its upper one; change them.")
    first = falling(charging, ready.moments, points, 1e-6 if ratio is None else ratio) if charging.smooth else points
    walked = path(
        dataset.train, ready.loss, charging, first,
        ratio=1e-3 if ratio is None else ratio, solver=request.solver, tol=tol, time_limit=deadline,
        moments=ready.moments, labels=ready.labels, progress=progress, keep=True,
    )  # fmt: skip
    metric = ready.loss.figure
    return TablePath(
        points=walked.points,
        critical=walked.points[0].strength if charging.smooth else walked.critical,
        columns=tuple(dataset.train.columns),
        loss=ready.loss,
        penalty=family,
        family=charging,
        metric=metric,
        losses=_losses(dataset, ready.loss, metric, walked),
        dataset=dataset,
        fitted=ready.moments.rows,
        reached=walked.reached,
        charges=ready.units.stated(charging.without_bounds().factor_unit),
        center=walked.center,
    )


def _request(
    model: str, bounds: Limits | None, solver: Solver | str, family: PenaltyRequest, penalize: Penalized | None
) -> Request:
    """Return what is asked for; model bayes picks its own strength, and model ridge has the path of a ridge."""
    name = model.partition(":")[0]
    if name == "bayes" or (name == "ridge" and family.name != "ridge"):
        raise InputError(f"model {name} is a ridge; for this path ask for model linear, or for --penalty ridge.")
    ratio = "" if family.l1_ratio is None else f",{family.l1_ratio!r}"
    return replace(Request.of(model, f"{family.name}:1{ratio}", bounds, solver, penalize), penalty=family)


def _losses(dataset: Dataset, loss: Loss, metric: str, walked: Path) -> tuple[float, ...]:
    """Return the metric of every point on the rows that were held out, if there are any; NaN where nothing was fitted."""
    if dataset.test is None:
        return ()
    held, classes = dataset.test, dataset.target.kind == "classes"
    reached = walked.points[: walked.reached]
    tasks = [Score(loss, point.coef, classes, center=walked.center) for point in reached]
    with np.errstate(over="ignore", invalid="ignore"):
        figures = [float(held.sum(task).figures()[metric]) for task in tasks]
    return (*figures, *[math.nan] * (len(walked.points) - len(reached)))
