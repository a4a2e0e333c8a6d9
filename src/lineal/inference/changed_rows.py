"""Rows of data with some columns changed: what a model would say if all were 30 years old, or a little older."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from lineal.designs import as_design
from lineal.designs.design import Design
from lineal.errors import InputError
from lineal.features.complete import complete
from lineal.features.computed import computed
from lineal.features.encoder import Encoder, column, needed
from lineal.features.terms import Boolean, Category, Contrast, Ordinal, Term
from lineal.ground.arrays import Array
from lineal.ground.inputs import real
from lineal.ground.records import dataclass
from lineal.model.model import Model
from lineal.tables.arrow import from_numpy
from lineal.tables.marked import marked
from lineal.tables.table import as_table

Change = Mapping[str, object]
"""Columns, and the value that each is set to."""
Stencil = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Levels:
    """What a column of words may hold: the level others are compared with, and the others."""

    reference: str
    others: tuple[str, ...]


@dataclass(frozen=True)
class Changed:
    """Rows of a design with their offset and weights."""

    design: Design
    offset: Array | None
    weight: Array


@dataclass(frozen=True)
class Stepped:
    """Rows with a number moved by a few steps: ``sum share f(row)`` over ``designs()`` is the slope of f."""

    moved: Sequence[tuple[Design, Array]]
    offset: Array | None
    present: Array

    @property
    def weight(self) -> float:
        """The weight of the rows in which the number is there."""
        return float(self.present.sum())

    def designs(self) -> Iterator[tuple[Changed, Array]]:
        """Yield the rows after every step, and what each counts."""
        for design, share in self.moved:
            yield Changed(design, self.offset, self.present), share


class TableRows:
    """The rows of a table, as the encoder of a model reads them."""

    def __init__(self, model: Model, encoder: Encoder, data: Any) -> None:
        self._encoder = encoder
        table = computed(marked(as_table(data), encoder.marks), model.roles.get("offset"))
        if table.sparse:
            raise InputError("effects are for tables with names; an SVMlight file has numbers of features only.")
        if "complete" in model.training:
            table, _ = complete(table, model.training["complete"], encoder)
        offset = model.roles.get("offset")
        weight = model.roles.get("weight")
        weight = weight if weight in table.names else None
        roles = [name for name in (offset, weight) if name is not None]
        encoder.select(table)  # (names what is missing)
        chosen = table.select(numbers={*encoder.number_columns, *roles}, texts=encoder.text_columns)
        self._batches: list[tuple[Any, Array | None, Array]] = []
        for rows, batch in chosen.numbered():
            moved = None if offset is None else needed(batch, offset, "offset", table, rows).reshape(-1, 1)
            count = np.ones(len(rows)) if weight is None else needed(batch, weight, "weight", table, rows)
            inputs = list(dict.fromkeys(name for term in encoder.terms for name in term.inputs))
            arrays = [column(batch, name) for name in inputs]
            held = pa.RecordBatch.from_arrays(arrays, names=inputs) if inputs else batch
            self._batches.append((held, moved, count))
        self.weight_sum = float(sum(count.sum() for _, _, count in self._batches))

    @cached_property
    def columns(self) -> dict[str, Levels | float | None]:
        """The columns of the table that the model needs: levels of words, the spread of numbers, None for others."""
        terms: dict[str, list[Term]] = {}
        for term in self._encoder.terms:
            for part in getattr(term, "factors", (term,)):
                for name in part.inputs:
                    terms.setdefault(name, []).append(part)
        return {name: self._kind(name, own) for name, own in terms.items()}

    def _kind(self, name: str, terms: Sequence[Term]) -> Levels | float | None:
        for term in terms:
            if isinstance(term, Category):
                levels = list(term.levels)
                reference = term.reference if term.reference is not None else levels[0]
                return Levels(reference, tuple(level for level in levels if level != reference))
            if isinstance(term, Ordinal | Contrast):
                return Levels(term.levels[0], term.levels[1:])
            if isinstance(term, Boolean):
                return Levels(term.false[0], term.true[:1])
        if any(any(term.as_text) for term in terms):
            return None
        values = np.concatenate([self._numbers(batch, name) for batch, _, _ in self._batches])
        values = values[~np.isnan(values)]
        return float(values.std()) if len(values) else 0.0

    @staticmethod
    def _numbers(batch: Any, name: str) -> Array:
        from lineal.features.cells.cells import numbers

        return np.asarray(numbers(column(batch, name))[0], dtype=np.float64)

    def changed(self, change: Change) -> Iterator[Changed]:
        """Yield the rows with columns set to values."""
        for batch, offset, weight in self._batches:
            here = batch
            for name, value in change.items():
                cells = pa.array([value] * batch.num_rows, pa.string() if isinstance(value, str) else pa.float64())
                here = here.set_column(here.schema.get_field_index(name), name, cells)
            yield Changed(self._encoder.encode(here), offset, weight)

    def stepped(self, name: str, share: float, stencil: Stencil) -> Iterator[Stepped]:
        """Yield the rows with a number moved by steps, each the ``share`` of its spread or of itself."""
        spread = self.columns[name]
        for batch, offset, weight in self._batches:
            values = self._numbers(batch, name)
            present = np.where(np.isnan(values), 0.0, weight)
            size = _sizes(values, float(spread) if isinstance(spread, float) else 0.0, share)
            place = batch.schema.get_field_index(name)
            moved = []
            for step, part in stencil:
                here = batch.set_column(place, name, from_numpy(values + step * size))
                moved.append((self._encoder.encode(here), part / size))
            yield Stepped(moved, offset, present)


class ArrayRows:
    """The rows of an array: every column is a number."""

    def __init__(self, model: Model, data: Any, offset: Any) -> None:
        self._matrix = np.array(real(data.toarray() if hasattr(data, "toarray") else data, "data"), dtype=np.float64)
        self._intercept = model.has_intercept
        self._names = list(model.columns[int(model.has_intercept) :])
        if self._matrix.ndim != 2 or self._matrix.shape[1] != len(self._names):
            shape = " x ".join(map(str, self._matrix.shape))
            raise InputError(
                f"the data is {shape}, and the model was fitted on {len(self._names)} columns; give rows of the same columns "
                "in the same order."
            )
        self._offset = None if offset is None else np.asarray(real(offset, "offset"), np.float64).reshape(-1, 1)
        if self._offset is not None and len(self._offset) != len(self._matrix):
            raise InputError(f"offset has {len(self._offset)} entries, the data has {len(self._matrix)} rows.")
        self._weight = np.ones(len(self._matrix))
        self.weight_sum = float(len(self._matrix))

    @cached_property
    def columns(self) -> dict[str, Levels | float | None]:
        """The columns with their spread."""
        return dict(zip(self._names, map(float, self._matrix.std(axis=0)), strict=True))

    def changed(self, change: Change) -> Iterator[Changed]:
        """Yield the rows with columns set to values."""
        here = self._matrix.copy()
        for name, value in change.items():
            here[:, self._names.index(name)] = float(str(value))
        yield Changed(as_design(here, intercept=self._intercept), self._offset, self._weight)

    def stepped(self, name: str, share: float, stencil: Stencil) -> Iterator[Stepped]:
        """Yield the rows with a number moved by steps."""
        place = self._names.index(name)
        spread = self.columns[name]
        values = self._matrix[:, place]
        size = _sizes(values, float(spread) if isinstance(spread, float) else 0.0, share)
        moved = []
        for step, part in stencil:
            here = self._matrix.copy()
            here[:, place] += step * size
            moved.append((as_design(here, intercept=self._intercept), part / size))
        yield Stepped(moved, self._offset, self._weight)


def rows_of(model: Model, data: Any, offset: Any = None) -> TableRows | ArrayRows:
    """Return the rows of a table or of an array."""
    if not isinstance(model.encoder, Encoder):
        return ArrayRows(model, data, offset)
    if offset is not None:
        raise InputError("the model was fitted on a table: its offset is a column of it; leave it out.")
    return TableRows(model, model.encoder, data)


def _sizes(values: Array, spread: float, share: float) -> Array:
    """Return the step of every row: no larger than the number itself, whose logarithm may be taken; a power of two."""
    size = np.abs(values)
    size = np.where(size > 0.0, np.minimum(size, spread) if spread > 0.0 else size, spread if spread > 0.0 else 1.0)
    size = np.where(np.isnan(size), 1.0, size)
    return np.asarray(np.exp2(np.floor(np.log2(share * size))))
