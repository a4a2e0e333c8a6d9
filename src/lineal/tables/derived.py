"""A yes-or-no target made of another column: `num > 0`, `species == Adelie`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.tables.dialect import MISSING, number
from lineal.tables.tabular import Around, RowNumbers, Table

SIGNS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_QUESTION = re.compile(r"(.+?)\s*(>=|<=|!=|==|>|<|=)\s*(.+)")


def derived(table: Table, target: object) -> Table:
    """Return the table with a column that answers the target's question, instead of the column asked about.

    Itself if the target is a column, or no question about one. A missing cell has no answer.

    >>> from lineal.tables.table import as_table
    >>> asked = derived(as_table({"num": [0, 2, None], "x": [1.0, 2.0, 3.0]}), "num > 0")
    >>> asked.names, next(asked.numbered())[1]["num > 0"].to_pylist()
    (('x', 'num > 0'), ['no', 'yes', None])
    """
    if not isinstance(target, str) or table.sparse or target in table.names:
        return table
    question = _QUESTION.fullmatch(target.strip())
    if question is None or question[1] not in table.names:
        return table
    column, sign, value = question[1], question[2], question[3].strip("'\"")
    limit = number(value)
    if limit is None and sign not in ("==", "=", "!="):
        raise InputError(f"the target {target!r} compares with {value!r}, which is no number; use == or != for words.")
    return Derived(table, target, column, sign, limit if limit is not None else value)


@dataclass(frozen=True)
class Derived(Around):
    """A table with the answers to one question in place of the column it is about."""

    name: str
    column: str
    sign: str
    value: float | str
    answers: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; the answers come last."""
        rest = tuple(name for name in self.inner.names if name != self.column)
        return (*rest, self.name) if self.answers else rest

    def guess(self) -> frozenset[str]:
        """Return the columns that look like numbers."""
        return self.inner.guess() - {self.column}

    def few(self) -> frozenset[str]:
        """Return the columns with few different cells."""
        return (self.inner.few() - {self.column}) | {self.name}

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Table:
        """Return the table with these columns only."""
        answers = self.name in numbers or self.name in texts
        own = {self.column} if answers else set()
        inner = self.inner.select(
            numbers=set(numbers) - {self.name, self.column}, texts=(set(texts) - {self.name}) | own
        )
        return replace(self, inner=inner, answers=answers)

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the batches with the answers."""
        for rows, batch in self.inner.numbered():
            arrays = {name: batch.column(name) for name in batch.schema.names if name != self.column}
            if self.answers:
                cells = batch.column(batch.schema.get_field_index(self.column)).to_pylist()
                answers = {cell: self._answer(cell, rows) for cell in set(cells)}
                arrays[self.name] = pa.array([answers[cell] for cell in cells], pa.string())
            yield rows, pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))

    def _answer(self, cell: Any, rows: RowNumbers) -> str | None:
        text = cell.strip() if isinstance(cell, str) else cell
        lost = isinstance(text, float) and math.isnan(text)
        marks = ("",) if self.column in self.marks else MISSING  # (a column with marks of its own has nulls for them)
        if text is None or lost or (isinstance(text, str) and text in marks):
            return None
        if isinstance(self.value, str):
            value: Any = str(text)
        else:
            value = number(text) if isinstance(text, str) else float(text)
            if value is None:
                first = self.place(int(rows[0]))
                raise InputError(
                    f"the target {self.name!r} needs numbers in {self.column!r}, which holds {cell!r} at or after {first}; "
                    "compare with == or !=, or fix the cell."
                )
        return "yes" if SIGNS[self.sign](value, self.value) else "no"
