"""The rows of a table on which a model is measured: those it was not fitted to, where the table is its training table."""

from __future__ import annotations

from typing import Any, Final

from lineal.api.dataset import memory_limit, parts_of
from lineal.api.known_classes import Strangers, known_classes, rows_were
from lineal.errors import InputError
from lineal.features.complete import complete
from lineal.features.computed import computed
from lineal.features.encoded import Encoded
from lineal.features.encoder import Encoder
from lineal.features.labels import strangers
from lineal.features.learning import Learned
from lineal.features.retold import as_fitted, sources
from lineal.features.splitting import Split
from lineal.ground.records import dataclass
from lineal.model.model import Model
from lineal.sources.source import Source
from lineal.tables.derived import derived
from lineal.tables.marked import marked
from lineal.tables.remembered import remembered
from lineal.tables.table import Table, as_table

ROWS: Final = ("held-out", "all")
"""Which rows of its training table a model is measured on."""


@dataclass(frozen=True)
class MeasuredRows:
    """Rows to measure a model on, sentences about them (``lost`` about those left out), and how many rows were fitted.

    ``training_rows`` is None where the table is not the one the model was fitted to: whether single rows of it are the same is
    not known then.
    """

    source: Source
    notes: list[str]
    training_rows: int | None
    strangers: Strangers
    lost: list[str]


def to_measure(model: Model, data: Any, rows: str = "held-out") -> MeasuredRows:
    """Return the rows of a table that a model can be measured on; of its training table those held out, unless ``all``."""
    if not isinstance(model.encoder, Encoder):
        raise InputError("this model was fitted on an array, whose columns have no names, so it cannot read a table.")
    if rows not in ROWS:
        raise InputError(f"rows is {rows!r}; it is {' or '.join(ROWS)}.")
    told = marked(as_table(data), model.encoder.marks)
    told = computed(derived(told, model.target.name), model.target.name, model.roles.get("offset"))
    table = remembered(told, 2 * memory_limit() // 3)
    for name in () if table.sparse else sources(model.target, model.training):
        table.require(name, "target column")
    held, seen, notes = _held_out(model, table, rows)
    table, weight = as_fitted(held, model.target, model.training, model.roles.get("weight"))
    usable, unknown = known_classes(table, model.target)
    source = Encoded(usable, Learned(model.encoder, model.target, {}, weight, model.roles.get("offset")))
    # one reading for the model and the baseline, where memory allows
    kept = source.in_memory(memory_limit(), fingerprinted=False)
    lost = unknown.sentences("measured") + strangers(table, "measured")
    if source.without_target:
        lost.append(f"{rows_were(source.without_target)} left out because the target is missing.")
    notes = [*table.notes, *notes, *lost, *model.encoder.sentences(source.unknown)]
    return MeasuredRows(kept, notes, seen, unknown, lost)


def fitted_rows(model: Model, table: Table) -> tuple[int, Table | None] | None:
    """Return how many rows of a table a model was fitted to, and those held out (None: none were); None for another table.

    The model file says how rows were parted and the fingerprint of those that were fitted: if the same part of this table has
    that fingerprint, it is the training table.
    """
    rule, stated = model.training.get("split"), model.training.get("fingerprint")
    split = Split(0, 0.0) if rule is None else Split.of(rule)
    known = model.encoder if isinstance(model.encoder, Encoder) else None
    if stated is None or known is None or (split.column is not None and split.column not in table.names):
        return None
    table = marked(table, known.marks)
    names = (
        *sources(model.target, model.training),
        *(name for name in model.roles.values() if name is not None),
    )
    if not table.sparse and not set(names) <= set(table.names):
        return None
    try:
        train, held, _ = parts_of(table, split, None if model.target.names else model.target.name)
    except InputError:  # its cells do not part it: another table
        return None
    if "complete" in model.training and set(model.training["complete"]) <= set(table.names):
        train, _ = complete(train, model.training["complete"], known)
    part, weight = as_fitted(train, model.target, model.training, model.roles.get("weight"))
    encoded = Encoded(part, Learned(known, model.target, {}, weight, model.roles.get("offset")))
    try:
        same = encoded.fingerprint() == stated
    except InputError:  # a cell that training rows cannot have, such as another class: another table
        return None
    return (int(model.training["rows"]), held) if same else None


def _held_out(model: Model, table: Table, rows: str) -> tuple[Table, int | None, list[str]]:
    """Return the rows to measure, how many of the table were fitted (None: it is another table), and what is said of that."""
    split = fitted_rows(model, table)
    if split is None:
        return table, None, []
    seen, held = split
    if held is None:
        return table, seen, [said(seen)]
    fitted = said(seen).partition(" fitted")[0]
    if rows == "all":
        return table, seen, [f"{fitted} fitted: the figures flatter the model."]
    return held, seen, [f"{fitted} fitted; the figures are those of the rows held out (all rows: --rows all)."]


def said(seen: int) -> str:
    """Return what figures of a table are worth whose rows were all fitted.

    >>> said(12)
    '12 rows of this table were fitted, and none held out: the figures say how well it fits, not how it predicts.'
    """
    fitted = "1 row of this table was" if seen == 1 else f"{seen:,} rows of this table were"
    return f"{fitted} fitted, and none held out: the figures say how well it fits, not how it predicts."
