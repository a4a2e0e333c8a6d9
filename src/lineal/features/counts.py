"""Counts of successes and failures as a target: every row becomes two, weighted by its counts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from lineal.errors import InputError
from lineal.features.cells.cells import numbers
from lineal.features.cells.finite import CellError, located
from lineal.features.encoder import column, needed
from lineal.features.learning import Learned
from lineal.features.types.target_type import Model as Wanted
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.tables.arrow import from_numpy
from lineal.tables.tabular import Around, RowNumbers, Table

WEIGHT = "(count)"
"""The column of weights: the count, times the row's own weight if it has one."""


@dataclass(frozen=True)
class Counted(Around):
    """A table whose rows say how often each of two things happened.

    A row with s successes and f failures is handed out twice: as the class called like the column of successes with
    weight s, then as the other one with weight f. A row that lacks a count is handed out once, without a class.
    """

    success: str
    failure: str
    weight: str | None = None

    @property
    def target(self) -> str:
        """The name of the column that says which of the two a row is."""
        return f"{self.success},{self.failure}"

    @property
    def classes(self) -> tuple[str, str]:
        """The classes, the one whose score is modelled last."""
        return self.failure, self.success

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns: the counts are replaced by class and weight."""
        apart = {self.success, self.failure, self.weight}
        return (*(name for name in self.inner.names if name not in apart), self.target, WEIGHT)

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the rows, each twice."""
        for rows, batch in self.inner.numbered():
            counts = np.column_stack([self._counts(batch, name, rows) for name in (self.success, self.failure)])
            complete = np.logical_not(np.isnan(counts).any(axis=1))
            if self.weight is not None:
                counts *= needed(batch, self.weight, "weight", self.inner, rows)[:, None]
            places = np.repeat(np.arange(len(rows)), np.where(complete, 2, 1))
            second = np.zeros(len(places), dtype=np.intp)
            second[1:] = places[1:] == places[:-1]
            weights = np.nan_to_num(counts[places, second])
            codes = np.where(complete[places], second, 2).astype(np.int32)
            taken = batch.take(from_numpy(places))
            named = pa.DictionaryArray.from_arrays(from_numpy(codes), pa.array([self.success, self.failure, None]))
            columns = [taken.column(k) for k in range(taken.num_columns)]
            yield (
                rows[places],
                pa.RecordBatch.from_arrays(
                    [*columns, named, from_numpy(weights)], names=[*taken.schema.names, self.target, WEIGHT]
                ),
            )

    def _counts(self, batch: Any, name: str, rows: RowNumbers) -> Array:
        """Return a column of counts, NaN where missing; whole numbers not below zero."""
        array = column(batch, name)
        values, bad = numbers(array)
        wrong = ~(np.isnan(values) | (np.isfinite(values) & (values >= 0) & (values == np.floor(values))))
        wrong[bad] = True
        if wrong.any():
            position = int(np.flatnonzero(wrong)[0])
            cell = str(array[position].as_py()).strip()
            raise located(CellError(name, position, cell, "a count: a whole number, not below zero"), self.inner, rows)
        return values

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Counted:
        """Return the table with these columns only; the counts are always read."""
        own = {self.target, WEIGHT}
        roles = {self.success, self.failure, *(() if self.weight is None else (self.weight,))}
        inner = self.inner.select(numbers={*numbers, *roles} - own, texts=set(texts) - own)
        return replace(self, inner=inner)

    def guess(self) -> frozenset[str]:
        """Return the columns that look like numbers."""
        return self.inner.guess() | {WEIGHT}

    def few(self) -> frozenset[str]:
        """Return the columns with few different cells."""
        return self.inner.few() | {self.target}


@dataclass(frozen=True)
class Counts:
    """A target told by two columns of counts: successes, then failures."""

    success: str
    failure: str

    wanted: ClassVar[Wanted | None] = None
    weight: ClassVar[str | None] = WEIGHT

    @property
    def columns(self) -> str:
        """The column that is the target then."""
        return f"{self.success},{self.failure}"

    @property
    def sources(self) -> tuple[str, str]:
        """The columns of the table that tell it."""
        return self.success, self.failure

    @property
    def positive(self) -> str:
        """Which class is the positive one, in words."""
        return f"of counts the successes are the positive class, {self.success!r}"

    def around(self, table: Table, weight: str | None) -> Counted:
        """Return a table whose target are these counts."""
        for name in (self.success, self.failure):
            table.require(name, "target column")
        if weight is not None:
            table.require(weight, "weight column")
        if self.success == self.failure or weight in (self.success, self.failure):
            raise InputError("a target of counts is two columns, successes and failures, neither of them the weight.")
        return Counted(table, self.success, self.failure, weight)

    def restated(self, learned: Learned) -> Learned:
        """Return what was learned with the class of successes last, said in the words of the counts."""
        classes = (self.failure, self.success)
        sentence = (
            f"The target is counts: {self.success!r} of successes, {self.failure!r} of failures; each row is two weighted "
            "ones."
        )
        about = {**learned.report["target"], "classes": list(classes), "counts": None}
        report = {**learned.report, "target": about, "sentences": [sentence, *learned.report["sentences"][1:]]}
        return replace(learned, target=replace(learned.target, classes=classes), report=report)

    def to_dict(self) -> dict[str, Any]:
        """Return what a model file says of it."""
        return {"counts": [self.success, self.failure]}


def look_like_counts(table: Table, targets: Sequence[str]) -> bool:
    """Whether two columns hold whole numbers not below zero, in the first rows; those of labels were asked before."""
    if len(targets) != 2 or table.sparse or any(name not in table.names for name in targets):
        return False
    for _, batch in table.numbered():
        for name in targets:
            values, bad = numbers(column(batch, name))
            present = values[~np.isnan(values)]
            if bad.size or not len(present) or (present < 0).any() or (present != np.floor(present)).any():
                return False
        return True
    return False
