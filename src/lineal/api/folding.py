"""Rows dealt into those that are fitted and those that validate: in folds, each left out in turn, or once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.api.arrays import is_array
from lineal.api.dataset import Roles, attach, memory_limit
from lineal.designs.sound import is_sparse
from lineal.errors import InputError
from lineal.features.splitting import TEST, TRAIN, VALIDATION, ByNumber, Split, Within, groups, parted, ranks
from lineal.ground.inputs import are_records, real
from lineal.ground.records import dataclass
from lineal.tables.remembered import remembered
from lineal.tables.table import Table, as_table
from lineal.tables.tabular import uniform

Folded = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Folds:
    """Pairs of tables: rows that are fitted, and rows which that fit does not see.

    ``seen`` are all rows that may be fitted, ``tests`` those that nothing here looks at; ``drop`` are columns that say how
    rows are parted and so predict nothing; ``words`` say what was done.
    """

    pairs: tuple[tuple[Table, Table], ...]
    seen: Table
    tests: Table | None
    drop: tuple[str, ...]
    words: str

    @property
    def several(self) -> bool:
        """Whether there is more than one pair, so that losses have a spread."""
        return len(self.pairs) > 1


def tabulated(data: Any, roles: Roles) -> tuple[Table, Roles]:
    """Return data as a table that is read once, with targets, weights and offsets given as arrays among its columns.

    >>> table, roles = tabulated([[1.0], [2.0]], Roles([0.5, 0.7]))
    >>> table.names, roles.target
    (('x0', 'y'), 'y')
    """
    if is_sparse(data):
        raise InputError("rows of a sparse matrix are not dealt into folds here; give a table, or an SVMlight file.")
    if is_array(data) and not are_records(data):
        matrix = real(data, "the data")
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise InputError(
                f"the data has shape {matrix.shape}; give two dimensions, rows and columns, and some of both."
            )
        data = {f"x{j}": np.ascontiguousarray(matrix[:, j]) for j in range(matrix.shape[1])}
    return attach(remembered(as_table(data), 2 * memory_limit() // 3), roles)


def deal(table: Table, split: Split, folds: int | str | None, target: Any, otherwise: int | None = None) -> Folds:
    """Deal the rows: ``folds`` is how many, or a column whose every value is a fold; None: the split's validation rows.

    ``otherwise`` is the number of folds where there are no validation rows and none are asked for.

    Row i is in fold ``floor(folds u(seed + 1, i))``; rows of a group stay together, and stratified folds have equal shares of
    every class.
    """
    part = parted(table, split, target if isinstance(target, str) else None) if split.parts else None
    present = {TRAIN} if part is None else {int(one) for rows, _ in table.numbered() for one in np.unique(part(rows))}
    seen = table if part is None else table.where(Within(part, TRAIN))
    tests = None if part is None or TEST not in present else table.where(Within(part, TEST))
    drop = [split.column] if split.column is not None and split.by != "time" else []
    if VALIDATION in present and part is not None:
        if folds is not None:
            raise InputError("folds and validation rows exclude each other: give one of them.")
        pair = (seen, table.where(Within(part, VALIDATION)))
        return Folds((pair,), seen, tests, tuple(drop), "validation rows")
    if split.validation_size > 0:
        raise InputError(f"no row of {table.origin} became a validation row; hold out a larger share, or use folds.")
    folds = otherwise if folds is None else folds
    if folds is None:
        raise InputError("there are no rows to validate on: give folds, such as 5, or a share of validation rows.")
    if split.by == "time":
        raise InputError(
            "folds do not respect a split in time; give a share of validation rows (validation_size) instead."
        )
    number, rows = _dealt(seen, folds, split, target)
    names = np.unique(number[rows])
    if len(names) < 2:
        raise InputError(f"all {len(rows)} rows are in one fold; there must be at least two with rows.")
    by_number = ByNumber(number)
    pairs = tuple(
        (seen.where(Within(by_number, int(k), inside=False)), seen.where(Within(by_number, int(k)))) for k in names
    )
    drop += [folds] if isinstance(folds, str) else []
    by = f" of column {folds}" if isinstance(folds, str) else ""
    return Folds(pairs, seen, tests, tuple(drop), f"{len(names)} folds{by}")


def dealt(table: Table, folds: int, seed: int, by: str | None = None) -> tuple[Folded, Folded]:
    """Return the fold ``floor(folds u(seed, i))`` of every row number, -1 where there is no row, and the row numbers.

    With ``by``, a column, all rows of a group are in one fold.
    """
    if not (isinstance(folds, int) and folds >= 2):
        raise InputError(f"there are {folds!r} folds; give a whole number of at least 2.")
    if by is None:
        rows = np.concatenate([*(numbers for numbers, _ in table.numbered()), np.empty(0, np.int64)])
        drawn = uniform(seed, rows)
    else:
        rows, drawn = groups(table, by, seed)
    return _by_number(rows, np.floor(drawn * folds).astype(np.int64)), rows


def _dealt(table: Table, folds: int | str, split: Split, target: Any) -> tuple[Folded, Folded]:
    """Return the fold of every row number, and the row numbers."""
    if isinstance(folds, str):
        rows, drawn = groups(table, folds, split.seed)  # a number of its own for every value
        return _by_number(rows, np.unique(drawn, return_inverse=True)[1].astype(np.int64)), rows
    if split.by == "stratified":
        if not (isinstance(folds, int) and folds >= 2):
            raise InputError(f"there are {folds!r} folds; give a whole number of at least 2.")
        rows, rank = ranks(table, str(target), split.seed + 1)
        return _by_number(rows, rank % folds), rows
    return dealt(table, folds, split.seed + 1, split.column if split.by == "group" else None)


def _by_number(rows: Folded, fold: Folded) -> Folded:
    number = np.full(int(rows.max(initial=-1)) + 1, -1, dtype=np.int64)
    number[rows] = fold
    return number


def without(roles: Roles, folds: Folds) -> Roles:
    """Return the roles without the columns that only say how rows are parted."""
    return replace(roles, drop=[*roles.drop, *(name for name in folds.drop if name not in roles.drop)])
