"""Several models on the same rows: fitted, measured, and put in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from lineal.api.arrays import gather
from lineal.api.dataset import Dataset, Roles
from lineal.api.options import Wanted
from lineal.api.request import Request, Run
from lineal.api.training import finish
from lineal.errors import InputError
from lineal.features.splitting import read as read_split
from lineal.features.text_options import TextOptions
from lineal.ground.deadline import Deadline, Limit, beforehand, shared
from lineal.ground.records import dataclass
from lineal.metrics.metric import BEST_OF_CLASSES, BEST_OF_NUMBERS
from lineal.model.model import Model
from lineal.model.trace import Record
from lineal.model.verdict import TOLERANCE

CLASS_MODELS: Final = ("logistic", "logistic l1:auto", "logistic none", "svm")
NUMBER_MODELS: Final = ("linear", "ridge", "linear l1:auto", "huber", "quantile:0.5")
"""The models that are compared if none are named: a loss, and perhaps a penalty (a ridge, its strength picked)."""


@dataclass(frozen=True)
class Entry:
    """One model of a comparison: how it was asked for, what came of it, and the seconds it took."""

    name: str
    model: Model
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """Models of one target on one split, best first by ``metric``; ``baseline`` are the figures of the best constant."""

    metric: str
    where: str
    entries: tuple[Entry, ...]
    baseline: dict[str, float | None]

    def figures(self, entry: Entry) -> dict[str, float | None]:
        """Return the figures of one of the models on the rows that compare."""
        return dict(entry.model.report["metrics"][self.where])


def compare(
    data: object,
    target: Any = None,
    *,
    models: Sequence[str] = (),
    weight: Any = None,
    offset: Any = None,
    drop: Sequence[str] = (),
    formula: str | None = None,
    poly: int = 1,
    types: Mapping[str, str] | None = None,
    text: TextOptions = (),
    max_levels: int | None = None,
    missing: str = "mark",
    positive: str | None = None,
    test_size: float = 0.2,
    split: str | None = None,
    validation_size: float = 0.0,
    seed: int = 0,
    time_limit: Limit = None,
    progress: Callable[[str, Record], None] | None = None,
) -> Comparison:
    """Fit several models to the same rows of a table and return them, best first on held-out rows.

    ``models`` are losses with perhaps a penalty, such as "logistic l1:auto"; without them a sensible handful. Best is
    the greatest accuracy, or the least root mean squared error. ``time_limit`` holds for all of them
    together: each has an equal share of the seconds that those before it left.

    >>> table = {"x": [float(k) for k in range(40)], "y": [2.0 * k + (k * 7 % 5) for k in range(40)]}
    >>> found = compare(table, "y", models=["linear", "quantile:0.5"])
    >>> found.metric, len(found.entries)
    ('rmse', 2)
    """
    deadline = Deadline.of(time_limit)
    requests = {name: _request(name) for name in models}
    if len(requests) < len(models):
        raise InputError("a model is named twice; name each once.")
    kinds: set[Wanted] = {request.wanted for request in requests.values() if request.wanted != "auto"}
    if len(kinds) > 1:
        raise InputError("some of the models predict classes and some a number; compare models of one kind.")
    parts = read_split(split, seed, test_size, validation_size)
    roles = Roles.of(
        target, formula, poly, weight=weight, offset=offset, drop=drop, types=types, text=text, max_levels=max_levels,
        missing=missing, positive=positive,
    )  # fmt: skip
    dataset = beforehand(deadline, lambda: gather(data, roles, next(iter(kinds), "auto"), parts))
    classes = dataset.target.kind == "classes"
    if not requests:
        requests = {name: _request(name) for name in (CLASS_MODELS if classes else NUMBER_MODELS)}
    entries = [
        _entry(name, request, dataset, seed, shared(deadline, len(requests) - k), progress)
        for k, (name, request) in enumerate(requests.items())
    ]
    where = next(name for name in entries[0].model.report["metrics"] if name != "baseline")
    best = BEST_OF_CLASSES if classes else BEST_OF_NUMBERS

    def rank(entry: Entry) -> tuple[bool, float]:
        value = entry.model.report["metrics"][where].get(best.name)
        if value is None:
            return True, 0.0
        return False, -value if best.larger_is_better else value

    return Comparison(
        best.name, where, tuple(sorted(entries, key=rank)), entries[0].model.report["metrics"]["baseline"]
    )


def _request(name: str) -> Request:
    """Return what "svm ridge:0.1" asks for."""
    model, _, penalty = name.partition(" ")
    return Request.of(model, penalty.strip() or "auto", None, "auto")


def _entry(
    name: str,
    request: Request,
    dataset: Dataset,
    seed: int,
    deadline: Deadline | None,
    progress: Callable[[str, Record], None] | None,
) -> Entry:
    begin = time.monotonic()
    report = None if progress is None else lambda record: progress(name, record)
    model = finish(dataset, request, Run(seed, TOLERANCE, deadline, report))
    return Entry(name, model, time.monotonic() - begin)
