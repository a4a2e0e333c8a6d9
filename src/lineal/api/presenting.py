"""A perceptron on a table, every step of it recorded: what `lineal trace` prints and pictures draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.api.dataset import Roles, from_table
from lineal.api.options import read_start
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.features.cells.cells import texts
from lineal.features.encoder import column, needed
from lineal.features.splitting import Split
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses import Perceptron
from lineal.perceptron.perceptron import NO_LIMIT, TIES, Plan, Run
from lineal.perceptron.perceptron_fit import standardized
from lineal.perceptron.scaling import Scaled
from lineal.perceptron.step_log import StepLog
from lineal.problem.moments import survey
from lineal.sources.memory import Memory
from lineal.sources.rowwise import Count
from lineal.sources.source import Source
from lineal.tables.marked import marked, marks_of
from lineal.tables.table import Table
from lineal.tables.tabular import listed


@dataclass(frozen=True)
class Points:
    """The rows of a table as they are presented, their places in it, and the classes in order."""

    source: Source
    numbers: npt.NDArray[np.int64]
    classes: tuple[str, ...]
    about: Mapping[str, Any]

    @property
    def outputs(self) -> int:
        """One score for two classes, else one for each."""
        return 1 if len(self.classes) == 2 else len(self.classes)


@dataclass(frozen=True)
class Presented:
    """A run over the points of a table; ``change`` is how columns were standardized, None where they are as they are."""

    points: Points
    plan: Plan
    start: Array | None
    run: Run
    change: Scaled | None

    @property
    def ledger(self) -> StepLog:
        """The steps, with the places that their rows have in the table."""
        steps = self.run.ledger or StepLog()
        return replace(steps, lines=[replace(line, row=int(self.points.numbers[line.row])) for line in steps])


def presented(
    table: Table,
    wanted: Mapping[str, Any],
    *,
    classes: str | None = None,
    columns: str = "raw",
    start: str | None = None,
    tie: str = "mistake",
    epochs: int = 10,
    seed: int | None = None,
    record: int = NO_LIMIT,
) -> Presented:
    """Present the rows of a table; ``wanted`` are target and roles, the other options those of `lineal trace`.

    >>> from lineal.tables.table import as_table
    >>> gate = as_table({"a": [0.0, 0, 1, 1], "b": [0.0, 1, 0, 1], "and": [0, 0, 0, 1]})
    >>> shown = presented(gate, {"target": "and"}, epochs=20)
    >>> shown.run.clean, len(shown.ledger) > 4
    (True, True)
    """
    points = read(table, wanted, classes)
    begin = read_start(start, points.source.columns, points.outputs)
    plan = Plan(tie=tie, epochs=epochs, seed=seed, record=record)  # type: ignore[arg-type]
    moments = survey(points.source, Perceptron(points.outputs, float(TIES[tie])))
    run, change = standardized(points.source, moments, points.outputs, plan, begin, raw=columns == "raw")
    return Presented(points, plan, begin, run, change)


def read(table: Table, wanted: Mapping[str, Any], classes: str | None) -> Points:
    """Return the rows of a table with the terms that a fit would make of them, and the classes in order."""
    names = ("formula", "poly", "intercept", "weight", "drop", "types", "text", "max_levels", "missing", "na")
    roles = Roles.of(wanted["target"], **{name: wanted[name] for name in names if name in wanted})
    target = roles.target
    table = marked(table, marks_of(roles.choices.na, table.names, table.origin))
    if table.sparse:
        if classes is not None:
            raise InputError("--classes has no effect on an SVMlight file, whose labels say them; leave it out.")
        dataset = from_table(table, roles, "classes", Split(0, 0.0))
        labelled = tuple(map(str, dataset.target.classes or ()))
        rows = dataset.train.sum(Count())
        return Points(dataset.train, np.arange(rows), labelled, dataset.about)
    if target is None:
        raise InputError(f"no target was given; name the column of classes: {listed(table.names)}.")
    if not isinstance(target, str):
        raise InputError("lineal trace follows one target; name one column of classes.")
    table.require(target, "target column")
    labels = _labels(table, target)
    present = [label for label in labels if label is not None]
    if not present:
        raise InputError(f"{table.origin} has no row with a class in {target!r}; there is nothing to present.")
    order = _sorted(present) if classes is None else tuple(word.strip() for word in classes.split(","))
    strange = [label for label in present if label not in order]
    if strange or len(order) < 2 or len(set(order)) < len(order):
        wrong = f"{strange[0]!r} is none of them" if strange else "at least two different ones are needed"
        raise InputError(f"the classes are {', '.join(order)}: {wrong}; name all of them with --classes.")
    place = {label: float(k) for k, label in enumerate(order)}
    codes = np.array([np.nan if label is None else place[label] for label in labels])
    numbered = replace(
        roles,
        target=codes,
        drop=[*roles.drop, target],
        formula=None if roles.formula is None else replace(roles.formula, targets=()),
    )
    if len(set(present)) == 1:  # a fit would find nothing to tell apart
        return _plain(table, replace(numbered, target=target), codes, order)
    dataset = from_table(table, numbered, "number", Split(0, 0.0))
    return Points(dataset.train, np.flatnonzero(~np.isnan(codes)), order, dataset.about)


def _plain(table: Table, roles: Roles, codes: Array, order: tuple[str, ...]) -> Points:
    """Return rows that are all of one class: their columns must be numbers, as they are."""
    if roles.formula is not None or roles.poly > 1 or roles.types or roles.text or roles.weight is not None:
        raise InputError(
            f"all rows are of the class {order[int(codes[0])]!r}; such a table is shown as it is, without formulas, "
            "products, types, texts and weights. Leave them out, or add a row of another class."
        )
    names = tuple(name for name in table.names if name not in roles.drop)
    if not names:
        raise InputError(f"{table.origin} has no column beside the target; there is nothing to present.")
    parts = [
        np.column_stack([needed(batch, name, "offset", table, rows) for name in names])
        for rows, batch in table.select(numbers=names, texts=[]).numbered()
    ]
    design = as_design(np.vstack(parts), intercept=roles.intercept)
    columns = (("(intercept)",) if roles.intercept else ()) + names
    kept = np.flatnonzero(~np.isnan(codes))
    weight = None if len(kept) == len(codes) else (~np.isnan(codes)).astype(np.float64)
    about = {"notes": list(table.notes), "without_target": len(codes) - len(kept)}
    return Points(Memory(design, np.nan_to_num(codes), weight, columns=columns), np.arange(len(codes)), order, about)


def _labels(table: Table, target: str) -> list[str | None]:
    """Return the class of every row, None where there is none."""
    labels: list[str | None] = []
    for _, batch in table.select(numbers=(), texts=[target]).numbered():
        codes, levels = texts(column(batch, target))
        labels += [levels[code] if code >= 0 else None for code in codes.tolist()]
    return labels


def _sorted(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the classes in order: numbers by size, + after -, other words by letter.

    >>> _sorted(["10", "9", "10"]), _sorted(["+", "-"])
    (('9', '10'), ('-', '+'))
    """
    distinct = set(labels)
    if distinct == {"+", "-"}:
        return ("-", "+")
    try:
        return tuple(sorted(distinct, key=float))
    except ValueError:
        return tuple(sorted(distinct))
