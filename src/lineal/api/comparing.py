"""Several models on the same rows: fitted, put in order on rows that validate, the test rows left for the last figure."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

import numpy as np

from lineal.api.arrays import gather
from lineal.api.dataset import Dataset, Roles, from_table
from lineal.api.folding import Folds, deal, tabulated, without
from lineal.api.methods.method import Wanted
from lineal.api.penalizing import Penalized
from lineal.api.request import Request, Run
from lineal.api.training import Figures, finish, measure
from lineal.api.validating import Spread, spreads
from lineal.errors import InputError
from lineal.features.splitting import Split
from lineal.features.splitting import read as read_split
from lineal.features.text_options import TextOptions
from lineal.ground.deadline import Deadline, Limit, beforehand, shared
from lineal.ground.records import dataclass
from lineal.metrics.metric import BEST_OF_CLASSES, BEST_OF_NUMBERS
from lineal.model.model import Model
from lineal.model.tabled import Grid, Tabled, short
from lineal.model.trace import Record
from lineal.model.verdict import TOLERANCE
from lineal.tables.marked import Said

CLASS_MODELS: Final = ("logistic", "logistic l1:auto", "logistic none", "svm")
NUMBER_MODELS: Final = ("linear", "ridge", "linear l1:auto", "huber", "quantile:0.5")
"""The models that are compared if none are named: a loss, and perhaps a penalty (a ridge, its strength picked)."""

VALIDATION_SIZE: Final = 0.2
"""Share of the rows that put models in order unless folds do, or a column says which rows validate."""

FOLDS: Final = 5
"""Folds where no rows validate and no number is given."""


@dataclass(frozen=True)
class Entry:
    """One model of a comparison: how it was asked for, what came of it, and the seconds it took.

    ``validation`` are its figures on the rows that put models in order, with their spread where there are folds, ``baseline``
    those of the best constant on these ``rows``; ``model`` is fitted to all training rows, and its report has the figures of
    the test rows.
    """

    name: str
    model: Model
    seconds: float
    validation: Mapping[str, Spread]
    baseline: Mapping[str, Spread]
    rows: int

    @property
    def test(self) -> dict[str, float | None] | None:
        """Its figures on the test rows; None where there are none."""
        figures = self.model.report["metrics"].get("test")
        return None if figures is None else dict(figures)


@dataclass(frozen=True)
class Comparison(Tabled):
    """Models of one target, best first by ``metric`` on the rows that ``how`` says; ``baseline`` are those of a constant.

    ``refused`` are models that these rows do not allow, by name, and why.
    """

    picture = "compare"

    metric: str
    how: str
    entries: tuple[Entry, ...]
    baseline: Mapping[str, float]
    refused: Mapping[str, str] = field(default_factory=dict)

    def figures(self, entry: Entry) -> dict[str, float]:
        """Return the figures of one of the models on the rows that put them in order."""
        return {name: spread.mean for name, spread in entry.validation.items()}

    @property
    def headline(self) -> str:
        """What put the models in order."""
        return f"{len(self.entries)} models, best first by {self.metric}: {self.how}"

    def grids(self) -> list[Grid]:
        """Return the models with their figures, below them the baseline."""
        names = list(self.baseline)
        lines = [
            (one.name, one.model.verdict.kind, *(short(self.figures(one).get(name)) for name in names))
            for one in self.entries
        ]
        baseline = ("baseline", "", *(short(self.baseline[name]) for name in names))
        return [Grid((("model", "verdict", *names), *lines, baseline), texts=2)]


def compare(
    data: object,
    target: Any = None,
    *,
    models: Sequence[str] = (),
    weight: Any = None,
    offset: Any = None,
    drop: Sequence[str] = (),
    formula: str | Sequence[str] | None = None,
    poly: int | Sequence[int] = 1,
    penalize: Penalized | None = None,
    types: Mapping[str, str] | None = None,
    text: TextOptions = (),
    max_levels: int | None = None,
    missing: str = "mark",
    positive: str | None = None,
    na: Said = None,
    test_size: float = 0.2,
    test: object = None,
    split: str | None = None,
    validation_size: float | None = None,
    folds: int | str | None = None,
    seed: int = 0,
    time_limit: Limit = None,
    progress: Callable[[str, Record], None] | None = None,
) -> Comparison:
    """Fit several models to the same rows of a table and return them, best first on rows that none of them has seen.

    ``models`` are losses with perhaps a penalty, such as "logistic l1:auto"; without them a sensible handful. Several
    formulas, or several degrees of ``poly``, are compared with each of them. Best is the greatest accuracy, or the least root
    mean squared error, on validation rows: ``validation_size`` (0.2) of all, or ``folds`` left out in turn. The test rows
    (``test_size``, or another table ``test``) never decide: ``Entry.test`` has their figures. ``time_limit`` holds for all
    fits together. A model that the rows do not allow is ``refused``, with the reason, unless all are.

    >>> table = {"x": [float(k) for k in range(40)], "y": [2.0 * k + (k * 7 % 5) for k in range(40)]}
    >>> comparison = compare(table, "y", models=["linear", "quantile:0.5"])
    >>> comparison.metric, len(comparison.entries), comparison.how
    ('rmse', 2, '7 validation rows')
    """
    deadline = Deadline.of(time_limit)
    requests = {name: _request(name, penalize) for name in models}
    if len(requests) < len(models):
        raise InputError("a model is named twice; name each once.")
    kinds: set[Wanted] = {request.wanted for request in requests.values() if request.wanted != "auto"}
    if len(kinds) > 1:
        raise InputError("some of the models predict classes and some a number; compare models of one kind.")
    if test is not None and (split is not None or test_size not in (0.0, 0.2)):
        raise InputError(
            "test and split or test_size exclude each other: the table holds the test rows; give one of them."
        )
    shares = 0.0 if test is not None else test_size
    by_column = (split or "").startswith("column:")
    if folds is not None and validation_size:
        raise InputError("folds and validation rows exclude each other: give one of them.")
    if validation_size is None:
        validation_size = 0.0 if folds is not None or by_column else VALIDATION_SIZE
    parts = read_split(split, seed, shares, validation_size)
    shapes = _shapes(
        target, formula, poly, weight=weight, offset=offset, drop=drop, types=types, text=text, max_levels=max_levels,
        missing=missing, positive=positive, na=na,
    )  # fmt: skip
    methods = [request.model.method for request in requests.values()]
    if methods and all(method is not None and method.verbatim for method in methods):
        shapes = [(words, roles.read_by(methods[0])) for words, roles in shapes]
    wanted: Wanted = next(iter(kinds), "auto")
    dataset = beforehand(deadline, lambda: gather(data, shapes[0][1], wanted, parts, test))
    classes = dataset.target.kind == "classes"
    if not requests:
        requests = {name: _request(name, None) for name in (CLASS_MODELS if classes else NUMBER_MODELS)}
    by_folds = dataset.validation is None or folds is not None
    dealt = _dealt(data, shapes[0][1], parts, folds) if by_folds else None
    left = len(requests) * len(shapes)
    entries: list[Entry] = []
    refused: dict[str, InputError] = {}
    for place, (words, roles) in enumerate(shapes):
        here = dataset if place == 0 else gather(data, roles, wanted, parts, test)
        for name, request in requests.items():
            run = Run(seed, TOLERANCE, shared(deadline, left), _reporting(f"{name}{words}", progress))
            try:
                entries.append(_entry(f"{name}{words}", request, here, roles, run, dealt))
            except InputError as error:  # said beside the others
                refused[f"{name}{words}"] = error
            left -= 1
    if not entries:
        raise next(iter(refused.values()))
    best = BEST_OF_CLASSES if classes else BEST_OF_NUMBERS

    def rank(entry: Entry) -> tuple[bool, float]:
        value = entry.validation[best.name].mean if best.name in entry.validation else float("nan")
        return bool(np.isnan(value)), -value if best.larger_is_better else value

    baseline = {name: spread.mean for name, spread in entries[0].baseline.items()}
    how = f"{entries[0].rows:,} validation rows" if dealt is None else f"{entries[0].rows:,} rows in {dealt[0].words}"
    why = {name: str(error) for name, error in refused.items()}
    return Comparison(best.name, how, tuple(sorted(entries, key=rank)), baseline, why)


def _shapes(
    target: Any, formula: str | Sequence[str] | None, poly: int | Sequence[int], **others: Any
) -> list[tuple[str, Roles]]:
    """Return the roles of every formula or degree, with the words that tell them apart."""
    formulas: list[str | None] = [formula] if formula is None or isinstance(formula, str) else list(formula) or [None]
    degrees = [poly] if isinstance(poly, int) else list(poly) or [1]
    if len(formulas) > 1 and len(degrees) > 1:
        raise InputError(
            "several formulas and several degrees are too many ways at once; give the degrees in formulas."
        )
    shapes: list[tuple[str, Roles]] = []
    for one in formulas:
        for degree in degrees:
            words = f", {one}" if len(formulas) > 1 else f", degree {degree}" if len(degrees) > 1 else ""
            if words in [other for other, _ in shapes]:
                raise InputError(f"{one if len(formulas) > 1 else degree} is named twice; name each once.")
            shapes.append((words, Roles.of(target, one, degree, **others)))
    if len({str(roles.target) for _, roles in shapes}) > 1:
        raise InputError("the formulas have different targets; compare models of one target.")
    return shapes


Dealt = tuple[Folds, Roles]


def _dealt(data: object, roles: Roles, parts: Split, folds: int | str | None) -> Dealt:
    """Return the folds of the training rows, and how target, weights and offsets are called there."""
    table, named = tabulated(data, roles)
    dealt = deal(table, Split(parts.seed, parts.test_size, 0.0, parts.by, parts.column), folds, named.target, FOLDS)
    return dealt, without(named, dealt)


def _request(name: str, penalize: Penalized | None) -> Request:
    """Return what "svm ridge:0.1" asks for."""
    model, _, penalty = name.partition(" ")
    return Request.of(model, penalty.strip() or "auto", None, "auto", penalize)


def _reporting(name: str, progress: Callable[[str, Record], None] | None) -> Callable[[Record], None] | None:
    return None if progress is None else lambda record: progress(name, record)


def _entry(name: str, request: Request, dataset: Dataset, roles: Roles, run: Run, dealt: Dealt | None) -> Entry:
    """Fit one model to the training rows and measure it on the rows that validate: once, or fold by fold."""
    begin = time.monotonic()
    if dealt is None:
        model = finish(dataset, request, run, ranked=True)
        rows, (own, constant) = _validated(dataset, model)
        if not rows:
            raise InputError("no row became a validation row; hold out a larger share of the rows, or use folds.")
        return Entry(name, model, time.monotonic() - begin, spreads([own]), spreads([constant]), rows)
    folds, named = dealt
    roles = replace(named, formula=roles.formula, poly=roles.poly)
    reports = []
    for place, (seen, held) in enumerate(folds.pairs):
        part = from_table(seen, roles, request.wanted, Split(run.seed, 0.0), held)
        share = shared(run.deadline, len(folds.pairs) + 1 - place)
        reports.append(finish(part, request, replace(run, deadline=share)).report)
    figures, baseline = (spreads([report["metrics"][which] for report in reports]) for which in ("test", "baseline"))
    rows = sum(report["data"]["held_out"] for report in reports)
    model = finish(dataset, request, run)
    return Entry(name, model, time.monotonic() - begin, figures, baseline, rows)


def _validated(dataset: Dataset, model: Model) -> tuple[int, tuple[Figures, Figures]]:
    """Return the number of validation rows, the figures of a model on them, and those of the best constant."""
    assert dataset.validation is not None  # (who calls has looked)
    level = model.report["baseline_score"]
    return measure(dataset.validation, model.measure(), None if level is None else np.asarray(level, float))
