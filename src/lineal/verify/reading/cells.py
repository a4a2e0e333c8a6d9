"""What one cell of a table means: missing, a number, a text (docs/model-file.md, "Cells")."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from lineal.verify.arithmetic import Array

T = TypeVar("T")
Column = Sequence[object] | npt.NDArray[Any]
"""Cells of a column: of any kind, or numbers, of which NaN is missing."""

BLOCK_ROWS: Final = 2**14
"""Rows that are read at a time, fewer where a design is wide."""
MISSING_TEXTS: Final = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"})


class Word(str):
    """A text that is present, whatever it is: its column has marks of its own for missing cells, and it is none of them."""

    __slots__ = ()


def missing(cell: object) -> bool:
    """Return whether a cell holds nothing.

    >>> [missing(cell) for cell in (" NA ", "", None, float("nan"), "0", 0, Word("NA"))]
    [True, True, True, True, False, False, False]
    """
    if isinstance(cell, str):
        return cell.strip() in MISSING_TEXTS and not isinstance(cell, Word)
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def number(cell: object) -> float:
    """Return a present cell as a double; ValueError if it is not a finite number.

    >>> number(" 1e3 "), number(True), number(7)
    (1000.0, 1.0, 7.0)
    """
    if type(cell) is float and math.isfinite(cell):
        return cell
    try:
        plain = (
            cell.strip() if isinstance(cell, str) else cell
        )  # float() takes fewer characters for blanks than strip()
        value = float(plain) if isinstance(plain, str | int | float | decimal.Decimal) else math.nan
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise ValueError(f"{cell!r} is not a number")
    if not math.isfinite(value):
        raise ValueError(f"{cell!r} is not finite")
    return value


def gone(column: Column) -> npt.NDArray[np.bool_]:
    """Return which cells hold nothing.

    >>> gone(["a", "NA"]).tolist(), gone(np.array([np.nan, 1.0])).tolist()
    ([False, True], [True, False])
    """
    if isinstance(column, np.ndarray):
        return np.asarray(np.isnan(column)) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)
    return np.array(each(column, missing), dtype=bool)


def each(column: Column, function: Callable[[object], T]) -> list[T]:
    """Return what a function makes of every cell; of equal texts it is asked once.

    >>> each(["a", "b", "a"], str.upper)
    ['A', 'B', 'A']
    """
    by_text: dict[str, T] = {}
    results = []
    for cell in listed(column):
        if type(cell) is not str:
            results.append(function(cell))
            continue
        if cell not in by_text:
            by_text[cell] = function(cell)
        results.append(by_text[cell])
    return results


def spelled(cell: object) -> str | None:
    """Return a cell as text, None if it holds nothing."""
    return None if missing(cell) else text(cell)


def texts(column: Column) -> list[str | None]:
    """Return the cells as texts, None where one holds nothing."""
    return each(column, spelled)


def numbers(column: Column) -> Array:
    """Return the cells of a number column as doubles, NaN where one holds nothing; ValueError if one is no finite number.

    >>> numbers(["NA", " 1.5", 2]).tolist()
    [nan, 1.5, 2.0]
    """
    if isinstance(column, np.ndarray):
        doubles = column.astype(np.float64)
    else:
        try:
            doubles = np.array(list(map(float, column)), dtype=np.float64)  # type: ignore[arg-type]
            plain = not np.any(np.isnan(doubles))  # a nan may be spelled in a way that is no missing cell
        except (TypeError, ValueError, OverflowError):
            plain = False
        if not plain:
            doubles = np.array([math.nan if missing(cell) else number(cell) for cell in column], dtype=np.float64)
    if np.any(np.isinf(doubles)):
        raise ValueError(f"{column[int(np.argmax(np.isinf(doubles)))]!r} is not finite")
    return doubles


def settled(column: Column) -> Column:
    """Return a number column as doubles, so that it is parsed once; as it is if a cell is neither number nor missing.

    >>> settled(["NA", " 1.5"]).tolist(), settled(["tall"])
    ([nan, 1.5], ['tall'])
    """
    try:
        return numbers(column)
    except ValueError:
        return column  # the line that needs numbers will say so


def listed(column: Column) -> Sequence[object]:
    """Return the cells as Python objects."""
    return column.tolist() if isinstance(column, np.ndarray) else column


def text(cell: object) -> str:
    """Return a present cell as text.

    >>> text(" a "), text(True), text(3), text(3.0), text(0.1)
    ('a', 'true', '3', '3', '0.1')
    >>> text(decimal.Decimal(2**53 + 1)), text(decimal.Decimal("2.50"))
    ('9007199254740993', '2.5')
    """
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, decimal.Decimal) and cell == cell.to_integral_value():
        return str(int(cell))
    if isinstance(cell, float | decimal.Decimal):
        value = float(cell)
        return str(int(value)) if value.is_integer() else repr(value)
    return str(cell)


@dataclass
class Cells:
    """Some rows: named columns of cells, all of one length. ``share`` is how much of the file has been read.

    ``zero`` says that an absent number column is all zeros (SVMlight).
    """

    rows: int
    columns: dict[str, Column]
    zero: bool = False
    share: float = 1.0

    def column(self, name: str) -> Column:
        """Return the cells of a column."""
        return self.columns[name] if name in self.columns else np.zeros(self.rows)
