"""The rows a model was fitted on, read once more: from its table by the model's own rules, or from arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.api.dataset import memory_limit
from lineal.designs import as_design
from lineal.designs.center import less
from lineal.designs.sound import is_sparse
from lineal.errors import InputError
from lineal.features.cells.cells import texts
from lineal.features.complete import complete
from lineal.features.computed import computed
from lineal.features.encoded import Encoded
from lineal.features.encoder import Encoder, column
from lineal.features.learning import Learned
from lineal.features.retold import as_fitted
from lineal.features.splitting import TRAIN, Split, Within, parted
from lineal.features.types.target_type import responses
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.inputs import class_labels, real
from lineal.ground.records import dataclass
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory
from lineal.sources.rowwise import Count
from lineal.sources.source import Block, Source
from lineal.tables.derived import derived
from lineal.tables.marked import marked
from lineal.tables.table import Table, as_table, uniform
from lineal.tables.tabular import RowNumbers


@dataclass(frozen=True)
class FittedRows:
    """Rows a model was fitted on: as a ``source``, as the ``table`` they are from, or as what was ``kept`` of arrays."""

    source: Source
    target: Target
    table: Table | None = None
    kept: Mask | None = None

    def numbers(self) -> Index:
        """Return the number of every row in its table, or its place in the arrays, from 0."""
        if self.table is None:
            rows = self.source.sum(Count())
            return np.arange(rows, dtype=np.intp) if self.kept is None else np.flatnonzero(self.kept)
        parts = [rows[present] for rows, _, present in _with_target(self.table, self.target)]
        return np.concatenate([*parts, np.empty(0, np.intp)])

    def clusters(self, given: Any) -> Index:
        """Return the number of the cluster of every row: those of a column of the table, or of an array."""
        if self.table is None:
            if isinstance(given, str):
                raise InputError("the data is an array, whose columns have no names: give the clusters as an array.")
            codes = _entries(given, "cluster", self.source.sum(Count()), self.kept, class_labels)
            return np.unique(codes, return_inverse=True)[1].astype(np.intp).reshape(-1)
        if not isinstance(given, str):
            raise InputError("the data is a table, so the clusters must be a column of it: give its name.")
        self.table.require(given, "cluster column")
        return _clusters(self.table, self.target, given)


def training_rows(model: Model, data: Any, y: Any = None, *, weight: Any = None, offset: Any = None) -> Source:
    """Return the rows a model was fitted on as a source, for ``firth`` and ``evidence``; arguments as in ``summarise``.

    >>> import lineal
    >>> from lineal.inference import firth
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.0], "ill": ["no", "no", "yes", "yes"]}
    >>> model = lineal.fit(table, target="ill", model="logistic", penalty="none")
    >>> model.verdict.kind, firth(training_rows(model, table)).verdict.kind
    ('at_infinity', 'stationary')
    """
    return fitted_rows(model, data, y, weight, offset).source


def fitted_rows(model: Model, data: Any, y: Any = None, weight: Any = None, offset: Any = None) -> FittedRows:
    """Return the rows a model was fitted on, of a table or of arrays."""
    if not isinstance(model.encoder, Encoder):
        return _from_arrays(model, data, y, weight, offset)
    if y is not None or weight is not None or offset is not None:
        raise InputError(
            "the model was fitted on a table: target, weight and offset are columns of it; leave them out."
        )
    return _from_table(model, model.encoder, data)


def same_rows(model: Model, problem: Problem, bonus: float = 0.0) -> None:
    """Refuse data that are not those of the fit: the objective tells, less a bonus such as Firth's."""
    stated: Any = model.verdict.evidence.get("objective")
    here = problem.evaluate(model.coef).value - bonus
    rows, weight = problem.moments.rows, problem.moments.weight_sum
    if rows != model.training.get("rows") or not math.isclose(weight, model.training["weight_sum"], rel_tol=1e-9):
        raise InputError(
            f"these are not the rows the model was fitted on: {rows} rows of weight {weight:g}, "
            f"where the model has {model.training.get('rows')} of weight {model.training['weight_sum']:g}."
        )
    if stated is None:
        return
    baseline: Any = model.verdict.evidence.get("null_objective", stated)
    if abs(here - stated) > 1e-9 * max(abs(float(baseline)), abs(bonus)):
        raise InputError(
            f"these are not the rows the model was fitted on: the mean loss is {here:.9g}, the model says {stated:.9g}."
        )


def about(source: Source, center: Array | None) -> Source:
    """Return rows less the center that a model keeps."""
    return source if center is None else source.map(Less(center))


@dataclass(frozen=True)
class Less:
    """The change of a block whose columns are less a center."""

    center: Array

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        return replace(block, design=less(block.design, self.center))


def encoded_rows(
    encoder: Encoder, target: Target, roles: Mapping[str, str | None], training: Mapping[str, Any], data: Any
) -> tuple[Encoded, Table]:
    """Return the rows of a table that a file's encoder, target, roles and training speak of, encoded, and as a table."""
    table = derived(marked(as_table(data), encoder.marks), target.name)
    table = computed(table, target.name, roles.get("offset"))
    rule, train = training.get("split"), table
    if rule is not None:
        train = table.where(Within(parted(table, Split.of(rule), target.name), TRAIN))
    if "complete" in training:
        train, _ = complete(train, training["complete"], encoder)
    train, weight = as_fitted(train, target, training, roles.get("weight"))
    return Encoded(train, Learned(encoder, target, {}, weight, roles.get("offset"))), train


def _from_table(model: Model, encoder: Encoder, data: Any) -> FittedRows:
    encoded, train = encoded_rows(encoder, model.target, model.roles, model.training, data)
    return FittedRows(encoded.in_memory(memory_limit()), model.target, train)


def _with_target(table: Table, target: Target, *texts: str) -> Iterator[tuple[RowNumbers, Any, Mask]]:
    """Yield the rows of a table with targets and some columns of text, and which of them have a target."""
    targets = set(target.names or (target.name,))
    words = {*texts} | (targets if target.kind == "classes" else set())
    chosen = table if table.sparse else table.select(numbers=targets - words, texts=words)
    for rows, batch in chosen.numbered():
        _, present = responses(target, batch, chosen, rows)
        yield rows, batch, present


def _clusters(table: Table, target: Target, name: str) -> Index:
    """Return the number of the cluster of every row that has a target."""
    places: dict[str, int] = {}
    parts: list[Index] = []
    for rows, batch, present in _with_target(table, target, name):
        codes, levels = texts(column(batch, name))
        if np.any(codes[present] < 0):
            row = int(rows[present][codes[present] < 0][0])
            place = f"{table.place(row)} of {table.origin}"
            raise InputError(f"the cluster column {name!r} is empty in {place}; every row needs a cluster.")
        numbers = np.array([places.setdefault(str(level), len(places)) for level in levels], dtype=np.intp)
        parts.append(numbers[codes[present]])
    return np.concatenate([*parts, np.empty(0, np.intp)])


def _from_arrays(model: Model, data: Any, y: Any, weight: Any, offset: Any) -> FittedRows:
    if y is None:
        raise InputError("the model was fitted on arrays: give y (and weight and offset where it had them) as well.")
    design = as_design(data, intercept=model.has_intercept)
    rows, kept = design.shape[0], None
    rule = model.training.get("split")
    if rule is not None:
        kept = uniform(rule["seed"], np.arange(rows, dtype=np.int64)) >= rule["test_size"]
        matrix = data.tocsr() if is_sparse(data) else real(data, "X")
        design = as_design(matrix[kept], intercept=model.has_intercept)
    targets = _entries(y, "y", rows, kept, class_labels if model.target.kind == "classes" else real)
    if model.target.kind == "classes":
        places = {label: k for k, label in enumerate(model.target.classes or ())}
        try:
            targets = np.array([places[label] for label in targets.reshape(-1).tolist()], dtype=np.float64)
        except KeyError as error:
            raise InputError(f"y holds the class {error}, which the model does not know.") from None
    source = Memory(
        design,
        targets.astype(np.float64),
        None if weight is None else _entries(weight, "weight", rows, kept).astype(np.float64),
        None if offset is None else _entries(offset, "offset", rows, kept).astype(np.float64),
        model.columns,
    )
    return FittedRows(source, model.target, kept=kept)


def _entries(
    values: Any, name: str, rows: int, kept: Mask | None, read: Callable[[Any, str], npt.NDArray[Any]] = real
) -> npt.NDArray[Any]:
    """Return what is kept of one value for each row."""
    array, expected = read(values, name), rows if kept is None else len(kept)
    if len(array) != expected:
        raise InputError(f"{name} has {len(array)} entries, the data has {expected} rows; give one value per row.")
    return array if kept is None else array[kept]
