"""The contract of a table: a stream of named columns whose rows keep their numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError, near
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass

RowNumbers = npt.NDArray[np.int64]
Keep = Callable[[RowNumbers], Mask]

BATCH_ROWS = 65536
"""Rows of a batch at most: a batch of some dozen columns then fits a processor's cache."""


NAMES_LISTED = 12
"""Names that sentences list; they count the others."""
NAME_MAX_CHARACTERS = 60
"""Characters of a name that sentences show."""


class Table(ABC):
    """Named columns, handed out in batches of rows; every pass starts again from the first row.

    ``origin`` is what sentences call it. ``plain`` tables are text files: every cell is text, whatever type a
    batch stores it in. ``sparse`` tables hand out ``SparseRows`` instead of Arrow record batches. ``notes`` are
    sentences about how it is read, ``marks`` the texts that stand for missing cells in columns that have their own.
    ``nameless`` are columns whose name is not their own, since the header has none for them.
    """

    origin: str = "the table"
    plain: bool = False
    sparse: bool = False
    notes: tuple[str, ...] = ()
    nameless: frozenset[str] = frozenset()
    marks: Mapping[str, tuple[str, ...]] = MappingProxyType({})

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    @abstractmethod
    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the rows' numbers in the original table and the batch that holds them, in order."""

    def batches(self) -> Iterator[Any]:
        """Yield the batches alone."""
        for _, batch in self.numbered():
            yield batch

    def where(self, keep: Keep) -> Table:
        """Return the rows for whose numbers ``keep`` gives true; they keep their numbers."""
        return Kept(self, keep)

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Table:
        """Return a table of these columns only: some wanted as numbers, some as text.

        A request, to read faster: a batch may still hold more columns, or a column in another type.
        """
        return self

    def guess(self) -> frozenset[str]:
        """Return the columns of a plain table that look like numbers in its first rows."""
        return frozenset()

    def few(self) -> frozenset[str]:
        """Return the columns of a plain table with few different cells in its first rows: likely classes."""
        return frozenset()

    def vectors(self) -> frozenset[str]:
        """Return the columns that hold lists of numbers."""
        return frozenset()

    def last(self) -> Table:
        """Return the table for its last pass: memory that it holds may be released on the way."""
        return self

    def check(self) -> None:
        """Raise an InputError if the table is no longer the one first seen."""
        return

    def place(self, row: int) -> str:
        """Return where row number ``row`` stands, for sentences: counted from one."""
        return f"row {row + 1}"

    def require(self, column: str, role: str = "column") -> None:
        """Raise an InputError that suggests near names unless there is such a column."""
        if column not in self.names:
            raise InputError(
                f"{self.origin} has no {role} {column!r}.{near(column, self.names)} Its columns are {listed(self.names)}."
            )


@dataclass(frozen=True)
class Around(Table):
    """Another table, changed: what a subclass leaves alone is the inner table's."""

    inner: Table

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.inner.names

    @property
    def origin(self) -> str:  # type: ignore[override]
        """What sentences call the table."""
        return self.inner.origin

    @property
    def plain(self) -> bool:  # type: ignore[override]
        """Whether every cell is text."""
        return self.inner.plain

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        """Whether batches are ``SparseRows``."""
        return self.inner.sparse

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Sentences about how it is read."""
        return self.inner.notes

    @property
    def nameless(self) -> frozenset[str]:  # type: ignore[override]
        """The columns without a name of their own."""
        return self.inner.nameless

    @property
    def marks(self) -> Mapping[str, tuple[str, ...]]:  # type: ignore[override]
        """The marks of columns that have their own."""
        return self.inner.marks

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Table:
        """Return the same with these columns only."""
        return replace(self, inner=self.inner.select(numbers=numbers, texts=texts))

    def last(self) -> Table:
        """Return the same for the last pass."""
        return replace(self, inner=self.inner.last())

    def guess(self) -> frozenset[str]:
        """Return the columns that look like numbers."""
        return self.inner.guess()

    def few(self) -> frozenset[str]:
        """Return the columns with few different cells."""
        return self.inner.few()

    def vectors(self) -> frozenset[str]:
        """Return the columns that hold lists of numbers."""
        return self.inner.vectors()

    def check(self) -> None:
        """Raise an InputError if the table changed."""
        self.inner.check()

    def place(self, row: int) -> str:
        """Return where a row stands in the original table."""
        return self.inner.place(row)

    def require(self, column: str, role: str = "column") -> None:
        """Raise an InputError unless there is such a column, in the inner table's words where it has the same columns."""
        same = self.names == self.inner.names
        self.inner.require(column, role) if same else super().require(column, role)


@dataclass(frozen=True)
class Kept(Around):
    """Some rows of another table."""

    keep: Keep

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the kept rows of every batch that has any."""
        for rows, batch in self.inner.numbered():
            mask = self.keep(rows)
            if mask.all():
                yield rows, batch
            elif mask.any():
                yield rows[mask], filtered(batch, mask)


def filtered(batch: Any, mask: Mask) -> Any:
    """Return the rows of a batch where ``mask`` is true."""
    return batch.filter(mask) if not hasattr(batch, "schema") else batch.filter(_arrow_mask(mask))


def _arrow_mask(mask: Mask) -> Any:
    from lineal.tables.arrow import from_numpy  # array users never pay for Arrow

    return from_numpy(mask)


def check_names(names: tuple[str, ...], origin: str) -> None:
    """Raise an InputError if a column has no name or two share one."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise InputError(
                f"column {position} of {origin} has no name; write one in the header"
                " (a data frame's index saved by mistake? save it without the index)."
            )
        if name in seen:
            raise InputError(
                f"{origin} has two columns called {name!r}, number {seen[name]} and {position}; rename one of them."
            )
        seen[name] = position


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence: the first of them, and how many more there are.

    >>> listed(["a", "b"]), listed([f"x{k}" for k in range(40)]).partition("'x11'")[2]
    ("'a', 'b'", ' and 28 more')
    """
    short = [name if len(name) <= NAME_MAX_CHARACTERS else f"{name[:NAME_MAX_CHARACTERS]}..." for name in names]
    more = len(names) - NAMES_LISTED
    return ", ".join(map(repr, short[:NAMES_LISTED])) + (f" and {more:,} more" if more > 0 else "")


def uniform(seed: int, rows: RowNumbers) -> Array:
    """Return a number in [0, 1) for every row, drawn by a hash of (seed, row): the same on any machine.

    ``u(seed, i) = (mix(mix(seed) xor i) >> 11) * 2^-53`` with the splitmix64 finaliser ``mix``.

    >>> uniform(0, np.arange(3)).round(3).tolist()
    [0.652, 0.034, 0.843]
    """
    with np.errstate(over="ignore"):
        start = _mix(np.array([seed % 2**64], dtype=np.uint64))
        bits = _mix(start ^ np.asarray(rows, dtype=np.int64).astype(np.uint64))
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class Drawn:
    """Keep row i iff ``low <= uniform(seed, i) < high``."""

    seed: int
    low: float
    high: float

    def __call__(self, rows: RowNumbers) -> Mask:
        """Return which of the rows are kept."""
        u = uniform(self.seed, rows)
        return np.asarray((self.low <= u) & (u < self.high))


def split(table: Table, seed: int, test_size: float) -> tuple[Table, Table]:
    """Return the training and the test rows: row i is a test row iff ``uniform(seed, i) < test_size``."""
    if not 0.0 <= test_size < 1.0:
        raise InputError(f"the test size is {test_size}; give the share of rows to hold out, at least 0 and below 1.")
    return table.where(Drawn(seed, test_size, 1.0)), table.where(Drawn(seed, 0.0, test_size))
