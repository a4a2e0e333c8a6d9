"""A file whose rows are parsed once and then kept in memory, as long as they fit a limit."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import field, replace
from typing import Any

import pyarrow as pa

from lineal.ground.records import dataclass
from lineal.tables.tabular import Around, RowNumbers, Table


@dataclass
class _Memory:
    """The batches of one whole pass, and which columns they hold as numbers and as text."""

    limit: int
    batches: deque[tuple[RowNumbers, Any]] = field(default_factory=deque)
    numbers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    whole: bool = False

    def clear(self) -> None:
        """Forget everything."""
        self.batches.clear()
        self.whole = False

    def serves(self, numbers: frozenset[str], texts: frozenset[str]) -> bool:
        """Whether the batches hold these columns; the text of a cell that was read as a number is not known."""
        return self.whole and numbers <= self.numbers | self.texts and texts <= self.texts


@dataclass(frozen=True)
class Remembered(Around):
    """A plain table that keeps the batches of its last whole pass, up to a limit of bytes.

    Later passes that need no other columns, nor the text of a column read as numbers, are served from memory;
    the file must still be the one first seen. A table too large is read again in every pass.
    """

    memory: _Memory
    numbers: frozenset[str] | None = None
    texts: frozenset[str] = frozenset()
    final: bool = False

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the rows, from memory where it has what is wanted."""
        if self.numbers is None:
            yield from self.inner.numbered()
        elif self.memory.serves(self.numbers, self.texts):
            self.inner.check()
            yield from self._drained() if self.final else list(self.memory.batches)
        else:
            yield from self._read()

    def _drained(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the batches and let go of each once it has been used."""
        self.memory.whole = False
        while self.memory.batches:
            yield self.memory.batches.popleft()

    def _read(self) -> Iterator[tuple[RowNumbers, Any]]:
        memory = self.memory
        memory.clear()
        numbers = self.numbers or frozenset()
        keep, size = not self.final, 0
        for rows, batch in self.inner.select(numbers=numbers, texts=self.texts).numbered():
            if keep:
                kept = narrow(batch)
                size += kept.nbytes
                memory.batches.append((rows, kept))
                if size > memory.limit:
                    keep = False
                    memory.clear()
            yield rows, batch
        memory.numbers, memory.texts, memory.whole = numbers, self.texts, keep

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Remembered:
        """Return the table with these columns only."""
        return replace(self, numbers=frozenset(numbers), texts=frozenset(texts))

    def last(self) -> Remembered:
        """Return the table for its last pass: memory is released on the way."""
        return replace(self, final=True)


def narrow(batch: Any) -> Any:
    """Return a batch whose packed texts have codes of one or two bytes where few are different.

    >>> batch = pa.RecordBatch.from_pydict({"a": pa.array(["x", "y", "x"]).dictionary_encode()})
    >>> str(narrow(batch).column(0).type.index_type), narrow(batch).column(0).to_pylist()
    ('int8', ['x', 'y', 'x'])
    """
    columns = [_narrow(batch.column(k)) for k in range(batch.num_columns)]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _narrow(array: Any) -> Any:
    if not pa.types.is_dictionary(array.type):
        return array
    levels = len(array.dictionary)
    kind = next((kind for kind, limit in ((pa.int8(), 2**7), (pa.int16(), 2**15)) if levels < limit), None)
    if kind is None or kind == array.type.index_type:
        return array
    return pa.DictionaryArray.from_arrays(array.indices.cast(kind), array.dictionary)


def remembered(table: Table, limit: int) -> Table:
    """Return a text file that keeps its parsed rows up to ``limit`` bytes, also beside another; any other table as it is.

    >>> from lineal.tables.columnar import from_mapping
    >>> remembered(from_mapping({"a": [1.5]}), 1000).names
    ('a',)
    """
    if table.plain:
        return Remembered(table, _Memory(limit))
    return replace(table, inner=remembered(table.inner, limit)) if isinstance(table, Around) else table
