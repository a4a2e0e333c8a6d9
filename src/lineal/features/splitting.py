"""Which rows are fitted, which validate, which test: by chance, by class, by group, in time, or as a column says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.features.cells.cells import kind, moments, texts
from lineal.features.encoder import column
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.tables.tabular import RowNumbers, Table, uniform

Parts = npt.NDArray[np.integer[Any]]
By = Literal["row", "stratified", "group", "time", "column"]

TRAIN: Final = 0
VALIDATION: Final = 1
TEST: Final = 2
WORDS: Final = {
    **dict.fromkeys(("train", "training"), TRAIN),
    **dict.fromkeys(("validation", "validate", "valid", "val", "dev"), VALIDATION),
    **dict.fromkeys(("test", "testing", "holdout"), TEST),
}
"""What the cells of a column that splits may say."""
YES: Final = frozenset(("1", "true", "t", "yes", "y"))
NO: Final = frozenset(("0", "false", "f", "no", "n"))
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?")


@dataclass(frozen=True)
class Split:
    """How rows are parted; ``u(seed, row)`` is the hash of ``tables.tabular.uniform``.

    row         test iff u < test_size, validation iff u < test_size + validation_size
    stratified  the same shares of every class, rows of least u first
    group       u of a hash of the cell in ``column``: rows of one group stay together
    time        the last rows by ``column`` test, those before them validate; equal cells stay together
    column      as the cells say: train, validation, test
    """

    seed: int
    test_size: float
    validation_size: float = 0.0
    by: By = "row"
    column: str | None = None

    @property
    def parts(self) -> bool:
        """Whether any row may be left out of the fit."""
        return self.by == "column" or self.test_size > 0 or self.validation_size > 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a model file."""
        record: dict[str, Any] = {"seed": self.seed, "test_size": self.test_size}
        if self.validation_size > 0:
            record["validation_size"] = self.validation_size
        return record if self.by == "row" else {**record, "by": self.by, "column": self.column}

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> Split:
        """Return the split of a model file."""
        return cls(**rule)


def read(text: str | None, seed: int, test_size: float, validation_size: float) -> Split:
    """Return a split as it is typed: ``stratified``, ``group:COL``, ``time:COL``, ``column:COL``.

    >>> read("group:household", 0, 0.2, 0.0).column
    'household'
    """
    if not 0 <= validation_size < 1 or test_size + validation_size >= 1:
        raise InputError(
            f"test_size {test_size} and validation_size {validation_size} must leave some rows to fit: "
            "each is a share of the rows, at least 0, and together they are below 1."
        )
    if text is None:
        return Split(seed, test_size, validation_size)
    by, _, name = text.partition(":")
    if by not in get_args(By)[1:] or bool(name) != (by != "stratified"):
        raise InputError(f"the split is {text!r}; it is stratified, group:COL, time:COL or column:COL.")
    if by == "column" and (test_size > 0 or validation_size > 0):
        raise InputError(
            f"the column {name!r} says which rows test, so a share of the rows has no effect; leave it out."
        )
    if by != "column" and not (test_size > 0 or validation_size > 0):
        raise InputError("a split needs a share of the rows to hold out: give test_size or validation_size.")
    return Split(seed, test_size, validation_size, by, name or None)  # type: ignore[arg-type]  # checked above


@dataclass(frozen=True)
class ByShare:
    """The part of every row, drawn by its number."""

    split: Split

    def __call__(self, rows: RowNumbers) -> Parts:
        """Return the part of each of these rows."""
        return _shares(uniform(self.split.seed, rows), self.split)


@dataclass(frozen=True)
class ByNumber:
    """The part of every row, looked up by its number."""

    part: Parts

    def __call__(self, rows: RowNumbers) -> Parts:
        """Return the part of each of these rows."""
        return self.part[rows]


@dataclass(frozen=True)
class Within:
    """Keep the rows of one part, or all others unless ``inside``."""

    parts: Callable[[RowNumbers], Parts]
    part: int
    inside: bool = True

    def __call__(self, rows: RowNumbers) -> Mask:
        """Return which of the rows are kept."""
        return np.asarray((self.parts(rows) == self.part) == self.inside)


@dataclass(frozen=True)
class Apart:
    """Keep all rows but some, by their numbers."""

    numbers: RowNumbers

    def __call__(self, rows: RowNumbers) -> Mask:
        """Return which of the rows are kept."""
        return np.asarray(~np.isin(rows, self.numbers))


def parted(table: Table, split: Split, target: str | None) -> Callable[[RowNumbers], Parts]:
    """Return the function that says of row numbers to which part they belong; all but ``row`` read the table once."""
    if split.by == "row":
        return ByShare(split)
    if table.sparse:
        raise InputError(f"{table.origin} is an SVMlight file, which has no column to split by; split by rows.")
    name = target if split.by == "stratified" else split.column
    if name is None:
        raise InputError("a stratified split needs one target column.")
    table.require(name, "column to split by,")
    order, cells = _read(table, name)
    if split.by != "stratified":
        _require(cells, order, table, name)
    table_of = np.zeros(int(order.max(initial=-1)) + 1, dtype=np.int8)
    table_of[order] = _by(split, cells, order, table, name)
    return ByNumber(table_of)


def groups(table: Table, name: str, seed: int) -> tuple[RowNumbers, Array]:
    """Return the row numbers of a table and ``u(seed, h)`` of the group of each."""
    table.require(name, "column to split by,")
    order, cells = _read(table, name)
    return order, grouped(seed, _require(cells, order, table, name))


def ranks(table: Table, name: str, seed: int) -> tuple[RowNumbers, npt.NDArray[np.int64]]:
    """Return the row numbers of a table and the place of each among the rows of its class, in the order of ``u(seed, i)``."""
    table.require(name, "target column")
    rows, cells = _read(table, name)
    codes = np.unique(np.array(["" if cell is None else cell for cell in cells]), return_inverse=True)[1]
    order = np.lexsort((uniform(seed, rows), codes))
    first = np.searchsorted(codes[order], codes[order])
    rank = np.empty(len(rows), dtype=np.int64)
    rank[order] = np.arange(len(rows)) - first
    return rows, rank


def _read(table: Table, name: str) -> tuple[RowNumbers, list[str | None]]:
    """Return the row numbers and the cells of one column, in a pass of its own."""
    seen: list[RowNumbers] = []
    cells: list[str | None] = []
    for rows, batch in table.select(texts=[name]).numbered():
        if kind(column(batch, name)) == "other":
            raise InputError(
                f"the cells of {name!r} are lists or records, and rows are parted by words, numbers or dates."
            )
        seen.append(rows)
        cells += _cells(column(batch, name))
    return np.concatenate([*seen, np.empty(0, np.int64)]), cells


def _require(cells: list[str | None], order: RowNumbers, table: Table, name: str) -> list[str]:
    """Return the cells if all of them are there."""
    if None in cells:
        place = f"{table.place(int(order[cells.index(None)]))} of {table.origin}"
        raise InputError(f"{place} has no value in {name!r}, so it cannot be split by it; fill the cell.")
    return [cell for cell in cells if cell is not None]


def _by(split: Split, cells: list[Any], order: RowNumbers, table: Table, name: str) -> Parts:
    if split.by == "column":
        return np.array([_word(cell, table, name) for cell in cells], dtype=np.int8)
    if split.by == "group":
        return _shares(grouped(split.seed, cells), split)
    return timed(cells, split, name) if split.by == "time" else stratified(cells, order, split)


def _cells(array: Any) -> list[str | None]:
    """Return every cell as text, None where missing."""
    if kind(array) == "date":
        return [None if value is None else str(value) for value in moments(array)]
    codes, levels = texts(array)
    return [None if code < 0 else levels[code] for code in codes.tolist()]


def _word(cell: str, table: Table, name: str) -> int:
    """Return the part a cell names; in a column called ``test`` or ``train``, yes and no will do."""
    word, part = cell.lower(), WORDS.get(name.lower())
    if part is not None and word in YES | NO:
        if word in YES:
            return part
        return TEST if part == TRAIN else TRAIN
    if word not in WORDS:
        raise InputError(
            f"column {name!r} of {table.origin} holds {cell!r}; to split rows it may hold {', '.join(WORDS)}."
        )
    return WORDS[word]


def _shares(u: Array, split: Split) -> Parts:
    parts = np.where(
        u < split.test_size, TEST, np.where(u < split.test_size + split.validation_size, VALIDATION, TRAIN)
    )
    return parts.astype(np.int8)


def grouped(seed: int, cells: list[str]) -> Array:
    """Return ``u(seed, h)`` for every group, h the first 63 bits of the SHA-256 of its cell."""
    group_of: dict[str, int] = {}
    for cell in cells:
        if cell not in group_of:
            group_of[cell] = int.from_bytes(hashlib.sha256(cell.encode()).digest()[:8], "big") >> 1
    return uniform(seed, np.array([group_of[cell] for cell in cells], dtype=np.int64))


def timed(cells: list[str], split: Split, name: str) -> Parts:
    """Return the parts in order of time: the first floor(n (1 - both shares)) rows and all that equal the last of them fit."""
    try:
        keys: list[Any] = [_exact(cell) for cell in cells]
    except ValueError:
        keys = list(cells)
        if not all(_ISO.fullmatch(cell) for cell in cells):
            raise InputError(f"a split in time needs numbers, or dates as 2026-11-15, in {name!r}.") from None
    ordered, n = sorted(keys), len(keys)
    parts = np.full(n, TEST, dtype=np.int8)
    for part, share in ((VALIDATION, 1.0 - split.test_size), (TRAIN, 1.0 - split.test_size - split.validation_size)):
        count = int(n * share)
        if count == 0:
            raise InputError(f"a split in time leaves no row to fit: {n} rows are too few.")
        parts[[key <= ordered[count - 1] for key in keys]] = part
    return parts


def _exact(cell: str) -> int | float:
    """Return a number, a whole one in every digit: nanoseconds are beyond 2^53."""
    try:
        return int(cell)
    except ValueError:
        return float(cell)


def stratified(cells: list[str | None], rows: RowNumbers, split: Split) -> Parts:
    """Return the parts so that every class gives its share, rounded; a row without a class is left to the fit."""
    parts = np.full(len(cells), TRAIN, dtype=np.int8)
    u = uniform(split.seed, rows)
    levels = {cell: k for k, cell in enumerate(dict.fromkeys(cell for cell in cells if cell is not None))}
    if len(levels) > max(2, len(cells) / 2):
        raise InputError(
            "a stratified split needs classes; the target has nearly as many values as rows. Leave it out."
        )
    codes = np.array([-1 if cell is None else levels[cell] for cell in cells])
    for k in range(len(levels)):
        members = np.flatnonzero(codes == k)
        members = members[np.argsort(u[members], kind="stable")]
        tests, validates = (int(len(members) * share + 0.5) for share in (split.test_size, split.validation_size))
        parts[members[:tests]] = TEST
        parts[members[tests : tests + validates]] = VALIDATION
    return parts
