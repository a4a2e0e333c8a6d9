"""One pass over a table: everything that decisions about its columns need."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from lineal import _core
from lineal.errors import InputError
from lineal.features.cells.cells import kind, numbers, packed, texts
from lineal.features.cells.dates import Calendar
from lineal.features.cells.notation import Notation
from lineal.features.encoder import column, needed
from lineal.features.types.leaks import LEAK_SAMPLE_ROWS
from lineal.features.types.survey import MAX_LEVELS, Column
from lineal.ground.arrays import Mask
from lineal.ground.records import dataclass
from lineal.tables.arrow import valid
from lineal.tables.tabular import RowNumbers, Table, filtered


@dataclass
class Pass:
    """What one pass over a table gathers; ``head`` holds its first rows. Of ``labels`` a row needs one to be known."""

    targets: list[Column]
    features: list[Column]
    rows: int = 0
    without_target: int = 0
    weight_sum: float = 0.0
    labels: bool = False
    head: list[Any] = field(default_factory=list)


def gather(
    table: Table,
    targets: list[str],
    features: list[str],
    weight: str | None,
    offset: str | None,
    as_text: set[str],
    readings: Mapping[str, Notation | Calendar],
    categories: Collection[str] = (),
    *,
    labels: bool = False,
) -> Pass:
    """Read the table once; all levels of ``categories`` are remembered, whatever they look like."""
    roles = [name for name in (weight, offset) if name is not None]
    classes = table.few() & set(targets)  # read as text: the fingerprint of classes is that of their text
    wanted = ((table.guess() - classes) | set(roles)) - as_text
    every = [*targets, *features, *roles]
    chosen = table.select(
        numbers=[name for name in every if name in wanted], texts=[name for name in every if name not in wanted]
    )
    gathered = Pass(
        [Column(name, table.plain, name in as_text) for name in targets],
        [Column(name, table.plain, name in as_text, reading=readings.get(name)) for name in features],
        labels=labels,
    )
    for survey in gathered.features:
        survey.markers = frozenset() if survey.name in table.marks else survey.markers  # those marks are all there are
        survey.limit = MAX_LEVELS if survey.name in categories else survey.limit
    for survey in gathered.targets:
        survey.values.distinct = {}
    for rows, batch in chosen.numbered():
        _core.heed()
        _add(gathered, rows, batch, weight, offset, table)
    if not gathered.rows:
        raise InputError(
            f"no row of {table.origin} has a target."
            if gathered.without_target
            else f"{table.origin} has no rows to learn from."
        )
    if weight is not None and not gathered.weight_sum > 0:
        raise InputError(f"the weights in column {weight!r} are all zero; give at least one row a weight.")
    _check_header(gathered, table)
    return gathered


def _check_header(gathered: Pass, table: Table) -> None:
    """Raise an InputError if a row holds the columns' names again."""
    surveys = [survey for survey in (*gathered.targets, *gathered.features) if not survey.full]
    if not (table.plain and len(surveys) > 1 and all(survey.name in survey.levels for survey in surveys)):
        return
    names = [survey.name for survey in surveys]
    for rows, batch in table.select(texts=names).numbered():  # on the way to a refusal, but for rare coincidences
        same = np.ones(len(rows), dtype=np.bool_)
        for name in names:
            codes, levels = texts(column(batch, name))
            same &= codes == (levels.index(name) if name in levels else -2)
        if same.any():
            place = table.place(int(rows[np.flatnonzero(same)[0]]))
            raise InputError(f"{place} of {table.origin} holds the names of the columns once more; delete that line.")


def _add(gathered: Pass, rows: RowNumbers, batch: Any, weight: str | None, offset: str | None, table: Table) -> None:
    keep = with_target(gathered, batch)
    if not keep.all():
        gathered.without_target += int((~keep).sum())
        rows, batch = rows[keep], filtered(batch, keep)
        if not len(rows):
            return
    if gathered.rows < LEAK_SAMPLE_ROWS:
        gathered.head.append(batch.slice(0, LEAK_SAMPLE_ROWS - gathered.rows))
    gathered.rows += len(rows)
    for survey in (*gathered.targets, *gathered.features):
        survey.add(column(batch, survey.name), rows)
    if weight is not None:
        with np.errstate(over="ignore"):  # the survey of a fit refuses it in words
            gathered.weight_sum += float(needed(batch, weight, "weight", table, rows).sum())
    if offset is not None:
        needed(batch, offset, "offset", table, rows)


def with_target(gathered: Pass, batch: Any) -> Mask:
    """Return which rows have every target; of labels, one that is known."""
    joined = np.logical_or if gathered.labels else np.logical_and
    return np.asarray(joined.reduce([present(column(batch, survey.name)) for survey in gathered.targets]))


def present(array: Any) -> Mask:
    """Return which cells of a column are not missing."""
    if kind(array) in ("number", "boolean", "nothing"):
        return ~np.isnan(numbers(array)[0])
    if kind(array) in ("date", "other"):
        mask = valid(array)
        return np.ones(len(array), dtype=np.bool_) if mask is None else mask
    return packed(array)[0] >= 0
