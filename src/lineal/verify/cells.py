"""What one cell of a table means: missing, a number, a text (docs/model-file.md, "Cells")."""

from __future__ import annotations

import decimal
import math
from typing import Final

MISSING: Final = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"})


def missing(cell: object) -> bool:
    """Return whether a cell holds nothing.

    >>> [missing(cell) for cell in (" NA ", "", None, float("nan"), "0", 0)]
    [True, True, True, True, False, False]
    """
    if isinstance(cell, str):
        return cell.strip() in MISSING
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


def settled(cell: object) -> object:
    """Return a cell of a number column as None or a double, so that it is parsed once; as it is if it is neither.

    >>> [settled(cell) for cell in ("NA", " 1.5", 2, "tall")]
    [None, 1.5, 2.0, 'tall']
    """
    try:
        return None if missing(cell) else number(cell)
    except ValueError:
        return cell  # the line that needs a number will say so


def text(cell: object) -> str:
    """Return a present cell as text.

    >>> text(" a "), text(True), text(3), text(3.0), text(0.1)
    ('a', 'true', '3', '3', '0.1')
    """
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float | decimal.Decimal):
        value = float(cell)
        return str(int(value)) if value.is_integer() else repr(value)
    return str(cell)
