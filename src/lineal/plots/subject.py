"""What is drawn of a fit: the model beside the rows of a table or array, cells as people wrote them, and a typical row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal import container
from lineal.api.dataset import memory_limit
from lineal.designs import as_design
from lineal.designs.design import Design
from lineal.errors import InputError, near
from lineal.features.cells.cells import texts
from lineal.features.cells.finite import finite_numbers
from lineal.features.computed import computed
from lineal.features.encoder import Encoder, column, needed
from lineal.features.retold import as_fitted
from lineal.features.types.target_type import responses
from lineal.ground.arrays import Array, Index
from lineal.inference.rows import fitted_rows
from lineal.model.model import Model
from lineal.plots.record import Word
from lineal.plots.sample import MAX_ROWS, Among, Sample
from lineal.plots.wording import clean, number
from lineal.tables.derived import derived
from lineal.tables.marked import marked
from lineal.tables.remembered import remembered
from lineal.tables.table import Table, as_table

GRID: Final = 120
"""Points of a grid along each side."""
MAX_CELLS: Final = 2 * 10**7
"""Cells of a design that are looked at one by one for the spread of its columns."""

Cells = Mapping[str, Any]
"""Columns as people wrote them: arrays of numbers (NaN: missing), or lists of text (None: missing)."""


class Subject:
    """A model beside the rows that are drawn.

    ``rows`` are their numbers in the data, from 0; ``design`` their columns, ``y`` their targets (the number of a class),
    ``weight`` and ``offset`` what belongs to them; ``cells`` the columns as people wrote them, by name. ``total`` is how many
    rows there are, ``sampled`` the sentence that says which are drawn.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 4.0], "y": [1.0, 3.0, 5.0, 9.0]}
    >>> subject = subject_of(lineal.fit(table, "y", model="linear"), table)
    >>> subject.names, subject.y[:, 0].tolist(), subject.typical
    (('x',), [1.0, 3.0, 5.0, 9.0], {'x': 1.75})
    """

    def __init__(
        self, model: Model, rows: Index, design: Design, y: Array, cells: Cells, *,
        weight: Array | None = None, offset: Array | None = None, sample: Sample | None = None,
    ) -> None:  # fmt: skip
        self.model, self.rows, self.design, self.y, self.cells = model, rows, design, y, cells
        self.weight, self.offset = weight, offset
        self.total = len(rows) if sample is None else sample.total
        self.sampled = "" if sample is None else sample.words(len(rows))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that the model reads, as people call them."""
        return tuple(self.cells)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes; () where numbers are predicted."""
        return tuple(map(str, self.model.target.classes or ()))

    @cached_property
    def group(self) -> Index:
        """The class of every row; -1 where numbers are predicted."""
        known = bool(self.classes) and self.y.shape[1] == 1
        return self.y[:, 0].astype(np.int64) if known else np.full(len(self.y), -1)

    @cached_property
    def scores(self) -> Array:
        """The scores of every row."""
        return self.model.scores(self.design, self.offset)

    def place(self, row: int) -> int:
        """Return where a row stands that a person counted from 1; refuse one that is not there."""
        places = np.flatnonzero(self.rows == row - 1)
        if not len(places):
            raise InputError(f"there is no row {row} with a target among the {self.total:,} rows of the data.")
        return int(places[0])

    def numeric(self, name: str) -> bool:
        """Whether a column holds numbers."""
        return isinstance(self.cells[name], np.ndarray)

    def require(self, name: str) -> str:
        """Return the name of a column that the model reads, or refuse it with near names."""
        if name not in self.cells:
            hint = near(name, list(self.names))
            raise InputError(
                f"the model reads no column {name!r}.{hint} It reads {', '.join(map(repr, self.names[:8]))}."
            )
        return name

    @cached_property
    def typical(self) -> dict[str, Any]:
        """The typical row: means of numbers, the most frequent level of everything else."""
        return {name: _typical(values) for name, values in self.cells.items()}

    def at(self, varied: Cells, held: Cells | None = None) -> tuple[Design, Array | None]:
        """Return the design of rows that differ in some columns, others typical or as ``held`` says, and their offset."""
        n = len(next(iter(varied.values())))
        base = {**self.typical, **(held or {})}
        cells = {name: varied[name] if name in varied else [value] * n for name, value in base.items()}
        offset = None if self.offset is None else np.full((n, self.offset.shape[1]), self.offset.mean())
        if isinstance(self.model.encoder, Encoder):
            return self.model.encoder.encode(as_table(_with_nulls(cells))), offset
        matrix = np.column_stack([np.asarray(cells[name], float) for name in self.names])
        return as_design(matrix, intercept=self.model.has_intercept), offset

    def held(self, drawn: Sequence[str], at: Cells | None = None, most: int = 6) -> str:
        """Return the sentence that says where the columns that are not drawn are held; "" if there are none."""
        rest = {**self.typical, **(at or {})}
        words = [f"{clean(name, 24)} {_shown(value)}" for name, value in rest.items() if name not in drawn]
        if not words:
            return ""
        more = f" and {len(words) - most} more" if len(words) > most else ""
        return f"Other columns are held at the typical row: {', '.join(words[:most])}{more}."

    @cached_property
    def effects(self) -> dict[str, float]:
        """How much each column moves the score: of its design columns the root of the sum of ``(b_j sd_j)^2``, largest first."""
        if self.model.feature_map is not None:
            known = {name: self._swing(name) for name in self.names}
        else:
            size = (self.model.coef * self.spread[:, None]) ** 2
            known = dict.fromkeys(self.names, 0.0)
            for name, columns in self.columns_of.items():
                known[name] = float(np.sqrt(size[columns].sum(axis=0).max())) if len(columns) else 0.0
        return dict(sorted(known.items(), key=lambda pair: -pair[1]))

    @cached_property
    def spread(self) -> Array:
        """The standard deviation of every design column over the drawn rows; 0 of the intercept."""
        n, columns = self.design.shape
        if n * columns > MAX_CELLS and len(self.model.report.get("sd", ())) == columns:
            return np.asarray(self.model.report["sd"], float)
        _, _, scatter, _ = self.design.moments(None)
        return np.sqrt(np.maximum(scatter, 0.0) / max(n, 1))

    @cached_property
    def columns_of(self) -> dict[str, Index]:
        """The numbers of the design columns that each column of the data makes."""
        first = int(self.model.has_intercept)
        if not isinstance(self.model.encoder, Encoder):
            return {name: np.array([first + k], np.intp) for k, name in enumerate(self.names)}
        places: dict[str, list[int]] = {name: [] for name in self.names}
        for term in self.model.encoder.terms:
            width = len(term.columns)
            for name in dict.fromkeys(term.inputs):
                places[name] += range(first, first + width)
            first += width
        return {name: np.array(columns, np.intp) for name, columns in places.items()}

    def _swing(self, name: str) -> float:
        """Return the spread of the score as a column goes through its deciles, others typical."""
        values = self.cells[name]
        levels = (
            np.nanquantile(values, np.linspace(0.05, 0.95, 10))
            if self.numeric(name)
            else sorted({*values} - {None})[:20]
        )
        if not len(levels):
            return 0.0
        design, offset = self.at({name: levels})
        return float(self.model.scores(design, offset).std(axis=0).max())

    def axes(self, wanted: Sequence[str | None], count: int, *, numbers: bool = True) -> list[str]:
        """Return the columns of the axes: those that were asked for, else those of largest effect."""
        chosen = [self.require(name) for name in wanted if name is not None]
        free = [name for name in self.effects if name not in chosen and (self.numeric(name) or not numbers)]
        chosen += free[: count - len(chosen)]
        if len(chosen) < count:
            have = sum(self.numeric(name) for name in self.names)
            raise InputError(f"this picture needs {count} columns of numbers, and the model reads {have}.")
        return chosen

    @property
    def verdict(self) -> Word:
        """The verdict that a caption begins with."""
        return word_of(self.model)

    @property
    def source(self) -> dict[str, Any]:
        """What was drawn, for the record."""
        return source_of(self.model, self.total)


def word_of(model: Model) -> Word:
    """Return the verdict that a caption begins with."""
    return Word(model.verdict.kind, model.verdict.sentence, model.verdict.proven)


def source_of(model: Model, rows: int) -> dict[str, Any]:
    """Return what was drawn, for the record."""
    return {"model": sha256(model), "data": model.training.get("fingerprint"), "rows": rows}


def sha256(model: Model) -> str | None:
    """Return the SHA-256 by which the file of a model is known; None for a model that no file keeps."""
    try:
        return container.signature(model.to_dict(), model.stored())
    except (TypeError, ValueError, NotImplementedError):
        return None


def model_of(fitted: Any) -> Model:
    """Return the model of an estimator, of a model file, or itself."""
    if isinstance(fitted, Model):
        return fitted
    if isinstance(found := getattr(fitted, "model_", None), Model):
        return found
    if isinstance(fitted, str) or hasattr(fitted, "__fspath__"):
        from lineal.api.model_file import load

        return load(fitted)
    raise InputError(
        f"a picture of a fit needs a model of lineal.fit or a fitted estimator of lineal, not {type(fitted).__name__}."
    )


def subject_of(fitted: Any, data: Any, also: Sequence[int] = (), most: int = MAX_ROWS) -> Subject:
    """Return a model beside its rows: of a table by column name, of arrays as the pair ``(X, y)``; a subject is itself.

    ``also`` are numbers of rows, from 0, that are to be there beside a sample of at most ``most`` rows of a class.
    """
    if isinstance(data, Subject):
        return data
    model = model_of(fitted)
    if isinstance(model.encoder, Encoder):
        return _from_table(model, model.encoder, data, Sample(also, most))
    if not (isinstance(data, tuple) and len(data) == 2):
        raise InputError("the model was fitted on arrays, whose columns have no names: give the data as (X, y).")
    return _from_arrays(model, *data, Sample(also, most))


def _from_table(model: Model, encoder: Encoder, data: Any, sample: Sample) -> Subject:
    target, offset = model.target.name, model.roles.get("offset")
    made = computed(derived(marked(as_table(data), encoder.marks), target), target, offset)
    table = remembered(made, 2 * memory_limit() // 3)
    table, weight = as_fitted(table, model.target, model.training, model.roles.get("weight"))
    parts = _Reader(model, encoder, table, weight)
    for rows, batch, y in parts.read(table):
        scores = model.scores(parts.encoded(batch, rows), parts.role(batch, rows, model.roles.get("offset")))
        if model.target.kind == "classes":
            sample.add(rows, y[:, 0], scores)
        else:
            sample.add(rows, np.zeros(len(rows)), np.column_stack([scores, y]))
    chosen = sample.rows()
    if not len(chosen):
        raise InputError(f"{table.origin} has no row with a target, so there is nothing to draw.")
    kept = list(parts.read(table if len(chosen) == sample.total else table.where(Among(chosen))))
    numbers = np.concatenate([rows for rows, _, _ in kept])
    cells = {name: parts.cells(name, [batch for _, batch, _ in kept]) for name in parts.names}
    weights = [parts.role(batch, rows, weight) for rows, batch, _ in kept]
    offsets = [parts.role(batch, rows, model.roles.get("offset")) for rows, batch, _ in kept]
    known: Any = weights if weights[0] is not None else None
    shifts: Any = offsets if offsets[0] is not None else None
    return Subject(
        model, numbers, encoder.encode(as_table(_with_nulls(cells))), np.concatenate([y for _, _, y in kept]), cells,
        weight=None if known is None else np.concatenate(known)[:, 0],
        offset=None if shifts is None else np.concatenate(shifts), sample=sample,
    )  # fmt: skip


class _Reader:
    """Reads the rows of a table that have a target, as the model reads them."""

    def __init__(self, model: Model, encoder: Encoder, table: Table, weight: str | None) -> None:
        self.model, self.encoder, self.table = model, encoder, table
        target = model.target
        targets = set(target.names or (target.name,))
        roles = {name for name in (weight, model.roles.get("offset")) if name is not None}
        as_text = targets if target.kind == "classes" else set()
        self.numbers = set(encoder.number_columns) | roles | (targets - as_text)
        self.texts = set(encoder.text_columns) | as_text
        self.names = tuple(dict.fromkeys(name for term in encoder.terms for name in term.inputs))
        if table.sparse:
            raise InputError("an SVMlight file has no table of cells to draw; give the rows as a table.")
        encoder.select(table)
        for name in targets | roles:
            table.require(name, "column")

    def read(self, table: Table) -> Any:
        """Yield numbers, batch and targets of the rows that have one."""
        chosen = table.select(numbers=self.numbers, texts=self.texts)
        for rows, batch in chosen.numbered():
            y, present = responses(self.model.target, batch, chosen, rows)
            if present.all():
                yield rows, batch, y
            elif present.any():
                import pyarrow as pa

                yield rows[present], batch.filter(pa.array(present)), y[present]

    def encoded(self, batch: Any, rows: Index) -> Design:
        """Return the design of a batch."""
        part = self.encoder.part(batch, self.table, rows)
        return self.encoder.design(len(rows), part.numbers, part.codes, part.texts)

    def role(self, batch: Any, rows: Index, name: str | None) -> Array | None:
        """Return a column of weights or offsets."""
        return None if name is None else needed(batch, name, "column", self.table, rows).reshape(-1, 1)

    def cells(self, name: str, batches: list[Any]) -> Any:
        """Return a column as people wrote it."""
        if name in self.encoder.number_columns:
            return np.concatenate([finite_numbers(name, column(batch, name)) for batch in batches])
        words: list[str | None] = []
        for batch in batches:
            codes, levels = texts(column(batch, name))
            words += [None if code < 0 else levels[code] for code in codes.tolist()]
        return words


def _from_arrays(model: Model, X: Any, y: Any, sample: Sample) -> Subject:
    rows = fitted_rows(model, X, y)
    blocks = list(rows.source.blocks())
    design, targets = blocks[0].design, np.concatenate([block.y for block in blocks])
    first = int(model.has_intercept)
    dense = design.dense()[:, first:]
    numbers = rows.numbers().astype(np.int64)
    classes = targets[:, 0] if model.target.kind == "classes" else np.zeros(len(numbers))
    sample.add(numbers, classes, np.column_stack([model.scores(design), targets]))
    at = np.flatnonzero(Among(sample.rows())(numbers))
    names = model.columns[first:] if model.feature_map is None else tuple(f"x{k + 1}" for k in range(dense.shape[1]))
    cells = {name: dense[at, k] for k, name in enumerate(names)}
    chosen = as_design(np.ascontiguousarray(dense[at]), intercept=model.has_intercept)
    weight = blocks[0].weight
    return Subject(
        model, numbers[at], chosen, targets[at], cells, weight=None if weight is None else weight[at], sample=sample
    )


def _typical(values: Any) -> Any:
    """Return the mean of numbers, the most frequent of texts, of equals the first in order."""
    if isinstance(values, np.ndarray):
        return float(np.nanmean(values)) if np.isfinite(values).any() else None
    known = sorted(value for value in values if value is not None)
    return max(dict.fromkeys(known), key=known.count) if len(known) < 2000 else _most_frequent(known)


def _most_frequent(known: Sequence[str]) -> str:
    levels, counts = np.unique(np.array(known), return_counts=True)
    return str(levels[counts.argmax()])


def _shown(value: Any) -> str:
    return "missing" if value is None else number(value) if isinstance(value, float) else clean(value, 20)


def _with_nulls(cells: Cells) -> dict[str, list[Any] | npt.NDArray[Any]]:
    """Return columns for a table: a missing number is null."""
    return {name: _nulled(values) for name, values in cells.items()}


def _nulled(values: Any) -> Any:
    if isinstance(values, np.ndarray) and not np.isnan(values).any():
        return values
    return [None if isinstance(value, float) and math.isnan(value) else value for value in list(values)]
