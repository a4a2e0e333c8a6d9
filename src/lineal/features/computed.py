"""A column that is a function of another: the target `log(y)`, the offset `log(exposure)`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from lineal.features.cells.finite import CellError, finite_numbers, located
from lineal.features.terms.curve import FUNCTIONS, bent, through
from lineal.ground.records import dataclass
from lineal.tables.arrow import from_numpy
from lineal.tables.tabular import Around, RowNumbers, Table

_CALL = re.compile(r"(\w+)\((.+)\)")


def computed(table: Table, *names: object, hidden: Collection[object] = ()) -> Table:
    """Return the table with columns that are functions of its columns, for those of ``names`` that it does not have.

    The column that one of ``hidden`` is made of is no column of the table any more.

    >>> from lineal.tables.table import as_table
    >>> one = computed(as_table({"y": [1.0, 10.0], "x": [3.0, 4.0]}), "log10(y)", hidden=["log10(y)"])
    >>> one.names, next(one.numbered())[1]["log10(y)"].to_pylist()
    (('x', 'log10(y)'), [0.0, 1.0])
    """
    for name in names:
        if not isinstance(name, str) or table.sparse or name in table.names:
            continue
        inner, functions = parts(name)
        if functions and inner in table.names:
            table = Computed(table, name, inner, functions, name in hidden)
    return table


def parts(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the column that a name is about, and the functions around it, innermost first.

    >>> parts("log(sqrt(a b))"), parts("f(x)")
    (('a b', ('sqrt', 'log')), ('f(x)', ()))
    """
    functions: tuple[str, ...] = ()
    while (call := _CALL.fullmatch(name)) is not None and call[1] in FUNCTIONS:
        name, functions = call[2], (call[1], *functions)
    return name.strip("`"), functions


@dataclass(frozen=True)
class Computed(Around):
    """A table with one more column, the functions of another one."""

    name: str
    column: str
    functions: tuple[str, ...]
    hides: bool = False
    wanted: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; the new one comes last."""
        rest = tuple(name for name in self.inner.names if not self.hides or name != self.column)
        return (*rest, self.name) if self.wanted else rest

    def guess(self) -> frozenset[str]:
        """Return the columns that look like numbers."""
        return self.inner.guess() | {self.name}

    def few(self) -> frozenset[str]:
        """Return the columns with few different cells."""
        return self.inner.few() - {self.name}

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Table:
        """Return the table with these columns only."""
        wanted = self.name in numbers or self.name in texts
        own = {self.column} if wanted and self.column not in texts else set()
        inner = self.inner.select(numbers=(set(numbers) - {self.name}) | own, texts=set(texts) - {self.name})
        return replace(self, inner=inner, wanted=wanted)

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the batches with the new column."""
        for rows, batch in self.inner.numbered():
            arrays = {name: batch.column(name) for name in batch.schema.names if not self.hides or name != self.column}
            if self.wanted:
                try:
                    arrays[self.name] = from_numpy(
                        self._values(batch.column(batch.schema.get_field_index(self.column)))
                    )
                except CellError as bad:
                    raise located(bad, self, rows) from None
            yield rows, pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))

    def _values(self, array: Any) -> Any:
        values = finite_numbers(self.column, array)
        made = bent(values, self.functions)
        lost = np.isnan(made) & ~np.isnan(values)
        if lost.any():
            row = int(np.flatnonzero(lost)[0])
            raise CellError(
                self.column, row, f"{values[row]:g}", f"a number that {through(self.column, self.functions)} can take"
            )
        return made
